/* sparse.c - write a row of indices and values.
 *
 * A row in order is converted directly. Otherwise the index and the number of
 * each value form one key. The keys are sorted in place, and the values are
 * copied in their order. */
#include "worker/transform/sparse.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/bytes.h"
#include "worker/npy/convert.h"
#include "worker/transform/scratch.h"

enum { NUMBER_BITS = 32 }; /* of a key; an index has 31 */

static fby_err check_length(
    const struct fby_field_job *job, uint64_t n, struct fby_why *why)
{
    return n <= job->field->max_length
               ? FBY_OK
               : fby_because(why, FBY_BAD_SAMPLE,
                     "the row has %" PRIu64 " values, max_length is %" PRIu32
                     "; raise it",
                     n, job->field->max_length);
}

static fby_err check_range(const struct fby_field_job *job,
    const struct fby_sparse_row *row, struct fby_why *why)
{
    int64_t dense = (int64_t)fby_dense_values(&job->field->shape);
    for (uint64_t i = 0; i < row->values->values; i++) {
        if (row->at[i] < 0 || row->at[i] >= dense) {
            return fby_because(why, FBY_BAD_SAMPLE,
                "index %" PRId64 " is beyond the %" PRId64
                " values of its shape",
                row->at[i], dense);
        }
    }
    return FBY_OK;
}

static bool ascends(const struct fby_sparse_row *row)
{
    bool good = true;
    for (uint64_t i = 1; i < row->values->values; i++) {
        good = good && row->at[i - 1] < row->at[i];
    }
    return good;
}

/* Checks the first and last index, which is enough if they ascend. */
static bool ends_within(
    const struct fby_field_job *job, const struct fby_sparse_row *row)
{
    int64_t  dense = (int64_t)fby_dense_values(&job->field->shape);
    uint64_t n     = row->values->values;
    return n == 0 || (row->at[0] >= 0 && row->at[n - 1] < dense);
}

static fby_err convert(const struct fby_field_job *job,
    const struct fby_npy *values, uint8_t *out, struct fby_why *why)
{
    enum fby_type to   = job->field->wire_type;
    uint64_t      good = fby_convert(values, to, out);
    return good == values->values ? FBY_OK
                                  : fby_convert_refuse(values, good, to, why);
}

/* With a constant width the compiler makes one instruction of each store. */
static inline void store(
    uint8_t *out, const int64_t *at, uint64_t n, uint32_t width)
{
    for (uint64_t i = 0; i < n; i++) {
        fby_store_le(out + i * width, (uint64_t)at[i], width);
    }
}

static void store_indices(
    const struct fby_field_job *job, const int64_t *at, uint64_t n)
{
    switch (fby_index_bytes(&job->field->shape)) {
    case 1:
        store(job->indices, at, n, 1);
        break;
    case 2:
        store(job->indices, at, n, 2);
        break;
    default:
        store(job->indices, at, n, 4);
        break;
    }
}

/* ---- rows out of order ---- */

static int compare(const void *left, const void *right)
{
    int64_t a = 0;
    int64_t b = 0;
    memcpy(&a, left, sizeof(a));
    memcpy(&b, right, sizeof(b));
    return a < b ? -1 : a > b ? 1 : 0;
}

static fby_err sort_keys(const struct fby_sparse_row *row, struct fby_why *why)
{
    uint64_t n = row->values->values;
    for (uint64_t i = 0; i < n; i++) {
        row->at[i] = row->at[i] << NUMBER_BITS | (int64_t)i;
    }
    qsort(row->at, n, sizeof(*row->at), compare);
    for (uint64_t i = 1; i < n; i++) {
        int64_t index = row->at[i] >> NUMBER_BITS;
        if (row->at[i - 1] >> NUMBER_BITS == index) {
            return fby_because(why, FBY_BAD_SAMPLE,
                "index %" PRId64 " occurs twice, in values %" PRIu32
                " and %" PRIu32 "; sum them: sum_duplicates()",
                index, (uint32_t)row->at[i - 1], (uint32_t)row->at[i]);
        }
    }
    return FBY_OK;
}

static fby_err write_sorted(const struct fby_field_job *job,
    const struct fby_sparse_row *row, uint8_t *dst, struct fby_why *why)
{
    uint32_t width = fby_type_bytes(job->field->wire_type);
    fby_err  err   = convert(job, row->values, row->spare, why);
    if (err == FBY_OK) {
        err = sort_keys(row, why);
    }
    if (err != FBY_OK) {
        return err;
    }
    for (uint64_t i = 0; i < row->values->values; i++) {
        uint32_t number = (uint32_t)row->at[i];
        row->at[i] >>= NUMBER_BITS;
        memcpy(dst + i * width, row->spare + (size_t)number * width, width);
    }
    store_indices(job, row->at, row->values->values);
    return FBY_OK;
}

fby_err fby_sparse_write(const struct fby_field_job *job,
    const struct fby_sparse_row *row, uint8_t *dst, struct fby_why *why)
{
    uint64_t n   = row->values->values;
    fby_err  err = check_length(job, n, why);
    if (err != FBY_OK) {
        return err;
    }
    bool in_order = ascends(row);
    if (!in_order || !ends_within(job, row)) {
        err = check_range(job, row, why);
    }
    if (err != FBY_OK) {
        return err;
    }
    *job->length = (uint32_t)n;
    if (!in_order) {
        return write_sorted(job, row, dst, why);
    }
    store_indices(job, row->at, n);
    return convert(job, row->values, dst, why);
}

/* ---- a row in memory ---- */

static fby_err take_memory(struct fby_transform *transform, uint64_t n,
    struct fby_sparse_row *out, struct fby_why *why)
{
    const struct fby_need need = {
        .decoded   = {n * (sizeof(*out->at) + FBY_SPARSE_SPARE)},
        .libraries = n * FBY_SPARSE_SORT,
    };
    struct fby_scratch *scratch = &transform->decoded[0];
    fby_err             err     = fby_transform_reserve(transform, &need, why);
    if (err == FBY_OK) {
        err = fby_scratch_need(scratch, (size_t)need.decoded[0] + 1);
    }
    if (err == FBY_OK) {
        out->at    = scratch->memory;
        out->spare = (uint8_t *)(out->at + n);
    }
    return err;
}

static fby_err read_indices(
    const struct fby_npy *indices, int64_t *out, struct fby_why *why)
{
    char     text[FBY_CONVERT_TEXT];
    uint64_t good = fby_convert(indices, FBY_I64, (uint8_t *)out);
    return good == indices->values
               ? FBY_OK
               : fby_because(why, FBY_BAD_SAMPLE,
                     "index %" PRIu64 " is %s (%s); whole numbers up to 2^63 "
                     "are right",
                     good, fby_convert_text(indices, good, text),
                     fby_npy_dtype(indices->type));
}

fby_err fby_sparse_row_write(struct fby_transform *transform,
    const struct fby_field_job *job, const struct fby_sparse_lists *lists,
    uint8_t *dst, struct fby_why *why)
{
    struct fby_sparse_row row = {.values = &lists->values};
    uint64_t              n   = lists->values.values;
    fby_err               err = check_length(job, n, why);
    if (err == FBY_OK) {
        err = take_memory(transform, n, &row, why);
    }
    if (err == FBY_OK) {
        err = read_indices(&lists->indices, row.at, why);
    }
    if (err == FBY_OK) {
        err = fby_sparse_write(job, &row, dst, why);
    }
    fby_transform_release(transform);
    return err;
}
