/* SPDX-License-Identifier: Apache-2.0 */
/* dataset_agreement.h - decides which dataset and which arithmetic a stream
 * uses.
 *
 * A data digest identifies a dataset. A fingerprint identifies the arithmetic
 * of a worker's build. Each worker answers OPEN with both. The token, from
 * which a stream resumes, or the job's first rank may pin (require) a digest.
 * Among the answers that match the pins, the most frequent one is chosen.
 * A tie is an error, which names both answers, their workers and the first
 * shard that differs. Pure: no I/O and no clock. */
#ifndef FBY_CLIENT_RECEIVE_DATASET_AGREEMENT_H
#define FBY_CLIENT_RECEIVE_DATASET_AGREEMENT_H

#include "common/err.h"
#include "proto/wire.h"

enum { FBY_MAX_CANDIDATES = 16, FBY_WORKER_LABEL_SIZE = 320 };

/* The end of a message about a worker whose fingerprint is not the stream's. */
#define FBY_OTHER_BUILD_REMEDY \
    ": start workers of the build that began the run, or begin a new run"

struct fby_candidate { /* one answer to OPEN, and how many workers gave it */
    struct fby_digest      data;
    struct fby_digest      fingerprint;
    uint64_t               samples; /* number of samples */
    struct fby_shard_info *shards;  /* owned, with their names */
    size_t                 n_shards;
    char    *classes; /* owned; equal for all answers with this `data` digest */
    size_t   classes_size;
    uint32_t votes;
    char     worker[FBY_WORKER_LABEL_SIZE]; /* the first that gave the answer */
};

struct fby_dataset_agreement {
    struct fby_maybe_digest data;        /* pinned data digest, if known */
    struct fby_maybe_digest fingerprint; /* pinned fingerprint, if known */
    const char             *pinned_by;   /* origin of the first pin */
    struct fby_candidate    candidates[FBY_MAX_CANDIDATES];
    uint32_t                n_candidates; /* entries of `candidates` in use */
    struct fby_candidate    mismatch; /* the first that does not match a pin */
    bool                    has_mismatch; /* `mismatch` is in use */
};

/* Free the contents and zero the struct. A zeroed struct is an agreement
 * without pins and votes. */
void fby_dataset_agreement_fini(struct fby_dataset_agreement *self);

/* Pin those of the two digests that are known. `origin` names their origin in
 * messages: "the token" or "the job". Earlier pins stay.
 * Errors: FBY_CONFIG  an earlier pin differs; `why` has both values */
FBY_CHECKED fby_err fby_dataset_agreement_pin(
    struct fby_dataset_agreement *self, const struct fby_maybe_digest *data,
    const struct fby_maybe_digest *fingerprint, const char *origin,
    struct fby_error_detail *why);

/* Count the answer of a worker with the name `worker`. Call once per worker. An
 * answer that does not match a pin is no vote: it can only serve a message. */
void fby_dataset_agreement_vote(struct fby_dataset_agreement *self,
    const char *worker, const struct fby_opened *opened);

/* An answer that does not match a pin, or NULL. Ownership: borrowed from
 * `self`. */
const struct fby_candidate *fby_dataset_agreement_mismatch(
    const struct fby_dataset_agreement *self);

/* The answer with these two digests, or NULL: too many came, or it came after
 * the choice. Ownership: borrowed from `self`. */
const struct fby_candidate *fby_dataset_agreement_find(
    const struct fby_dataset_agreement *self, const struct fby_digest *data,
    const struct fby_digest *fingerprint);

/* Choose the answer that the stream uses. `final`: no further answer is
 * expected. Otherwise only an answer that matches two pins can be chosen.
 * Ownership: *out is borrowed from `self`.
 * Errors: FBY_AGAIN   more answers are needed
 *         FBY_CONFIG  a tie, or no answer matches the pins; `why` has both
 *                     values */
FBY_CHECKED fby_err fby_dataset_agreement_decide(
    const struct fby_dataset_agreement *self, bool final,
    const struct fby_candidate **out, struct fby_error_detail *why);

#endif
