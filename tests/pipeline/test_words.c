/* SPDX-License-Identifier: Apache-2.0 */
/* Combinations of words in a pipeline file: every wire type, dtype, form and
 * key with every kind of field. In the tables . means accepted and x refused.
 */
#include "tests/test.h"

#include <stdio.h>
#include <string.h>

#include "tests/pipeline/sample.h"

static const char *const wires[] = {
    "u8", "u16", "u32", "i32", "i64", "f16", "bf16", "f32", "bits", "yuv420"};
static const char *const dtypes[] = {
    "u8", "u16", "u32", "i32", "i64", "f16", "bf16", "f32", "bool"};
static const char *const forms[] = {"padded", "ragged", "dense", "csr", "coo",
    "cu_seqlens", "positions", "mask"};

#define CROP   "ops: [{center_crop: {size: 8}}]"
#define SHARDS "shards: s.tar"
#define TOKENS                                                             \
    "tokens: {files: t.bin, format: flat, type: u16, length: 8, shift: 1," \
    " pack: documents, end: 7}"

/* The error for a file with one field; "" if it loads. */
static const char *said_of(const char *source, const char *field)
{
    static struct fby_error_detail why;
    struct fby_pipeline           *p = NULL;
    char                           text[800];
    snprintf(text, sizeof(text),
        "forebay: 1\nsplits: {train: {%s}}\nglobal_batch: 8\n"
        "fields: {x: {%s}}\n",
        source, field);
    why.text[0] = '\0';
    fby_err err = parse_text(text, &p, &why);
    assert_int_equal(err, why.text[0] == '\0' ? FBY_OK : FBY_CONFIG);
    fby_pipeline_destroy(&p);
    return why.text;
}

struct row {
    const char *field; /* # stands for the word */
    const char *taken; /* a letter a word */
};

static void check(const char *source, const struct row *rows, size_t n,
    const char *const *words, size_t n_words)
{
    for (size_t i = 0; i < n; i++) {
        const char *at = strchr(rows[i].field, '#');
        assert_int_equal(strlen(rows[i].taken), n_words);
        for (size_t k = 0; k < n_words; k++) {
            char field[400];
            snprintf(field, sizeof(field), "%.*s%s%s",
                (int)(at - rows[i].field), rows[i].field, words[k], at + 1);
            const char *said  = said_of(source, field);
            bool        named = strncmp(said, "p.yaml:4:", 9) == 0;
            if (rows[i].taken[k] == '.' ? said[0] != '\0' : !named) {
                fail_msg("%s: \"%s\"", field, said);
            }
        }
    }
}

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define CHECK(source, rows, words) \
    check(source, rows, COUNT(rows), words, COUNT(words))

static void kinds_travel_as_the_types_that_they_can(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"from: jpg, wire: #, " CROP, ".xxxxxxxx."},
        {"from: jpg, wire: {type: #}, " CROP, ".xxxxxxxx."},
        {"from: png, decode: mask8, wire: #, " CROP, ".xxxxxxxxx"},
        {"from: png, decode: maps, wire: #, " CROP, "xxxxxxxx.x"},
        {"from: cls, wire: #", "xx.xxxxxxx"},
        {"from: cls, classes: 256, wire: #", ".xxxxxxxxx"},
        {"from: cls, classes: 257, wire: #", "x.xxxxxxxx"},
        {"from: cls, classes: 65536, wire: #", "x.xxxxxxxx"},
        {"from: cls, classes: 65537, wire: #", "xx.xxxxxxx"},
        {"from: json, wire: #", ".....xx.xx"},
        {"from: json, max_length: 2, wire: #", ".....xx.xx"},
        {"from: bin, length: 2, wire: #", ".xxxxxxxxx"},
        {"from: bin, max_length: 2, wire: #", ".xxxxxxxxx"},
        {"from: txt, decode: text, max_length: 2, wire: #", ".xxxxxxxxx"},
        {"from: npy, decode: array, shape: [2], wire: #", ".........x"},
        {"from: npy, decode: array, shape: [2], max_length: 3, wire: #",
            "........xx"},
        {"from: npz, decode: sparse, shape: [2], max_length: 2, wire: #",
            "........xx"},
    };
    static const struct row tokens[] = {
        {"from: input, wire: #", "x..xxxxxxx"},
        {"from: target, wire: #", "x..xxxxxxx"},
        {"from: documents, wire: #", "xxxxxxxxxx"},
    };
    CHECK(SHARDS, rows, wires);
    CHECK(TOKENS, tokens, wires);
}

