/* SPDX-License-Identifier: Apache-2.0 */
/* texts.c - self checks of labels and numbers, and of rows of bytes, text and
 * JSON. */
#include <stdlib.h>

#include "common/mem.h"
#include "pipeline/class_names.h"
#include "worker/transform/self_check/self_check.h"

/* Decode each text as check->field says; `length` is NULL unless the field is
 * ragged. */
static void check_texts(struct fby_self_check *check, const char *const *texts,
    size_t n, uint32_t *length)
{
    for (size_t i = 0; i < n; i++) {
        fby_self_check_decode(
            check, &(struct fby_field_job){.field = &check->field,
                       .class_names               = check->class_names,
                       .bytes                     = (const uint8_t *)texts[i],
                       .size                      = strlen(texts[i]),
                       .length                    = length});
    }
}

void fby_self_check_labels(struct fby_self_check *check)
{
    static const char *const texts[] = {"0", " 7\n", "255", "256", "65535",
        "65536", "4294967295", "4294967296", "007", "-1", "1.0", "", "1 2",
        "x"};
    for (enum fby_type type = FBY_U8; type <= FBY_U32; type++) {
        if (!fby_type_is_float(type)) {
            check->field = (struct fby_field_content){
                .decode = FBY_DECODE_LABEL, .wire_type = type};
            check_texts(check, texts, COUNT_OF(texts), NULL);
        }
    }
}

void fby_self_check_label_names(struct fby_self_check *check)
{
    static const char *const names[] = {"b", "a", "3", "\xc3\xa9", "a b"};
    static const char *const texts[] = {
        "a", " b\n", "3", "\xc3\xa9", "\ta b\r\n", "a  b", "A", "0", "", "ab"};
    static const char *const json[] = {"{\"k\":\"a\"}", "{\"k\":\" b \"}",
        "{\"k\":\"\\u00e9\"}", "{\"k\":\"c\"}", "{\"k\":3}", "{\"k\":[\"a\"]}"};
    struct fby_class_names  *pool   = fby_zalloc(sizeof(*pool));
    struct fby_name_range    range  = {0};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        fby_err err =
            fby_class_names_add(pool, &range, names[i], strlen(names[i]), NULL);
        (void)err; /* without a name the hash differs */
    }
    check->field       = (struct fby_field_content){.decode = FBY_DECODE_LABEL,
              .wire_type                                    = FBY_U8,
              .as.label.names                               = range};
    check->class_names = pool;
    check_texts(check, texts, COUNT_OF(texts), NULL);
    strcpy(check->field.as.label.json.key, "k");
    check_texts(check, json, COUNT_OF(json), NULL);
    check->class_names = NULL;
    free(pool);
}

void fby_self_check_numbers(struct fby_self_check *check)
{
    static const char *const texts[] = {"{\"k\":0}", "{\"k\":-1}",
        "{\"k\":255}", "{\"k\":256}", "{\"k\":65504}", "{\"k\":65520}",
        "{\"k\":70000}", "{\"k\":16777217}", "{\"k\":2147483648}",
        "{\"k\":9223372036854775807}", "{\"k\":3.0}", "{\"k\":0.1}",
        "{\"k\":-0.0}", "{\"k\":1e-7}", "{\"k\":1e-40}", "{\"k\":1e39}",
        "{\"k\":0.333251953125}", "{\"k\":\"1\"}", "{\"j\":1}", "[1]", "{"};
    for (enum fby_type type = FBY_U8; type <= FBY_U32; type++) {
        check->field = (struct fby_field_content){.decode = FBY_DECODE_NUMBER,
            .wire_type                                    = type,
            .as.number.key                                = "k"};
        check_texts(check, texts, COUNT_OF(texts), NULL);
    }
}

void fby_self_check_paths(struct fby_self_check *check)
{
    static const char keys[][8] = {
        "a", "a.b", "a.0", "a.b.1", "a.01", "a.7", "a..b", "."};
    static const char *const texts[] = {"{\"a\":5}", "{\"a\":{\"b\":6}}",
        "{\"a\":[7,8]}", "{\"a\":{\"b\":[9,10,11]}}", "{\"a\":[]}",
        "{\"a\":{\"0\":12}}", "{\"a\":[[1,2],[3]]}", "13", "[14,15,16]"};
    for (size_t i = 0; i < 2 * COUNT_OF(keys); i++) {
        check->field = (struct fby_field_content){.group = "fingerprint",
            .decode                                      = FBY_DECODE_NUMBER,
            .wire_type                                   = FBY_U8,
            .as.number.pick = i % 2 == 0 ? FBY_PICK_NONE : FBY_PICK_RANDOM};
        memcpy(check->field.as.number.key, keys[i / 2], sizeof(keys[0]));
        check_texts(check, texts, COUNT_OF(texts), NULL);
    }
}

/* Decode each text with one rule for rows that are too long. */
static void check_rule(struct fby_self_check *check, enum fby_too_long rule,
    const char *const *texts, size_t n)
{
    uint32_t length         = 0;
    check->field.too_long   = rule;
    check->field.max_length = 3;
    check->field.shape      = (struct fby_shape){1, {3}};
    check_texts(check, texts, n, &length);
}

static void check_rules(
    struct fby_self_check *check, const char *const *texts, size_t n)
{
    check_rule(check, FBY_TOO_LONG_REFUSE, texts, n);
    check_rule(check, FBY_TOO_LONG_TRUNCATE, texts, n);
}

void fby_self_check_ragged(struct fby_self_check *check)
{
    static const char *const texts[] = {"", "a", "abc", "abcd", "\n", "abc\n",
        "ab\n\n", "ab\xc3\xa9", "\xc3", "\xe2\x82\xac\n"};
    static const char *const lists[] = {"{\"k\":[]}", "{\"k\":[1]}",
        "{\"k\":[1,2,3]}", "{\"k\":[1,2,3,4]}", "{\"k\":1}",
        "{\"k\":[1,\"2\"]}", "{\"k\":[0.5]}"};
    check->field                     = (struct fby_field_content){
                            .decode = FBY_DECODE_BYTES, .wire_type = FBY_U8};
    check_rules(check, texts, COUNT_OF(texts));
    check->field = (struct fby_field_content){
        .decode = FBY_DECODE_TEXT, .wire_type = FBY_U8};
    check_rules(check, texts, COUNT_OF(texts));
    check->field = (struct fby_field_content){.decode = FBY_DECODE_NUMBER,
        .wire_type                                    = FBY_I32,
        .as.number.key                                = "k"};
    check_rules(check, lists, COUNT_OF(lists));
}

void fby_self_check_json_texts(struct fby_self_check *check)
{
    static const char *const texts[] = {"{\"k\":\"\"}", "{\"k\":\"a\"}",
        "{\"k\":\"abcd\"}", "{\"k\":\"ab\\u00e9\"}", "{\"k\":\"ab\\n\"}",
        "{\"k\":[\"a\",\"bc\",\"d\"]}", "{\"k\":[]}", "{\"k\":1}",
        "{\"j\":\"a\"}"};
    for (int i = 0; i < 4; i++) { /* each rule, without and with a pick */
        check->field = (struct fby_field_content){.group = "fingerprint",
            .decode                                      = FBY_DECODE_TEXT,
            .wire_type                                   = FBY_U8,
            .as.text = {"k", i % 2 == 0 ? FBY_PICK_NONE : FBY_PICK_RANDOM}};
        check_rule(check,
            i / 2 == 0 ? FBY_TOO_LONG_REFUSE : FBY_TOO_LONG_TRUNCATE, texts,
            COUNT_OF(texts));
    }
}
