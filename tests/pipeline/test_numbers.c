/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers and lists of a pipeline file at their limits: the last valid value,
 * and the error for the first invalid value. */
#include "tests/test.h"

#include <stdio.h>

#include "common/mem.h"
#include "tests/pipeline/sample.h"

/* The error text for `text`; "" if it loads. */
static const char *parse_error(const char *text)
{
    static struct fby_error_detail why;
    struct fby_pipeline           *p = NULL;
    why.text[0]                      = '\0';
    fby_err err                      = parse_text(text, &p, &why);
    assert_int_equal(err, why.text[0] == '\0' ? FBY_OK : FBY_CONFIG);
    fby_pipeline_destroy(&p);
    return why.text;
}

static const char *error_with(const char *old, const char *new)
{
    char       *text = changed(old, new);
    const char *said = parse_error(text);
    free(text);
    return said;
}

/* A change of the sample file. */
struct border {
    const char *old, *new;
    const char *wrong; /* part of the error; NULL: it is taken */
};

static void check_borders(const struct border *cases, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const char *said = error_with(cases[i].old, cases[i].new);
        if (cases[i].wrong == NULL ? said[0] != '\0'
                                   : strstr(said, cases[i].wrong) == NULL) {
            fail_msg("%s: \"%s\"", cases[i].new, said);
        }
    }
}

/* A crop, and six pads, of which the last one is left open. */
#define PAD(by) ", only: val}\n      - pad: {padding: " by
#define SIX_PADS(by, size)                                                   \
    "center_crop: {size: [" size "]" PAD(by) PAD(by) PAD(by) PAD(by) PAD(by) \
        PAD(by)

static void numbers_of_the_order_have_their_limits(void **state)
{
    (void)state;
    static const struct border cases[] = {
        {"lanes: 16", "lanes: 1", NULL},
        {"lanes: 16", "lanes: 65536", NULL},
        {"lanes: 16", "lanes: 65537", "an integer, 1 to 65536, not '65537'"},
        {"slices: 4", "slices: 1", NULL},
        {"slices: 4", "slices: 24", NULL},
        {"slices: 4", "slices: 0", "expected an integer that divides"},
        {"{block: 4}", "{block: 1}", NULL},
        {"{block: 4}", "{block: 1048576}", NULL},
        {"{block: 4}", "{block: 1048577}", "not '1048577'"},
        {"limit: 100", "limit: 1", NULL},
        {"limit: 100", "limit: 2147483647", NULL},
        {"limit: 100", "limit: 2147483648", "not '2147483648'"},
        {"seed: 42", "seed: 0", NULL},
        {"seed: 42", "seed: 9223372036854775807", NULL},
        {"seed: 42", "seed: 9223372036854775808", "9223372036854775808"},
        {"global_batch: 24", "global_batch: 65536", NULL},
        {"global_batch: 24", "global_batch: 65537", "not '65537'"},
    };
    check_borders(cases, sizeof(cases) / sizeof(cases[0]));
}

static void numbers_of_fields_have_their_limits(void **state)
{
    (void)state;
    static const struct border cases[] = {
        {"length: 16", "length: 1", NULL},
        {"length: 16", "length: 1073741824", NULL},
        {"length: 16", "length: 1073741825", "not '1073741825'"},
        {"length: 16", "max_length: 33554368", NULL},
        {"length: 16", "max_length: 33554369", "not '33554369'"},
        {"length: 16", "max_length: 1", NULL},
        {"classes: 10, out", "classes: 1, out", NULL},
        {"classes: 10, out", "classes: 2147483647, out", NULL},
        {"classes: 10, out", "classes: 2147483648, out", "not '2147483648'"},
        {"classes: 10, out", "classes: 0, out", "not '0'"},
        {"classes: 1000", "classes: 1", NULL},
        {"classes: 1000", "classes: 65536", NULL},
        {"classes: 1000", "classes: 65537", "not '65537'"},
        {"smoothing: 0.1", "smoothing: 0", NULL},
        {"smoothing: 0.1", "smoothing: 0.999999", NULL},
    };
    check_borders(cases, sizeof(cases) / sizeof(cases[0]));
}

