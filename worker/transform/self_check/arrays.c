/* SPDX-License-Identifier: Apache-2.0 */
/* arrays.c - self checks of arrays, of values packed as bits, and of tokens. */
#include <stdio.h>
#include <stdlib.h>

#include "common/bytes.h"
#include "common/mem.h"
#include "pipeline/derived.h"
#include "worker/npy/npy.h"
#include "worker/transform/self_check/probes.h"
#include "worker/transform/self_check/self_check.h"

/* The lowest bytes of a word are used as a value of each type. They are limits
 * of integer types, and floating-point numbers of 16, 32 and 64 bits at, or
 * next to, the middle of two values of a smaller type. */
static const uint64_t words[] = {0x0, 0x1, 0x7f, 0x80, 0xff, 0x100, 0x801,
    0x3c01, 0x7bff, 0x7c00, 0x7e01, 0x7fff, 0x8000, 0x8001, 0xffff, 0x1000001,
    0x7fffffff, 0x80000000, 0xffffffff, 0x3f800000, 0x3f801000, 0x3f808000,
    0x477fe000, 0x477ff000, 0x33000000, 0x33000001, 0x7f7fffff, 0x7f800001,
    0xc0400000, 0x3ff0000000000000, 0x3ff0020000000000, 0x3ff0020000000001,
    0x3fb999999999999a, 0xc008000000000000, 0x47efffffefffffff,
    0x47effffff0000000, 0x36a0000000000000, 0x3690000000000001,
    0x43e0000000000000, 0x7ff0000000000000, 0x7ff8000000000001,
    0x7fffffffffffffff, 0xffffffffffffffff};

enum {
    NPY_HEAD     = 10, /* bytes: 6 of magic, 2 of version, 2 of text length */
    NPY_MAX_TEXT = 90  /* bytes of the text after the head, at most */
};

struct npy_file {
    uint8_t           bytes[1024];
    size_t            size;
    enum fby_npy_type type;
    bool              big_endian;
};

/* Write the head and the text of a file; `shape` is like "(3,)". */
static void begin_file(struct npy_file *file, enum fby_npy_type type,
    bool big_endian, const char *shape)
{
    int n = snprintf((char *)file->bytes + NPY_HEAD, NPY_MAX_TEXT,
        "{'descr': '%c%s', 'fortran_order': False, 'shape': %s}\n",
        big_endian ? '>' : '<', fby_npy_type_name(type), shape);
    memcpy(file->bytes, "\x93NUMPY\1", 8); /* version 1.0; NUL is the 0 */
    file->bytes[8]   = (uint8_t)n;         /* bytes of the text, u16 */
    file->bytes[9]   = 0;
    file->size       = NPY_HEAD + (size_t)n;
    file->type       = type;
    file->big_endian = big_endian;
}

/* Append the lowest bytes of `word` as a value. */
static void append_value(struct npy_file *file, uint64_t word)
{
    size_t width = fby_npy_type_bytes(file->type);
    for (size_t k = 0; k < width; k++) {
        size_t byte               = file->big_endian ? width - 1 - k : k;
        file->bytes[file->size++] = (uint8_t)(word >> 8 * byte);
    }
}

static void check_array(
    struct fby_self_check *check, const struct npy_file *file)
{
    fby_self_check_decode(check,
        &(struct fby_field_job){
            .field = &check->field, .bytes = file->bytes, .size = file->size});
}

void fby_self_check_arrays(struct fby_self_check *check)
{
    for (enum fby_type wire = FBY_U8; wire <= FBY_U32; wire++) {
        check->field = (struct fby_field_content){
            .decode = FBY_DECODE_ARRAY, .wire_type = wire};
        for (int i = 0; i < FBY_NPY_TYPES * 2; i++) { /* types, byte orders */
            bool big_endian = i % 2 == 1;
            for (size_t k = 0; k < COUNT_OF(words); k++) {
                struct npy_file file;
                begin_file(&file, (enum fby_npy_type)(i / 2), big_endian, "()");
                append_value(&file, words[k]);
                check_array(check, &file);
            }
        }
    }
}

