/* sequences.h - where the tokens of one file lie, and how they are cut.
 *
 * A token file is runs of tokens, one after another in the order in which they
 * are read: of a flat file one, of others one a document. Its tokens are
 * numbered through all runs; sequence i is tokens [i L, i L + L), and one more
 * where there are targets. So a sequence is found by arithmetic, and only runs
 * take memory: 16 bytes each. What fills no sequence at the end is left out.
 *
 * Where documents are packed, a sequence consists of whole ones instead, which
 * packed.h has. Either way it is parts of consecutive tokens. */
#ifndef FBY_WORKER_SOURCE_TOKENS_SEQUENCES_H
#define FBY_WORKER_SOURCE_TOKENS_SEQUENCES_H

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "pipeline/types.h"
#include "worker/source/tokens/packed.h"

enum { FBY_MAX_RUNS = 1 << 26 };

struct fby_sequences {
    enum fby_tokens_format format;
    enum fby_type          type;   /* of a token in the file; never 0 */
    uint32_t               length; /* L */
    uint32_t               shift;  /* 1: with targets; else 0 */
    uint32_t               n_runs;
    uint64_t              *at;    /* a run: its first byte in the file */
    uint64_t              *first; /* a run: its first token's number */
    uint64_t               tokens;
    struct fby_packed     *packed; /* documents; NULL: it is cut */
    bool endless; /* as read just now: no token ended a document */
};

/* `out->type` is 0 until the file said it. Release it with free. */
struct fby_sequences *fby_sequences_create(const struct fby_tokens *how);
void                  fby_sequences_free(struct fby_sequences **self_p);

/* `tokens` more, from byte `at` on; those that follow the last ones in the
 * file, too, become one run with them.
 * Errors: FBY_CONFIG beyond FBY_MAX_RUNS or 2^62 tokens. */
FBY_CHECKED fby_err fby_sequences_add(struct fby_sequences *self, uint64_t at,
    uint64_t tokens, struct fby_why *why);

/* A document ends behind the last token; nothing to those that are cut.
 * Errors: FBY_CONFIG, more documents than there may be. */
FBY_CHECKED fby_err fby_sequences_end_document(
    struct fby_sequences *self, struct fby_why *why);

/* All tokens are there. */
void fby_sequences_finish(struct fby_sequences *self);

/* How many sequences there are, once finished. */
uint64_t fby_sequences_count(const struct fby_sequences *self);

/* A flat file, longer than a sequence, that is one document: the token that
 * ends them is nowhere before its last one. */
bool fby_sequences_undivided(const struct fby_sequences *self);

/* The parts of a sequence: of one that is cut one, its last target included; of
 * a packed one its documents. */
struct fby_token_part {
    uint64_t token; /* the first one's number */
    uint64_t tokens;
};
uint32_t fby_sequences_parts(
    const struct fby_sequences *self, uint32_t sequence);
struct fby_token_part fby_sequences_part(
    const struct fby_sequences *self, uint32_t sequence, uint32_t part);

/* Bytes of a sequence as it is read: of a packed one the lengths of its parts
 * (u32 each), then the tokens of all parts. */
uint64_t fby_sequences_bytes(
    const struct fby_sequences *self, uint32_t sequence);

struct fby_token_piece {
    uint64_t at;     /* byte in the file */
    uint64_t tokens; /* that lie there, at most as many as asked for */
};
/* Where `tokens` tokens from number `token` on begin, as far as one run goes.
 * token + tokens <= self->tokens, tokens > 0. */
struct fby_token_piece fby_sequences_piece(
    const struct fby_sequences *self, uint64_t token, uint64_t tokens);

#endif
