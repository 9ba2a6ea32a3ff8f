/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/source/tokens/sequences.h"

#include <stdlib.h>

#include "common/array.h"
#include "common/interval.h"
#include "common/mem.h"

#define MAX_TOKENS (UINT64_C(1) << 62) /* sums of counts cannot overflow */

struct fby_sequences *fby_sequences_create(const struct fby_tokens *how)
{
    struct fby_sequences *self = fby_zalloc(sizeof(*self));
    self->format               = how->format;
    self->type                 = how->type;
    self->length               = how->length;
    self->shift                = how->shift;
    self->packed = how->packed ? fby_packed_create(how->length) : NULL;
    return self;
}

void fby_sequences_free(struct fby_sequences **self_p)
{
    struct fby_sequences *self = *self_p;
    if (self != NULL) {
        *self_p = NULL;
        free(self->run_at);
        free(self->run_first);
        fby_packed_free(&self->packed);
        free(self);
    }
}

/* The offset in the file of the byte behind the last token. Needs a run. */
static uint64_t end_of_last_run(const struct fby_sequences *self)
{
    uint32_t last = self->n_runs - 1;
    return self->run_at[last] +
           (self->tokens - self->run_first[last]) * fby_type_bytes(self->type);
}

fby_err fby_sequences_add_run(struct fby_sequences *self, uint64_t at,
    uint64_t tokens, struct fby_error_detail *why)
{
    uint32_t n = self->n_runs;
    if (tokens == 0) {
        return FBY_OK;
    }
    if (tokens > MAX_TOKENS - self->tokens) {
        return fby_error_set(why, FBY_CONFIG, "more than 2^62 tokens");
    }
    if (n == 0 || end_of_last_run(self) != at) {
        if (n == FBY_MAX_RUNS) {
            return fby_error_set(why, FBY_CONFIG,
                "more than %d documents that are not adjacent in the file; cut "
                "it into smaller files",
                FBY_MAX_RUNS);
        }
        self->run_at = fby_array_grow(self->run_at, n, sizeof(*self->run_at));
        self->run_first =
            fby_array_grow(self->run_first, n, sizeof(*self->run_first));
        self->run_at[n]    = at;
        self->run_first[n] = self->tokens;
        self->n_runs       = n + 1;
    }
    self->tokens += tokens;
    return FBY_OK;
}

fby_err fby_sequences_end_document(
    struct fby_sequences *self, struct fby_error_detail *why)
{
    struct fby_packed *packed = self->packed;
    /* packed->tokens counts the tokens of the documents that have ended. */
    return packed == NULL
               ? FBY_OK
               : fby_packed_add(packed, self->tokens - packed->tokens, why);
}

void fby_sequences_finish(struct fby_sequences *self)
{
    if (self->packed != NULL) {
        fby_packed_finish(self->packed);
    }
}

uint64_t fby_sequences_count(const struct fby_sequences *self)
{
    if (self->packed != NULL) {
        return self->packed->sequences;
    }
    return self->tokens < self->shift
               ? 0
               : (self->tokens - self->shift) / self->length;
}

bool fby_sequences_is_one_document(const struct fby_sequences *self)
{
    return self->format == FBY_TOKENS_FLAT && self->packed != NULL &&
           self->packed->documents == 1 && self->tokens > self->length;
}

uint32_t fby_sequences_count_parts(
    const struct fby_sequences *self, uint32_t sequence)
{
    const struct fby_packed *packed = self->packed;
    return packed == NULL ? 1
                          : packed->first_piece[sequence + 1] -
                                packed->first_piece[sequence];
}

struct fby_token_part fby_sequences_find_part(
    const struct fby_sequences *self, uint32_t sequence, uint32_t part)
{
    const struct fby_packed *packed = self->packed;
    if (packed == NULL) {
        return (struct fby_token_part){(uint64_t)sequence * self->length,
            (uint64_t)self->length + self->shift};
    }
    uint32_t piece = packed->first_piece[sequence] + part;
    return (struct fby_token_part){
        packed->piece_begin[piece], packed->piece_size[piece]};
}

uint64_t fby_sequences_bytes(
    const struct fby_sequences *self, uint32_t sequence)
{
    uint64_t width = fby_type_bytes(self->type);
    if (self->packed == NULL) {
        return ((uint64_t)self->length + self->shift) * width;
    }
    return fby_sequences_count_parts(self, sequence) * sizeof(uint32_t) +
           fby_packed_count_tokens(self->packed, sequence) * width;
}

struct fby_token_extent fby_sequences_find_extent(
    const struct fby_sequences *self, uint64_t token, uint64_t tokens)
{
    uint32_t run = fby_interval_find(self->run_first, self->n_runs, token);
    uint64_t end =
        run + 1 < self->n_runs ? self->run_first[run + 1] : self->tokens;
    uint64_t left_in_run = end - token;
    return (struct fby_token_extent){
        .at = self->run_at[run] +
              (token - self->run_first[run]) * fby_type_bytes(self->type),
        .tokens = tokens < left_in_run ? tokens : left_in_run,
    };
}
