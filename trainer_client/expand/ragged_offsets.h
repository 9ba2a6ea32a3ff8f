/* SPDX-License-Identifier: Apache-2.0 */
/* ragged_offsets.h - the offsets of ragged rows in the raw bytes of a field.
 *
 * When all chunks have arrived, the offsets are computed from the lengths at
 * the beginning of each chunk. The length of a row is its number of entries. An
 * entry is one value, or a fixed number of values. Lengths and indices are
 * untrusted input. fby_ragged_offsets_read checks that each row is within its
 * chunk and each index of a sparse row within the shape. */
#ifndef FBY_CLIENT_EXPAND_RAGGED_OFFSETS_H
#define FBY_CLIENT_EXPAND_RAGGED_OFFSETS_H

#include "common/err.h"
#include "proto/layout.h"

struct fby_ragged_offsets {
    uint32_t  n;         /* number of rows */
    uint32_t  longest;   /* entries of the longest row */
    uint64_t  total;     /* entries of all rows */
    uint64_t  documents; /* number of documents, the padding of each row
                            included; set by fby_documents_check */
    uint32_t *lengths;   /* number of entries of each row */
    uint64_t *values;    /* offset of the values of each row in the raw bytes */
    uint64_t *indices;   /* sparse: offset of the indices of each row */
    uint32_t  index_bytes; /* sparse: bytes of one index; else 0 */
};

/* Allocate arrays for at most `max_rows` rows. */
void fby_ragged_offsets_init(
    struct fby_ragged_offsets *self, uint32_t max_rows);
/* Free the arrays, if any, and set the struct to zeros. */
void fby_ragged_offsets_fini(struct fby_ragged_offsets *self);

/* Set the number of rows to 0, and keep the arrays. */
void fby_ragged_offsets_clear(struct fby_ragged_offsets *self);

/* A chunk in an arena, which is the memory that is copied to a GPU. */
struct fby_arena_chunk {
    uint64_t offset; /* in the arena, bytes */
    uint32_t bytes;
    bool     packed; /* the GPU will decode the chunk; else raw */
};

/* The raw chunks of one field of a batch. All pointers are borrowed. */
struct fby_ragged_offsets_in {
    const char                  *name; /* of the field, for errors */
    const struct fby_raw_layout *layout;
    uint32_t                     field; /* index in layout->fields[] */
    const uint8_t               *raw;
    /* Offset from `raw` of each chunk. NULL: the offset in the layout. */
    const struct fby_arena_chunk *arena_chunks;
    const struct fby_chunk_sent  *sent; /* the prefix of each chunk */
};

/* Read and check the lengths and indices of a field's chunks.
 * Errors: FBY_PROTO  a row is longer than max_length, a chunk's lengths do not
 *                    match its size, or indices of a sparse row are beyond its
 *                    shape or do not ascend; `why` has the field's name and
 *                    the two numbers that contradict each other */
FBY_CHECKED fby_err fby_ragged_offsets_read(struct fby_ragged_offsets *self,
    const struct fby_ragged_offsets_in *in, struct fby_error_detail *why);

#endif
