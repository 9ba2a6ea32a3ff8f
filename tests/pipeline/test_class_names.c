/* SPDX-License-Identifier: Apache-2.0 */
/* The key `names`: the names of classes, in a list or in a file, and in the
 * content. */
#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/mem.h"
#include "pipeline/canon.h"
#include "pipeline/class_names.h"
#include "pipeline/parse.h"
#include "pipeline/record.h"
#include "tests/says.h"

/* ---- names alone ---- */

static fby_err add(struct fby_class_names *names, struct fby_name_range *range,
    const char *name, struct fby_error_detail *why)
{
    return fby_class_names_add(names, range, name, strlen(name), why);
}

/* The id of a name; -1: it has none. */
static int id_of(const struct fby_class_names *names,
    struct fby_name_range range, const char *name)
{
    uint32_t id = 0;
    return fby_class_names_find(names, range, name, strlen(name), &id) ? (int)id
                                                                       : -1;
}

static void a_name_is_found_in_its_own_range(void **state)
{
    (void)state;
    static const char *const words[] = {"zebra", "cat", "catfish", "3", "ca"};
    struct fby_class_names  *names   = fby_zalloc(sizeof(*names));
    struct fby_name_range    first   = {0};
    for (int i = 0; i < 5; i++) {
        assert_ok(add(names, &first, words[i], NULL));
    }
    struct fby_name_range second = {.first = names->n};
    assert_ok(add(names, &second, "cat", NULL));
    assert_ok(add(names, &second, "ant", NULL));
    for (int i = 0; i < 5; i++) {
        assert_int_equal(id_of(names, first, words[i]), i);
        assert_string_equal(
            fby_class_name(names, first, (uint32_t)i), words[i]);
    }
    assert_int_equal(id_of(names, second, "cat"), 0);
    assert_int_equal(id_of(names, second, "ant"), 1);
    assert_int_equal(id_of(names, second, "zebra"), -1);
    assert_int_equal(id_of(names, first, "ant"), -1);
    assert_int_equal(id_of(names, first, "c"), -1);
    assert_int_equal(id_of(names, first, ""), -1);
    assert_null(fby_class_name(names, second, 2));
    free(names);
}

static void a_name_that_is_not_valid_is_refused(void **state)
{
    (void)state;
    static char long_name[FBY_MAX_CLASS_NAME + 2];
    memset(long_name, 'a', FBY_MAX_CLASS_NAME + 1);
    const struct {
        const char *name;
        const char *says;
    } cases[]                     = {{"", "a class's name is empty"},
                            {" cat", "' cat' has a blank at an end"},
                            {"cat ", "'cat ' has a blank at an end"},
                            {"c\tt", "'c?t' has a control character"},
                            {"c\x7ft", "has a control character"},
                            {"c\xc2\x9bt", "'c?t' has a control character"},
                            {"\xff", "is not UTF-8"}, {long_name, "is longer than 255 bytes"},
                            {"cat", "'cat' is given twice, as class 0 and class 1"}};
    struct fby_class_names *names = fby_zalloc(sizeof(*names));
    struct fby_name_range   range = {0};
    assert_ok(add(names, &range, "cat", NULL));
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct fby_error_detail why = {{0}};
        assert_int_equal(add(names, &range, cases[i].name, &why), FBY_CONFIG);
        assert_says(&why, cases[i].says);
    }
    assert_int_equal(range.n, 1);
    assert_ok(add(names, &range, long_name + 1, NULL));
    assert_ok(add(names, &range, "b\xc3\xa9 b", NULL));
    free(names);
}

