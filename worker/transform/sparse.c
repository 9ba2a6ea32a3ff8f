/* SPDX-License-Identifier: Apache-2.0 */
/* sparse.c - write a row of indices and values.
 *
 * A row in ascending order is converted directly. Otherwise the index of each
 * value and its position in the row form a sort key. The keys are sorted in
 * place, and the values are copied in the order of the keys. */
#include "worker/transform/sparse.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/bytes.h"
#include "worker/npy/convert.h"
#include "worker/transform/transform_private.h"

/* A sort key has the value's index, of at most 31 bits, above the value's
 * position in the row. A cast of a key to uint32_t gives the position. */
enum { POSITION_BITS = 32 };

fby_err fby_sparse_check_length(const struct fby_field_job *job,
    uint64_t n_values, struct fby_error_detail *why)
{
    return n_values <= job->field->max_length
               ? FBY_OK
               : fby_error_set(why, FBY_BAD_SAMPLE,
                     "the row has %" PRIu64 " values, max_length is %" PRIu32
                     "; raise it",
                     n_values, job->field->max_length);
}

static uint64_t value_count(const struct fby_sparse_row *row)
{
    return row->values->n_values;
}

static fby_err check_range(const struct fby_field_job *job,
    const struct fby_sparse_row *row, struct fby_error_detail *why)
{
    int64_t dense_values = (int64_t)fby_dense_values(&job->field->shape);
    for (uint64_t i = 0; i < value_count(row); i++) {
        if (row->indices[i] < 0 || row->indices[i] >= dense_values) {
            return fby_error_set(why, FBY_BAD_SAMPLE,
                "index %" PRId64 " is beyond the %" PRId64
                " values of its shape",
                row->indices[i], dense_values);
        }
    }
    return FBY_OK;
}

/* True if each index is above the one before it, so there are no duplicates. */
static bool is_ascending(const struct fby_sparse_row *row)
{
    bool ascending = true;
    for (uint64_t i = 1; i < value_count(row); i++) {
        ascending = ascending && row->indices[i - 1] < row->indices[i];
    }
    return ascending;
}

/* Check the first and the last index, which is enough if the indices ascend. */
static bool ends_are_in_range(
    const struct fby_field_job *job, const struct fby_sparse_row *row)
{
    int64_t  dense_values = (int64_t)fby_dense_values(&job->field->shape);
    uint64_t n            = value_count(row);
    return n == 0 ||
           (row->indices[0] >= 0 && row->indices[n - 1] < dense_values);
}

/* Store each index in `width` bytes. Inline, because with a constant width each
 * store is one instruction. */
static inline void store_fixed_width(
    uint8_t *out, const int64_t *indices, uint64_t n, uint32_t width)
{
    for (uint64_t i = 0; i < n; i++) {
        fby_store_le(out + i * width, (uint64_t)indices[i], width);
    }
}

static void store_indices(
    const struct fby_field_job *job, const int64_t *indices, uint64_t n)
{
    uint32_t width = fby_bytes_per_index(&job->field->shape); /* 1, 2 or 4 */
    if (width == 1) {
        store_fixed_width(job->indices, indices, n, 1);
    } else if (width == 2) {
        store_fixed_width(job->indices, indices, n, 2);
    } else {
        store_fixed_width(job->indices, indices, n, 4);
    }
}

/* ---- rows out of order ---- */

static int compare_keys(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left;
    int64_t b = *(const int64_t *)right;
    return a < b ? -1 : a > b ? 1 : 0;
}

/* Replace the indices by their sort keys, sort the keys, and refuse duplicate
 * indices. */
static fby_err make_sorted_keys(
    const struct fby_sparse_row *row, struct fby_error_detail *why)
{
    uint64_t n    = value_count(row);
    int64_t *keys = row->indices;
    for (uint64_t i = 0; i < n; i++) {
        keys[i] = keys[i] << POSITION_BITS | (int64_t)i;
    }
    qsort(keys, n, sizeof(*keys), compare_keys);
    for (uint64_t i = 1; i < n; i++) {
        int64_t index = keys[i] >> POSITION_BITS;
        if (keys[i - 1] >> POSITION_BITS == index) {
            return fby_error_set(why, FBY_BAD_SAMPLE,
                "index %" PRId64 " occurs twice, in values %" PRIu32
                " and %" PRIu32 "; sum them: sum_duplicates()",
                index, (uint32_t)keys[i - 1], (uint32_t)keys[i]);
        }
    }
    return FBY_OK;
}