static void shapes_and_scales_of_arrays_have_their_limits(void **state)
{
    (void)state;
    static const struct border cases[] = {
        {"shape: [2, 3]", "shape: [1, 2, 3, 4]", NULL},
        {"shape: [2, 3]", "shape: [1, 2, 3, 4, 5]", "not a list of 5"},
        {"shape: [2, 3]", "shape: [536870912]", NULL},
        {"shape: [2, 3]", "shape: [536870913]", "more than 1073741824 bytes"},
        {"shape: [2, 3]", "shape: [0]", "not '0'"},
        {"wire: f16", "wire: f16, out: {scale: 1.0e+30}", NULL},
        {"wire: f16", "wire: f16, out: {scale: 1.1e+30}", "not '1.1e+30'"},
        {"shape: [2, 3], wire: f16", "shape: [], wire: f16, out: {scale: [1]}",
            NULL},
        {"shape: [2, 3], wire: f16",
            "shape: [], wire: f16, out: {scale: [1, 2]}",
            "2 numbers, but the last dimension is 1"},
        {"shape: [2, 3], wire: f16",
            "shape: [3], wire: f16, out: {scale: [1, 2, 3]}", NULL},
        {"shape: [2, 3], wire: f16",
            "shape: [3], wire: f16, out: {offset: [1, 2]}",
            "2 numbers, but the last dimension is 3"},
        {"shape: [2, 3], wire: f16",
            "shape: [3, 1, 2, 4], wire: f16, out: {scale: [1, 2, 3, 4]}", NULL},
        {"shape: [2, 3], wire: f16",
            "shape: [4, 3, 2, 1], wire: f16, out: {scale: [1, 2, 3, 4]}",
            "4 numbers, but the last dimension is 1"},
        {"key: s,",
            "key: "
            "kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk"
            ",",
            NULL},
        {"p: 0.25", "p: 0", NULL},
        {"p: 0.25", "p: 1", NULL},
        {"p: 0.25", "p: [0.25]", "a number, 0 to 1 (how often), not a list of"},
        {"p: 0.25", "p: -0.01", "not '-0.01'"},
        {"shorter: 232", "shorter: 16384", NULL},
        {"shorter: 232", "shorter: 16385", "not '16385'"},
        {"shorter: 232", "shorter: []", "not a list of 0"},
        {"std: 0.25", "std: 0.000001", NULL},
        {"std: 0.25", "std: [0.1, 0.2, 0.3, 0.4]", "not a list of 4"},
        {"std: 0.25", "std: [0.1, 0.2, x]", "not 'x'"},
        {"size: [224, 192]", "size: [8192, 8192]", NULL},
        {"size: [224, 192]", "size: [8192, 8193]", "of 8193 x 8192 pixels"},
        {"center_crop: {size: [224, 192]", SIX_PADS("[0, 4096]", "16383, 1"),
            NULL},
        {"center_crop: {size: [224, 192]", SIX_PADS("[0, 4096]", "16384, 1"),
            "make pictures of 1 x 65536 pixels (width x height)"},
        {"center_crop: {size: [224, 192]", SIX_PADS("[4096, 0]", "1, 16383"),
            NULL},
        {"center_crop: {size: [224, 192]", SIX_PADS("[4096, 0]", "1, 16384"),
            "make pictures of 65536 x 1 pixels (width x height)"},
        {"codec: lz4", "codec: anss",
            "'anss' is not a valid codec; use one of auto"},
        {"length: 16", "max_length: 16, out: {as: cu_seqlens}",
            "cu_seqlens, positions and mask need from: documents"},
        {"wire: f16", "wire: f16, out: {offset: -1.0e+30}", NULL},
        {"wire: f16", "wire: f16, out: {offset: -1.1e+30}", "not '-1.1e+30'"},
    };
    check_borders(cases, sizeof(cases) / sizeof(cases[0]));
}

