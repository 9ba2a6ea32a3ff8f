/* SPDX-License-Identifier: Apache-2.0 */
/* segments.h - make the list of segments of a batch from its plans.
 *
 * Begin a list (segments_list.h), add each piece, pass by pass, and finish the
 * list. The arena then holds all that the GPU needs. A piece is contiguous
 * input in the arena: a chunk, or all rows of a field. It becomes one or more
 * segments. fby_codec_can_decode has accepted packed pieces. Pure.
 *
 * Files: segments.c           supported fields, and the size of a list
 *        segments_list.c      the list itself
 *        segments_pictures.c  pictures, and the ops of the device
 *        segments_arrays.c    arrays of equally long rows, labels and bits
 *        segments_rows.c      ragged rows, sparse rows, documents */
#ifndef FBY_CLIENT_EXPAND_SEGMENTS_H
#define FBY_CLIENT_EXPAND_SEGMENTS_H

#include "proto/layout.h"
#include "trainer_client/expand/expansion.h"
#include "trainer_client/expand/ragged_offsets.h"
#include "trainer_client/expand/segments_list.h"

/* Some rows of a field, or a part of one row. Here and below, `at` is the
 * offset of the input in the arena. `out` is the offset of the field's output
 * in the memory of the tensors. Both are in bytes. */
struct fby_piece {
    uint64_t at;         /* a multiple of 16 */
    uint32_t bytes;      /* packed: size of the payload */
    bool     packed;     /* photo format 1; else raw */
    uint64_t raw_offset; /* of the piece in the raw bytes of the field */
    uint64_t raw_bytes;  /* unpacked size of the piece */
    uint64_t out;
    uint64_t params;  /* flips, mix: `params` of segment.h for row 0; else 0 */
    uint64_t factors; /* offset in the arena of the numbers that
                         fby_segments_write_factors wrote; 0: none */
};

/* All pictures of a field, gathered: contiguous in the arena, as RGB. */
struct fby_ops_piece {
    uint64_t at;
    uint32_t rows;
    uint64_t plan, params, sums; /* `ops`, `params`, `values` of segment.h */
    uint64_t out;
};

/* A chunk of a ragged field. */
struct fby_ragged_piece {
    uint64_t at;        /* a multiple of 16 */
    uint64_t groups;    /* offset of groups[] of fby_segments_count_entries in
                           the arena, a multiple of 8 */
    uint32_t first_row; /* number in the field */
    uint32_t rows;
    uint64_t first;            /* entries of the field before the chunk */
    uint64_t entries;          /* entries of the chunk */
    uint64_t total;            /* coo: entries of the field */
    uint64_t out[FBY_TENSORS]; /* of each tensor */
};

/* A table that fby_documents_write_table wrote. */
struct fby_documents_piece {
    uint64_t at;
    uint32_t rows;      /* number of rows */
    uint32_t documents; /* entries of the table */
    uint64_t out;
};

/* True if segments can expand the field from its raw bytes. Otherwise the host
 * expands the field and the output is copied. */
bool fby_segments_can_expand(const struct fby_expansion *plan);

/* True if segments can expand the field from a table of documents of at most
 * `rows` rows. */
bool fby_segments_accept_table(const struct fby_expansion *plan, uint32_t rows);

/* True if chunks of the field may stay packed. */
bool fby_segments_accept_packed(const struct fby_expansion *plan);

/* True if the pictures of the field must first be gathered, because it has ops
 * on levels. */
bool     fby_segments_needs_gather(const struct fby_expansion *plan);
uint64_t fby_segments_gathered_bytes(const struct fby_expansion *plan);

/* If the scales and offsets of the plan fit into a segment, return 0. Else
 * write all scales, then all offsets, to `out` unless `out` is NULL, and return
 * how many numbers these are. */
uint32_t fby_segments_write_factors(
    const struct fby_expansion *plan, float *out);

/* The most bytes of a list for a batch of this layout, with the tables of
 * groups and one copy segment for `bytes` bytes. Fields may be added chunk by
 * chunk or whole. */
uint64_t fby_segments_max_bytes(const struct fby_raw_layout *layout,
    const struct fby_expansion *plans, uint64_t bytes);

typedef void fby_segments_add_fn(struct fby_segments *self,
    const struct fby_expansion *plan, const struct fby_piece *piece);

/* Add a piece of a field that is not ragged. */
fby_segments_add_fn fby_segments_add;
/* Gather a piece: copy or unpack it within the arena. piece->out is the offset
 * in the arena of the gathered field. */
fby_segments_add_fn fby_segments_add_gathered;

/* Count the entries of the rows of a piece, whose first_row, rows and first are
 * set. Set piece->entries, and groups[g] to the number of entries of the field
 * before group g, for fby_segments_n_groups(piece->rows) groups. The lengths in
 * `rows` were checked. */
void fby_segments_count_entries(const struct fby_ragged_offsets *rows,
    struct fby_ragged_piece *piece, uint64_t *groups);
/* The number of groups (segment.h) of `rows` rows. */
uint64_t fby_segments_n_groups(uint32_t rows);

/* Add a chunk of a ragged field. Padded rows get `longest` entries. */
void fby_segments_add_rows(struct fby_segments *self,
    const struct fby_expansion *plan, const struct fby_raw_field *field,
    uint64_t longest, const struct fby_ragged_piece *piece);

/* Add the positions or the mask of documents. */
void fby_segments_add_documents(struct fby_segments *self,
    const struct fby_expansion *plan, const struct fby_documents_piece *piece);

/* Add a gathered field as a segment GREYS or OPS, depending on the current
 * pass of the list. */
void fby_segments_add_ops(struct fby_segments *self,
    const struct fby_expansion *plan, const struct fby_ops_piece *piece);

/* ---- internal to segments*.c --------------------------------------------- */

/* Raw interleaved pictures; a piece is whole pictures, or lines of one. */
fby_segments_add_fn fby_segments_add_pixels;
/* Packed pictures, or pictures in yuv420 planes. */
fby_segments_add_fn fby_segments_add_tiles;
/* Values that keep their order; a piece is whole samples, or a part of one. */
fby_segments_add_fn fby_segments_add_values;
/* Values that become planar. */
fby_segments_add_fn fby_segments_add_planar;
/* Maps of bits. */
fby_segments_add_fn fby_segments_add_bits;
/* Labels that become one-hot rows; a piece is whole rows. */
fby_segments_add_fn fby_segments_add_labels;
/* All labels of a field, whose one-hot rows are mixed. */
fby_segments_add_fn fby_segments_add_mixed;

/* Set scale and offset of each channel of a segment, to 1 and 0 if the plan
 * does not scale. */
void fby_segments_set_scale(
    const struct fby_expansion *plan, struct fby_segment *segment);

/* The samples of a piece: whole samples, or a part of one sample. */
struct fby_piece_samples {
    uint64_t n;
    uint64_t first;     /* number of the first sample in the field */
    uint64_t skipped;   /* raw bytes of that sample before the piece */
    uint64_t raw_bytes; /* of each sample, within the piece */
};

struct fby_piece_samples fby_segments_samples(
    const struct fby_expansion *plan, const struct fby_piece *piece);

/* An upper bound of the blocks of a dense or coo chunk with piece->rows rows or
 * fewer, which may need more. Returns 0 for other kinds. */
uint64_t fby_segments_max_blocks(
    const struct fby_expansion *plan, const struct fby_ragged_piece *piece);

#endif