/* Convert the values to `scratch`, then copy them to `dst` in the order of
 * their indices. */
static fby_err write_unsorted(const struct fby_field_job *job,
    const struct fby_sparse_row *row, uint8_t *dst,
    struct fby_error_detail *why)
{
    uint32_t width = fby_type_bytes(job->field->wire_type);
    fby_err  err =
        fby_convert_all(row->values, job->field->wire_type, row->scratch, why);
    if (err == FBY_OK) {
        err = make_sorted_keys(row, why);
    }
    if (err != FBY_OK) {
        return err;
    }
    for (uint64_t i = 0; i < value_count(row); i++) {
        uint32_t position = (uint32_t)row->indices[i];
        row->indices[i] >>= POSITION_BITS; /* the key becomes the index */
        memcpy(dst + i * width, row->scratch + (size_t)position * width, width);
    }
    store_indices(job, row->indices, value_count(row));
    return FBY_OK;
}

fby_err fby_sparse_write(const struct fby_field_job *job,
    const struct fby_sparse_row *row, uint8_t *dst,
    struct fby_error_detail *why)
{
    uint64_t n   = value_count(row);
    fby_err  err = fby_sparse_check_length(job, n, why);
    if (err != FBY_OK) {
        return err;
    }
    bool ascending = is_ascending(row);
    if (!ascending || !ends_are_in_range(job, row)) {
        err = check_range(job, row, why);
    }
    if (err != FBY_OK) {
        return err;
    }
    *job->length = (uint32_t)n;
    if (!ascending) {
        return write_unsorted(job, row, dst, why);
    }
    store_indices(job, row->indices, n);
    return fby_convert_all(row->values, job->field->wire_type, dst, why);
}

/* ---- a row in memory ---- */

fby_err fby_sparse_alloc(struct fby_transform *transform, uint64_t bytes,
    uint64_t library_bytes, uint8_t **out, struct fby_error_detail *why)
{
    const struct fby_need need = {
        .decoded = {bytes}, .library_bytes = library_bytes};
    struct fby_scratch *scratch = &transform->decoded[0]; /* not in use */

    /* First reserve the bytes, which may wait for other threads. Then allocate
     * one byte more, so that *out is not NULL even for 0 bytes. */
    fby_err err = fby_transform_reserve(transform, &need, why);
    if (err == FBY_OK) {
        err = fby_scratch_grow(scratch, (size_t)bytes + 1);
    }
    *out = scratch->memory;
    return err;
}

static fby_err read_indices(
    const struct fby_npy *indices, int64_t *out, struct fby_error_detail *why)
{
    char     text[FBY_CONVERT_TEXT];
    uint64_t n_good = fby_convert(indices, FBY_I64, (uint8_t *)out);
    return n_good == indices->n_values
               ? FBY_OK
               : fby_error_set(why, FBY_BAD_SAMPLE,
                     "index %" PRIu64
                     " is %s (%s); it must be a whole number up to 2^63",
                     n_good, fby_convert_text(indices, n_good, text),
                     fby_npy_dtype_name(indices->type));
}

fby_err fby_sparse_write_lists(struct fby_transform *transform,
    const struct fby_field_job *job, const struct fby_sparse_lists *lists,
    uint8_t *dst, struct fby_error_detail *why)
{
    struct fby_sparse_row row    = {.values = &lists->values};
    uint64_t              n      = value_count(&row);
    uint8_t              *memory = NULL;
    fby_err               err    = fby_sparse_check_length(job, n, why);
    if (err == FBY_OK) {
        err = fby_sparse_alloc(transform,
            n * (sizeof(*row.indices) + FBY_SPARSE_SCRATCH_BYTES),
            n * FBY_SPARSE_SORT_BYTES, &memory, why);
    }
    if (err == FBY_OK) {
        row.indices = (int64_t *)(void *)memory; /* then the scratch */
        row.scratch = (uint8_t *)(row.indices + n);
        err         = read_indices(&lists->indices, row.indices, why);
    }
    if (err == FBY_OK) {
        err = fby_sparse_write(job, &row, dst, why);
    }
    fby_transform_release(transform);
    return err;
}
