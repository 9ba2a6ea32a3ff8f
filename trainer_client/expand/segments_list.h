/* SPDX-License-Identifier: Apache-2.0 */
/* segments_list.h - append segments (segment.h) to a list, and complete it.
 *
 * The functions of segments.h make the segments from fields. If `segments` is
 * NULL, segments are only counted, so that the caller learns the size of the
 * list. No function then reads the arena. Pure. */
#ifndef FBY_CLIENT_EXPAND_SEGMENTS_LIST_H
#define FBY_CLIENT_EXPAND_SEGMENTS_LIST_H

#include "trainer_client/expand/segment.h"

struct fby_segments {
    uint8_t            *arena;
    uint64_t            list;     /* offset of the list in the arena */
    struct fby_segment *segments; /* NULL: segments are only counted */
    uint32_t            n;        /* segments */
    uint32_t            n_blocks; /* blocks of all passes */
    uint32_t            pass;     /* enum fby_pass of the next segment */
    uint32_t            blocks[FBY_PASSES]; /* number of blocks of each pass */
    uint32_t            shared; /* most shared memory of a block, bytes */
};

/* An input is split into segments only between its units, which are values or
 * samples. */
struct fby_segment_units {
    uint64_t n;                   /* number of units */
    uint64_t in_bytes, out_bytes; /* of one unit, in input and output */
    uint32_t work; /* what a unit adds to `n` of its segment; at most
                      FBY_SEGMENT_MAX */
};

/* Round up to FBY_SEGMENT_ALIGN. */
uint64_t fby_segments_align_up(uint64_t size);

/* Begin a list in the arena, after its first `used` bytes. The first segments
 * are of FBY_PASS_EXPAND. */
void fby_segments_begin(
    struct fby_segments *self, uint8_t *arena, uint64_t used);

/* Segments that are added from now on belong to `pass`. Passes ascend. */
void fby_segments_begin_pass(struct fby_segments *self, enum fby_pass pass);

/* Append a segment; its first block follows the last one of the list. */
void fby_segments_append(
    struct fby_segments *self, const struct fby_segment *segment);

/* Append as many copies of `segment` as needed, each with an `n` of at most
 * FBY_SEGMENT_MAX. From copy to copy, `in` and `out` advance. So do first_row
 * of MIX, params of flips, and first_pixel of scaled VALUES. */
void fby_segments_append_split(struct fby_segments *self,
    struct fby_segment segment, const struct fby_segment_units *units);

/* Append a copy of `bytes` from offset `from` of the arena to offset `out` of
 * the tensors. */
void fby_segments_append_copy(
    struct fby_segments *self, uint64_t from, uint64_t bytes, uint64_t out);

/* Record that some blocks need `bytes` of shared memory. */
void fby_segments_reserve_shared(struct fby_segments *self, uint32_t bytes);

/* The bytes of the list with the segments added so far. */
uint64_t fby_segments_bytes(const struct fby_segments *self);

/* Complete the list. This moves its segments. Returns the number of bytes that
 * the arena has in use, the list included. */
uint64_t fby_segments_finish(struct fby_segments *self);

#endif
