/* dataset_agreement.h - which data set and which arithmetic a stream is bound to.
 *
 * Pinned by its token, or by the job's first rank; else what most of the
 * workers known at open answered. Two values with as many votes are an error
 * that names both, their workers, and the first shard that differs. Pure. */
#ifndef FBY_CLIENT_RECEIVE_DATASET_AGREEMENT_H
#define FBY_CLIENT_RECEIVE_DATASET_AGREEMENT_H

#include "common/err.h"
#include "proto/wire.h"

enum { FBY_MAX_CANDIDATES = 16, FBY_WHO_SIZE = 320 };

struct fby_candidate { /* one answer, and who gave it */
    struct fby_digest      data;
    struct fby_digest      fingerprint;
    uint64_t               samples;
    struct fby_shard_info *shards; /* owned, with their names */
    size_t                 n_shards;
    uint32_t               votes;
    char                   who[FBY_WHO_SIZE]; /* the first to say so */
};

struct fby_dataset_agreement {
    struct fby_maybe_digest data;        /* pinned */
    struct fby_maybe_digest fingerprint; /* pinned */
    const char             *pinned_by;   /* "the token", "the job" */
    struct fby_candidate    candidates[FBY_MAX_CANDIDATES];
    uint32_t                n; /* candidates */
};

/* Starts zeroed. */
void fby_dataset_agreement_fini(struct fby_dataset_agreement *self);

/* Bind it to digests known from elsewhere; unknown ones bind nothing. What
 * was pinned before stays.
 * Errors: FBY_CONFIG when two pins differ; `why` has both values. */
FBY_CHECKED fby_err fby_dataset_agreement_pin(
    struct fby_dataset_agreement *self, const struct fby_maybe_digest *data,
    const struct fby_maybe_digest *fingerprint, const char *by,
    struct fby_why *why);

/* The answer of worker `who`, which has not voted. */
void fby_dataset_agreement_vote(struct fby_dataset_agreement *self,
    const char *who, const struct fby_opened *opened);

/* Decide. `all` says that no further answer is waited for; a pin is decided
 * by its first match.
 * Errors: FBY_AGAIN more answers are needed, FBY_CONFIG a tie, or no answer
 *         is the pinned one; `why` says both values. */
FBY_CHECKED fby_err fby_dataset_agreement_decide(
    const struct fby_dataset_agreement *self, bool all,
    const struct fby_candidate **out, struct fby_why *why);

#endif