/* Pack a row of `n` values to bits: zeros and ones in no regular order, and
 * then `last`. */
static void check_row(struct fby_self_check *check, struct npy_file *file,
    uint32_t n, unsigned last)
{
    check->field = (struct fby_field_content){.decode = FBY_DECODE_ARRAY,
        .wire_type                                    = FBY_U8,
        .as.array = {.n_bits = n, .shape = {1, {n}}},
        .shape    = {1, {fby_bytes_of_bits(n)}}};
    for (uint32_t i = 0; i + 1 < n; i++) {
        append_value(file, UINT64_C(0x9e3779b97f4a7c15) >> (i % 64) & 1);
    }
    append_value(file, last);
    check_array(check, file);
}

/* Pack a row of each length, in both byte orders, with two last values. */
static void check_rows(struct fby_self_check *check, enum fby_npy_type type)
{
    static const uint32_t lengths[] = {1, 7, 8, 9, 77};
    for (size_t i = 0; i < 4 * COUNT_OF(lengths); i++) {
        struct npy_file file;
        char            shape[16];
        snprintf(shape, sizeof(shape), "(%u,)", lengths[i / 4]);
        bool big_endian = i % 2 == 1;
        begin_file(&file, type, big_endian, shape);
        unsigned last = i % 4 < 2 ? 1 : 2; /* 2 is no bit and is refused */
        check_row(check, &file, lengths[i / 4], last);
    }
}

/* Resize nine copies of a mask, and pack each pixel's nine values to bits. */
static void check_stack(
    struct fby_self_check *check, const struct fby_picture_file *file)
{
    enum { MASKS = 9, HEIGHT = 20, WIDTH = 24 };
    uint64_t sizes[MASKS];
    uint8_t *bytes = fby_zalloc(MASKS * file->size);
    for (size_t i = 0; i < MASKS; i++) {
        sizes[i] = file->size;
        memcpy(bytes + i * file->size, file->bytes, file->size);
    }
    check->field = (struct fby_field_content){
        .decode    = FBY_DECODE_MAPS,
        .n_from    = MASKS,
        .as.maps.n = MASKS,
        .wire_type = FBY_U8,
        .shape     = {3, {HEIGHT, WIDTH, fby_bytes_of_bits(MASKS)}},
        .n_ops     = 1,
    };
    check->field.ops[0] = (struct fby_op_use){.op = fby_op_by_id(FBY_OP_RESIZE),
        .params = {{0}, {.n = 2, .i = {HEIGHT, WIDTH}}}};
    fby_self_check_decode(check, &(struct fby_field_job){.field = &check->field,
                                     .bytes                     = bytes,
                                     .size  = MASKS * file->size,
                                     .sizes = sizes});
    free(bytes);
}

void fby_self_check_bits(struct fby_self_check *check)
{
    for (int type = 0; type < FBY_NPY_TYPES; type++) {
        check_rows(check, (enum fby_npy_type)type);
    }
    for (size_t i = 0; i < fby_n_png_probes; i++) {
        check_stack(check, &fby_png_probes[i]);
    }
}

static void check_tokens(
    struct fby_self_check *check, enum fby_type type, uint32_t width)
{
    check->field = (struct fby_field_content){.decode = FBY_DECODE_TOKENS,
        .wire_type                                    = type,
        .as.tokens.length                             = 1,
        .shape                                        = {1, {1}}};
    for (size_t i = 0; i < COUNT_OF(words); i++) {
        uint8_t token[8];
        fby_store_le(token, words[i], sizeof(token));
        fby_self_check_decode(
            check, &(struct fby_field_job){.field = &check->field,
                       .bytes                     = token,
                       .size                      = width,
                       .token_bytes               = width});
    }
}

void fby_self_check_tokens(struct fby_self_check *check)
{
    for (uint32_t width = 1; width <= 8; width *= 2) {
        check_tokens(check, FBY_U16, width);
    }
    for (uint32_t width = 1; width <= 8; width *= 2) {
        check_tokens(check, FBY_U32, width);
    }
}
