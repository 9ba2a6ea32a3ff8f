/* packed.h - documents of one token file, put whole into sequences.
 *
 * The rule is that of proto/PROTOCOL.md, "Packed documents": a document longer
 * than a sequence is cut into pieces; each piece goes, in order, into the one
 * of the open sequences that it leaves the least space in. A pure function of
 * the lengths, so those alone are kept in the manifest, in 1 to 3 bytes each;
 * a piece takes 12 bytes of memory, a sequence 4. */
#ifndef FBY_WORKER_SOURCE_TOKENS_PACKED_H
#define FBY_WORKER_SOURCE_TOKENS_PACKED_H

#include <stdint.h>

#include "common/bytes.h"
#include "common/err.h"

enum {
    FBY_PACKED_OPEN       = 256,     /* sequences at most */
    FBY_PACKED_MAX_PIECES = 1 << 26, /* of a file */
    FBY_PACKED_LENGTH     = 9        /* bytes of a document's, at most */
};

struct fby_packed {
    uint32_t          length;  /* of a sequence, in tokens */
    struct fby_buffer lengths; /* of the documents, as the manifest has them */
    uint64_t          documents;
    uint64_t          tokens;
    uint32_t          pieces;
    /* From here on once they are packed. */
    uint32_t  sequences;
    uint32_t *first; /* a sequence, and one more: its first piece */
    uint64_t *token; /* a piece: its first token's number */
    uint32_t *size;  /* a piece: its tokens */
};

struct fby_packed *fby_packed_create(uint32_t length);
void               fby_packed_free(struct fby_packed **self_p);

/* One more document; one without tokens is none.
 * Errors: FBY_CONFIG beyond FBY_PACKED_MAX_PIECES. */
FBY_CHECKED fby_err fby_packed_add(
    struct fby_packed *self, uint64_t tokens, struct fby_why *why);

/* All documents of a manifest. Errors: FBY_PROTO, when they are not lengths in
 * their one spelling, or not of `tokens` tokens in all. */
FBY_CHECKED fby_err fby_packed_read(struct fby_packed *self,
    const uint8_t *lengths, size_t size, uint64_t tokens, struct fby_why *why);

/* All documents are there: put them into sequences. */
void fby_packed_finish(struct fby_packed *self);

/* Tokens of a sequence, without those that fill it up. */
uint32_t fby_packed_tokens(const struct fby_packed *self, uint32_t sequence);

#endif
