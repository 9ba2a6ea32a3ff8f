/* array.c - self checks of arrays and tokens: NumPy files of one value, and
 * the same values as tokens. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/bytes.h"
#include "worker/npy/npy.h"
#include "worker/transform/field.h"
#include "worker/transform/self_check/self_check.h"

/* The lowest bytes of a word are a value: limits of integer types, and reals of
 * 16, 32 and 64 bits at and next to the middle of two neighbours. */
static const uint64_t words[] = {0x0, 0x1, 0x7f, 0x80, 0xff, 0x100, 0x801,
    0x3c01, 0x7bff, 0x7c00, 0x7e01, 0x7fff, 0x8000, 0x8001, 0xffff, 0x1000001,
    0x7fffffff, 0x80000000, 0xffffffff, 0x3f800000, 0x3f801000, 0x3f808000,
    0x477fe000, 0x477ff000, 0x33000000, 0x33000001, 0x7f7fffff, 0x7f800001,
    0xc0400000, 0x3ff0000000000000, 0x3ff0020000000000, 0x3ff0020000000001,
    0x3fb999999999999a, 0xc008000000000000, 0x47efffffefffffff,
    0x47effffff0000000, 0x36a0000000000000, 0x3690000000000001,
    0x43e0000000000000, 0x7ff0000000000000, 0x7ff8000000000001,
    0x7fffffffffffffff, 0xffffffffffffffff};

struct npy_file {
    uint8_t bytes[96];
    size_t  header; /* bytes before the value */
};

/* Begin a file of shape (), with byte order and type in its header. */
static void begin_file(
    struct npy_file *file, char order, enum fby_npy_type type)
{
    char text[80];
    int  n = snprintf(text, sizeof(text),
         "{'descr': '%c%s', 'fortran_order': False, 'shape': ()}\n", order,
         fby_npy_type_name(type));
    memcpy(file->bytes, "\x93NUMPY\1", 8);
    file->bytes[8] = (uint8_t)n;
    file->bytes[9] = 0;
    memcpy(file->bytes + 10, text, (size_t)n);
    file->header = 10 + (size_t)n;
}

static void put_value(
    struct npy_file *file, uint64_t word, size_t width, bool big_endian)
{
    for (size_t k = 0; k < width; k++) {
        size_t at                      = big_endian ? width - 1 - k : k;
        file->bytes[file->header + at] = (uint8_t)(word >> 8 * k);
    }
}

/* Decode each word as a value of the type, in both byte orders. */
static fby_err try_type(struct fby_transform *transform,
    struct fby_digest_state *hash, const struct fby_field_content *field,
    enum fby_npy_type type)
{
    size_t  n_words = sizeof(words) / sizeof(words[0]);
    size_t  width   = fby_npy_type_bytes(type);
    fby_err broken  = FBY_OK;
    for (size_t i = 0; i < 2 * n_words && broken == FBY_OK; i++) {
        bool            big_endian = i >= n_words;
        struct npy_file file;
        uint8_t         value[8];
        begin_file(&file, big_endian ? '>' : '<', type);
        put_value(&file, words[i % n_words], width, big_endian);
        struct fby_field_job job = {
            .field = field, .bytes = file.bytes, .size = file.header + width};
        fby_err err = fby_field_write(transform, &job, value, NULL);
        broken      = fby_self_check_outcome(hash, err);
        if (err == FBY_OK) {
            fby_digest_add(hash, value, fby_field_bytes(field));
        }
    }
    return broken;
}

fby_err fby_self_check_arrays(
    struct fby_transform *transform, struct fby_digest_state *hash)
{
    struct fby_field_content *field = calloc(1, sizeof(*field));
    fby_err                   err   = field == NULL ? FBY_FULL : FBY_OK;
    for (int wire = FBY_U8; err == FBY_OK && wire <= FBY_U32; wire++) {
        *field = (struct fby_field_content){
            .decode = FBY_DECODE_ARRAY, .wire_type = (enum fby_type)wire};
        for (int type = 0; err == FBY_OK && type < FBY_NPY_TYPES; type++) {
            err = try_type(transform, hash, field, (enum fby_npy_type)type);
        }
    }
    free(field);
    return err;
}

static fby_err try_width(struct fby_transform *transform,
    struct fby_digest_state *hash, const struct fby_field_content *field,
    size_t width)
{
    fby_err broken = FBY_OK;
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        uint8_t              token[8];
        uint8_t              value[4];
        struct fby_field_job job = {.field = field,
            .bytes                         = token,
            .size                          = width,
            .width                         = (uint32_t)width};
        fby_store_le(token, words[i], sizeof(token));
        fby_err err = fby_field_write(transform, &job, value, NULL);
        broken      = fby_self_check_outcome(hash, err);
        if (broken != FBY_OK) {
            return broken;
        }
        if (err == FBY_OK) {
            fby_digest_add(hash, value, fby_field_bytes(field));
        }
    }
    return FBY_OK;
}

fby_err fby_self_check_tokens(
    struct fby_transform *transform, struct fby_digest_state *hash)
{
    static const enum fby_type types[] = {FBY_U16, FBY_U32};
    struct fby_field_content  *field   = calloc(1, sizeof(*field));
    fby_err                    err     = field == NULL ? FBY_FULL : FBY_OK;
    for (size_t i = 0; err == FBY_OK && i < 2; i++) {
        *field = (struct fby_field_content){.decode = FBY_DECODE_TOKENS,
            .wire_type                              = types[i],
            .as.tokens.length                       = 1,
            .shape = {.n_dims = 1, .dims = {1}}};
        for (size_t width = 1; err == FBY_OK && width <= 8; width *= 2) {
            err = try_width(transform, hash, field, width);
        }
    }
    free(field);
    return err;
}
