/* segments.h - write the list of segments of a batch after its bytes.
 *
 * Begin, add each piece, finish: then the arena, up to the size that finish
 * returns, is all that a device needs. A piece is contiguous input in the
 * arena: a chunk, or all rows of a field. It becomes one segment or more. Pure.
 * Packed pieces were checked by fby_codec_check before. */
#ifndef FBY_CLIENT_EXPAND_SEGMENTS_H
#define FBY_CLIENT_EXPAND_SEGMENTS_H

#include "proto/layout.h"
#include "trainer_client/expand/expansion.h"
#include "trainer_client/expand/ragged_offsets.h"
#include "trainer_client/expand/segment.h"

struct fby_segments {
    uint8_t            *arena;
    uint64_t            list; /* offset of the list */
    struct fby_segment *all;  /* NULL: segments are only counted */
    uint32_t            n;
    uint32_t            n_blocks;
    uint32_t            pass; /* of the segments that are added now */
    uint32_t            blocks[FBY_PASSES];
    uint32_t            shared;
};

/* Some rows of a field, or a part of one row. */
struct fby_piece {
    uint64_t at;         /* offset in the arena, a multiple of 16 */
    uint32_t bytes;      /* packed: of the payload */
    bool     packed;     /* photo format 1; else raw */
    uint64_t raw_offset; /* of these raw bytes in the field */
    uint64_t raw_bytes;
    uint64_t out;     /* offset of the field in the tensors' memory */
    uint64_t draws;   /* flips, mix: as in segment.h, of row 0 */
    uint64_t factors; /* of fby_segments_factors, or 0 */
};

/* All pictures of a field, gathered: contiguous in the arena, as RGB. */
struct fby_ops_piece {
    uint64_t at;
    uint32_t rows;
    uint64_t plan, draws, sums; /* `ops`, `draws`, `values` in segment.h */
    uint64_t out;
};

/* A chunk of a ragged field. */
struct fby_ragged_piece {
    uint64_t at;              /* offset in the arena, a multiple of 16 */
    uint64_t groups;          /* of fby_segments_count's table, multiple of 8 */
    uint32_t first_row, rows; /* in the field */
    uint64_t first, entries;  /* entries before the chunk, and in it */
    uint64_t total;           /* coo: entries of the field */
    uint64_t out[FBY_TENSORS]; /* offsets in the tensors' memory */
};

/* A table of fby_documents_table. */
struct fby_documents_piece {
    uint64_t at; /* offset in the arena */
    uint32_t rows, documents;
    uint64_t out;
};

/* True if segments can express such a field from its raw bytes. Otherwise the
 * host expands it and the result is copied. */
bool fby_segments_supported(const struct fby_expansion *plan);

/* True if a GPU can make it from a table of documents of `rows` rows at
 * most. */
bool fby_segments_accept_table(const struct fby_expansion *plan, uint32_t rows);

/* True if chunks of such a field may stay packed. */
bool fby_segments_accept_packed(const struct fby_expansion *plan);

/* True if the field's rows must first be gathered, contiguous and as RGB: it
 * has ops that mix rows or read whole pictures. */
bool fby_segments_needs_gather(const struct fby_expansion *plan);
/* Bytes of a gathered row. */
uint64_t fby_segments_gathered_bytes(const struct fby_expansion *plan);

/* Write all scales, then all offsets, to `out` (unless NULL) if they do not fit
 * into a segment. Returns their number, 0 if they fit. */
uint32_t fby_segments_factors(const struct fby_expansion *plan, float *out);

/* The most bytes of the list of a batch of this layout: of its chunks or whole
 * fields, and of a copy of `bytes`. */
uint64_t fby_segments_room(const struct fby_raw_layout *layout,
    const struct fby_expansion *plans, uint64_t bytes);

/* Begin a list at offset `used`, aligned. Segments are added pass by pass. */
void fby_segments_begin(
    struct fby_segments *self, uint8_t *arena, uint64_t used);

/* Add a piece of a field that is not ragged. */
void fby_segments_add(struct fby_segments *self,
    const struct fby_expansion *plan, const struct fby_piece *piece);

/* Write the table of a piece to `groups`: the entries of the field before each
 * group of rows. Reads first_row, rows and first, and sets entries. The lengths
 * were checked; `groups` holds fby_segments_groups(piece->rows) numbers. */
void fby_segments_count(const struct fby_ragged_offsets *rows,
    struct fby_ragged_piece *piece, uint64_t *groups);
/* Groups of so many rows. */
uint64_t fby_segments_groups(uint32_t rows);

/* Add a piece of a ragged field. `longest`: entries of a row, padded. */
void fby_segments_add_rows(struct fby_segments *self,
    const struct fby_expansion *plan, const struct fby_raw_field *field,
    uint64_t longest, const struct fby_ragged_piece *piece);

/* Add the positions or the mask of documents. */
void fby_segments_add_documents(struct fby_segments *self,
    const struct fby_expansion *plan, const struct fby_documents_piece *piece);

/* Gather a piece: copy or unpack it to its offset in the arena. piece->out is
 * the offset of the field there. */
void fby_segments_add_gathered(struct fby_segments *self,
    const struct fby_expansion *plan, const struct fby_piece *piece);

/* Add GREYS or OPS, according to the pass, for a gathered field. */
void fby_segments_add_ops(struct fby_segments *self,
    const struct fby_expansion *plan, const struct fby_ops_piece *piece);

/* The segments added from now on are of `pass`. */
void fby_segments_pass(struct fby_segments *self, enum fby_pass pass);

/* Add a copy of `bytes` from offset `from` of the arena to offset `out` of the
 * tensors. */
void fby_segments_copy(
    struct fby_segments *self, uint64_t from, uint64_t bytes, uint64_t out);

/* Complete the list. Returns the bytes of the arena, list included. */
uint64_t fby_segments_finish(struct fby_segments *self);

/* Check that each of the `rows` ids at `raw` is one of the classes.
 * Errors: FBY_PROTO, with field, id and classes. */
FBY_CHECKED fby_err fby_segments_check_ids(const struct fby_expansion *plan,
    const uint8_t *raw, uint64_t rows, struct fby_why *why);

#endif
