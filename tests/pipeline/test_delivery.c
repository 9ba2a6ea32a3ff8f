/* SPDX-License-Identifier: Apache-2.0 */
/* The delivery of fields: as the pipeline file says, and by default. */
#include "tests/test.h"

#include <stdio.h>

#include "tests/pipeline/sample.h"

static const char *type_word(enum fby_type type)
{
    static const char *const words[] = {
        "none", "u8", "u16", "i32", "i64", "f16", "bf16", "f32", "u32", "bool"};
    return words[type];
}

/* "u8 > f32 hwc 255 255": wire and handed-out type, layout, filter and codec;
 * then the scale, then the form of rows whose length varies. */
static void describe(const struct fby_split *split, size_t i, char out[256])
{
    static const char *const layouts[] = {"-", "hwc", "chw", "last", "hw"};
    static const char *const as[] = {"", " padded", " ragged", " dense", " csr",
        " coo", " cu_seqlens", " positions", " mask"};
    const struct fby_field_content  *f = &split->content.fields[i];
    const struct fby_field_delivery *d = &split->delivery.fields[i];
    int n = snprintf(out, 256, "%s > %s %s %d %d", type_word(f->wire_type),
        type_word(d->dtype), layouts[d->layout], d->filter, d->codec);
    if (d->scaled) {
        n += snprintf(out + n, 256 - (size_t)n, " x%u:", d->channels);
    }
    for (uint32_t c = 0; c < d->channels; c++) {
        n += snprintf(
            out + n, 256 - (size_t)n, " %g+%g", d->scale[c], d->offset[c]);
    }
    n += snprintf(out + n, 256 - (size_t)n, "%s%s", as[d->as],
        d->longest ? " longest" : "");
    if (d->as != 0) {
        snprintf(
            out + n, 256 - (size_t)n, " %g %s", d->pad, type_word(d->offsets));
    }
}

static struct fby_split *split_with_field(const char *source, const char *field)
{
    char text[600];
    snprintf(text, sizeof(text),
        "forebay: 1\nsplits: {train: {%s}}\nglobal_batch: 8\n"
        "fields: {x: {%s}}\n",
        source, field);
    return split_of(text, "train");
}

struct handed_out {
    const char *field;
    const char *wanted;
};

static void check(const char *source, const struct handed_out *cases, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char              text[256];
        struct fby_split *split = split_with_field(source, cases[i].field);
        describe(split, 0, text);
        if (strcmp(text, cases[i].wanted) != 0) {
            fail_msg("%s: %s, not %s", cases[i].field, text, cases[i].wanted);
        }
        fby_split_destroy(&split);
    }
}

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define CROP         "ops: [{center_crop: {size: 8}}]"

static void pictures_masks_and_maps_are_handed_out(void **state)
{
    (void)state;
    static const struct handed_out cases[] = {
        {"from: jpg, " CROP, "u8 > u8 hwc 255 255"},
        {"from: jpg, " CROP ", device: [{normalize: {mean: 0, std: 1}}]",
            "u8 > f32 hwc 255 255"},
        {"from: jpg, " CROP
         ", device: [{normalize: {mean: 0, std: 1}}], out: {dtype: bf16}",
            "u8 > bf16 hwc 255 255"},
        {"from: jpg, " CROP ", out: {dtype: f16, layout: chw}",
            "u8 > f16 chw 255 255"},
        {"from: jpg, " CROP ", out: {layout: channels_last}, wire: yuv420",
            "u8 > u8 last 255 255"},
        {"from: jpg, " CROP ", wire: {filter: photo}", "u8 > u8 hwc 4 255"},
        {"from: jpg, " CROP ", wire: {codec: lz4}", "u8 > u8 hwc 255 1"},
        {"from: jpg, " CROP ", wire: {filter: none, codec: store}",
            "u8 > u8 hwc 0 0"},
        {"from: png, decode: mask8, " CROP, "u8 > u8 hwc 255 255"},
        {"from: png, decode: mask8, " CROP ", out: {dtype: i64}",
            "u8 > i64 hwc 255 255"},
        {"from: png, decode: mask8, " CROP ", out: {dtype: i64, layout: hw}",
            "u8 > i64 hw 255 255"},
        {"from: [a.png, b.png], decode: maps, " CROP, "u8 > u8 hwc 255 255"},
        {"from: [a.png, b.png], decode: maps, " CROP
         ", out: {dtype: f32, layout: chw}",
            "u8 > f32 chw 255 255"},
    };
    check("shards: s.tar", cases, COUNT(cases));
}