static void kinds_become_the_dtypes_that_hold_them(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"from: jpg, out: {dtype: #}, " CROP, ".xxxx...x"},
        {"from: jpg, wire: yuv420, out: {dtype: #}, " CROP, ".xxxx...x"},
        {"from: jpg, out: {dtype: #}, " CROP
         ", device: [{normalize: {mean: 0, std: 1}}]",
            "xxxxx...x"},
        {"from: png, decode: mask8, out: {dtype: #}, " CROP, "........x"},
        {"from: png, decode: mask8, out: {dtype: #}, " CROP
         ", device: [horizontal_flip]",
            "....x...x"},
        {"from: png, decode: maps, out: {dtype: #}, " CROP, ".xxxx...."},
        {"from: cls, out: {dtype: #}", "xx...xxxx"},
        {"from: cls, classes: 256, out: {dtype: #}", ".....xxxx"},
        {"from: cls, classes: 257, out: {dtype: #}", "x....xxxx"},
        {"from: cls, classes: 65536, out: {dtype: #}", "x....xxxx"},
        {"from: cls, classes: 65537, out: {dtype: #}", "xx...xxxx"},
        {"from: cls, one_hot: {classes: 9, dtype: #}", ".xxxx...x"},
        {"from: cls, one_hot: {classes: 9, smoothing: 0.1, dtype: #}",
            "xxxxx...x"},
        {"from: json, out: {dtype: #}", "xxxxx...x"},
        {"from: bin, length: 2, out: {dtype: #}", "........x"},
        {"from: bin, max_length: 2, out: {dtype: #}", "........x"},
        {"from: txt, decode: text, max_length: 2, out: {dtype: #}",
            "........x"},
        {"from: npy, decode: array, shape: [2], wire: bits, out: {dtype: #}",
            ".xxxx...."},
        {"from: npy, decode: array, shape: [2], wire: u8, out: {scale: 2, "
         "dtype: #}",
            "xxxxx...x"},
        {"from: npy, decode: array, shape: [2], wire: u8, out: {offset: 2, "
         "dtype: #}",
            "xxxxx...x"},
    };
    static const struct row tokens[] = {
        {"from: input, out: {dtype: #}", "xx...xxxx"},
        {"from: documents, out: {dtype: #}", "xx...xxxx"},
        {"from: documents, out: {as: padded, dtype: #}", "xx...xxxx"},
        {"from: documents, out: {as: ragged, dtype: #}", "xx...xxxx"},
        {"from: documents, out: {as: cu_seqlens, dtype: #}", "xxx..xxxx"},
        {"from: documents, out: {as: positions, dtype: #}", "xxx..xxxx"},
        {"from: documents, out: {as: mask, dtype: #}", ".xxxx...."},
    };
    CHECK(SHARDS, rows, dtypes);
    CHECK(TOKENS, tokens, dtypes);
}

static void a_dtype_holds_every_value_of_a_wire_type(void **state)
{
    (void)state;
    static const char *const taken[]  = {"........x", "x.......x", "xx.x....x",
         "xxx.....x", "xxxx....x", "xxxxx...x", "xxxxx...x", "xxxxx...x"};
    static const char *const fields[] = {
        "from: npy, decode: array, shape: [2], wire: %s, out: {dtype: #}",
        "from: npy, decode: array, shape: [2], max_length: 3, wire: %s, out: "
        "{dtype: #}",
        "from: npz, decode: sparse, shape: [2], max_length: 2, wire: %s, out: "
        "{dtype: #}",
        "from: json, wire: %s, out: {dtype: #}",
        "from: json, max_length: 2, wire: %s, out: {dtype: #}"};
    for (size_t f = 0; f < COUNT(fields); f++) {
        for (size_t i = 0; i < COUNT(taken); i++) {
            char       field[200];
            struct row row = {field, taken[i]};
            if (f >= 3 && (i == 5 || i == 6)) {
                continue; /* numbers do not travel as f16 and bf16 */
            }
            const char *at = strstr(fields[f], "%s");
            snprintf(field, sizeof(field), "%.*s%s%s", (int)(at - fields[f]),
                fields[f], wires[i], at + 2);
            check(SHARDS, &row, 1, dtypes, COUNT(dtypes));
        }
    }
}