static void keys_that_are_missing_are_asked_for(void **state)
{
    (void)state;
    assert_string_equal(
        parse_error("forebay: 1\nglobal_batch: 1\nfields: {x: {from: cls}}\n"),
        "p.yaml:1:1: key 'splits' is missing here: at least one split by name");
    assert_string_equal(
        parse_error("forebay: 1\nglobal_batch: 1\nsplits: {x: {folder: a}}\n"),
        "p.yaml:1:1: key 'fields' is missing here: at least one field by name");
}

static const char *field_error(const char *field)
{
    static char text[400];
    snprintf(text, sizeof(text),
        "forebay: 1\nglobal_batch: 8\nsplits: {train: {folder: a}}\n"
        "fields:\n  x: {%s}\n",
        field);
    return parse_error(text);
}

static void keys_that_exclude_each_other_are_named(void **state)
{
    (void)state;
    static const char colour[] =
        "grayscale needs red, green and blue, which a picture that travels as "
        "yuv420 gets on the device only; leave it out, or use wire: u8";
    assert_non_null(strstr(
        field_error("from: cls, classes: 65537, one_hot: {smoothing: 0.1}"),
        "one_hot has at most 65536 classes"));
    assert_string_equal(
        field_error("from: cls, classes: 65536, one_hot: {smoothing: 0.1}"),
        "");
    assert_non_null(
        strstr(field_error("from: jpg, wire: yuv420, ops: [grayscale, "
                           "{center_crop: {size: 8}}]"),
            colour));
    assert_non_null(strstr(field_error("from: jpg, wire: yuv420, ops: "
                                       "[{center_crop: {size: 8}}, grayscale]"),
        colour));
    assert_non_null(strstr(
        field_error("from: png, decode: mask8, out: {dtype: i64}, ops: "
                    "[{center_crop: {size: 8}}], device: [vertical_flip]"),
        "cannot be made by flips on the device; use i32, or flip under ops"));
}

/* `n` times `format` with the numbers from 0, between `head` and `tail`. */
static const char *error_of_many(
    const char *head, uint32_t n, const char *format, const char *tail)
{
    static char text[16384];
    size_t      at = (size_t)snprintf(text, sizeof(text), "%s", head);
    for (uint32_t i = 0; i < n; i++) {
        const char *x = strchr(format, '#');
        at += (size_t)snprintf(text + at, sizeof(text) - at, "%.*s%u%s",
            (int)(x - format), format, i, x + 1);
    }
    snprintf(text + at, sizeof(text) - at, "%s", tail);
    return parse_error(text);
}

static void lists_are_as_long_as_they_may_be(void **state)
{
    (void)state;
    static const struct {
        uint32_t    most;
        const char *head, *format, *tail, *wrong;
    } lists[] = {
        {16, "forebay: 1\nsplits: {", "s#: {folder: a}, ",
            "}\nglobal_batch: 1\nfields: {x: {from: cls}}\n",
            "more than 16 splits"},
        {32, "forebay: 1\nsplits: {s: {folder: a}}\nglobal_batch: 1\nfields: {",
            "f#: {from: cls}, ", "}\n", "more than 32 fields"},
        {8,
            "forebay: 1\nsplits: {s: {folder: a}}\nglobal_batch: 1\nfields: {x:"
            " {decode: label, from: [",
            "e#, ", "]}}\n", "expected 1 to 8 extensions, not 9"},
        {32,
            "forebay: 1\nsplits: {s: {folder: a}}\nglobal_batch: 1\nfields: {x:"
            " {decode: maps, ops: [center_crop: {size: 8}], from: [",
            "e#.png, ", "]}}\n", "(of maps, 1 to 32)"},
        {16,
            "forebay: 1\nsplits: {s: {folder: a}}\nglobal_batch: 1\nfields: {x:"
            " {from: jpg, ops: [",
            "center_crop: {size: 1#}, ", "]}}\n", "16"},
        {16, "forebay: 1\nsplits: {s: {list: a.csv, files: [", "c#, ",
            "]}}\nglobal_batch: 1\nfields: {x: {from: a, decode: label}}\n",
            "expected 1 to 16 columns, not 17"},
    };
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        const char *said = error_of_many(
            lists[i].head, lists[i].most, lists[i].format, lists[i].tail);
        assert_string_equal(said, "");
        said = error_of_many(
            lists[i].head, lists[i].most + 1, lists[i].format, lists[i].tail);
        if (strstr(said, lists[i].wrong) == NULL) {
            fail_msg("%s", said);
        }
    }
}