static void labels_numbers_and_bytes_are_handed_out(void **state)
{
    (void)state;
    static const struct handed_out cases[] = {
        {"from: cls", "u32 > i64 hwc 255 255"},
        {"from: cls, classes: 10", "u8 > i64 hwc 255 255"},
        {"from: cls, classes: 1000, out: {dtype: i32}",
            "u16 > i32 hwc 255 255"},
        {"from: cls, classes: 10, one_hot: {smoothing: 0.1}",
            "u8 > f32 hwc 255 255"},
        {"from: cls, one_hot: {classes: 10, dtype: bf16}",
            "u8 > bf16 hwc 255 255"},
        {"from: cls, classes: 70000, wire: {filter: byte_shuffle}",
            "u32 > i64 hwc 2 255"},
        {"from: json, key: a", "f32 > f32 hwc 255 255"},
        {"from: json, key: a, wire: i64", "i64 > i64 hwc 255 255"},
        {"from: json, key: a, wire: u8, out: {dtype: f32}",
            "u8 > f32 hwc 255 255"},
        {"from: bin, decode: bytes, length: 5", "u8 > u8 hwc 255 255"},
    };
    check("shards: s.tar", cases, COUNT(cases));
}

static void arrays_are_handed_out(void **state)
{
    (void)state;
    static const struct handed_out cases[] = {
        {"from: npy, decode: array, shape: [2, 3], wire: f16",
            "f16 > f16 hwc 255 255"},
        {"from: npy, decode: array, shape: [2, 3], wire: u8, out: {scale: 2}",
            "u8 > f32 hwc 255 255 x1: 2+0"},
        {"from: npy, decode: array, shape: [2, 3], wire: u8, out: {offset: -1, "
         "dtype: f16}",
            "u8 > f16 hwc 255 255 x1: 1+-1"},
        {"from: npy, decode: array, shape: [2, 3], wire: u16, out: {scale: [1, "
         "2, 3]}",
            "u16 > f32 hwc 255 255 x3: 1+0 2+0 3+0"},
        {"from: npy, decode: array, shape: [2, 3], wire: u16, out: {scale: 4, "
         "offset: [1, 2, 3]}",
            "u16 > f32 hwc 255 255 x3: 4+1 4+2 4+3"},
        {"from: npy, decode: array, shape: [2, 3], wire: u16, out: {scale: [1, "
         "2, 3], offset: 9}",
            "u16 > f32 hwc 255 255 x3: 1+9 2+9 3+9"},
        {"from: npy, decode: array, shape: [2, 3, 3], wire: u8, out: {layout: "
         "chw}",
            "u8 > u8 chw 255 255"},
        {"from: npy, decode: array, shape: [], wire: u8, out: {scale: [2]}",
            "u8 > f32 hwc 255 255 x1: 2+0"},
        {"from: npy, decode: array, shape: [4, 12], wire: bits",
            "u8 > u8 hwc 255 255"},
        {"from: npy, decode: array, shape: [4, 12], wire: bits, out: {dtype: "
         "f16}",
            "u8 > f16 hwc 255 255"},
        {"from: npy, decode: array, shape: [], wire: i64, out: {dtype: i64}",
            "i64 > i64 hwc 255 255"},
        {"from: npy, decode: array, shape: [2, 3], wire: f16, out: {dtype: "
         "bf16, scale: 2, offset: [1, 2, 4]}",
            "f16 > bf16 hwc 255 255 x3: 2+1 2+2 2+4"},
    };
    check("shards: s.tar", cases, COUNT(cases));
}

