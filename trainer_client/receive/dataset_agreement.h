/* dataset_agreement.h - decides which dataset and which arithmetic a stream
 * uses.
 *
 * The token or the job's first rank pins them. Otherwise the answer of most
 * workers known at open counts. Two answers with equally many votes are an
 * error that names both, their workers, and the first shard that differs.
 * Pure. */
#ifndef FBY_CLIENT_RECEIVE_DATASET_AGREEMENT_H
#define FBY_CLIENT_RECEIVE_DATASET_AGREEMENT_H

#include "common/err.h"
#include "proto/wire.h"

enum { FBY_MAX_CANDIDATES = 16, FBY_WORKER_LABEL_SIZE = 320 };

struct fby_candidate { /* one answer, and the first worker that gave it */
    struct fby_digest      data;
    struct fby_digest      fingerprint;
    uint64_t               samples;
    struct fby_shard_info *shards; /* owned, with their names */
    size_t                 n_shards;
    uint32_t               votes;
    char worker[FBY_WORKER_LABEL_SIZE]; /* the first with it */
};

struct fby_dataset_agreement {
    struct fby_maybe_digest data;        /* pinned */
    struct fby_maybe_digest fingerprint; /* pinned */
    const char             *pinned_by;   /* "the token", "the job" */
    struct fby_candidate    candidates[FBY_MAX_CANDIDATES];
    uint32_t                n; /* candidates */
};

/* Free the contents and zero the struct, which also starts zeroed. */
void fby_dataset_agreement_fini(struct fby_dataset_agreement *self);

/* Pin the known ones of two digests, which `by` gave. Earlier pins stay.
 * Errors: FBY_CONFIG when two pins differ; `why` has both values. */
FBY_CHECKED fby_err fby_dataset_agreement_pin(
    struct fby_dataset_agreement *self, const struct fby_maybe_digest *data,
    const struct fby_maybe_digest *fingerprint, const char *by,
    struct fby_why *why);

/* The answer of worker `who`, which has not voted. */
void fby_dataset_agreement_vote(struct fby_dataset_agreement *self,
    const char *worker, const struct fby_opened *opened);

/* Decide. `all`: do not wait for further answers. If both digests are pinned,
 * the first answer that matches decides.
 * Ownership: *out is borrowed from `self`.
 * Errors: FBY_AGAIN more answers are needed, FBY_CONFIG a tie, or no answer
 *         matches the pins; `why` has both values. */
FBY_CHECKED fby_err fby_dataset_agreement_decide(
    const struct fby_dataset_agreement *self, bool all,
    const struct fby_candidate **out, struct fby_why *why);

#endif