static void there_are_at_most_63_bounds(void **state)
{
    (void)state;
    char bounds[64 * 5];
    char text[600];
    for (uint32_t n = 63; n <= 64; n++) {
        size_t at = 0;
        for (uint32_t i = 0; i < n; i++) {
            at += (size_t)snprintf(
                bounds + at, sizeof(bounds) - at, "%u, ", 10 + i);
        }
        snprintf(text, sizeof(text),
            "forebay: 1\nglobal_batch: 1\nfields: {x: {from: json, key: k}}\n"
            "splits: {s: {folder: a, bucket_by: {field: x, bounds: [%s]}}}\n",
            bounds);
        assert_int_equal(
            strstr(parse_error(text), "not a list of 64") != NULL, n == 64);
        assert_int_equal(parse_error(text)[0] == '\0', n == 63);
    }
}

static void one_of_several_splits_must_be_named(void **state)
{
    (void)state;
    struct fby_pipeline    *p     = NULL;
    struct fby_split       *split = NULL;
    struct fby_error_detail why   = {{0}};
    assert_ok(parse_text("forebay: 1\nglobal_batch: 1\n"
                         "fields: {x: {from: folder}}\n"
                         "splits: {one: {folder: a}, two: {folder: b}}\n",
        &p, &why));
    assert_int_equal(fby_pipeline_make_split(p, NULL, &split, &why), FBY_USAGE);
    assert_string_equal(
        why.text, "the pipeline has several splits; say which: one, two");
    assert_int_equal(
        fby_pipeline_make_split(p, "tow", &split, &why), FBY_USAGE);
    assert_string_equal(why.text, "the pipeline has no split 'tow'; did you "
                                  "mean 'two'?; it has one, two");
    assert_null(split);
    assert_ok(fby_pipeline_make_split(p, "two", &split, &why));
    assert_string_equal(split->location.pattern, "/home/me/b");
    fby_split_destroy(&split);
    fby_pipeline_destroy(&p);
}

static void an_op_of_the_device_is_found_among_those_of_its_split(void **state)
{
    (void)state;
    assert_string_equal(
        parse_error("forebay: 1\n"
                    "global_batch: 1\n"
                    "splits: {train: {folder: a}, val: {folder: b}}\n"
                    "fields:\n"
                    "  x:\n"
                    "    from: jpg\n"
                    "    ops: [{center_crop: {size: 9}}]\n"
                    "    device:\n"
                    "      - vertical_flip: {only: val}\n"
                    "      - horizontal_flip\n"
                    "      - horizontal_flip\n"
                    "      - normalize: {mean: 0, std: 1}\n"),
        "p.yaml:11:9: horizontal_flip is given twice under device; write it "
        "once (split 'train')");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_of_the_order_have_their_limits),
        cmocka_unit_test(numbers_of_fields_have_their_limits),
        cmocka_unit_test(shapes_and_scales_of_arrays_have_their_limits),
        cmocka_unit_test(keys_that_are_missing_are_asked_for),
        cmocka_unit_test(keys_that_exclude_each_other_are_named),
        cmocka_unit_test(lists_are_as_long_as_they_may_be),
        cmocka_unit_test(there_are_at_most_63_bounds),
        cmocka_unit_test(one_of_several_splits_must_be_named),
        cmocka_unit_test(an_op_of_the_device_is_found_among_those_of_its_split),
    };
    return cmocka_run_group_tests_name("pipeline.numbers", tests, NULL, NULL);
}
