/* SPDX-License-Identifier: Apache-2.0 */
/* contents.h - contents of which a test changes a member, and the error of
 * fby_content_check() for them. */
#ifndef FBY_TESTS_PIPELINE_CONTENTS_H
#define FBY_TESTS_PIPELINE_CONTENTS_H

#include "tests/test.h"

#include <stdio.h>

#include "pipeline/check.h"
#include "pipeline/derived.h"
#include "tests/pipeline/sample.h"

/* The error text for `c`; "" if it is accepted. */
static inline const char *content_error(const struct fby_content *c)
{
    static struct fby_error_detail why;
    why.text[0] = '\0';
    fby_err err = fby_content_check(c, &why);
    assert_int_equal(err, why.text[0] == '\0' ? FBY_OK : FBY_CONFIG);
    return why.text;
}

static inline void name_is(char name[FBY_NAME_SIZE], const char *text)
{
    snprintf(name, FBY_NAME_SIZE, "%s", text);
}

/* A split with a field of each kind; *f is the field called `name`. */
static inline struct fby_split *split_with(
    const char *name, struct fby_field_content **f)
{
    struct fby_split *split = split_of(
        "forebay: 1\n"
        "splits: {train: {shards: s.tar}}\n"
        "global_batch: 24\n"
        "fields:\n"
        "  arr: {from: npy, decode: array, shape: [2, 3], wire: f16}\n"
        "  bits: {from: b.npy, decode: array, shape: [4, 12], wire: bits}\n"
        "  blob: {from: bin, decode: bytes, length: 16}\n"
        "  img: {from: [jpg, png], ops: [{center_crop: {size: 64}}],\n"
        "        device: [{normalize: {mean: 0.5, std: 0.25}}]}\n"
        "  lab: {from: cls, classes: 10, one_hot: {smoothing: 0.1}}\n"
        "  maps: {from: [a.png, b.png], decode: maps,\n"
        "         ops: [{center_crop: {size: 64}}]}\n"
        "  mask: {from: m.png, decode: mask8, ops: [{center_crop: {size: "
        "64}}]}\n"
        "  num: {from: json, key: s, wire: f32}\n"
        "  rag: {from: r.npy, decode: array, shape: [5], max_length: 40,\n"
        "        wire: u8}\n"
        "  spa: {from: npz, decode: sparse, shape: [6, 7], max_length: 42,\n"
        "        wire: f16}\n"
        "  txt: {from: txt, decode: text, max_length: 64}\n",
        "train");
    *f = split->content.fields;
    while (strcmp((*f)->name, name) != 0) {
        (*f)++;
    }
    return split;
}

/* The error text for the content after a change of field `f`, without the words
 * that name the field. */
static inline const char *field_error(
    struct fby_split *split, struct fby_field_content *f)
{
    char start[80];
    f->shape         = fby_field_shape(f);
    int         n    = snprintf(start, sizeof(start), "field '%s': ", f->name);
    const char *text = content_error(&split->content);
    return strncmp(text, start, (size_t)n) == 0 ? text + n : text;
}

/* A split of packed documents in flat files of u16. */
static inline struct fby_split *split_of_documents(void)
{
    return split_of(
        "forebay: 1\n"
        "splits: {train: {tokens: {files: t.bin, format: flat, type: u16,\n"
        "  length: 8, shift: 1, pack: documents, end: 7, pad: 9}}}\n"
        "global_batch: 4\n"
        "fields: {a: {from: input}, b: {from: documents}}\n",
        "train");
}

#endif
