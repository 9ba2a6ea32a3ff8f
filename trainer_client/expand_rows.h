/* expand_rows.h - rows of several lengths, by many threads.
 *
 * A segment is a chunk: the lengths of its rows, then their values without
 * gaps. Rows are taken in groups of as many as a block has threads; how many
 * entries there are before a group the CPU has counted, which looks at every
 * length anyway, and that is 8 bytes a group on their way. The rest of the
 * prefix sums is made here, by each block for its group:
 *     lengths   a thread a row reads its length
 *     sums      of each 16 rows
 *     before    each thread adds up what lies before its row
 * A thread then finds the row of a value, and the value's place in the chunk.
 * The lengths were checked on the CPU before. */
#ifndef FBY_CLIENT_EXPAND_ROWS_H
#define FBY_CLIENT_EXPAND_ROWS_H

#include "trainer_client/expand_pixels.h"

enum { FBY_SUM_ROWS = 16 };

/* In shared memory. */
struct fby_group {
    uint32_t length[FBY_BLOCK_ROWS]; /* entries; beyond the last row 0 */
    uint32_t before[FBY_BLOCK_ROWS]; /* of the group's entries */
    uint32_t sums[FBY_BLOCK_ROWS / FBY_SUM_ROWS];
};

/* Rows of group `g`. */
FBY_BLOCK_INLINE uint32_t fby_group_rows(
    const struct fby_segment *s, uint32_t g)
{
    return fby_least(s->rows - g * FBY_BLOCK_ROWS, FBY_BLOCK_ROWS);
}

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
    FBY_ROLL
    for (uint32_t i = 0; i < FBY_SUM_ROWS; i++) {
        sum += group->length[thread * FBY_SUM_ROWS + i];
    }
    group->sums[thread] = sum;
}

FBY_BLOCK_INLINE void fby_group_before(uint32_t thread, struct fby_group *group)
{
    uint32_t sum = 0;
    FBY_ROLL
    for (uint32_t i = 0; i < thread / FBY_SUM_ROWS; i++) {
        sum += group->sums[i];
    }
    FBY_ROLL
    for (uint32_t i = thread / FBY_SUM_ROWS * FBY_SUM_ROWS; i < thread; i++) {
        sum += group->length[i];
    }
    group->before[thread] = sum;
}

/* ---- padded --------------------------------------------------------------- */

/* Value `v` of the group's tensor. */
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

/* Part `part` of group `g`. */
FBY_BLOCK_INLINE void fby_group_pad(const struct fby_segment *s,
    const struct fby_group *group, const uint8_t *arena, uint8_t *out,
    uint32_t number, uint32_t thread)
{
    uint32_t g      = number / s->parts;
    uint32_t first  = number % s->parts * FBY_BLOCK_VALUES;
    uint32_t rows   = fby_group_rows(s, g);
    uint32_t values = rows * s->row_values;
    uint32_t end    = fby_least(values, first + FBY_BLOCK_VALUES);
    uint64_t begun =
        fby_group_first(s, arena, g) - fby_group_first(s, arena, 0);
    const uint8_t *from =
        arena + s->values + begun * s->entry * fby_width_of(s->from);
    uint32_t width = fby_width_of(s->to);
    uint8_t *to =
        out + s->out + (uint64_t)g * FBY_BLOCK_ROWS * s->row_values * width;
    FBY_ROLL
    for (uint32_t v = first + thread; v < end; v += FBY_BLOCK_THREADS) {
        fby_group_value(s, group, from, v, to + (uint64_t)v * width);
    }
    if (first == 0 && thread < rows) {
        fby_store_1(group->length[thread], 4,
            out + s->lengths + 4 * ((uint64_t)g * FBY_BLOCK_ROWS + thread));
    }
}

/* ---- offsets -------------------------------------------------------------- */

/* Offset i + 1 is where row i ends. */
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
