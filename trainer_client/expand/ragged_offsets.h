/* ragged_offsets.h - where rows of several lengths lie in their field's slot.
 *
 * Found from the lengths at the beginning of each chunk, once all chunks are
 * there. They come from outside: after fby_ragged_offsets_read every row lies
 * within its chunk, and the indices of sparse rows within their shape, whatever
 * was sent. */
#ifndef FBY_CLIENT_EXPAND_RAGGED_OFFSETS_H
#define FBY_CLIENT_EXPAND_RAGGED_OFFSETS_H

#include "common/err.h"
#include "proto/layout.h"

struct fby_ragged_offsets {
    uint32_t  n;           /* rows */
    uint32_t  longest;     /* entries of the longest */
    uint64_t  total;       /* entries of all */
    uint64_t  documents;   /* of lengths of documents: those, and what fills
                            rows up; see documents.h */
    uint32_t *lengths;     /* entries of each */
    uint64_t *values;      /* bytes from where they lie to each row's */
    uint64_t *indices;     /* of sparse rows the same to each one's indices */
    uint32_t  index_bytes; /* of one of these; others than sparse: 0 */
};

/* Room for `most` rows; fini copes with a zeroed one. */
void fby_ragged_offsets_init(struct fby_ragged_offsets *self, uint32_t most);
void fby_ragged_offsets_fini(struct fby_ragged_offsets *self);

/* No rows. */
void fby_ragged_offsets_clear(struct fby_ragged_offsets *self);

/* A chunk in an arena, on its way to a GPU. */
struct fby_arena_chunk {
    uint64_t offset; /* in the arena */
    uint32_t bytes;
    bool     packed; /* as it came; else raw */
};

struct fby_ragged_offsets_in { /* one field of a batch, borrowed */
    const char                  *name;
    const struct fby_raw_layout *layout;
    uint32_t                     field;
    const uint8_t               *raw; /* chunks at their raw offsets, */
    const struct fby_arena_chunk
        *arena_chunks;                 /* or, not NULL, where these say */
    const struct fby_chunk_sent *sent; /* of the field's chunks */
};

/* Errors: FBY_PROTO, when a row is longer than max_length, a chunk's lengths
 * are not those of its bytes, or indices of a sparse row are beyond its shape
 * or do not ascend; `why` has the field's name and both numbers. */
FBY_CHECKED fby_err fby_ragged_offsets_read(struct fby_ragged_offsets *self,
    const struct fby_ragged_offsets_in *in, struct fby_why *why);

#endif
