/* SPDX-License-Identifier: Apache-2.0 */
/* ragged_pack.c - move the rows of a chunk to lower addresses. */
#include "worker/stages/ragged_pack.h"

#include <string.h>

#include "common/bytes.h"

/* Write the lengths, and zeros up to the aligned offset of the values. */
static void write_lengths(const struct fby_raw_field *field,
    const uint32_t *lengths, uint32_t rows, uint8_t *chunk)
{
    uint32_t width = field->length_bytes;
    for (uint32_t i = 0; i < rows; i++) {
        fby_store_le(chunk + (size_t)i * width, lengths[i], width);
    }
    memset(chunk + (size_t)rows * width, 0,
        fby_ragged_lengths_end(field, rows) - (size_t)rows * width);
}

struct row_lengths {
    uint32_t        n_rows;
    const uint32_t *lengths; /* number of entries of each row */
};

/* Move rows to `to`, without gaps, and return their end. An entry has `width`
 * bytes. Row i is at from + i * row_bytes, and `to` is at or below `from`. */
static uint8_t *pack_rows(const uint8_t *from, uint64_t row_bytes,
    uint32_t width, struct row_lengths rows, uint8_t *to)
{
    for (uint32_t i = 0; i < rows.n_rows; i++) {
        size_t bytes = (size_t)rows.lengths[i] * width;
        memmove(to, from + i * row_bytes, bytes);
        to += bytes;
    }
    return to;
}

static uint64_t total_entries(struct row_lengths rows)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < rows.n_rows; i++) {
        n += rows.lengths[i];
    }
    return n;
}

/* Pack the indices, then the values, which move down because fewer indices come
 * before them. Returns the packed size of the chunk in bytes. */
static uint32_t pack_sparse(
    const struct fby_raw_field *field, struct row_lengths rows, uint8_t *chunk)
{
    uint64_t max_entries = (uint64_t)rows.n_rows * field->max_length;
    uint8_t *indices     = chunk + fby_ragged_lengths_end(field, rows.n_rows);
    uint8_t *values =
        chunk + fby_sparse_values_offset(field, rows.n_rows, max_entries);
    uint8_t *packed_values   = chunk + fby_sparse_values_offset(field,
                                           rows.n_rows, total_entries(rows));
    uint64_t index_row_bytes = (uint64_t)field->max_length * field->index_bytes;
    uint8_t *indices_end =
        pack_rows(indices, index_row_bytes, field->index_bytes, rows, indices);
    memset(indices_end, 0, (size_t)(packed_values - indices_end));
    const uint8_t *values_end = pack_rows(
        values, field->row_bytes, field->entry_bytes, rows, packed_values);
    return (uint32_t)(values_end - chunk);
}

uint32_t fby_ragged_pack(const struct fby_raw_field *field,
    const uint32_t *lengths, uint32_t rows, uint8_t *chunk)
{
    struct row_lengths row_lengths = {rows, lengths};
    uint8_t           *values = chunk + fby_ragged_lengths_end(field, rows);
    write_lengths(field, lengths, rows, chunk);
    if (field->form == FBY_FORM_SPARSE) {
        return pack_sparse(field, row_lengths, chunk);
    }
    const uint8_t *end = pack_rows(
        values, field->row_bytes, field->entry_bytes, row_lengths, values);
    return (uint32_t)(end - chunk);
}
