/* SPDX-License-Identifier: Apache-2.0 */
/* sequences.h - the tokens of one file, cut into sequences.
 *
 * A run is a range of tokens that are adjacent in the file. A flat file is one
 * run; in other formats each document is a run, and adjacent runs are joined.
 * Tokens are numbered through all runs. Sequence i begins with token i * length
 * and has `length` tokens. With targets it has one more, the target of its last
 * token. Only the runs take memory, 16 bytes each, because a sequence is found
 * by arithmetic. Tokens at the end that do not fill a sequence are left out.
 *
 * With packing, a sequence consists of whole documents instead (packed.h). In
 * both cases a sequence has parts: tokens with consecutive numbers, which may
 * lie in several runs. */
#ifndef FBY_WORKER_SOURCE_TOKENS_SEQUENCES_H
#define FBY_WORKER_SOURCE_TOKENS_SEQUENCES_H

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "pipeline/types.h"
#include "worker/source/tokens/packed.h"

enum { FBY_MAX_RUNS = 1 << 26 /* in a file */ };

struct fby_sequences { /* the tokens of one file */
    enum fby_tokens_format format;
    enum fby_type          type;   /* type of a token; 0: not known yet */
    uint32_t               length; /* tokens of a sequence, without `shift` */
    uint32_t               shift;  /* additional tokens for targets: 1 or 0 */
    uint32_t               n_runs;
    uint64_t              *run_at;    /* per run: byte offset in the file */
    uint64_t              *run_first; /* per run: number of its first token */
    uint64_t               tokens;    /* number of tokens in all runs */
    struct fby_packed     *packed;    /* packed documents; NULL: no packing */
    bool has_no_end_token; /* a packed flat file without any end token */
};

struct fby_sequences *fby_sequences_create(const struct fby_tokens *how);
void                  fby_sequences_free(struct fby_sequences **self_p);

/* Append `tokens` tokens that begin at byte `at` of the file. They extend the
 * last run if it ends at this byte.
 * Errors: FBY_CONFIG  more than FBY_MAX_RUNS runs, or 2^62 tokens. */
FBY_CHECKED fby_err fby_sequences_add_run(struct fby_sequences *self,
    uint64_t at, uint64_t tokens, struct fby_error_detail *why);

/* End a document. It consists of the tokens that were added since the last
 * call. Does nothing without packing. Errors: those of fby_packed_add. */
FBY_CHECKED fby_err fby_sequences_end_document(
    struct fby_sequences *self, struct fby_error_detail *why);

/* Pack the documents, if packing is on. Call once, after the last token. */
void fby_sequences_finish(struct fby_sequences *self);

/* The number of sequences, once finished. */
uint64_t fby_sequences_count(const struct fby_sequences *self);

/* Is this a packed flat file of one document that is longer than a sequence?
 * Then the end token in the pipeline is probably wrong. */
bool fby_sequences_is_one_document(const struct fby_sequences *self);

/* A part of a sequence. Without packing, the sequence is one part. With
 * packing, each piece of a document is a part. */
struct fby_token_part {
    uint64_t token;  /* number of the first token */
    uint64_t tokens; /* number of tokens */
};
/* The number of parts of a sequence, and its part number `part`. */
uint32_t fby_sequences_count_parts(
    const struct fby_sequences *self, uint32_t sequence);
struct fby_token_part fby_sequences_find_part(
    const struct fby_sequences *self, uint32_t sequence, uint32_t part);

/* The bytes of a sequence as the member of a sample: the tokens of all parts.
 * With packing, a u32 for each part precedes them, its number of tokens. */
uint64_t fby_sequences_bytes(
    const struct fby_sequences *self, uint32_t sequence);

/* Tokens that are contiguous in the file. */
struct fby_token_extent {
    uint64_t at;     /* byte offset in the file */
    uint64_t tokens; /* number of tokens */
};

/* Find the tokens numbered `token` to token + tokens - 1. The result has only
 * those that lie in the same run as the first.
 * Needs tokens > 0 and token + tokens <= self->tokens. */
struct fby_token_extent fby_sequences_find_extent(
    const struct fby_sequences *self, uint64_t token, uint64_t tokens);

#endif
