/* segments_list.h - the list of segments from inside; only its own files
 * include it.
 *
 * Files: segments.c           which fields a device is told of, and the room
 *        segments_list.c      the list itself: it knows no field
 *        segments_pictures.c  pictures, and the ops of the device
 *        segments_arrays.c    arrays, ids and bits, a row like another
 *        segments_rows.c      rows of several lengths, sparse ones, documents
 * A list that is only counted (self->all is NULL) takes whatever a real one
 * does and looks at no byte of the arena. */
#ifndef FBY_CLIENT_EXPAND_SEGMENTS_LIST_H
#define FBY_CLIENT_EXPAND_SEGMENTS_LIST_H

#include "trainer_client/expand/segments.h"

/* segments.c */
/* Scale and offset of each channel, 1 and 0 where the plan has none. */
void fby_seglist_set_scale(
    const struct fby_expansion *plan, struct fby_segment *segment);

/* segments_list.c */
/* `n` units of so many bytes in and out and so much work each, in parts that
 * a segment can be told. */
struct fby_seglist_units {
    uint64_t n;
    uint64_t in, out;
    uint32_t work; /* at most FBY_SEGMENT_MAX */
};

uint64_t fby_seglist_aligned(uint64_t size);
/* As it is: its first block follows the last one put. */
void fby_seglist_put(
    struct fby_segments *self, const struct fby_segment *segment);
/* In as many as it takes: `in`, `out`, `draws` and, of scaled values, the
 * channel of the first go on from one to the next; `n` is not looked at. */
void fby_seglist_put_split(struct fby_segments *self,
    struct fby_segment segment, const struct fby_seglist_units *units);
/* Shared memory for a block, in bytes. */
void fby_seglist_need_shared(struct fby_segments *self, uint32_t bytes);
/* Of the list with what was put so far. */
uint64_t fby_seglist_bytes(const struct fby_segments *self);

/* segments_pictures.c: whole pictures, or lines of one */
void fby_seglist_add_pixels(struct fby_segments *self,
    const struct fby_expansion *plan, const struct fby_piece *piece);
/* The same packed, or in planes. */
void fby_seglist_add_tiles(struct fby_segments *self,
    const struct fby_expansion *plan, const struct fby_piece *piece);

/* segments_arrays.c: whole samples, or values of one; ids are whole rows */
void fby_seglist_add_values(struct fby_segments *self,
    const struct fby_expansion *plan, const struct fby_piece *piece);
void fby_seglist_add_planar(struct fby_segments *self,
    const struct fby_expansion *plan, const struct fby_piece *piece);
void fby_seglist_add_bits(struct fby_segments *self,
    const struct fby_expansion *plan, const struct fby_piece *piece);
void fby_seglist_add_ids(struct fby_segments *self,
    const struct fby_expansion *plan, const struct fby_piece *piece);
void fby_seglist_add_mixed(struct fby_segments *self,
    const struct fby_expansion *plan, const struct fby_piece *piece);

/* segments_rows.c */
/* Blocks of a sparse chunk of so many rows, or fewer: of fewer they may be
 * more than of all. Others than sparse: 0. */
uint64_t fby_seglist_max_blocks(
    const struct fby_expansion *plan, const struct fby_ragged_piece *piece);

#endif
