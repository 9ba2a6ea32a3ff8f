/* rows.h - expand ragged and sparse rows, by many threads.
 *
 * A segment is a chunk: the lengths of its rows, for sparse rows the indices of
 * all values, then the values without gaps. A group has as many rows as a block
 * has threads. The CPU, which reads every length anyway, counts the entries
 * before each group; that adds 8 bytes per group to the copy. Each block
 * computes the rest of the prefix sums for its group:
 *     lengths   each thread reads the length of one row
 *     sums      of each 16 rows
 *     before    each thread adds up the lengths before its row
 * A thread then finds the row of a value and the value's offset in the chunk.
 * For a dense row it searches the row's indices, which ascend; so every value
 * is written once and zeros need no pass of their own. Lengths and indices were
 * checked on the CPU before. */
#ifndef FBY_CLIENT_EXPAND_ROWS_H
#define FBY_CLIENT_EXPAND_ROWS_H

#include "trainer_client/expand/entries.h"
#include "trainer_client/expand/pixels.h"

enum { FBY_SUM_ROWS = 16 };

/* In shared memory. */
struct fby_group {
    uint32_t length[FBY_BLOCK_ROWS]; /* entries; beyond the last row 0 */
    uint32_t before[FBY_BLOCK_ROWS]; /* entries of the group before the row */
    uint32_t sums[FBY_BLOCK_ROWS / FBY_SUM_ROWS];
};

/* The number of rows of group `g`. */
FBY_BLOCK_INLINE uint32_t fby_group_rows(
    const struct fby_segment *s, uint32_t g)
{
    return fby_min(s->rows - g * FBY_BLOCK_ROWS, FBY_BLOCK_ROWS);
}

/* Entries of the field before group `g`. */
FBY_BLOCK_INLINE uint64_t fby_group_first(
    const struct fby_segment *s, const uint8_t *arena, uint32_t g)
{
    return ((const uint64_t *)(const void *)(arena + s->groups))[g];
}

FBY_BLOCK_INLINE void fby_group_lengths(const struct fby_segment *s,
    const uint8_t *arena, uint32_t g, uint32_t thread, struct fby_group *group)
{
    uint32_t       length = 0;
    const uint8_t *from =
        arena + s->in +
        ((uint64_t)g * FBY_BLOCK_ROWS + thread) * s->length_bytes;
    if (thread < fby_group_rows(s, g)) {
        length = (uint32_t)fby_load_1(from, s->length_bytes);
    }
    group->length[thread] = length;
}

FBY_BLOCK_INLINE void fby_group_sums(uint32_t thread, struct fby_group *group)
{
    uint32_t sum = 0;
    if (thread >= FBY_BLOCK_ROWS / FBY_SUM_ROWS) {
        return;
    }
    FBY_NO_UNROLL
    for (uint32_t i = 0; i < FBY_SUM_ROWS; i++) {
        sum += group->length[thread * FBY_SUM_ROWS + i];
    }
    group->sums[thread] = sum;
}

FBY_BLOCK_INLINE void fby_group_before(uint32_t thread, struct fby_group *group)
{
    uint32_t sum = 0;
    FBY_NO_UNROLL
    for (uint32_t i = 0; i < thread / FBY_SUM_ROWS; i++) {
        sum += group->sums[i];
    }
    FBY_NO_UNROLL
    for (uint32_t i = thread / FBY_SUM_ROWS * FBY_SUM_ROWS; i < thread; i++) {
        sum += group->length[i];
    }
    group->before[thread] = sum;
}

/* Entries of the chunk before the group. */
FBY_BLOCK_INLINE uint64_t fby_group_begun(
    const struct fby_segment *s, const uint8_t *arena, uint32_t g)
{
    return fby_group_first(s, arena, g) - fby_group_first(s, arena, 0);
}

/* ---- padded -------------------------------------------------------------- */

/* Write value `v` of the group's padded rows. */
FBY_BLOCK_INLINE void fby_group_value(const struct fby_segment *s,
    const struct fby_group *group, const uint8_t *from, uint32_t v, uint8_t *to)
{
    uint32_t in    = fby_width_of(s->from);
    uint32_t row   = v / s->row_values;
    uint32_t k     = v % s->row_values;
    uint64_t value = s->pad;
    if (k < group->length[row] * s->entry) {
        uint32_t at = group->before[row] * s->entry + k;
        value       = fby_cast_1(s, fby_load_1(from + (uint64_t)at * in, in));
    }
    fby_store_1(value, fby_width_of(s->to), to);
}

/* Pad one part of a group. */
FBY_BLOCK_INLINE void fby_group_pad(const struct fby_segment *s,
    const struct fby_group *group, const uint8_t *arena, uint8_t *out,
    uint32_t number, uint32_t thread)
{
    uint32_t       g      = number / s->parts;
    uint32_t       first  = number % s->parts * FBY_BLOCK_VALUES;
    uint32_t       rows   = fby_group_rows(s, g);
    uint32_t       values = rows * s->row_values;
    uint32_t       end    = fby_min(values, first + FBY_BLOCK_VALUES);
    uint64_t       begun  = fby_group_begun(s, arena, g);
    const uint8_t *from =
        arena + s->values + begun * s->entry * fby_width_of(s->from);
    uint32_t width = fby_width_of(s->to);
    uint8_t *to =
        out + s->out + (uint64_t)g * FBY_BLOCK_ROWS * s->row_values * width;
    FBY_NO_UNROLL
    for (uint32_t v = first + thread; v < end; v += FBY_BLOCK_THREADS) {
        fby_group_value(s, group, from, v, to + (uint64_t)v * width);
    }
    if (first == 0 && thread < rows) {
        fby_store_1(group->length[thread], 4,
            out + s->lengths + 4 * ((uint64_t)g * FBY_BLOCK_ROWS + thread));
    }
}

