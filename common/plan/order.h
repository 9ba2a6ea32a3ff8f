/* order.h - which sample stands where: a permutation nobody materialises.
 *
 * An order is a pure function of (samples, blocks, shuffle, seed, epoch). It
 * answers "which samples are rows [first, first + n) of global batch `step`"
 * in O(1) memory per sample; with blocks it keeps one prefix sum a block.
 * proto/PROTOCOL.md, "Order", is the definition. */
#ifndef FBY_COMMON_PLAN_ORDER_H
#define FBY_COMMON_PLAN_ORDER_H

#include "common/err.h"
#include "common/pipeline/types.h"

struct fby_order_spec {
    uint64_t         samples;       /* N, of the whole dataset */
    const uint32_t  *shard_samples; /* borrowed for create only */
    uint32_t         n_shards;
    enum fby_shuffle shuffle;
    uint32_t         block;  /* shards in a block */
    uint32_t         lanes;  /* 0: 64 / slices */
    uint32_t         slices; /* 0: largest divisor of global_batch up to 8 */
    enum fby_last    last;
    uint32_t         global_batch;
    uint64_t         seed;
    uint64_t         epoch;
};

struct fby_order;

/* Errors: FBY_CONFIG when N is 0, when `drop` leaves no batch, or when slices
 * do not divide the batch; `why` says which and what would be right. */
FBY_CHECKED fby_err fby_order_create(const struct fby_order_spec *spec,
    struct fby_order **out, struct fby_why *why);
void                fby_order_destroy(struct fby_order **self_p);

/* Batches in an epoch, the last short or padded one included. */
uint64_t fby_order_steps(const struct fby_order *self);

/* Rows that exist in a step before padding: global_batch, or fewer in the
 * last; rows beyond them are padding (`pad`) or absent (`short`). */
uint32_t fby_order_rows(const struct fby_order *self, uint64_t step);

/* Samples of rows [first, first + n) of a global batch into `samples`
 * (n of them). With `short`, only rows that exist may be asked for.
 * Any thread; the object is constant after create. */
void fby_order_fill(const struct fby_order *self, uint64_t step, uint32_t first,
    uint32_t n, uint64_t *samples);

/* The block of one row, the key to the preferred worker; without blocks a
 * number made of step and row. */
uint64_t fby_order_locality(
    const struct fby_order *self, uint64_t step, uint32_t row);

/* Rows [*first, *first + *n) of `step` that rank `rank` of `world` takes:
 * slices of the nominal batch, clipped to the rows that exist with `short`. */
void fby_order_rank_rows(const struct fby_order *self, uint64_t step,
    uint32_t rank, uint32_t world, uint32_t *first, uint32_t *n);

#endif