static void rows_that_vary_have_the_forms_of_their_kind(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"from: txt, decode: text, max_length: 2, out: {as: #}", "..xxxxxx"},
        {"from: json, max_length: 2, out: {as: #}", "..xxxxxx"},
        {"from: txt, decode: text, max_length: 2, out: {as: #, pad: 1}",
            ".xxxxxxx"},
        {"from: txt, decode: text, max_length: 2, out: {as: #, to: max}",
            ".xxxxxxx"},
        {"from: txt, decode: text, max_length: 2, out: {as: #, offsets: i32}",
            "x.xxxxxx"},
        {"from: npz, decode: sparse, shape: [2], max_length: 2, wire: u8, out: "
         "{as: #}",
            "xx...xxx"},
        {"from: npz, decode: sparse, shape: [2], max_length: 2, wire: u8, out: "
         "{as: #, offsets: i64}",
            "xxx.xxxx"},
        {"from: npz, decode: sparse, shape: [2], max_length: 2, wire: u8, out: "
         "{as: #, pad: 0}",
            "xxxxxxxx"},
        {"from: npz, decode: sparse, shape: [2, 2], max_length: 2, wire: u8, "
         "out: {as: #}",
            "xx.x.xxx"},
        {"from: bin, length: 2, out: {as: #}", "xxxxxxxx"},
        {"from: cls, out: {as: #}", "xxxxxxxx"},
    };
    static const struct row tokens[] = {
        {"from: documents, out: {as: #}", "..xxx..."},
        {"from: documents, out: {as: #, pad: 1}", ".xxxxxxx"},
        {"from: documents, out: {as: #, to: longest}", ".xxxxxxx"},
        {"from: documents, out: {as: #, offsets: i64}", "x.xxxxxx"},
        {"from: input, out: {as: #}", "xxxxxxxx"},
    };
    CHECK(SHARDS, rows, forms);
    CHECK(TOKENS, tokens, forms);
}

static void photo_and_pack_are_for_pictures_and_go_together(void **state)
{
    (void)state;
    static const char *const filters[] = {
        "auto", "none", "delta", "byte_shuffle", "bit_shuffle", "photo"};
    static const struct row rows[] = {
        {"from: jpg, wire: {filter: #}, " CROP, "......"},
        {"from: jpg, wire: {filter: #, codec: auto}, " CROP, "......"},
        {"from: jpg, wire: {filter: #, codec: store}, " CROP, ".....x"},
        {"from: jpg, wire: {filter: #, codec: lz4}, " CROP, ".....x"},
        {"from: jpg, wire: {filter: #, codec: pack}, " CROP, ".xxxx."},
        {"from: png, decode: mask8, wire: {filter: #, codec: pack}, " CROP,
            ".xxxx."},
        {"from: png, decode: maps, wire: {filter: #}, " CROP, ".....x"},
        {"from: png, decode: maps, wire: {filter: #, codec: pack}, " CROP,
            "xxxxxx"},
        {"from: json, wire: {filter: #, codec: lz4}", ".....x"},
        {"from: json, wire: {filter: #, codec: pack}", "xxxxxx"},
    };
    CHECK(SHARDS, rows, filters);
}