static void names_are_at_most_4096_and_256_kib(void **state)
{
    (void)state;
    struct fby_class_names *names = fby_zalloc(sizeof(*names));
    struct fby_name_range   range = {0};
    struct fby_error_detail why   = {{0}};
    char                    name[256];
    for (int i = 0; i < FBY_MAX_CLASS_NAMES; i++) {
        snprintf(name, sizeof(name), "%d", i * 7919 % FBY_MAX_CLASS_NAMES);
        assert_ok(add(names, &range, name, NULL));
    }
    assert_int_equal(add(names, &range, "x", &why), FBY_CONFIG);
    assert_says(&why, "more than 4096 names");
    for (int i = 0; i < FBY_MAX_CLASS_NAMES; i++) {
        snprintf(name, sizeof(name), "%d", i * 7919 % FBY_MAX_CLASS_NAMES);
        assert_int_equal(id_of(names, range, name), i);
    }
    names->n    = 0;
    names->size = 0;
    range       = (struct fby_name_range){0};
    for (int i = 0; i < FBY_MAX_CLASS_TEXT / 256; i++) {
        snprintf(name, sizeof(name), "%0255d", i);
        assert_ok(add(names, &range, name, NULL));
    }
    assert_int_equal(add(names, &range, "x", &why), FBY_CONFIG);
    assert_says(&why, "the names have more than 262144 bytes");
    free(names);
}

static void a_file_has_a_name_a_line(void **state)
{
    (void)state;
    static const char       text[] = "\xef\xbb\xbf"
                                     "cat\r\n dog\t\n#3\n\n \n";
    struct fby_class_names *names  = fby_zalloc(sizeof(*names));
    struct fby_name_range   range  = {0};
    struct fby_error_detail why    = {{0}};
    assert_ok(
        fby_class_names_parse(text, strlen(text), "f", names, &range, NULL));
    assert_int_equal(range.n, 3);
    assert_int_equal(id_of(names, range, "cat"), 0);
    assert_int_equal(id_of(names, range, "dog"), 1);
    assert_int_equal(id_of(names, range, "#3"), 2);
    range = (struct fby_name_range){.first = names->n};
    assert_int_equal(
        fby_class_names_parse("a\n\nb", 4, "f", names, &range, &why),
        FBY_CONFIG);
    assert_says(&why, "f, line 2: a class's name is empty");
    range = (struct fby_name_range){.first = names->n};
    assert_int_equal(
        fby_class_names_parse("\n\n", 2, "f", names, &range, &why), FBY_CONFIG);
    assert_says(&why, "f has no names; write one class a line");
    free(names);
}

static void an_unknown_class_is_named_with_the_nearest(void **state)
{
    (void)state;
    struct fby_class_names   *names = fby_zalloc(sizeof(*names));
    struct fby_field_content *field = fby_zalloc(sizeof(*field));
    struct fby_error_detail   why   = {{0}};
    strcpy(field->name, "label");
    field->decode = FBY_DECODE_LABEL;
    assert_ok(add(names, &field->as.label.names, "ant", NULL));
    assert_ok(add(names, &field->as.label.names, "zebras", NULL));
    assert_int_equal(
        fby_class_names_refuse(names, field, "zebra", 5, FBY_BAD_SAMPLE, &why),
        FBY_BAD_SAMPLE);
    assert_string_equal(why.text,
        "class 'zebra' is not in names of field label (nearest: zebras): add "
        "it to names or correct the data");
    assert_int_equal(
        fby_class_names_refuse(names, field, "quokka\n!", 6, FBY_CONFIG, &why),
        FBY_CONFIG);
    assert_string_equal(why.text,
        "class 'quokka' is not in names of field label: add it to names or "
        "correct the data");
    assert_int_equal(
        fby_class_names_refuse(names, field, "ant\0ler", 7, FBY_CONFIG, &why),
        FBY_CONFIG);
    assert_says(&why, "class 'ant' of field label is followed by a NUL");
    free(names);
    free(field);
}

/* ---- in a pipeline file ---- */