static void ragged_rows_are_handed_out(void **state)
{
    (void)state;
    static const struct handed_out cases[] = {
        {"from: txt, decode: text, max_length: 9",
            "u8 > u8 hwc 255 255 padded 0 i32"},
        {"from: txt, decode: text, max_length: 9, out: {to: longest}",
            "u8 > u8 hwc 255 255 padded longest 0 i32"},
        {"from: txt, decode: text, max_length: 9, out: {to: max}",
            "u8 > u8 hwc 255 255 padded 0 i32"},
        {"from: txt, decode: text, max_length: 9, out: {as: ragged}",
            "u8 > u8 hwc 255 255 ragged 0 i32"},
        {"from: txt, decode: text, max_length: 9, out: {as: padded, pad: 7}",
            "u8 > u8 hwc 255 255 padded 7 i32"},
        {"from: bin, decode: bytes, max_length: 9, out: {as: ragged, offsets: "
         "i64}",
            "u8 > u8 hwc 255 255 ragged 0 i64"},
        {"from: npy, decode: array, shape: [], max_length: 9, wire: i32",
            "i32 > i32 hwc 255 255 padded 0 i32"},
        {"from: npy, decode: array, shape: [], max_length: 9, wire: i32, out: "
         "{dtype: i64, pad: -100}",
            "i32 > i64 hwc 255 255 padded -100 i32"},
        {"from: npy, decode: array, shape: [2], max_length: 9, wire: f16, out: "
         "{as: ragged, dtype: f32, offsets: i32}",
            "f16 > f32 hwc 255 255 ragged 0 i32"},
        {"from: json, key: a, max_length: 4",
            "f32 > f32 hwc 255 255 padded 0 i32"},
        {"from: json, key: a, max_length: 4, wire: u16, out: {pad: 3}",
            "u16 > u16 hwc 255 255 padded 3 i32"},
    };
    check("shards: s.tar", cases, COUNT(cases));
}

static void sparse_rows_are_handed_out(void **state)
{
    (void)state;
    static const struct handed_out cases[] = {
        {"from: npz, decode: sparse, shape: [70000], max_length: 5, wire: f16",
            "f16 > f16 hwc 255 255 dense 0 i32"},
        {"from: npz, decode: sparse, shape: [70000], max_length: 5, wire: f16, "
         "out: {as: csr, offsets: i64}",
            "f16 > f16 hwc 255 255 csr 0 i64"},
        {"from: npz, decode: sparse, shape: [7, 9], max_length: 5, wire: u8, "
         "out: {as: coo, dtype: f32}",
            "u8 > f32 hwc 255 255 coo 0 i32"},
        {"from: npz, decode: sparse, shape: [7, 9], max_length: 5, wire: u8, "
         "out: {as: dense}",
            "u8 > u8 hwc 255 255 dense 0 i32"},
    };
    check("shards: s.tar", cases, COUNT(cases));
}

static void tokens_are_handed_out(void **state)
{
    (void)state;
    static const struct handed_out cases[] = {
        {"from: input", "u16 > i64 hwc 255 255"},
        {"from: target, out: {dtype: i32}", "u16 > i32 hwc 255 255"},
        {"from: input, wire: u32", "u32 > i64 hwc 255 255"},
        {"from: documents", "u16 > i32 hwc 255 255 ragged 0 i32"},
        {"from: documents, out: {as: cu_seqlens}",
            "u16 > i32 hwc 255 255 cu_seqlens 0 i32"},
        {"from: documents, out: {as: positions}",
            "u16 > i64 hwc 255 255 positions 0 i32"},
        {"from: documents, out: {as: cu_seqlens, dtype: i64}",
            "u16 > i64 hwc 255 255 cu_seqlens 0 i32"},
        {"from: documents, out: {as: mask}",
            "u16 > bool hwc 255 255 mask 0 i32"},
        {"from: documents, out: {as: mask, dtype: f32}",
            "u16 > f32 hwc 255 255 mask 0 i32"},
        {"from: documents, out: {as: ragged}",
            "u16 > i32 hwc 255 255 ragged 0 i32"},
    };
    check("tokens: {files: t.bin, format: flat, type: u16, length: 8, shift: 1,"
          " pack: documents, end: 7, pad: 9}",
        cases, COUNT(cases));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pictures_masks_and_maps_are_handed_out),
        cmocka_unit_test(labels_numbers_and_bytes_are_handed_out),
        cmocka_unit_test(arrays_are_handed_out),
        cmocka_unit_test(ragged_rows_are_handed_out),
        cmocka_unit_test(sparse_rows_are_handed_out),
        cmocka_unit_test(tokens_are_handed_out),
    };
    return cmocka_run_group_tests_name("pipeline.delivery", tests, NULL, NULL);
}
