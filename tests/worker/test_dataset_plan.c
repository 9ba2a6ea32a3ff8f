/* SPDX-License-Identifier: Apache-2.0 */
/* A plan keeps the orders of several seeds and epochs; each order is correct,
 * however many were requested. */
#include "tests/test.h"

#include "tests/worker/kit.h"

enum { SEEDS = 3, EPOCHS = 3 };

/* Compare a whole epoch with an order that was made for it alone. */
static void direct(struct fby_dataset_plan *dataset_plan, uint64_t seed,
    uint64_t epoch, uint64_t samples[KIT_SAMPLES])
{
    struct fby_error_detail why   = {{0}};
    struct fby_order       *order = NULL;
    struct fby_order_spec   spec =
        fby_order_spec_of(&dataset_plan->content, seed, epoch);
    spec.samples       = fby_dataset_sample_count(dataset_plan->dataset);
    spec.shard_samples = fby_dataset_samples_per_shard(dataset_plan->dataset);
    spec.n_shards      = fby_dataset_shard_count(dataset_plan->dataset);
    assert_ok(fby_order_create(&spec, &order, &why));
    for (uint32_t i = 0; i < KIT_SAMPLES / KIT_BATCH; i++) {
        fby_order_fill_samples(
            order, i, 0, KIT_BATCH, samples + (size_t)i * KIT_BATCH);
    }
    fby_order_destroy(&order);
}

static const struct fby_order *check_order(
    struct fby_dataset_plan *dataset_plan, uint64_t seed, uint64_t epoch)
{
    struct fby_error_detail why   = {{0}};
    const struct fby_order *order = NULL;
    uint64_t                right[KIT_SAMPLES];
    uint64_t                got[KIT_BATCH];
    assert_ok(fby_dataset_plan_order(dataset_plan, seed, epoch, &order, &why));
    direct(dataset_plan, seed, epoch, right);
    for (uint32_t i = 0; i < KIT_SAMPLES / KIT_BATCH; i++) {
        fby_order_fill_samples(order, i, 0, KIT_BATCH, got);
        assert_memory_equal(got, right + (size_t)i * KIT_BATCH, sizeof(got));
    }
    return order;
}

static void each_seed_and_epoch_has_its_own_order(void **state)
{
    struct kit kit;
    kit_open(&kit, *state, "", "");
    for (uint64_t epoch = 0; epoch < EPOCHS; epoch++) {
        for (uint64_t seed = 0; seed < SEEDS; seed++) {
            check_order(kit.dataset_plan, seed, epoch);
            check_order(kit.dataset_plan, seed, 0);
            check_order(kit.dataset_plan, 0, epoch);
        }
    }
    kit_close(&kit);
}

static void the_least_recently_used_order_is_dropped(void **state)
{
    struct kit              kit;
    const struct fby_order *orders[FBY_DATASET_PLAN_ORDERS];
    kit_open(&kit, *state, "", "");
    for (uint64_t i = 0; i < FBY_DATASET_PLAN_ORDERS; i++) {
        orders[i] = check_order(kit.dataset_plan, i, 7);
    }
    assert_ptr_equal(check_order(kit.dataset_plan, 0, 7), orders[0]);
    check_order(kit.dataset_plan, 9, 7); /* replaces the order of seed 1 */
    assert_ptr_equal(kit.dataset_plan->orders[0].order, orders[0]);
    assert_int_equal(kit.dataset_plan->orders[1].seed, 9);
    assert_ptr_equal(kit.dataset_plan->orders[2].order, orders[2]);
    assert_ptr_equal(kit.dataset_plan->orders[3].order, orders[3]);
    kit_close(&kit);
}

static void an_order_that_cannot_be_made_is_not_kept(void **state)
{
    struct kit              kit;
    struct fby_error_detail why   = {{0}};
    const struct fby_order *order = NULL;
    kit_open(&kit, *state, "", "");
    kit.dataset_plan->content.global_batch =
        KIT_SAMPLES + 1; /* no whole batch is left */
    assert_int_equal(
        fby_dataset_plan_order(kit.dataset_plan, 1, 1, &order, &why),
        FBY_CONFIG);
    assert_null(order);
    kit.dataset_plan->content.global_batch = KIT_BATCH;
    check_order(kit.dataset_plan, 1, 1);
    kit_close(&kit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SANDBOX(each_seed_and_epoch_has_its_own_order),
        IN_SANDBOX(the_least_recently_used_order_is_dropped),
        IN_SANDBOX(an_order_that_cannot_be_made_is_not_kept),
    };
    return cmocka_run_group_tests_name(
        "worker.dataset_plan", tests, NULL, NULL);
}