static void keys_belong_to_decoders(void **state)
{
    (void)state;
    static const char *const keys[] = {"dct_scale: fast", "group: g", "key: k",
        "pick: random", "length: 2", "shape: [2]", "max_length: 2",
        "too_long: refuse", "classes: 2", "ops: []", "device: []",
        "one_hot: {classes: 2}", "fit: stretch", "fit: refuse"};
    static const struct {
        const char *decode, *used;
    } rows[] = {
        {"rgb8", "..xxxxxxx..xxx"},
        {"label", "xx..xxxx.xx.xx"},
        {"number", "xx..xx..xxxxxx"},
        {"bytes", "xxxx.x..xxxxxx"},
        {"mask8", "x.xxxxxxx..x.."},
        {"array", "xxxxx...xxxxxx"},
        {"text", "xx..xx..xxxxxx"},
        {"sparse", "xxxxx...xxxxxx"},
        {"maps", "x.xxxxxxx.xx.."},
        {"tokens", "xxxxxxxxxxxxxx"},
        {"documents", "xxxxxxxxxxxxxx"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        for (size_t k = 0; k < COUNT(keys); k++) {
            char field[100];
            char wrong[100];
            snprintf(field, sizeof(field), "from: a, decode: %s, %s",
                rows[i].decode, keys[k]);
            snprintf(wrong, sizeof(wrong),
                "key '%.*s' is not used by decode: %s (from a)",
                (int)strcspn(keys[k], ":"), keys[k], rows[i].decode);
            bool refused = strstr(said_of(SHARDS, field), wrong) != NULL;
            if (refused != (rows[i].used[k] == 'x')) {
                fail_msg("%s: %s", field, said_of(SHARDS, field));
            }
        }
    }
}

static void layouts_scales_and_forms_have_their_kinds(void **state)
{
    (void)state;
    static const char *const keys[] = {"layout: chw", "scale: 1", "offset: 1",
        "as: padded", "to: max", "pad: 1", "offsets: i32"};
    static const struct row  rows[] = {
         {"from: jpg, out: {#}, " CROP, ".xxxxxx"},
         {"from: png, decode: mask8, out: {#}, " CROP, "xxxxxxx"},
         {"from: png, decode: maps, out: {#}, " CROP, ".xxxxxx"},
         {"from: cls, out: {#}", "xxxxxxx"},
         {"from: json, out: {#}", "xxxxxxx"},
         {"from: json, max_length: 3, out: {#}", "xxx...x"},
         {"from: bin, length: 2, out: {#}", "xxxxxxx"},
         {"from: bin, max_length: 2, out: {#}", "xxx...x"},
         {"from: npy, decode: array, wire: u8, shape: [2, 2, 2], out: {#}",
             "...xxxx"},
         {"from: npy, decode: array, wire: u8, shape: [2, 2], out: {#}",
             "x..xxxx"},
         {"from: npy, decode: array, wire: u8, shape: [2, 2, 2, 2], out: {#}",
             "x..xxxx"},
         {"from: npy, decode: array, wire: u8, shape: [2, 2, 2], max_length: 2, "
           "out: {#}",
             "xxx...x"},
         {"from: npy, decode: array, wire: bits, shape: [2, 2, 2], out: {#}",
             ".xxxxxx"},
         {"from: npz, decode: sparse, wire: u8, shape: [2, 2, 2], max_length: "
           "2, out: {#}",
             "xxxxxxx"},
    };
    static const struct row tokens[] = {
        {"from: input, out: {#}", "xxxxxxx"},
        {"from: documents, out: {#}", "xxx.xx."},
        {"from: documents, out: {as: padded, #}", "xxxx..x"},
    };
    CHECK(SHARDS, rows, keys);
    CHECK(TOKENS, tokens, keys);
}

static void extensions_have_their_decoders(void **state)
{
    (void)state;
    static const struct row kinds[] = {
        {"from: #, " CROP, "......xxxxxxx"},
        {"from: #, decode: mask8, " CROP, "xx..xxxxxxxxx"},
        {"from: #, decode: maps, " CROP, "xx..xxxxxxxxx"},
        {"from: #", "xxxxxx..xx.xx"},
        {"from: #, length: 2", "xxxxxxxx..x.."},
        {"from: #, decode: array, shape: [2], wire: u8", "xxxxxxxx.xxxx"},
        {"from: #, decode: sparse, shape: [2], max_length: 2, wire: u8",
            "xxxxxxxxx.xxx"},
        {"from: #, decode: text, max_length: 2", "............."},
        {"from: #, decode: label", "............."},
    };
    static const char *const extensions[] = {"jpg", "a.jpeg", "png", "b.png",
        "jpeg", "c.d.jpg", "cls", "a.cls", "a.npy", "npz", "json", "bin",
        "png_"};
    CHECK(SHARDS, kinds, extensions);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds_travel_as_the_types_that_they_can),
        cmocka_unit_test(kinds_become_the_dtypes_that_hold_them),
        cmocka_unit_test(a_dtype_holds_every_value_of_a_wire_type),
        cmocka_unit_test(rows_that_vary_have_the_forms_of_their_kind),
        cmocka_unit_test(photo_and_pack_are_for_pictures_and_go_together),
        cmocka_unit_test(keys_belong_to_decoders),
        cmocka_unit_test(layouts_scales_and_forms_have_their_kinds),
        cmocka_unit_test(extensions_have_their_decoders),
    };
    return cmocka_run_group_tests_name("pipeline.words", tests, NULL, NULL);
}
