/* SPDX-License-Identifier: Apache-2.0 */
/* manifest.c - write and read a shard of columns in a dataset's manifest. A CSR
 * column is a sparse matrix (csr.h). A ragged column is offsets and values. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "worker/source/columns/columns.h"
#include "worker/source/columns/ragged.h"
#include "worker/source/manifest.h"

enum { /* keys of a shard's record that only shards of columns have */
    SHARD_SAMPLES = 13,
    SHARD_COLUMNS
};

enum { /* keys of the record of a column */
    COLUMN_NAME = 1,
    COLUMN_TYPE,       /* "<f4" */
    COLUMN_DIMS,       /* dimensions of a row */
    COLUMN_DATA_AT,    /* offset of row 0 in the file, in bytes */
    COLUMN_ROLE,       /* ragged and CSR columns only */
    COLUMN_ENTRIES,    /* values and CSR only: entries of all samples */
    COLUMN_ROW_WIDTH,  /* CSR only, as all below: values in a dense row */
    COLUMN_INDICES,    /* type of the indices */
    COLUMN_INDICES_AT, /* offset of the indices in the file, in bytes */
    COLUMN_INDPTR,     /* the same two for indptr */
    COLUMN_INDPTR_AT
};

/* Write a type as NumPy does: "<f4", ">f4", or "|u1" for a single byte. */
static void put_type(struct fby_buffer *out, uint16_t key,
    enum fby_npy_type type, bool big_endian)
{
    char text[8];
    char order = big_endian ? '>' : '<';
    snprintf(text, sizeof(text), "%c%s",
        fby_npy_type_bytes(type) == 1 ? '|' : order, fby_npy_type_name(type));
    fby_record_put_text(out, key, text);
}

/* Write the type of an array as entry `key`, and its offset as key + 1. */
static void put_file_array(
    struct fby_buffer *out, uint16_t key, const struct fby_file_array *array)
{
    put_type(out, key, array->type, array->big_endian);
    fby_record_put_i64(out, (uint16_t)(key + 1), (int64_t)array->offset);
}

static void put_column_record(
    const struct fby_column *column, uint16_t key, struct fby_buffer *out)
{
    int64_t dims[FBY_NPY_MAX_DIMS];
    size_t  mark = fby_record_open(out, key);
    for (uint32_t i = 0; i < column->n_dims; i++) {
        dims[i] = (int64_t)column->dims[i];
    }
    fby_record_put_text(out, COLUMN_NAME, column->name);
    put_type(out, COLUMN_TYPE, column->type, column->big_endian);
    fby_record_put_i64s(out, COLUMN_DIMS, dims, column->n_dims);
    fby_record_put_i64(out, COLUMN_DATA_AT, (int64_t)column->offset);
    if (column->role != FBY_COLUMN_WHOLE) {
        fby_record_put_i64(out, COLUMN_ROLE, column->role);
    }
    if (column->role >= FBY_COLUMN_VALUES) { /* values or CSR */
        fby_record_put_i64(out, COLUMN_ENTRIES, (int64_t)column->rows);
    }
    if (column->role == FBY_COLUMN_CSR) {
        fby_record_put_i64(out, COLUMN_ROW_WIDTH, (int64_t)column->dense_width);
        put_file_array(out, COLUMN_INDICES, &column->indices);
        put_file_array(out, COLUMN_INDPTR, &column->indptr);
    }
    fby_record_close(out, mark);
}

void fby_columns_encode(const struct fby_shard *shard, struct fby_buffer *out)
{
    fby_record_put_i64(out, SHARD_SAMPLES, shard->n_samples);
    size_t mark = fby_record_open(out, SHARD_COLUMNS);
    for (uint32_t i = 0; i < shard->n_columns; i++) {
        put_column_record(&shard->columns[i], (uint16_t)(i + 1), out);
    }
    fby_record_close(out, mark);
    fby_lengths_encode(shard, out);
}

static void read_type(struct fby_record *r, uint16_t key,
    enum fby_npy_type *out, bool *big_endian)
{
    char text[8] = "";
    fby_record_read_text(r, key, text, sizeof(text));
    for (int i = 0; i < FBY_NPY_TYPES; i++) {
        enum fby_npy_type type = (enum fby_npy_type)i;
        bool is_one_byte = fby_npy_type_bytes(type) == 1; /* no byte order */
        bool order_ok =
            is_one_byte ? text[0] == '|' : text[0] == '<' || text[0] == '>';
        if (order_ok && strcmp(text + 1, fby_npy_type_name(type)) == 0) {
            *out        = type;
            *big_endian = text[0] == '>';
            return;
        }
    }
    fby_record_refuse(r, key, "names a dtype that is not known");
}

static void read_file_array(
    struct fby_record *r, uint16_t key, struct fby_file_array *out)
{
    read_type(r, key, &out->type, &out->big_endian);
    out->item_size = (uint32_t)fby_npy_type_bytes(out->type);
    out->offset =
        (uint64_t)fby_record_read_between(r, (uint16_t)(key + 1), 0, INT64_MAX);
}

