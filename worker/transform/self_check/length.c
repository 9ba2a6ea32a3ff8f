/* length.c - self checks of ragged rows: members of several lengths, with each
 * rule for those that are too long. */
#include <stdlib.h>
#include <string.h>

#include "worker/transform/field.h"
#include "worker/transform/self_check/decoder_hash.h"
#include "worker/transform/self_check/self_check.h"

enum { MOST = 3 /* entries */ };

static const char *const texts[] = {"", "a", "abc", "abcd", "\n", "abc\n",
    "ab\n\n", "ab\xc3\xa9", "\xc3", "\xe2\x82\xac\n"};

static const char *const lists[] = {"{\"k\":[]}", "{\"k\":[1]}",
    "{\"k\":[1,2,3]}", "{\"k\":[1,2,3,4]}", "{\"k\":1}", "{\"k\":[1,\"2\"]}",
    "{\"k\":[0.5]}"};

static const char *const json_texts[] = {"{\"k\":\"\"}", "{\"k\":\"a\"}",
    "{\"k\":\"abcd\"}", "{\"k\":\"ab\\u00e9\"}", "{\"k\":\"ab\\n\"}",
    "{\"k\":[\"a\",\"bc\",\"d\"]}", "{\"k\":[]}", "{\"k\":1}", "{\"j\":\"a\"}"};

static const struct length_case {
    enum fby_decode    decode;
    enum fby_type      type;
    const char        *key;
    const char *const *members;
    size_t             n;
} cases[] = {
    {FBY_DECODE_BYTES, FBY_U8, "", texts, sizeof(texts) / sizeof(texts[0])},
    {FBY_DECODE_TEXT, FBY_U8, "", texts, sizeof(texts) / sizeof(texts[0])},
    {FBY_DECODE_NUMBER, FBY_I32, "k", lists, sizeof(lists) / sizeof(lists[0])},
};

static const struct length_case json_case = {FBY_DECODE_TEXT, FBY_U8, "k",
    json_texts, sizeof(json_texts) / sizeof(json_texts[0])};

static fby_err try_member(struct fby_transform *transform,
    struct fby_digest_state *hash, const struct fby_field_content *field,
    const char *member)
{
    uint8_t              values[MOST * 4] = {0};
    uint32_t             length           = 0;
    struct fby_field_job job              = {.field = field,
                     .bytes                         = (const uint8_t *)member,
                     .size                          = strlen(member),
                     .length                        = &length};
    fby_err              err = fby_field_write(transform, &job, values, NULL);
    fby_err              broken = fby_self_check_outcome(hash, err);
    if (err == FBY_OK) {
        fby_decoder_hash_add(hash, length, 4);
        fby_digest_add(
            hash, values, (size_t)length * fby_type_bytes(field->wire_type));
    }
    return broken;
}

static fby_err try_rule(struct fby_transform *transform,
    struct fby_digest_state *hash, const struct length_case *one,
    struct fby_field_content *field)
{
    fby_err err       = FBY_OK;
    field->decode     = one->decode;
    field->wire_type  = one->type;
    field->max_length = MOST;
    if (one->decode != FBY_DECODE_BYTES) {
        struct fby_from_json *json = one->decode == FBY_DECODE_NUMBER
                                         ? &field->as.number
                                         : &field->as.text;
        memcpy(json->key, one->key, strlen(one->key) + 1);
    }
    field->shape = (struct fby_shape){.n_dims = 1, .dims = {MOST}};
    for (size_t i = 0; i < one->n && err == FBY_OK; i++) {
        err = try_member(transform, hash, field, one->members[i]);
    }
    return err;
}

fby_err fby_self_check_lengths(
    struct fby_transform *transform, struct fby_digest_state *hash)
{
    struct fby_field_content *field = calloc(1, sizeof(*field));
    fby_err                   err   = field == NULL ? FBY_FULL : FBY_OK;
    size_t                    n     = sizeof(cases) / sizeof(cases[0]);
    for (size_t i = 0; i < 2 * n && err == FBY_OK; i++) {
        *field = (struct fby_field_content){0};
        field->too_long =
            i % 2 == 0 ? FBY_TOO_LONG_REFUSE : FBY_TOO_LONG_TRUNCATE;
        err = try_rule(transform, hash, &cases[i / 2], field);
    }
    free(field);
    return err;
}

fby_err fby_self_check_json_texts(
    struct fby_transform *transform, struct fby_digest_state *hash)
{
    struct fby_field_content *field = calloc(1, sizeof(*field));
    fby_err                   err   = field == NULL ? FBY_FULL : FBY_OK;
    for (int i = 0; i < 4 && err == FBY_OK; i++) {
        *field = (struct fby_field_content){.group = "fingerprint",
            .as.text.pick = i % 2 == 0 ? FBY_PICK_NONE : FBY_PICK_RANDOM,
            .too_long =
                i / 2 == 0 ? FBY_TOO_LONG_REFUSE : FBY_TOO_LONG_TRUNCATE};
        err    = try_rule(transform, hash, &json_case, field);
    }
    free(field);
    return err;
}
