/* order.h - which sample stands where: a permutation nobody materialises.
 *
 * An order is a pure function of (samples, blocks, shuffle, seed, epoch). It
 * answers "which samples are rows [first, first + n) of global batch `step`"
 * without memory per sample; shuffling blocks keeps two sums of 8 bytes a
 * block, and buckets are sorted before (buckets.h). proto/PROTOCOL.md, "Order",
 * is the definition. */
#ifndef FBY_PIPELINE_PLAN_ORDER_H
#define FBY_PIPELINE_PLAN_ORDER_H

#include "common/err.h"
#include "pipeline/plan/buckets.h"
#include "pipeline/types.h"

struct fby_order_spec {
    uint64_t         samples;       /* N, of the whole dataset; <= 2^63 */
    const uint32_t  *shard_samples; /* borrowed for create only; block */
    uint32_t         n_shards;      /* block */
    enum fby_shuffle shuffle;
    uint32_t         block;  /* shards in a block, >= 1 */
    uint32_t         lanes;  /* 0: the default */
    uint32_t         slices; /* 0: the default */
    /* borrowed until destroy; NULL: none, or who only counts steps and rows,
     * which they do not change; with shuffles none and full */
    const struct fby_buckets *buckets;
    enum fby_last             last;
    uint32_t                  global_batch;
    uint64_t                  seed;
    uint64_t                  epoch;
};

/* The largest divisor of global_batch up to 8. */
uint32_t fby_default_slices(uint32_t global_batch);
/* 64 / slices, at least 1; slices >= 1. */
uint32_t fby_default_lanes(uint32_t slices);

struct fby_order;

/* What `content` says of the order; the samples and shards of its dataset are
 * the caller's to add. */
struct fby_order_spec fby_order_spec_of(
    const struct fby_content *content, uint64_t seed, uint64_t epoch);

/* FBY_CONFIG unless `world` ranks can share a batch evenly. */
FBY_CHECKED fby_err fby_order_check_world(
    uint32_t global_batch, uint32_t world, struct fby_why *why);

/* Errors: FBY_CONFIG when N is 0, when `drop` leaves no batch, when slices do
 * not divide the batch, when the shards do not add up to N, or when a value is
 * out of its range; `why` says which and what would be right. */
FBY_CHECKED fby_err fby_order_create(const struct fby_order_spec *spec,
    struct fby_order **out, struct fby_why *why);
void                fby_order_destroy(struct fby_order **self_p);

/* Batches in an epoch: floor(N / n), one more with `pad` and `short` if n does
 * not divide N. */
uint64_t fby_order_steps(const struct fby_order *self);

/* Rows of `step` that hold a sample of their own: global_batch, or fewer in
 * the last; rows beyond them are padding (`pad`) or absent (`short`). */
uint32_t fby_order_rows(const struct fby_order *self, uint64_t step);

/* Whether `step` has all the rows [first, first + n), padding included; false
 * for n = 0. Ask before the calls below when the numbers come from a peer. */
bool fby_order_has(
    const struct fby_order *self, uint64_t step, uint32_t first, uint32_t n);

/* Samples of rows [first, first + n) of a global batch into `samples`
 * (n of them); only rows that fby_order_has.
 * Any thread; the object is constant after create. */
void fby_order_fill(const struct fby_order *self, uint64_t step, uint32_t first,
    uint32_t n, uint64_t *samples);

/* The block of one row, the key to the preferred worker; without blocks the
 * number step * global_batch + row. Only rows that fby_order_has. */
uint64_t fby_order_locality(
    const struct fby_order *self, uint64_t step, uint32_t row);

/* Rows [*first, *first + *n) of `step` that rank `rank` of `world` takes:
 * slices of the nominal batch, clipped to the rows that exist with `short`
 * (*n may be 0). rank < world, and `world` passed fby_order_check_world. */
void fby_order_rank_rows(const struct fby_order *self, uint64_t step,
    uint32_t rank, uint32_t world, uint32_t *first, uint32_t *n);

#endif
