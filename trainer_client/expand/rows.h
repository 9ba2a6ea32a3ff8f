/* SPDX-License-Identifier: Apache-2.0 */
/* rows.h - expand ragged and sparse rows with a block of threads.
 *
 * A segment is a chunk: the lengths of its rows, for sparse rows the indices of
 * all entries, then the values without gaps. An entry has one or more values. A
 * group has as many rows as a block has threads. The CPU, which has checked all
 * lengths and indices, writes the number of entries before each group to the
 * arena. Each block computes the other prefix sums of its group in three steps:
 *     lengths   each thread reads the length of one row
 *     sums      some threads add up 16 lengths each
 *     before    each thread adds up the lengths before its row
 * From these sums a thread finds the row and the offset of an entry. For dense
 * rows a thread searches the ascending indices of the row. So each value is
 * written once, zeros included. Several blocks may share a group: block b of a
 * segment is part b % parts of group b / parts. */
#ifndef FBY_CLIENT_EXPAND_ROWS_H
#define FBY_CLIENT_EXPAND_ROWS_H

#include "trainer_client/expand/pixels.h"

enum { FBY_ROWS_PER_SUM = 16 };

/* The shared memory of a block. */
struct fby_group {
    uint32_t length[FBY_BLOCK_ROWS]; /* entries of each row; 0 after the last */
    uint32_t before[FBY_BLOCK_ROWS]; /* entries of the group before each row */
    uint32_t sums[FBY_BLOCK_ROWS / FBY_ROWS_PER_SUM]; /* each of 16 lengths */
};

/* True for PADDED, OFFSETS, DENSE and COO. */
FBY_BLOCK_INLINE bool fby_segment_has_groups(const struct fby_segment *s)
{
    return s->rows > 0;
}

FBY_BLOCK_INLINE uint32_t fby_group_rows(
    const struct fby_segment *s, uint32_t g)
{
    return fby_min(s->rows - g * FBY_BLOCK_ROWS, FBY_BLOCK_ROWS);
}

/* The number of entries of the field before group `g`. */
FBY_BLOCK_INLINE uint64_t fby_field_entries_before(
    const struct fby_segment *s, const uint8_t *arena, uint32_t g)
{
    return ((const uint64_t *)(const void *)(arena + s->groups))[g];
}

FBY_BLOCK_INLINE void fby_group_load_length(const struct fby_segment *s,
    const uint8_t *arena, uint32_t g, uint32_t thread, struct fby_group *group)
{
    uint32_t       length = 0;
    const uint8_t *from =
        arena + s->in +
        ((uint64_t)g * FBY_BLOCK_ROWS + thread) * s->length_bytes;
    if (thread < fby_group_rows(s, g)) {
        length = (uint32_t)fby_load_value(from, s->length_bytes);
    }
    group->length[thread] = length;
}

FBY_BLOCK_INLINE void fby_group_sum_16(uint32_t thread, struct fby_group *group)
{
    uint32_t sum = 0;
    if (thread >= FBY_BLOCK_ROWS / FBY_ROWS_PER_SUM) {
        return;
    }
    FBY_NO_UNROLL
    for (uint32_t i = 0; i < FBY_ROWS_PER_SUM; i++) {
        sum += group->length[thread * FBY_ROWS_PER_SUM + i];
    }
    group->sums[thread] = sum;
}

FBY_BLOCK_INLINE void fby_group_sum_before(
    uint32_t thread, struct fby_group *group)
{
    uint32_t sum = 0;
    FBY_NO_UNROLL
    for (uint32_t i = 0; i < thread / FBY_ROWS_PER_SUM; i++) {
        sum += group->sums[i];
    }
    FBY_NO_UNROLL
    for (uint32_t i = thread / FBY_ROWS_PER_SUM * FBY_ROWS_PER_SUM; i < thread;
         i++) {
        sum += group->length[i];
    }
    group->before[thread] = sum;
}

/* The number of entries of the chunk before group `g`. */
FBY_BLOCK_INLINE uint64_t fby_chunk_entries_before(
    const struct fby_segment *s, const uint8_t *arena, uint32_t g)
{
    return fby_field_entries_before(s, arena, g) -
           fby_field_entries_before(s, arena, 0);
}

/* ---- padded -------------------------------------------------------------- */

