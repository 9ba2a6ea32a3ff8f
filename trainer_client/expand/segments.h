/* segments.h - the list of segments of a batch, written behind its bytes.
 *
 * Begin, add each chunk or field, finish: then the arena from its start to
 * where finish says is all that a device needs. Pure; what is packed was
 * checked by fby_codec_check before. */
#ifndef FBY_CLIENT_EXPAND_SEGMENTS_H
#define FBY_CLIENT_EXPAND_SEGMENTS_H

#include "proto/layout.h"
#include "trainer_client/expand/expansion.h"
#include "trainer_client/expand/ragged_offsets.h"
#include "trainer_client/expand/segment.h"

struct fby_segments {
    uint8_t            *arena;
    uint64_t            list; /* where the list lies */
    struct fby_segment *all;  /* NULL: they are only counted */
    uint32_t            n;
    uint32_t            n_blocks;
    uint32_t            pass; /* that is being listed */
    uint32_t            blocks[FBY_PASSES];
    uint32_t            shared;
};

/* Some rows of a field, or a part of one, as they lie in the arena. */
struct fby_piece {
    uint64_t at;         /* a multiple of 16 */
    uint32_t bytes;      /* packed: of the payload */
    bool     packed;     /* photo format 1; else the raw bytes */
    uint64_t raw_offset; /* in the field, of what it holds */
    uint64_t raw_bytes;
    uint64_t out;     /* where the field begins in the tensors' memory */
    uint64_t draws;   /* flips, mix: what segment.h says, of all rows */
    uint64_t factors; /* fby_segments_factors, or 0 */
};

/* Pictures of a field that lie in the arena one behind the other, gathered. */
struct fby_ops_piece {
    uint64_t at;
    uint32_t rows;
    uint64_t plan, draws, sums; /* as segment.h says */
    uint64_t out;
};

/* A chunk of a field whose rows vary in length, as it lies in the arena. */
struct fby_ragged_piece {
    uint64_t at;               /* a multiple of 16 */
    uint64_t groups;           /* of the table below, a multiple of 8 */
    uint32_t first_row, rows;  /* of the field */
    uint64_t first, entries;   /* before it in the field, and in it */
    uint64_t total;            /* coo: of the field */
    uint64_t out[FBY_TENSORS]; /* in the tensors' memory */
};

/* A table of documents: fby_documents_table. */
struct fby_documents_piece {
    uint64_t at; /* in the arena */
    uint32_t rows, documents;
    uint64_t out;
};

/* Whether a device can be told of such a field as it comes; else the host
 * expands it and the result is copied. */
bool fby_segments_supported(const struct fby_expansion *plan);

/* Whether it can be told by a table of documents, of at most so many rows. */
bool fby_segments_accept_table(const struct fby_expansion *plan, uint32_t rows);

/* Whether chunks of it may come as they are packed. */
bool fby_segments_accept_packed(const struct fby_expansion *plan);

/* Whether its rows must lie in one piece first, as red, green and blue: ops
 * that mix rows, or look at whole pictures. And the bytes of such a row. */
bool     fby_segments_needs_gather(const struct fby_expansion *plan);
uint64_t fby_segments_gathered_bytes(const struct fby_expansion *plan);

/* What a segment of such a field has no room for: all scales, all offsets.
 * Returns their number, 0 where it has; `out`, unless NULL, takes them. */
uint32_t fby_segments_factors(const struct fby_expansion *plan, float *out);

/* Bytes behind the others that the list of any batch of this layout can take:
 * of its chunks, or of whole fields, and of a copy of `bytes`. */
uint64_t fby_segments_room(const struct fby_raw_layout *layout,
    const struct fby_expansion *plans, uint64_t bytes);

/* A list at `used` or a little later. Segments are added pass by pass. */
void fby_segments_begin(
    struct fby_segments *self, uint8_t *arena, uint64_t used);

void fby_segments_add(struct fby_segments *self,
    const struct fby_expansion *plan, const struct fby_piece *piece);

/* Entries before each group of rows of a piece whose lengths were checked, for
 * its table in the arena. In: first_row, rows, first; out: entries. Room for
 * fby_segments_groups(rows) of them. */
void     fby_segments_count(const struct fby_ragged_offsets *rows,
        struct fby_ragged_piece *piece, uint64_t *groups);
uint64_t fby_segments_groups(uint32_t rows);

void fby_segments_add_rows(struct fby_segments *self,
    const struct fby_expansion *plan, const struct fby_raw_field *field,
    uint64_t longest, const struct fby_ragged_piece *piece);

/* Positions or a mask of documents. */
void fby_segments_add_documents(struct fby_segments *self,
    const struct fby_expansion *plan, const struct fby_documents_piece *piece);

/* Bring a piece of what is to be gathered to its place in the arena:
 * piece->out is where the field begins there. */
void fby_segments_add_gathered(struct fby_segments *self,
    const struct fby_expansion *plan, const struct fby_piece *piece);

/* Once all is gathered: GREYS or OPS, whichever the pass is. */
void fby_segments_add_ops(struct fby_segments *self,
    const struct fby_expansion *plan, const struct fby_ops_piece *piece);

void fby_segments_pass(struct fby_segments *self, enum fby_pass pass);

void fby_segments_copy(
    struct fby_segments *self, uint64_t from, uint64_t bytes, uint64_t out);

/* Returns the arena's size. */
uint64_t fby_segments_finish(struct fby_segments *self);

/* Whether the `rows` ids at `raw` all have a class.
 * Errors: FBY_PROTO, with field, id and classes. */
FBY_CHECKED fby_err fby_segments_check_ids(const struct fby_expansion *plan,
    const uint8_t *raw, uint64_t rows, struct fby_why *why);

#endif
