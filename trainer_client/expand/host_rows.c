/* SPDX-License-Identifier: Apache-2.0 */
/* host_rows.c - expand ragged and sparse rows, one row after another. */
#include "trainer_client/expand/host.h"

#include <string.h>

#include "trainer_client/expand/value.h"

/* ---- ragged -------------------------------------------------------------- */

/* Write `value`, of `width` bytes, `n` times. Each copy doubles the number of
 * bytes that are written. */
static void repeat_value(
    uint8_t *out, uint64_t value, uint32_t width, uint64_t n)
{
    uint64_t bytes   = n * width;
    uint64_t written = bytes > 0 ? width : 0;
    memcpy(out, &value, written);
    while (written < bytes) {
        uint64_t copied = written < bytes - written ? written : bytes - written;
        memcpy(out + written, out, copied);
        written += copied;
    }
}

static void expand_padded(const struct fby_expansion *plan,
    const struct fby_ragged_offsets *rows, const uint8_t *raw, uint8_t *values,
    int32_t *lengths)
{
    uint64_t entry_values = fby_expansion_entry_values(plan);
    uint32_t width        = fby_type_bytes(plan->to);
    uint64_t row_entries  = fby_expansion_padded_entries(plan, rows);
    for (uint32_t i = 0; i < rows->n; i++) {
        uint64_t n   = rows->lengths[i];
        uint8_t *row = values + i * row_entries * entry_values * width;
        fby_expand_values(plan, raw + rows->values[i], n * entry_values, row);
        repeat_value(row + n * entry_values * width, plan->pad, width,
            (row_entries - n) * entry_values);
        lengths[i] = (int32_t)n;
    }
}

/* Write the values of all rows without gaps. */
static void write_values(const struct fby_expansion *plan,
    const struct fby_ragged_offsets *rows, const uint8_t *raw, uint8_t *out)
{
    uint64_t entry_values = fby_expansion_entry_values(plan);
    uint32_t width        = fby_type_bytes(plan->to);
    for (uint32_t i = 0; i < rows->n; i++) {
        uint64_t n = rows->lengths[i] * entry_values;
        fby_expand_values(plan, raw + rows->values[i], n, out);
        out += n * width;
    }
}

static void write_offsets(const struct fby_expansion *plan,
    const struct fby_ragged_offsets *rows, void *out)
{
    uint64_t end = 0;
    fby_store_integer(plan->offset_type, out, 0, 0);
    for (uint32_t i = 0; i < rows->n; i++) {
        end += rows->lengths[i];
        fby_store_integer(plan->offset_type, out, i + 1, end);
    }
}

/* ---- sparse -------------------------------------------------------------- */

/* Load the index, within the dense row, of entry `k` of a row. */
static uint32_t load_index(const struct fby_expansion *plan,
    const struct fby_ragged_offsets *rows, const uint8_t *raw, uint32_t row,
    uint32_t k)
{
    return (uint32_t)fby_element_le(
        raw + rows->indices[row], plan->index_bytes, k);
}

static void expand_dense(const struct fby_expansion *plan,
    const struct fby_ragged_offsets *rows, const uint8_t *raw, uint8_t *out)
{
    uint64_t row_values = fby_dense_values(&plan->shape);
    uint32_t width      = fby_type_bytes(plan->to);
    memset(out, 0, rows->n * row_values * width);
    for (uint32_t i = 0; i < rows->n; i++) {
        const uint8_t *values = raw + rows->values[i];
        for (uint32_t k = 0; k < rows->lengths[i]; k++) {
            uint64_t index = i * row_values + load_index(plan, rows, raw, i, k);
            fby_expand_values(
                plan, values + k * plan->entry_bytes, 1, out + index * width);
        }
    }
}

static void write_indices(const struct fby_expansion *plan,
    const struct fby_ragged_offsets *rows, const uint8_t *raw, void *out)
{
    uint64_t entry = 0;
    for (uint32_t i = 0; i < rows->n; i++) {
        for (uint32_t k = 0; k < rows->lengths[i]; k++) {
            /* Indices have the same type as offsets. */
            fby_store_integer(plan->offset_type, out, entry++,
                load_index(plan, rows, raw, i, k));
        }
    }
}

/* Write arrays of rows->total numbers: the row number of each entry, then the
 * first coordinate of each entry, then the second one, and so on. */
static void write_coordinates(const struct fby_expansion *plan,
    const struct fby_ragged_offsets *rows, const uint8_t *raw, int64_t *out)
{
    const struct fby_shape *shape = &plan->shape;
    for (uint32_t i = 0; i < rows->n; i++) {
        for (uint32_t k = 0; k < rows->lengths[i]; k++, out++) {
            uint32_t index = load_index(plan, rows, raw, i, k);
            *out           = i;
            for (uint32_t d = 0; d < shape->n_dims; d++) {
                out[(d + 1) * rows->total] =
                    fby_coordinate(index, shape->dims, shape->n_dims, d);
            }
        }
    }
}

void fby_expand_rows(const struct fby_expansion *plan,
    const struct fby_ragged_offsets *rows, const uint8_t *raw,
    void *const out[FBY_TENSORS])
{
    if (plan->kind == FBY_EXPAND_PADDED) {
        expand_padded(plan, rows, raw, out[0], out[1]);
        return;
    }
    if (plan->kind == FBY_EXPAND_DENSE) {
        expand_dense(plan, rows, raw, out[0]);
        return;
    }
    write_values(plan, rows, raw, out[0]);
    if (plan->kind == FBY_EXPAND_COO) {
        write_coordinates(plan, rows, raw, out[1]);
        return;
    }
    write_offsets(plan, rows, out[1]);
    if (plan->kind == FBY_EXPAND_CSR) {
        write_indices(plan, rows, raw, out[2]);
    }
}