/* Read the keys of a ragged or CSR column, and set the number of rows. */
static void read_role(
    struct fby_record *r, uint32_t samples, struct fby_column *out)
{
    out->rows = samples;
    if (fby_record_next_is(r, COLUMN_ROLE)) {
        out->role = (enum fby_column_role)fby_record_read_between(
            r, COLUMN_ROLE, FBY_COLUMN_OFFSETS, FBY_COLUMN_CSR);
    }
    if (out->role >= FBY_COLUMN_VALUES) { /* values or CSR: rows are entries */
        out->rows =
            (uint64_t)fby_record_read_between(r, COLUMN_ENTRIES, 0, INT64_MAX);
    } else if (out->role == FBY_COLUMN_OFFSETS) {
        out->rows++; /* samples + 1 offsets */
    }
    if (out->role == FBY_COLUMN_CSR) {
        out->dense_width = (uint64_t)fby_record_read_between(
            r, COLUMN_ROW_WIDTH, 1, INT64_MAX);
        read_file_array(r, COLUMN_INDICES, &out->indices);
        read_file_array(r, COLUMN_INDPTR, &out->indptr);
    }
}

static void read_column_record(struct fby_record *list,
    const struct fby_shard *shard, struct fby_column *out)
{
    uint16_t          key = (uint16_t)(shard->n_columns + 1);
    int64_t           dims[FBY_NPY_MAX_DIMS];
    struct fby_record r = fby_record_enter(list, key);
    fby_record_read_text(&r, COLUMN_NAME, out->name, sizeof(out->name));
    read_type(&r, COLUMN_TYPE, &out->type, &out->big_endian);
    out->n_dims = (uint32_t)fby_record_read_i64s(
        &r, COLUMN_DIMS, dims, FBY_NPY_MAX_DIMS - 1);
    for (uint32_t i = 0; i < out->n_dims; i++) {
        /* A dimension of 0 makes row_bytes 0, which lies_in() refuses. */
        out->dims[i] = dims[i] > 0 ? (uint64_t)dims[i] : 0;
    }
    out->offset =
        (uint64_t)fby_record_read_between(&r, COLUMN_DATA_AT, 0, INT64_MAX);
    out->row_bytes = fby_column_row_bytes(out);
    read_role(&r, shard->n_samples, out);
    fby_record_leave(list, &r);
}

/* Do `n` items of `item_size` > 0 bytes, from `offset` on, lie within the size
 * of the shard? */
static bool lies_in(const struct fby_shard *shard, uint64_t offset, uint64_t n,
    uint64_t item_size)
{
    uint64_t left = offset < shard->size ? shard->size - offset : 0;
    return item_size > 0 && n <= left / item_size;
}

static fby_err check_csr(const struct fby_shard *shard,
    const struct fby_column *column, struct fby_error_detail *why)
{
    const struct fby_file_array *indices = &column->indices;
    const struct fby_file_array *indptr  = &column->indptr;
    if (column->n_dims > 0 || !fby_npy_is_integer(indices->type) ||
        !fby_npy_is_integer(indptr->type)) {
        return fby_manifest_refuse(why, "indices that are no whole numbers");
    }
    return lies_in(shard, indices->offset, column->rows, indices->item_size) &&
                   lies_in(shard, indptr->offset,
                       (uint64_t)shard->n_samples + 1, indptr->item_size)
               ? FBY_OK
               : fby_manifest_refuse(why, "a column beyond the end");
}

static fby_err check_column(const struct fby_shard *shard,
    const struct fby_column *column, struct fby_error_detail *why)
{
    if (column->role == FBY_COLUMN_OFFSETS &&
        (!fby_npy_is_integer(column->type) || column->n_dims > 0)) {
        return fby_manifest_refuse(why, "offsets that are no whole numbers");
    }
    if (shard->n_samples == 0 ||
        !lies_in(shard, column->offset, column->rows, column->row_bytes)) {
        return fby_manifest_refuse(why, "a column beyond the end");
    }
    if (column->role == FBY_COLUMN_CSR) {
        FBY_TRY(check_csr(shard, column, why));
    }
    uint32_t n = shard->n_columns;
    if (n > 0 && strcmp(shard->columns[n - 1].name, column->name) >= 0) {
        return fby_manifest_refuse(why, "columns that are not in order");
    }
    return FBY_OK;
}

fby_err fby_columns_decode(
    struct fby_record *r, struct fby_shard *out, struct fby_error_detail *why)
{
    out->n_samples =
        (uint32_t)fby_record_read_between(r, SHARD_SAMPLES, 1, UINT32_MAX);
    struct fby_record list = fby_record_enter(r, SHARD_COLUMNS);
    while (fby_record_has_more(&list)) {
        struct fby_column column = {.name = ""};
        read_column_record(&list, out, &column);
        FBY_TRY(check_column(out, &column, why));
        FBY_TRY(fby_shard_add_column(out, &column, why));
    }
    fby_record_leave(r, &list);
    struct fby_span lengths = fby_lengths_read_entry(r);
    FBY_TRY(fby_record_end(r, "manifest of a shard", why));
    FBY_TRY(fby_lengths_decode(lengths, out, why));
    if (out->n_columns == 0) {
        return fby_manifest_refuse(why, "no columns");
    }
    return fby_ragged_pair(out, NULL) == FBY_OK
               ? FBY_OK
               : fby_manifest_refuse(
                     why, "a ragged column without offsets or values");
}