static fby_err parse(const char *folder, const char *field,
    struct fby_split **out, struct fby_error_detail *why)
{
    char text[400];
    snprintf(text, sizeof(text),
        "forebay: 1\nsplits: {train: {shards: a.tar}}\nglobal_batch: 4\n"
        "fields:\n  b: {from: b, names: [x, y]}\n  a: {from: cls%s}\n",
        field);
    const struct fby_pipeline_text input = {
        .text = text, .size = strlen(text), .name = "p.yaml", .folder = folder};
    struct fby_pipeline *pipeline = NULL;
    fby_err              err      = fby_pipeline_parse(&input, &pipeline, why);
    if (err == FBY_OK) {
        err = fby_pipeline_make_split(pipeline, NULL, out, why);
    }
    fby_pipeline_destroy(&pipeline);
    return err;
}

static void names_that_are_wrong_are_refused_where_they_are(void **state)
{
    (void)state;
    static const struct {
        const char *field;
        const char *says;
    } cases[] = {
        {", names: [cat, dog, cat]",
            "p.yaml:6:36: 'cat' is given twice, as class 0 and class 2"},
        {", names: [cat, ~]", "p.yaml:6:31: expected the name of a class"},
        {", names: [cat, [dog]]", "p.yaml:6:31: expected the name of a class"},
        {", names: []", "p.yaml:6:25: expected a list of the classes' names"},
        {", names: {cat: 0}", "p.yaml:6:25: expected a list of the classes'"},
        {", names: [\" cat\"]", "p.yaml:6:26: ' cat' has a blank at an end"},
        {", names: no.txt", "p.yaml:6:25: names: /nowhere/no.txt: No such"},
        {", names: \"pets:no.txt\"",
            "p.yaml:6:25: names is a file at the trainer"},
        {", names: [a, b], classes: 1",
            "p.yaml:6:42: classes is 1, and there are 2 names"},
        {", names: [a, b], one_hot: {classes: 1}",
            "p.yaml:6:52: classes is 1, and there are 2 names"},
        {", decode: bytes, length: 1, names: [a, b]",
            "p.yaml:6:51: key 'names' is not used by decode: bytes"},
        {", name: [a, b]", "did you mean 'names'?"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct fby_split       *split = NULL;
        struct fby_error_detail why   = {{0}};
        assert_int_equal(
            parse("/nowhere", cases[i].field, &split, &why), FBY_CONFIG);
        assert_says(&why, cases[i].says);
    }
}

static void classes_are_the_number_of_names_unless_given(void **state)
{
    (void)state;
    static const struct {
        const char *field;
        uint32_t    classes;
        bool        one_hot;
    } cases[] = {{", names: [a, b, c]", 3, false},
        {", names: [a, b, c], classes: 300", 300, false},
        {", names: [a, b, c], one_hot: {smoothing: 0.1}", 3, true},
        {", names: [a, b, c], one_hot: {classes: 4}", 4, true}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct fby_split       *split = NULL;
        struct fby_error_detail why   = {{0}};
        if (parse("/", cases[i].field, &split, &why) != FBY_OK) {
            fail_msg("%s", why.text);
        }
        const struct fby_field_content *a = &split->content.fields[0];
        assert_int_equal(a->decode, FBY_DECODE_LABEL);
        assert_int_equal(a->as.label.classes, cases[i].classes);
        assert_int_equal(a->as.label.one_hot, cases[i].one_hot);
        assert_int_equal(
            a->wire_type, a->as.label.classes > 256 ? FBY_U16 : FBY_U8);
        assert_ptr_equal(fby_class_names_field(&split->content), a);
        fby_split_destroy(&split);
    }
}

static void columns_of_numpy_have_no_names(void **state)
{
    (void)state;
    static const char              text[] = "forebay: 1\n"
                                            "splits: {train: {columns: \"a-*.npy\"}}\n"
                                            "global_batch: 4\n"
                                            "fields: {a: {from: a, names: [x, y]}}\n";
    const struct fby_pipeline_text input  = {
         .text = text, .size = strlen(text), .name = "p.yaml", .folder = "/"};
    struct fby_pipeline    *pipeline = NULL;
    struct fby_error_detail why      = {{0}};
    assert_int_equal(fby_pipeline_parse(&input, &pipeline, &why), FBY_CONFIG);
    assert_says(&why, "p.yaml:4:30: names are for text; a column of NumPy");
}

static struct fby_digest digest_with(const char *folder, const char *field)
{
    struct fby_split       *split = NULL;
    struct fby_error_detail why   = {{0}};
    if (parse(folder, field, &split, &why) != FBY_OK) {
        fail_msg("%s", why.text);
    }
    struct fby_digest digest = fby_content_digest(&split->content);
    fby_split_destroy(&split);
    return digest;
}

static void names_and_their_order_are_a_part_of_the_content(void **state)
{
    (void)state;
    char folder[] = "/tmp/forebay-names-XXXXXX";
    char path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/c.txt", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("cat\ndog\n", file);
    fclose(file);
    struct fby_digest list  = digest_with(folder, ", names: [cat, dog]");
    struct fby_digest other = digest_with(folder, ", names: [dog, cat]");
    struct fby_digest none  = digest_with(folder, ", classes: 2");
    struct fby_digest read  = digest_with(folder, ", names: c.txt");
    assert_true(fby_digest_equal(&list, &read));
    assert_false(fby_digest_equal(&list, &other));
    assert_false(fby_digest_equal(&list, &none));
    unlink(path);
    rmdir(folder);
}

/* Replace the bytes at `at`, without a NUL after them. */
static void replace(char *at, const char *text)
{
    for (; *text != '\0'; text++) {
        *at++ = *text;
    }
}

static void content_from_the_network_has_the_same_rules(void **state)
{
    (void)state;
    struct fby_split       *split   = NULL;
    struct fby_content     *decoded = fby_zalloc(sizeof(*decoded));
    struct fby_buffer       bytes   = {0};
    struct fby_error_detail why     = {{0}};
    assert_ok(parse("/", ", names: [catfish, doghood]", &split, NULL));
    fby_content_encode(&split->content, &bytes);
    assert_ok(fby_content_decode(bytes.data, bytes.size, decoded, &why));
    struct fby_name_range range = fby_field_names(&decoded->fields[0]);
    assert_int_equal(id_of(&decoded->class_names, range, "doghood"), 1);
    range = fby_field_names(&decoded->fields[1]);
    assert_int_equal(id_of(&decoded->class_names, range, "y"), 1);
    char *at = memmem(bytes.data, bytes.size, "catfish", 7);
    assert_non_null(at);
    replace(at, "doghood");
    assert_int_equal(
        fby_content_decode(bytes.data, bytes.size, decoded, &why), FBY_PROTO);
    assert_says(&why, "content: key 2 is no name that a class can have");
    replace(at, "cat\nish");
    assert_int_equal(
        fby_content_decode(bytes.data, bytes.size, decoded, &why), FBY_PROTO);
    assert_says(&why, "content: key 1 is no name that a class can have");
    fby_split_destroy(&split);
    fby_buffer_fini(&bytes);
    free(decoded);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_is_found_in_its_own_range),
        cmocka_unit_test(a_name_that_is_not_valid_is_refused),
        cmocka_unit_test(names_are_at_most_4096_and_256_kib),
        cmocka_unit_test(a_file_has_a_name_a_line),
        cmocka_unit_test(an_unknown_class_is_named_with_the_nearest),
        cmocka_unit_test(names_that_are_wrong_are_refused_where_they_are),
        cmocka_unit_test(classes_are_the_number_of_names_unless_given),
        cmocka_unit_test(columns_of_numpy_have_no_names),
        cmocka_unit_test(names_and_their_order_are_a_part_of_the_content),
        cmocka_unit_test(content_from_the_network_has_the_same_rules),
    };
    return cmocka_run_group_tests_name(
        "pipeline.class_names", tests, NULL, NULL);
}
