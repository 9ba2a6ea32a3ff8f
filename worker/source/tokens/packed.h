/* packed.h - whole documents of a token file, packed into sequences.
 *
 * proto/PROTOCOL.md, "Packed documents", has the rule. A document longer than a
 * sequence is cut into pieces; any other document is one piece. Each piece,
 * in order, goes into the open sequence where it leaves the least space. A
 * sequence is closed when it is full, or when too many are open. The lengths of
 * the documents determine the result, so the manifest has only the lengths, in
 * 1 to 3 bytes each. In memory a piece takes 12 bytes, a sequence 4. */
#ifndef FBY_WORKER_SOURCE_TOKENS_PACKED_H
#define FBY_WORKER_SOURCE_TOKENS_PACKED_H

#include <stdint.h>

#include "common/bytes.h"
#include "common/err.h"

enum {
    FBY_PACKED_MAX_OPEN         = 256,     /* open sequences */
    FBY_PACKED_MAX_PIECES       = 1 << 26, /* pieces in a file */
    FBY_PACKED_LENGTH_BYTES_MAX = 9        /* bytes of an encoded length */
};

struct fby_packed {
    uint32_t          length;    /* tokens of a full sequence */
    struct fby_buffer lengths;   /* document lengths, encoded as in manifests */
    uint64_t          documents; /* number of documents */
    uint64_t          tokens;    /* number of tokens in all documents */
    uint32_t          pieces;    /* number of pieces */
    /* Set by fby_packed_finish. */
    uint32_t  sequences; /* number of sequences */
    uint32_t *first;     /* sequences + 1 entries: first index in `token` */
    uint64_t *token;     /* per piece: index in the file of its first token */
    uint32_t *size;      /* per piece: its number of tokens */
};

struct fby_packed *fby_packed_create(uint32_t length);
void               fby_packed_free(struct fby_packed **self_p);

/* Append a document of `tokens` tokens; a document of 0 tokens is ignored.
 * Errors: FBY_CONFIG  more than FBY_PACKED_MAX_PIECES. */
FBY_CHECKED fby_err fby_packed_add(
    struct fby_packed *self, uint64_t tokens, struct fby_error_detail *why);

/* Append the documents of a manifest.
 * Errors: FBY_PROTO  damaged lengths, or a sum that is not `tokens`. */
FBY_CHECKED fby_err fby_packed_read(struct fby_packed *self,
    const uint8_t *lengths, size_t size, uint64_t tokens,
    struct fby_error_detail *why);

/* Pack the documents. Call once, after the last document. */
void fby_packed_finish(struct fby_packed *self);

/* The number of tokens in a sequence, without padding. */
uint32_t fby_packed_tokens(const struct fby_packed *self, uint32_t sequence);

#endif
