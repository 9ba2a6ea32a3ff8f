/* SPDX-License-Identifier: Apache-2.0 */
/* dataset_plan.c - create a plan (a content and its dataset, ready to make
 * batches), count its references, and cache the order of samples per epoch. */
#include "worker/plan/dataset_plan.h"

#include <stdlib.h>

#include "common/fault.h"
#include "common/mem.h"
#include "pipeline/canon.h"
#include "worker/source/length_buckets.h"
#include "worker/transform/fingerprint.h"

fby_err fby_dataset_plan_create(const struct fby_content *content,
    struct fby_dataset **dataset_p, struct fby_dataset_plan **out,
    struct fby_error_detail *why)
{
    struct fby_digest   fingerprint;
    struct fby_buckets *buckets = NULL;
    FBY_TRY(fby_fingerprint(content, &fingerprint, why));
    /* Fault injection for tests; false otherwise. */
    if (fby_fault_takes_effect("worker.fingerprint", "plan")) {
        fingerprint.bytes[0] ^= 1;
    }
    FBY_TRY(fby_dataset_check_fields(*dataset_p, content, why));
    FBY_TRY(fby_dataset_sort_into_buckets(*dataset_p, content, &buckets, why));
    struct fby_dataset_plan *self = fby_zalloc(sizeof(*self));
    self->content                 = *content;
    self->content_digest          = fby_content_digest(content);
    self->data_digest             = fby_dataset_digest(*dataset_p);
    self->fingerprint             = fingerprint;
    self->dataset                 = *dataset_p;
    self->buckets                 = buckets;
    *dataset_p                    = NULL;
    atomic_init(&self->references, 1);
    fby_err err = FBY_OK;
    if (fby_dataset_has_rows(self->dataset) ||
        fby_dataset_has_unpacked_tokens(self->dataset)) {
        err = fby_rows_create(&self->content, self->dataset, &self->rows, why);
    }
    if (err != FBY_OK) {
        fby_dataset_plan_release(&self);
        return err;
    }
    *out = self;
    return FBY_OK;
}

struct fby_dataset_plan *fby_dataset_plan_hold(struct fby_dataset_plan *self)
{
    atomic_fetch_add(&self->references, 1);
    return self;
}

void fby_dataset_plan_release(struct fby_dataset_plan **self_p)
{
    struct fby_dataset_plan *self = *self_p;
    if (self == NULL) {
        return;
    }
    *self_p = NULL;
    if (atomic_fetch_sub(&self->references, 1) != 1) {
        return;
    }
    for (size_t i = 0; i < FBY_DATASET_PLAN_ORDERS; i++) {
        fby_order_destroy(&self->orders[i].order);
    }
    fby_rows_destroy(&self->rows);
    fby_buckets_destroy(&self->buckets);
    fby_dataset_destroy(&self->dataset);
    free(self);
}

/* Find the entry of this epoch. If there is none, empty the least recently used
 * entry, and return it without an order. */
static struct fby_dataset_plan_order *find_or_reserve_entry(
    struct fby_dataset_plan *self, uint64_t seed, uint64_t epoch)
{
    struct fby_dataset_plan_order *oldest = &self->orders[0];
    for (size_t i = 0; i < FBY_DATASET_PLAN_ORDERS; i++) {
        struct fby_dataset_plan_order *entry = &self->orders[i];
        if (entry->order != NULL && entry->seed == seed &&
            entry->epoch == epoch) {
            return entry;
        }
        oldest = entry->last_use < oldest->last_use ? entry : oldest;
    }
    fby_order_destroy(&oldest->order);
    oldest->seed  = seed;
    oldest->epoch = epoch;
    return oldest;
}

static struct fby_order_spec order_spec(
    const struct fby_dataset_plan *self, uint64_t seed, uint64_t epoch)
{
    struct fby_order_spec spec = fby_order_spec_of(&self->content, seed, epoch);
    spec.samples               = fby_dataset_sample_count(self->dataset);
    spec.shard_samples         = fby_dataset_samples_per_shard(self->dataset);
    spec.n_shards              = fby_dataset_shard_count(self->dataset);
    spec.buckets               = self->buckets;
    return spec;
}

fby_err fby_dataset_plan_order(struct fby_dataset_plan *self, uint64_t seed,
    uint64_t epoch, const struct fby_order **out, struct fby_error_detail *why)
{
    struct fby_dataset_plan_order *entry =
        find_or_reserve_entry(self, seed, epoch);
    if (entry->order == NULL) {
        struct fby_order_spec spec = order_spec(self, seed, epoch);
        FBY_TRY(fby_order_create(&spec, &entry->order, why));
    }
    entry->last_use = ++self->n_uses;
    *out            = entry->order;
    return FBY_OK;
}
