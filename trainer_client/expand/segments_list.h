/* segments_list.h - the internals of segments.h; only its own files include it.
 *
 * Files: segments.c           which fields are supported, and the list's size
 *        segments_list.c      the list itself, independent of fields
 *        segments_pictures.c  pictures, and the ops of the device
 *        segments_arrays.c    arrays of equally long rows, ids and bits
 *        segments_rows.c      ragged rows, sparse rows, documents
 * A list that is only counted (self->all is NULL) accepts all that a real one
 * does, and reads no byte of the arena. */
#ifndef FBY_CLIENT_EXPAND_SEGMENTS_LIST_H
#define FBY_CLIENT_EXPAND_SEGMENTS_LIST_H

#include "trainer_client/expand/segments.h"

/* ---- segments.c ---------------------------------------------------------- */

/* Set scale and offset of each channel, 1 and 0 if the plan has none. */
void fby_seglist_set_scale(
    const struct fby_expansion *plan, struct fby_segment *segment);

/* ---- segments_list.c ----------------------------------------------------- */

/* Input that may be split between its units, such as values or samples. */
struct fby_seglist_units {
    uint64_t n;
    uint64_t in, out; /* bytes of one unit */
    uint32_t work;    /* of one unit, as counted by `n` of a segment; at most
                         FBY_SEGMENT_MAX */
};

/* Round up to FBY_SEGMENT_ALIGN. */
uint64_t fby_seglist_aligned(uint64_t size);
/* Append a segment; its first block follows the last one of the list. */
void fby_seglist_put(
    struct fby_segments *self, const struct fby_segment *segment);
/* Append as many segments as needed, with `n` of at most FBY_SEGMENT_MAX each.
 * `in`, `out`, `draws` and the channel of the first scaled value advance from
 * one to the next; segment.n is ignored. */
void fby_seglist_put_split(struct fby_segments *self,
    struct fby_segment segment, const struct fby_seglist_units *units);
/* Blocks need at least `bytes` of shared memory. */
void fby_seglist_need_shared(struct fby_segments *self, uint32_t bytes);
/* Bytes of the list with the segments so far. */
uint64_t fby_seglist_bytes(const struct fby_segments *self);

/* ---- segments_pictures.c ------------------------------------------------- */

/* A piece is whole pictures, or lines of one. */

/* Add raw interleaved pictures. */
void fby_seglist_add_pixels(struct fby_segments *self,
    const struct fby_expansion *plan, const struct fby_piece *piece);
/* Add packed pictures, or pictures in YUV planes. */
void fby_seglist_add_tiles(struct fby_segments *self,
    const struct fby_expansion *plan, const struct fby_piece *piece);

/* ---- segments_arrays.c --------------------------------------------------- */

/* A piece is whole samples, or values of one. */

/* Add values that keep their order. */
void fby_seglist_add_values(struct fby_segments *self,
    const struct fby_expansion *plan, const struct fby_piece *piece);
/* Add values that become planar. */
void fby_seglist_add_planar(struct fby_segments *self,
    const struct fby_expansion *plan, const struct fby_piece *piece);
/* Add maps of bits. */
void fby_seglist_add_bits(struct fby_segments *self,
    const struct fby_expansion *plan, const struct fby_piece *piece);
/* Add ids that become one-hot rows; the piece has whole rows. */
void fby_seglist_add_ids(struct fby_segments *self,
    const struct fby_expansion *plan, const struct fby_piece *piece);
/* Add all ids of a field, whose one-hot rows are mixed. */
void fby_seglist_add_mixed(struct fby_segments *self,
    const struct fby_expansion *plan, const struct fby_piece *piece);

/* ---- segments_rows.c ----------------------------------------------------- */

/* The most blocks of a sparse chunk with at most piece->rows rows: fewer rows
 * may need more blocks. 0 if the field is not sparse. */
uint64_t fby_seglist_max_blocks(
    const struct fby_expansion *plan, const struct fby_ragged_piece *piece);

#endif
