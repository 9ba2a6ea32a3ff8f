/* SPDX-License-Identifier: Apache-2.0 */
/* packed.h - whole documents of a token file, packed into sequences.
 *
 * proto/PROTOCOL.md, "Packed documents", defines the rule. A document longer
 * than a sequence is cut into pieces; any other document is one piece. The
 * pieces are assigned in order: each to the open sequence where it leaves the
 * least space, or to a new one if it fits in none. A full sequence is closed.
 * If FBY_PACKED_MAX_OPEN are open, the fullest is closed to open another.
 *
 * A manifest has only the lengths of the documents, usually in 1 to 3 bytes
 * each, because they determine the sequences. In memory a piece takes 12 bytes,
 * a sequence 4. */
#ifndef FBY_WORKER_SOURCE_TOKENS_PACKED_H
#define FBY_WORKER_SOURCE_TOKENS_PACKED_H

#include <stdint.h>

#include "common/bytes.h"
#include "common/err.h"

enum {
    FBY_PACKED_MAX_OPEN   = 256,    /* sequences open at the same time */
    FBY_PACKED_MAX_PIECES = 1 << 26 /* pieces in a file */
};

struct fby_packed { /* the documents of one file, and their sequences */
    uint32_t          length;    /* tokens of a full sequence */
    struct fby_buffer lengths;   /* of the documents, as in a manifest */
    uint64_t          documents; /* number of documents */
    uint64_t          tokens;    /* number of tokens in all documents */
    uint32_t          pieces;    /* number of pieces */
    /* Set by fby_packed_finish. Sequence s has the pieces first_piece[s] to
     * first_piece[s + 1] - 1. Tokens are numbered through the whole file. */
    uint32_t  sequences;   /* number of sequences */
    uint32_t *first_piece; /* per sequence: its first piece; then `pieces` */
    uint64_t *piece_begin; /* per piece: the number of its first token */
    uint32_t *piece_size;  /* per piece: its number of tokens */
};

struct fby_packed *fby_packed_create(uint32_t length);
void               fby_packed_free(struct fby_packed **self_p);

/* Append a document of `tokens` tokens; a document of 0 tokens is ignored.
 * Errors: FBY_CONFIG  more than FBY_PACKED_MAX_PIECES pieces. */
FBY_CHECKED fby_err fby_packed_add(
    struct fby_packed *self, uint64_t tokens, struct fby_error_detail *why);

/* Append the documents of a manifest: `size` bytes of encoded `lengths`.
 * Errors: FBY_PROTO  damaged lengths, or their sum is not `tokens`. */
FBY_CHECKED fby_err fby_packed_read(struct fby_packed *self,
    const uint8_t *lengths, size_t size, uint64_t tokens,
    struct fby_error_detail *why);

/* Pack the documents. Call once, after the last document. */
void fby_packed_finish(struct fby_packed *self);

/* The number of tokens in a sequence, without padding. */
uint32_t fby_packed_count_tokens(
    const struct fby_packed *self, uint32_t sequence);

#endif