/* Write value `v` of the group's padded rows from the group's raw `values`. */
FBY_BLOCK_INLINE void fby_group_write_value(const struct fby_segment *s,
    const struct fby_group *group, const uint8_t *values, uint32_t v,
    uint8_t *to)
{
    uint32_t width = fby_width_of(s->from);
    uint32_t row   = v / s->row_values;
    uint32_t k     = v % s->row_values;
    uint64_t value = s->pad;
    if (k < group->length[row] * s->entry) {
        uint32_t i = group->before[row] * s->entry + k;
        value      = fby_cast_value(
                 s, fby_load_value(values + (uint64_t)i * width, width));
    }
    fby_store_value(value, fby_width_of(s->to), to);
}

/* Write the padded values of one part of a group, and in part 0 the lengths. */
FBY_BLOCK_INLINE void fby_group_write_padded(const struct fby_segment *s,
    const struct fby_group *group, const uint8_t *arena, uint8_t *out,
    uint32_t number, uint32_t thread)
{
    uint32_t       g      = number / s->parts;
    uint32_t       first  = number % s->parts * FBY_BLOCK_VALUES;
    uint32_t       rows   = fby_group_rows(s, g);
    uint32_t       values = rows * s->row_values;
    uint32_t       end    = fby_min(values, first + FBY_BLOCK_VALUES);
    uint64_t       before = fby_chunk_entries_before(s, arena, g);
    const uint8_t *from =
        arena + s->values + before * s->entry * fby_width_of(s->from);
    uint32_t width = fby_width_of(s->to);
    uint8_t *to =
        out + s->out + (uint64_t)g * FBY_BLOCK_ROWS * s->row_values * width;
    FBY_NO_UNROLL
    for (uint32_t v = first + thread; v < end; v += FBY_BLOCK_THREADS) {
        fby_group_write_value(s, group, from, v, to + (uint64_t)v * width);
    }
    if (first == 0 && thread < rows) {
        fby_store_value(group->length[thread], 4,
            out + s->lengths + 4 * ((uint64_t)g * FBY_BLOCK_ROWS + thread));
    }
}

/* ---- sparse -------------------------------------------------------------- */

FBY_BLOCK_INLINE uint32_t fby_group_load_index(
    const struct fby_segment *s, const uint8_t *indices, uint32_t entry)
{
    return (uint32_t)fby_load_value(
        indices + (uint64_t)entry * s->index_bytes, s->index_bytes);
}

/* Find the first of the entries `from` to end - 1 whose index is at least
 * `index`. Returns `end` if there is none. Indices ascend. */
FBY_BLOCK_INLINE uint32_t fby_group_find_index(const struct fby_segment *s,
    const uint8_t *indices, uint32_t from, uint32_t end, uint32_t index)
{
    FBY_NO_UNROLL
    while (from < end) {
        uint32_t middle = from + (end - from) / 2;
        if (fby_group_load_index(s, indices, middle) < index) {
            from = middle + 1;
        } else {
            end = middle;
        }
    }
    return from;
}

/* The bits of value `k` of a dense row. `indices` and `values` belong to the
 * entries of the group. */
FBY_BLOCK_INLINE uint64_t fby_group_dense_value(const struct fby_segment *s,
    const struct fby_group *group, const uint8_t *indices,
    const uint8_t *values, uint32_t row, uint32_t k)
{
    uint32_t width = fby_width_of(s->from);
    uint32_t end   = group->before[row] + group->length[row];
    uint32_t entry =
        fby_group_find_index(s, indices, group->before[row], end, k);
    return entry < end && fby_group_load_index(s, indices, entry) == k
               ? fby_cast_value(
                     s, fby_load_value(values + (uint64_t)entry * width, width))
               : 0;
}

/* Write one part of the dense rows of a group. The blocks of the group take
 * turns to write FBY_BLOCK_THREADS values each. A thread's next value is value
 * `k` of row `row`; its number in the group could need more than 32 bits. */