/* ---- sparse -------------------------------------------------------------- */

FBY_BLOCK_INLINE uint32_t fby_group_index(
    const struct fby_segment *s, const uint8_t *indices, uint32_t entry)
{
    return (uint32_t)fby_load_1(
        indices + (uint64_t)entry * s->index_bytes, s->index_bytes);
}

/* The first of the entries `from` to `end`, whose indices ascend, that has at
 * least `index`. */
FBY_BLOCK_INLINE uint32_t fby_group_find(const struct fby_segment *s,
    const uint8_t *indices, uint32_t from, uint32_t end, uint32_t index)
{
    FBY_NO_UNROLL
    while (from < end) {
        uint32_t middle = from + (end - from) / 2;
        if (fby_group_index(s, indices, middle) < index) {
            from = middle + 1;
        } else {
            end = middle;
        }
    }
    return from;
}

/* Value k of a dense row of the group; the group's entries begin at `indices`
 * and `from`. */
FBY_BLOCK_INLINE uint64_t fby_group_dense_value(const struct fby_segment *s,
    const struct fby_group *group, const uint8_t *indices, const uint8_t *from,
    uint32_t row, uint32_t k)
{
    uint32_t in  = fby_width_of(s->from);
    uint32_t end = group->before[row] + group->length[row];
    uint32_t at  = fby_group_find(s, indices, group->before[row], end, k);
    return at < end && fby_group_index(s, indices, at) == k
               ? fby_cast_1(s, fby_load_1(from + (uint64_t)at * in, in))
               : 0;
}

/* Write dense rows of a group; its parts interleave. A thread advances by rows
 * and values, since an index in a group may need more than 32 bits. */
FBY_BLOCK_INLINE void fby_group_dense(const struct fby_segment *s,
    const struct fby_group *group, const uint8_t *arena, uint8_t *out,
    uint32_t number, uint32_t thread)
{
    uint32_t       g       = number / s->parts;
    uint32_t       at      = number % s->parts * FBY_BLOCK_THREADS + thread;
    uint32_t       row     = at / s->row_values;
    uint32_t       k       = at % s->row_values;
    uint64_t       begun   = fby_group_begun(s, arena, g);
    const uint8_t *indices = arena + s->indices + begun * s->index_bytes;
    const uint8_t *from    = arena + s->values + begun * fby_width_of(s->from);
    FBY_NO_UNROLL
    while (row < fby_group_rows(s, g)) {
        uint32_t width = fby_width_of(s->to);
        uint64_t index = fby_dense_index(
            (uint64_t)g * FBY_BLOCK_ROWS + row, s->row_values, k);
        fby_store_1(fby_group_dense_value(s, group, indices, from, row, k),
            width, out + s->out + index * width);
        k += s->parts * FBY_BLOCK_THREADS % s->row_values;
        row += s->parts * FBY_BLOCK_THREADS / s->row_values;
        row += k >= s->row_values ? 1 : 0;
        k -= k >= s->row_values ? s->row_values : 0;
    }
}

/* The row of the group's entry `v`: the last one that begins at or before
 * it. */
FBY_BLOCK_INLINE uint32_t fby_group_row(
    const struct fby_group *group, uint32_t v)
{
    uint32_t row = 0;
    FBY_NO_UNROLL
    for (uint32_t step = FBY_BLOCK_ROWS / 2; step > 0; step /= 2) {
        row += group->before[row + step] <= v ? step : 0;
    }
    return row;
}

/* Write the coordinates of a group's entries; its parts interleave, since a
 * group may have any number of entries. */
FBY_BLOCK_INLINE void fby_group_coo(const struct fby_segment *s,
    const struct fby_group *group, const uint8_t *arena, uint8_t *out,
    uint32_t number, uint32_t thread)
{
    uint32_t g = number / s->parts;
    uint32_t n =
        group->before[FBY_BLOCK_ROWS - 1] + group->length[FBY_BLOCK_ROWS - 1];
    uint64_t       first = fby_group_first(s, arena, g);
    const uint8_t *indices =
        arena + s->indices + fby_group_begun(s, arena, g) * s->index_bytes;
    FBY_NO_UNROLL
    for (uint32_t v = number % s->parts * FBY_BLOCK_THREADS + thread; v < n;
         v += s->parts * FBY_BLOCK_THREADS) {
        uint32_t index = fby_group_index(s, indices, v);
        fby_store_1(s->first_row + (uint64_t)g * FBY_BLOCK_ROWS +
                        fby_group_row(group, v),
            8, out + s->out + 8 * fby_coo_index(0, s->total, first + v));
        FBY_NO_UNROLL
        for (uint32_t d = 0; d < s->n_dims; d++) {
            fby_store_1(fby_coordinate(index, s->dims, s->n_dims, d), 8,
                out + s->out + 8 * fby_coo_index(d + 1, s->total, first + v));
        }
    }
}

/* ---- offsets ------------------------------------------------------------- */

/* Write the offsets of a group; offset i + 1 is the end of row i. */
FBY_BLOCK_INLINE void fby_group_offset(const struct fby_segment *s,
    const struct fby_group *group, const uint8_t *arena, uint8_t *out,
    uint32_t g, uint32_t thread)
{
    uint32_t width = fby_width_of(s->to);
    uint64_t row   = s->first_row + (uint64_t)g * FBY_BLOCK_ROWS + thread;
    uint64_t first = fby_group_first(s, arena, g);
    if (thread >= fby_group_rows(s, g)) {
        return;
    }
    if (row == 0) {
        fby_store_1(0, width, out + s->out);
    }
    fby_store_1(first + group->before[thread] + group->length[thread], width,
        out + s->out + (row + 1) * width);
}

#endif
