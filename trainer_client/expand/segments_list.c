/* SPDX-License-Identifier: Apache-2.0 */
/* segments_list.c - a list of segments, with its table of blocks. */
#include "trainer_client/expand/segments_list.h"

#include <string.h>

_Static_assert(sizeof(struct fby_segment_list) % 8 == 0 &&
                   sizeof(struct fby_segment) % 8 == 0,
    "the table counts offsets of segments in units of 8 bytes");
_Static_assert(sizeof(struct fby_segment) <= (size_t)4 * FBY_BLOCK_THREADS,
    "a block loads its segment with one word for each thread");

uint64_t fby_segments_align_up(uint64_t size)
{
    return (size + FBY_SEGMENT_ALIGN - 1) / FBY_SEGMENT_ALIGN *
           FBY_SEGMENT_ALIGN;
}

/* How much of a segment's `n` one block expands. For kinds that are not in the
 * table, `n` is the number of blocks. */
static uint32_t work_per_block(uint32_t kind)
{
    static const uint32_t work[] = {
        [FBY_SEGMENT_COPY]      = FBY_BLOCK_BYTES,
        [FBY_SEGMENT_PIXELS]    = FBY_BLOCK_QUADS,
        [FBY_SEGMENT_VALUES]    = FBY_BLOCK_VALUES,
        [FBY_SEGMENT_ONE_HOT]   = FBY_BLOCK_VALUES,
        [FBY_SEGMENT_BITS]      = FBY_BLOCK_VALUES,
        [FBY_SEGMENT_MIX]       = FBY_BLOCK_VALUES,
        [FBY_SEGMENT_POSITIONS] = FBY_BLOCK_VALUES,
        [FBY_SEGMENT_MASK]      = FBY_BLOCK_VALUES,
    };
    return work[kind] > 0 ? work[kind] : 1;
}

void fby_segments_append(
    struct fby_segments *self, const struct fby_segment *segment)
{
    uint32_t block_work = work_per_block(segment->kind);
    if (self->segments != NULL) {
        self->segments[self->n]             = *segment;
        self->segments[self->n].first_block = self->n_blocks;
    }
    uint32_t blocks = (segment->n + block_work - 1) / block_work;
    self->n++;
    self->n_blocks += blocks;
    self->blocks[self->pass] += blocks;
}

void fby_segments_begin_pass(struct fby_segments *self, enum fby_pass pass)
{
    self->pass = (uint32_t)pass;
}

void fby_segments_append_split(struct fby_segments *self,
    struct fby_segment segment, const struct fby_segment_units *units)
{
    uint64_t max_units     = FBY_SEGMENT_MAX / units->work;
    uint32_t first_channel = segment.first_pixel; /* of scaled VALUES */
    bool     is_scaled     = segment.kind == FBY_SEGMENT_VALUES &&
                     segment.channels > 0 && segment.planar == 0;
    for (uint64_t done = 0; done < units->n; done += max_units) {
        uint64_t left    = units->n - done;
        uint64_t n_units = left < max_units ? left : max_units;
        segment.n        = (uint32_t)n_units * units->work;
        if (is_scaled) {
            segment.first_pixel =
                (uint32_t)((first_channel + done) % segment.channels);
        }
        fby_segments_append(self, &segment);
        segment.in += max_units * units->in_bytes;
        segment.out += max_units * units->out_bytes;
        if (segment.kind == FBY_SEGMENT_MIX) {
            segment.first_row += (uint32_t)max_units;
        } else if (segment.params != 0) {
            segment.params += max_units; /* one byte for each picture */
        }
    }
}

void fby_segments_reserve_shared(struct fby_segments *self, uint32_t bytes)
{
    self->shared = bytes > self->shared ? bytes : self->shared;
}

void fby_segments_append_copy(
    struct fby_segments *self, uint64_t from, uint64_t bytes, uint64_t out)
{
    const struct fby_segment segment = {
        .kind = FBY_SEGMENT_COPY, .in = from, .out = out};
    fby_segments_append_split(
        self, segment, &(struct fby_segment_units){bytes, 1, 1, 1});
}

/* ---- begin and end ------------------------------------------------------- */

void fby_segments_begin(
    struct fby_segments *self, uint8_t *arena, uint64_t used)
{
    *self = (struct fby_segments){
        .arena = arena, .list = fby_segments_align_up(used)};
    self->segments =
        (struct fby_segment *)(void *)(arena + self->list +
                                       sizeof(struct fby_segment_list));
}

/* The offset of the first segment from the head: after the table. */
static uint64_t segments_offset(const struct fby_segments *self)
{
    return sizeof(struct fby_segment_list) +
           (self->n_blocks + UINT64_C(1)) / 2 * 2 * sizeof(uint32_t);
}

uint64_t fby_segments_bytes(const struct fby_segments *self)
{
    return segments_offset(self) +
           self->n * (uint64_t)sizeof(struct fby_segment);
}

/* Move the segments to make room for the table, whose size is known now. */
static void move_segments(struct fby_segments *self)
{
    uint8_t *to = self->arena + self->list + segments_offset(self);
    memmove(to, self->segments, self->n * sizeof(*self->segments));
    self->segments = (struct fby_segment *)(void *)to;
}

static void write_table(const struct fby_segments *self, uint32_t *table)
{
    for (uint32_t i = 0; i < self->n; i++) {
        uint64_t offset =
            segments_offset(self) + i * (uint64_t)sizeof(struct fby_segment);
        uint32_t end = i + 1 < self->n ? self->segments[i + 1].first_block
                                       : self->n_blocks;
        for (uint32_t b = self->segments[i].first_block; b < end; b++) {
            table[b] = (uint32_t)(offset / 8);
        }
    }
    if (self->n_blocks % 2 != 0) {
        table[self->n_blocks] = 0;
    }
}

uint64_t fby_segments_finish(struct fby_segments *self)
{
    const struct fby_segment_list list = {
        .n_segments = self->n,
        .blocks     = {self->blocks[0], self->blocks[1], self->blocks[2]},
        .shared     = self->shared,
    };
    uint8_t *head = self->arena + self->list;
    move_segments(self);
    memcpy(head, &list, sizeof(list));
    write_table(self, (uint32_t *)(void *)(head + sizeof(list)));
    return self->list + fby_segments_bytes(self);
}
