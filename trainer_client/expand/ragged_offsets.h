/* ragged_offsets.h - the offsets of ragged rows in their field's raw bytes.
 *
 * They are computed from the lengths at the beginning of each chunk, once all
 * chunks have arrived. Lengths and indices are untrusted input: after
 * fby_ragged_offsets_read every row is within its chunk, and every index of a
 * sparse row within its shape. */
#ifndef FBY_CLIENT_EXPAND_RAGGED_OFFSETS_H
#define FBY_CLIENT_EXPAND_RAGGED_OFFSETS_H

#include "common/err.h"
#include "proto/layout.h"

struct fby_ragged_offsets {
    uint32_t  n;           /* rows */
    uint32_t  longest;     /* entries of the longest */
    uint64_t  total;       /* entries of all */
    uint64_t  documents;   /* lengths of documents: their number, padding
                              included; see documents.h */
    uint32_t *lengths;     /* entries of each row */
    uint64_t *values;      /* offset of each row's values, in bytes */
    uint64_t *indices;     /* sparse: offset of each row's indices */
    uint32_t  index_bytes; /* sparse: of one index; else 0 */
};

/* Allocate for at most `most` rows. */
void fby_ragged_offsets_init(struct fby_ragged_offsets *self, uint32_t most);
/* Free the arrays; copes with a zeroed struct. */
void fby_ragged_offsets_fini(struct fby_ragged_offsets *self);

/* Set to zero rows. */
void fby_ragged_offsets_clear(struct fby_ragged_offsets *self);

/* A chunk in an arena, on its way to a GPU. */
struct fby_arena_chunk {
    uint64_t offset; /* in the arena */
    uint32_t bytes;
    bool     packed; /* as it came; else raw */
};

struct fby_ragged_offsets_in { /* one field of a batch, borrowed */
    const char                   *name;
    const struct fby_raw_layout  *layout;
    uint32_t                      field;
    const uint8_t                *raw; /* the chunks, at their raw offsets */
    const struct fby_arena_chunk *arena_chunks; /* or, if not NULL, at these */
    const struct fby_chunk_sent  *sent;         /* per chunk of the field */
};

/* Read and check the lengths and indices of a field's chunks.
 * Errors: FBY_PROTO  a row is longer than max_length, a chunk's lengths do not
 *                    match its size, or indices of a sparse row are beyond its
 *                    shape or do not ascend; `why` has the field's name and
 *                    both numbers */
FBY_CHECKED fby_err fby_ragged_offsets_read(struct fby_ragged_offsets *self,
    const struct fby_ragged_offsets_in *in, struct fby_why *why);

#endif
