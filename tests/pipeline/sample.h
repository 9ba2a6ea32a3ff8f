/* SPDX-License-Identifier: Apache-2.0 */
/* sample.h - a pipeline file with every key, and changes to it. */
#ifndef FBY_TESTS_PIPELINE_SAMPLE_H
#define FBY_TESTS_PIPELINE_SAMPLE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/parse.h"

/* Line numbers matter to the tests: add lines at the end. */
static const char sample_file[] =
    "forebay: 1\n" /* 1 */
    "splits:\n"    /* 2 */
    "  train: {shards: \"in1k:t-{000..127}.tar\", shuffle: {block: 4},\n"
    "          last: short, lanes: 16, slices: 4}\n"               /* 4 */
    "  val:   {shards: in1k:v.tar, shuffle: none, last: pad}\n"    /* 5 */
    "global_batch: 24\n"                                           /* 6 */
    "seed: 42\n"                                                   /* 7 */
    "on_bad_sample: {do: substitute, limit: 100}\n"                /* 8 */
    "fields:\n"                                                    /* 9 */
    "  image:\n"                                                   /* 10 */
    "    from: [jpg, jpeg]\n"                                      /* 11 */
    "    decode: rgb8\n"                                           /* 12 */
    "    dct_scale: off\n"                                         /* 13 */
    "    group: view\n"                                            /* 14 */
    "    ops:\n"                                                   /* 15 */
    "      - random_resized_crop: {size: 176, scale: [0.08, 1],\n" /* 16 */
    "                              ratio: [0.75, 1.3333], only: train}\n"
    "      - horizontal_flip: {p: 0.25, only: [train]}\n"           /* 18 */
    "      - resize: {shorter: 232, only: val}\n"                   /* 19 */
    "      - center_crop: {size: [224, 192], only: val}\n"          /* 20 */
    "    wire: {type: u8, filter: delta, codec: lz4}\n"             /* 21 */
    "    device:\n"                                                 /* 22 */
    "      - normalize: {mean: [0.4, 0.5, 0.6], std: 0.25}\n"       /* 23 */
    "    out: {dtype: bf16, layout: channels_last}\n"               /* 24 */
    "  label:\n"                                                    /* 25 */
    "    from: cls\n"                                               /* 26 */
    "    one_hot: {classes: 1000, smoothing: 0.1, only: train}\n"   /* 27 */
    "  score: {from: json, key: s, wire: f32, out: {dtype: f32}}\n" /* 28 */
    "  blob: {from: bin, decode: bytes, length: 16}\n"              /* 29 */
    "  kind: {from: cls, classes: 10, out: {dtype: i32}}\n"         /* 30 */
    "  table: {from: npy, decode: array, shape: [2, 3], wire: f16}\n";

static inline fby_err parse_text(
    const char *text, struct fby_pipeline **out, struct fby_error_detail *why)
{
    struct fby_pipeline_text input = {text, strlen(text), "p.yaml", "/home/me"};
    return fby_pipeline_parse(&input, out, why);
}

/* sample_file with the first `old` replaced by `new`; the caller frees it. */
static inline char *changed(const char *old, const char *new)
{
    const char *at  = strstr(sample_file, old);
    char       *out = NULL;
    if (at == NULL || asprintf(&out, "%.*s%s%s", (int)(at - sample_file),
                          sample_file, new, at + strlen(old)) < 0) {
        abort(); /* the file does not contain `old` */
    }
    return out;
}

/* A split of a valid text; the caller destroys it. */
static inline struct fby_split *split_of(const char *text, const char *name)
{
    struct fby_pipeline    *pipeline = NULL;
    struct fby_split       *split    = NULL;
    struct fby_error_detail why      = {{0}};
    if (parse_text(text, &pipeline, &why) != FBY_OK ||
        fby_pipeline_make_split(pipeline, name, &split, &why) != FBY_OK) {
        fprintf(stderr, "%s\n", why.text);
        abort();
    }
    fby_pipeline_destroy(&pipeline);
    return split;
}

#endif
