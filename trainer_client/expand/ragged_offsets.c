/* SPDX-License-Identifier: Apache-2.0 */
/* ragged_offsets.c - check the lengths and indices of the chunks of a field. */
#include "trainer_client/expand/ragged_offsets.h"

#include <stdlib.h>

#include "common/mem.h"
#include "trainer_client/expand/value.h"

void fby_ragged_offsets_init(struct fby_ragged_offsets *self, uint32_t max_rows)
{
    *self = (struct fby_ragged_offsets){
        .lengths = fby_zalloc(max_rows * sizeof(*self->lengths)),
        .values  = fby_zalloc(max_rows * sizeof(*self->values)),
        .indices = fby_zalloc(max_rows * sizeof(*self->indices)),
    };
}

void fby_ragged_offsets_fini(struct fby_ragged_offsets *self)
{
    free(self->lengths);
    free(self->values);
    free(self->indices);
    *self = (struct fby_ragged_offsets){0};
}

void fby_ragged_offsets_clear(struct fby_ragged_offsets *self)
{
    self->n         = 0;
    self->documents = 0;
    self->total     = 0;
    self->longest   = 0;
}

/* Read the lengths of the rows of a chunk, and set *total to their sum. It was
 * checked that the chunk has all lengths. */
static fby_err read_lengths(struct fby_ragged_offsets *self,
    const struct fby_ragged_offsets_in *in, struct fby_raw_span span,
    uint64_t *total, struct fby_error_detail *why)
{
    const struct fby_raw_field *field   = &in->layout->fields[in->field];
    const uint8_t              *lengths = in->raw + span.raw_offset;
    *total                              = 0;
    for (uint32_t i = 0; i < span.rows; i++) {
        uint32_t length =
            (uint32_t)fby_element_le(lengths, field->length_bytes, i);
        uint32_t row = span.first_row + i;
        if (length > field->max_length) {
            return fby_error_set(why, FBY_PROTO,
                "field %s: row %u has %u entries, max_length is %u", in->name,
                row, length, field->max_length);
        }
        self->lengths[row] = length;
        self->longest      = length > self->longest ? length : self->longest;
        *total += length;
    }
    self->total += *total;
    return FBY_OK;
}

/* Set the offsets of the rows of a chunk, whose lengths add up to `total`.
 * Returns the number of bytes that the chunk must have. */
static uint64_t set_row_offsets(struct fby_ragged_offsets *self,
    const struct fby_raw_field *field, struct fby_raw_span span, uint64_t total)
{
    uint64_t index_offset = fby_ragged_lengths_end(field, span.rows);
    uint64_t value_offset = fby_sparse_values_offset(field, span.rows, total);
    for (uint32_t i = 0; i < span.rows; i++) {
        uint32_t row       = span.first_row + i;
        self->indices[row] = span.raw_offset + index_offset;
        self->values[row]  = span.raw_offset + value_offset;
        index_offset += (uint64_t)self->lengths[row] * field->index_bytes;
        value_offset += (uint64_t)self->lengths[row] * field->entry_bytes;
    }
    return value_offset;
}

/* Check that the indices of a sparse row ascend and are within the shape. */
static fby_err check_indices(const struct fby_ragged_offsets *self,
    const struct fby_ragged_offsets_in *in, uint32_t row,
    struct fby_error_detail *why)
{
    const struct fby_raw_field *field      = &in->layout->fields[in->field];
    const uint8_t              *indices    = in->raw + self->indices[row];
    uint64_t                    row_values = fby_dense_values(&field->shape);
    int64_t                     previous   = -1;
    for (uint64_t i = 0; i < self->lengths[row]; i++) {
        uint32_t index =
            (uint32_t)fby_element_le(indices, field->index_bytes, i);
        if (index >= row_values) {
            return fby_error_set(why, FBY_PROTO,
                "field %s: row %u has index %u, but its shape has %llu values",
                in->name, row, index, (unsigned long long)row_values);
        }
        if ((int64_t)index <= previous) {
            return fby_error_set(why, FBY_PROTO,
                "field %s: row %u has index %u after %lld; they must ascend",
                in->name, row, index, (long long)previous);
        }
        previous = index;
    }
    return FBY_OK;
}

static fby_err read_chunk(struct fby_ragged_offsets *self,
    const struct fby_ragged_offsets_in *in, uint32_t chunk,
    struct fby_error_detail *why)
{
    const struct fby_raw_field *field = &in->layout->fields[in->field];
    struct fby_raw_span         span =
        fby_layout_chunk_span(in->layout, in->field, chunk);
    uint64_t total = 0;
    if (in->arena_chunks != NULL) { /* the chunk is in an arena */
        span.raw_offset = in->arena_chunks[chunk].offset;
    }
    fby_err err = read_lengths(self, in, span, &total, why);
    if (err != FBY_OK) {
        return err;
    }
    uint64_t bytes = set_row_offsets(self, field, span, total);
    if (bytes != in->sent[chunk].raw_bytes) {
        return fby_error_set(why, FBY_PROTO,
            "field %s: chunk %u has %u bytes, its lengths need %llu", in->name,
            chunk, in->sent[chunk].raw_bytes, (unsigned long long)bytes);
    }
    bool sparse = field->form == FBY_FORM_SPARSE;
    for (uint32_t i = 0; sparse && i < span.rows && err == FBY_OK; i++) {
        err = check_indices(self, in, span.first_row + i, why);
    }
    return err;
}

fby_err fby_ragged_offsets_read(struct fby_ragged_offsets *self,
    const struct fby_ragged_offsets_in *in, struct fby_error_detail *why)
{
    fby_err err = FBY_OK;
    fby_ragged_offsets_clear(self);
    self->n           = in->layout->rows;
    self->index_bytes = in->layout->fields[in->field].index_bytes;
    for (uint32_t i = 0;
         i < in->layout->fields[in->field].n_chunks && err == FBY_OK; i++) {
        err = read_chunk(self, in, i, why);
    }
    return err;
}
