/* bits.c - self checks of packed bits: zeros and ones of NumPy files, and
 * stacks of masks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/derived.h"
#include "worker/npy/npy.h"
#include "worker/transform/field.h"
#include "worker/transform/self_check/probes.h"
#include "worker/transform/self_check/self_check.h"

static fby_err check_field(struct fby_transform *transform,
    struct fby_digest_state *hash, const struct fby_field_job *job)
{
    uint8_t packed[1024];
    fby_err err    = fby_field_write(transform, job, packed, NULL);
    fby_err broken = fby_self_check_outcome(hash, err);
    if (err == FBY_OK) {
        fby_digest_add(hash, packed, fby_field_bytes(job->field));
    }
    return broken;
}

/* ---- arrays ---- */

static const uint32_t lengths[] = {1, 7, 8, 9, 77};

struct row { /* of a file */
    uint32_t          n;
    enum fby_npy_type type;
    bool              big_endian;
    unsigned          last; /* its last value */
};

static size_t make_file(const struct row *row, uint8_t *out)
{
    size_t width = fby_npy_type_bytes(row->type);
    int    n     = snprintf((char *)out + 10, 90,
               "{'descr': '%c%s', 'fortran_order': False, 'shape': (%u,)}\n",
        row->big_endian ? '>' : '<', fby_npy_type_name(row->type), row->n);
    memcpy(out, "\x93NUMPY\1", 8);
    out[8]      = (uint8_t)n;
    out[9]      = 0;
    uint8_t *at = out + 10 + n;
    memset(at, 0, row->n * width);
    for (uint32_t i = 0; i < row->n; i++) {
        uint64_t bits = UINT64_C(0x9e3779b97f4a7c15) >> (i % 64) & 1;
        at[row->big_endian ? width - 1 : 0] =
            (uint8_t)(i + 1 == row->n ? row->last : bits);
        at += width;
    }
    return (size_t)(at - out);
}

static fby_err try_row(struct fby_transform *transform,
    struct fby_digest_state *hash, struct fby_field_content *field,
    const struct row *row)
{
    uint8_t file[1024];
    field->decode         = FBY_DECODE_ARRAY;
    field->wire_type      = FBY_U8;
    field->as.array.maps  = row->n;
    field->as.array.shape = (struct fby_shape){1, {row->n}};
    field->shape          = (struct fby_shape){1, {fby_bits_bytes(row->n)}};
    return check_field(transform, hash,
        &(struct fby_field_job){
            .field = field, .bytes = file, .size = make_file(row, file)});
}

static fby_err try_type(struct fby_transform *transform,
    struct fby_digest_state *hash, struct fby_field_content *field,
    enum fby_npy_type type)
{
    size_t  n   = sizeof(lengths) / sizeof(lengths[0]);
    fby_err err = FBY_OK;
    for (size_t i = 0; err == FBY_OK && i < 4 * n; i++) {
        struct row row = {lengths[i / 4], type, i % 2 == 1, i % 4 < 2 ? 1 : 2};
        err            = try_row(transform, hash, field, &row);
    }
    return err;
}

/* ---- stacks ---- */

enum { MASKS = 9, HEIGHT = 20, WIDTH = 24 };

static void make_stack_field(struct fby_field_content *field)
{
    *field = (struct fby_field_content){
        .decode    = FBY_DECODE_MAPS,
        .n_from    = MASKS,
        .as.maps.n = MASKS,
        .wire_type = FBY_U8,
        .shape     = {3, {HEIGHT, WIDTH, fby_bits_bytes(MASKS)}},
        .n_ops     = 1,
    };
    field->ops[0].op             = fby_op_by_id(FBY_OP_RESIZE);
    field->ops[0].params[1].n    = 2;
    field->ops[0].params[1].i[0] = HEIGHT;
    field->ops[0].params[1].i[1] = WIDTH;
}

static fby_err try_stack(struct fby_transform *transform,
    struct fby_digest_state *hash, const struct fby_field_content *field,
    struct fby_picture_file file)
{
    uint64_t sizes[MASKS];
    uint8_t *bytes = malloc(MASKS * file.size);
    if (bytes == NULL) {
        return FBY_FULL;
    }
    for (size_t i = 0; i < MASKS; i++) {
        sizes[i] = file.size;
        memcpy(bytes + i * file.size, file.bytes, file.size);
    }
    fby_err err = check_field(transform, hash,
        &(struct fby_field_job){.field = field,
            .bytes                     = bytes,
            .size                      = MASKS * file.size,
            .sizes                     = sizes});
    free(bytes);
    return err;
}

fby_err fby_self_check_bits(
    struct fby_transform *transform, struct fby_digest_state *hash)
{
    struct fby_field_content *field = calloc(1, sizeof(*field));
    fby_err                   err   = field == NULL ? FBY_FULL : FBY_OK;
    for (int type = 0; err == FBY_OK && type < FBY_NPY_TYPES; type++) {
        err = try_type(transform, hash, field, (enum fby_npy_type)type);
    }
    if (err == FBY_OK) {
        make_stack_field(field);
    }
    for (size_t i = 0; err == FBY_OK && i < fby_n_png_probes; i++) {
        err = try_stack(transform, hash, field, fby_png_probes[i]);
    }
    free(field);
    return err;
}
