/* SPDX-License-Identifier: Apache-2.0 */
/* plan.c - the plan of the window: the steps of the stream, and for each step
 * the size of its batch and the worker that it prefers. They follow from the
 * order of an epoch's samples; the orders of some epochs are cached. */
#include <stdlib.h>

#include "common/log.h"
#include "trainer_client/receive/receiver_state.h"

/* Put the order of an epoch's samples into the cache, unless it is there.
 * Errors: as fby_order_create. */
static fby_err cache_order(
    const struct fby_receiver *r, uint64_t epoch, struct fby_error_detail *why)
{
    size_t             index  = epoch % FBY_R_CACHED_ORDERS;
    struct fby_order **cached = &r->order_cache->order[index];
    if (*cached != NULL && r->order_cache->epoch[index] == epoch) {
        return FBY_OK;
    }
    struct fby_order_spec spec =
        fby_order_spec_of(&r->setup->split->content, r->setup->seed, epoch);
    spec.samples                 = r->n_samples;
    spec.shard_samples           = r->shard_samples;
    spec.n_shards                = r->n_shards;
    r->order_cache->epoch[index] = epoch;
    fby_order_destroy(cached);
    return fby_order_create(&spec, cached, why);
}

/* Cannot fail: fby_r_make_plan created the first epoch's order, and those of other
 * epochs differ from it only in the epoch's number. */
const struct fby_order *fby_r_epoch_order(
    const struct fby_receiver *r, uint64_t epoch)
{
    struct fby_error_detail why = {""};
    if (cache_order(r, epoch, &why) != FBY_OK) {
        fby_error("NO-ORDER", "%s", why.text);
        abort();
    }
    return r->order_cache->order[epoch % FBY_R_CACHED_ORDERS];
}

/* Returns the number of this rank's rows in a step. Sets *first_row. */
static uint32_t count_rank_rows(const struct fby_receiver *r, uint64_t epoch,
    uint64_t step, uint32_t *first_row)
{
    uint32_t rows = 0;
    fby_order_rank_rows(fby_r_epoch_order(r, epoch), step, r->setup->rank,
        r->setup->world, first_row, &rows);
    return rows;
}

static uint64_t batch_bytes(const void *context, uint64_t epoch, uint64_t step)
{
    const struct fby_receiver *r         = context;
    uint32_t                   first_row = 0;
    uint32_t rows  = count_rank_rows(r, epoch, step, &first_row);
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < r->setup->n_fields; i++) {
        bytes += r->setup->expansions[i].raw_bytes * rows;
    }
    return bytes > 0 ? bytes : 1; /* a batch of zero rows counts as 1 byte */
}

/* The key by which a step prefers a worker; equal if steps read equal data. */
static uint64_t batch_locality(
    const void *context, uint64_t epoch, uint64_t step)
{
    const struct fby_receiver *r         = context;
    uint32_t                   first_row = 0;
    uint32_t                rows  = count_rank_rows(r, epoch, step, &first_row);
    const struct fby_order *order = fby_r_epoch_order(r, epoch);
    return rows > 0 ? fby_order_affinity_key(order, step, first_row) : step;
}

/* The number of steps from epoch 0, step 0 to the end of the stream: the lower
 * limit of the options `steps` and `epochs`, where 0 means no limit. */
static uint64_t count_total_steps(
    const struct fby_setup *setup, uint64_t steps_per_epoch)
{
    uint64_t total = setup->steps != 0 ? setup->steps : UINT64_MAX;
    if (setup->epochs != 0 && setup->epochs <= total / steps_per_epoch) {
        total = setup->epochs * steps_per_epoch; /* cannot overflow */
    }
    return total;
}

fby_err fby_r_make_plan(const struct fby_receiver *r,
    struct fby_window_plan *out, struct fby_error_detail *why)
{
    const struct fby_token *token = &r->setup->token;
    FBY_TRY(cache_order(r, token->epoch, why));
    uint64_t steps = fby_order_steps(fby_r_epoch_order(r, token->epoch));
    *out           = (struct fby_window_plan){
                  .steps_per_epoch = steps,
                  .epoch           = token->epoch,
                  .step            = token->step,
                  .total           = count_total_steps(r->setup, steps),
                  .bytes           = batch_bytes,
                  .locality        = batch_locality,
                  .context         = r,
    };
    return FBY_OK;
}
