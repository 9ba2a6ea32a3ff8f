/* SPDX-License-Identifier: Apache-2.0 */
/* order.h - the order of samples in an epoch.
 *
 * An order depends only on the sizes of the dataset, the shuffle settings, the
 * seed and the epoch. It computes the samples of any rows of any global
 * batch and stores no permutation. Block shuffle needs 16 bytes of memory for
 * each block of shards; length buckets need 4 bytes for each sample.
 * proto/PROTOCOL.md, "Order", is the definition. */
#ifndef FBY_PIPELINE_PLAN_ORDER_H
#define FBY_PIPELINE_PLAN_ORDER_H

#include "common/err.h"
#include "pipeline/types.h"

/* The samples of a dataset, sorted by bucket, then by number. The orders of all
 * epochs of a dataset and a content share one object. */
struct fby_buckets {
    uint32_t  n;       /* number of buckets; some may be empty */
    uint32_t  samples; /* number of samples in all buckets */
    uint32_t *begins;  /* [i]: offset of bucket i in `sorted`; n + 1 entries */
    uint32_t *sorted;  /* sample numbers, bucket by bucket */
};

/* Sort samples by bucket. bucket_of[i] is the bucket of sample i, below `n`. */
struct fby_buckets *fby_buckets_create(
    const uint8_t *bucket_of, uint32_t samples, uint32_t n);
void fby_buckets_destroy(struct fby_buckets **self_p);

struct fby_order_spec {
    uint64_t         samples; /* N, the samples of the dataset; <= 2^63 */
    enum fby_shuffle shuffle;
    /* The next five are only for block shuffle; see order.c. */
    const uint32_t *shard_samples; /* [i]: samples of shard i; borrowed during
                                      fby_order_create */
    uint32_t        n_shards;
    uint32_t        block;  /* shards in a block, >= 1 */
    uint32_t        lanes;  /* 0: fby_default_lanes */
    uint32_t        slices; /* 0: fby_default_slices */
    /* Length buckets, or NULL; always NULL for block shuffle. Borrowed until
     * destroy. The numbers of steps and rows do not depend on them. */
    const struct fby_buckets *buckets;
    enum fby_last             last; /* how the last batch is made */
    uint32_t                  global_batch;
    uint64_t                  seed;
    uint64_t                  epoch;
};

/* The largest divisor of global_batch up to 8. */
uint32_t fby_default_slices(uint32_t global_batch);
/* 64 / slices, at least 1; slices >= 1. */
uint32_t fby_default_lanes(uint32_t slices);

struct fby_order;

/* The settings of `content`. The caller adds samples, shards and buckets. */
struct fby_order_spec fby_order_spec_of(
    const struct fby_content *content, uint64_t seed, uint64_t epoch);

/* Check that `world` ranks can share a batch evenly. Errors: FBY_CONFIG. */
FBY_CHECKED fby_err fby_order_check_world(
    uint32_t global_batch, uint32_t world, struct fby_error_detail *why);

/* Create the order of `spec`, whose settings are from a content that passed
 * fby_content_check. The caller owns *out.
 * Errors: FBY_CONFIG if N is 0 or above 2^63, if `last: drop` leaves no batch,
 * if the shards do not add up to N, or if the buckets do not hold N samples. */
FBY_CHECKED fby_err fby_order_create(const struct fby_order_spec *spec,
    struct fby_order **out, struct fby_error_detail *why);
void                fby_order_destroy(struct fby_order **self_p);

/* The number of batches in an epoch: N / global_batch, rounded down with
 * `last: drop`, else rounded up. */
uint64_t fby_order_steps(const struct fby_order *self);

/* The number of rows of `step` that are not padding: global_batch, or fewer in
 * the last step. The other rows are padding (`pad`) or absent (`short`). */
uint32_t fby_order_rows(const struct fby_order *self, uint64_t step);

/* True if `step` has all the rows [first, first + n), padding included; false
 * for n = 0. Call it first if the numbers come from a peer. */
bool fby_order_has_rows(
    const struct fby_order *self, uint64_t step, uint32_t first, uint32_t n);

/* Write the samples of rows [first, first + n) of a global batch to `samples`.
 * The rows must pass fby_order_has_rows.
 * Thread: any; the object is constant after create. */
void fby_order_fill_samples(const struct fby_order *self, uint64_t step,
    uint32_t first, uint32_t n, uint64_t *samples);

/* The number by which a client chooses the worker for a row, so that all rows
 * of a block go to one worker: the block's number or, without block shuffle,
 * step * global_batch + row. The row must pass fby_order_has_rows. */
uint64_t fby_order_affinity_key(
    const struct fby_order *self, uint64_t step, uint32_t row);

/* Set the rows [*first, *first + *n) of `step` for rank `rank` of `world`: an
 * equal share of a full batch. With `last: short` they are clipped to the rows
 * of the step; *n may be 0. rank < world; `world` has been checked. */
void fby_order_rank_rows(const struct fby_order *self, uint64_t step,
    uint32_t rank, uint32_t world, uint32_t *first, uint32_t *n);

#endif