FBY_BLOCK_INLINE void fby_group_write_dense(const struct fby_segment *s,
    const struct fby_group *group, const uint8_t *arena, uint8_t *out,
    uint32_t number, uint32_t thread)
{
    uint32_t       g       = number / s->parts;
    uint32_t       first   = number % s->parts * FBY_BLOCK_THREADS + thread;
    uint32_t       row     = first / s->row_values;
    uint32_t       k       = first % s->row_values;
    uint64_t       before  = fby_chunk_entries_before(s, arena, g);
    const uint8_t *indices = arena + s->indices + before * s->index_bytes;
    const uint8_t *from    = arena + s->values + before * fby_width_of(s->from);
    FBY_NO_UNROLL
    while (row < fby_group_rows(s, g)) {
        uint32_t width = fby_width_of(s->to);
        uint64_t index =
            ((uint64_t)g * FBY_BLOCK_ROWS + row) * s->row_values + k;
        fby_store_value(fby_group_dense_value(s, group, indices, from, row, k),
            width, out + s->out + index * width);
        /* Advance by parts * FBY_BLOCK_THREADS values. */
        k += s->parts * FBY_BLOCK_THREADS % s->row_values;
        row += s->parts * FBY_BLOCK_THREADS / s->row_values;
        row += k >= s->row_values ? 1 : 0;
        k -= k >= s->row_values ? s->row_values : 0;
    }
}

/* Find the last row that begins at or before `entry`, by a binary search. */
FBY_BLOCK_INLINE uint32_t fby_group_row_of_entry(
    const struct fby_group *group, uint32_t entry)
{
    uint32_t row = 0;
    FBY_NO_UNROLL
    for (uint32_t step = FBY_BLOCK_ROWS / 2; step > 0; step /= 2) {
        row += group->before[row + step] <= entry ? step : 0;
    }
    return row;
}

/* Write the coordinates of one part of a group's entries. The blocks of the
 * group take turns to write those of FBY_BLOCK_THREADS entries each. */
FBY_BLOCK_INLINE void fby_group_write_coo(const struct fby_segment *s,
    const struct fby_group *group, const uint8_t *arena, uint8_t *out,
    uint32_t number, uint32_t thread)
{
    uint32_t g = number / s->parts;
    uint32_t end =
        group->before[FBY_BLOCK_ROWS - 1] + group->length[FBY_BLOCK_ROWS - 1];
    uint64_t       first = fby_field_entries_before(s, arena, g);
    const uint8_t *indices =
        arena + s->indices +
        fby_chunk_entries_before(s, arena, g) * s->index_bytes;
    FBY_NO_UNROLL
    for (uint32_t entry = number % s->parts * FBY_BLOCK_THREADS + thread;
         entry < end; entry += s->parts * FBY_BLOCK_THREADS) {
        uint32_t index = fby_group_load_index(s, indices, entry);
        fby_store_value(s->first_row + (uint64_t)g * FBY_BLOCK_ROWS +
                            fby_group_row_of_entry(group, entry),
            8, out + s->out + 8 * (first + entry));
        FBY_NO_UNROLL
        for (uint32_t d = 0; d < s->n_dims; d++) {
            fby_store_value(fby_coordinate(index, s->dims, s->n_dims, d), 8,
                out + s->out +
                    8 * ((uint64_t)(d + 1) * s->total + first + entry));
        }
    }
}

/* ---- offsets ------------------------------------------------------------- */

/* Write the end of one row of group `g`. Offset i + 1 is the end of row i. */
FBY_BLOCK_INLINE void fby_group_write_offset(const struct fby_segment *s,
    const struct fby_group *group, const uint8_t *arena, uint8_t *out,
    uint32_t g, uint32_t thread)
{
    uint32_t width = fby_width_of(s->to);
    uint64_t row   = s->first_row + (uint64_t)g * FBY_BLOCK_ROWS + thread;
    uint64_t first = fby_field_entries_before(s, arena, g);
    if (thread >= fby_group_rows(s, g)) {
        return;
    }
    if (row == 0) {
        fby_store_value(0, width, out + s->out);
    }
    fby_store_value(first + group->before[thread] + group->length[thread],
        width, out + s->out + (row + 1) * width);
}

/* Expand block `number` of the segment. */
FBY_BLOCK_INLINE void fby_group_expand(const struct fby_segment *s,
    const struct fby_group *group, const uint8_t *arena, uint8_t *out,
    uint32_t number, uint32_t thread)
{
    if (s->kind == FBY_SEGMENT_PADDED) {
        fby_group_write_padded(s, group, arena, out, number, thread);
    } else if (s->kind == FBY_SEGMENT_DENSE) {
        fby_group_write_dense(s, group, arena, out, number, thread);
    } else if (s->kind == FBY_SEGMENT_COO) {
        fby_group_write_coo(s, group, arena, out, number, thread);
    } else {
        fby_group_write_offset(s, group, arena, out, number / s->parts, thread);
    }
}

#endif
