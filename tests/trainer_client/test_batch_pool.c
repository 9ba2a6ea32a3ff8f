/* SPDX-License-Identifier: Apache-2.0 */
/* Output slots: their number, their owners, and when they are freed. */
#include "tests/test.h"

#include <poll.h>
#include <stdlib.h>

#include "trainer_client/batch/batch_pool.h"

enum { MOST = 6 };
#define SLOT UINT64_C(1000) /* bytes */

static struct fby_batch_pool *batch_pool_of(uint64_t max_held_bytes)
{
    struct fby_batch_pool             *batch_pool = NULL;
    const struct fby_batch_pool_config config     = {
            .device         = &fby_device_host,
            .out_bytes      = SLOT,
            .max_rows       = 3,
            .max_held_bytes = max_held_bytes,
    };
    assert_ok(fby_batch_pool_create(&config, &batch_pool));
    return batch_pool;
}

/* A batch in the trainer's hands. */
static struct forebay_batch *hold(struct fby_batch_pool *batch_pool)
{
    struct forebay_batch *batch = NULL;
    assert_ok(fby_batch_pool_take(batch_pool, true, &batch));
    assert_ok(fby_batch_pool_deliver(batch, NULL, NULL, NULL));
    return batch;
}

static bool rings(const struct fby_batch_pool *batch_pool)
{
    struct pollfd fd = {
        .fd = fby_batch_pool_wakeup(batch_pool)->fd, .events = POLLIN};
    bool on = poll(&fd, 1, 0) == 1;
    fby_wakeup_clear(fby_batch_pool_wakeup(batch_pool));
    return on;
}

static void the_usual_slots_go_round(void **state)
{
    (void)state;
    struct fby_batch_pool *batch_pool = batch_pool_of(MOST * SLOT);
    struct forebay_batch  *batches[FBY_OUTPUT_SLOTS];
    struct forebay_batch  *other = NULL;
    for (int i = 0; i < FBY_OUTPUT_SLOTS; i++) {
        assert_ok(fby_batch_pool_take(batch_pool, false, &batches[i]));
    }
    assert_int_equal(fby_batch_pool_take(batch_pool, false, &other), FBY_AGAIN);
    assert_false(rings(batch_pool));
    fby_batch_unref(batches[2]);
    assert_true(rings(batch_pool));
    assert_ok(fby_batch_pool_take(batch_pool, false, &other));
    assert_ptr_equal(other, batches[2]);
    for (int i = 0; i < FBY_OUTPUT_SLOTS; i++) {
        fby_batch_unref(batches[i]);
    }
    assert_int_equal(fby_batch_pool_counts(batch_pool).in_use, 0);
    fby_batch_pool_release(&batch_pool);
}

static void further_slots_are_counted_capped_and_thrown_away(void **state)
{
    (void)state;
    struct fby_batch_pool *batch_pool = batch_pool_of(MOST * SLOT);
    struct forebay_batch  *batches[MOST];
    struct forebay_batch  *other = NULL;
    for (int i = 0; i < MOST; i++) {
        assert_false(fby_batch_pool_is_full(batch_pool));
        batches[i] = hold(batch_pool);
    }
    assert_true(fby_batch_pool_is_full(batch_pool));
    assert_int_equal(fby_batch_pool_take(batch_pool, true, &other), FBY_FULL);
    assert_int_equal(
        fby_batch_pool_counts(batch_pool).overflow, MOST - FBY_OUTPUT_SLOTS);
    for (int i = 0; i < MOST; i++) {
        fby_batch_unref(batches[i]);
    }
    assert_int_equal(fby_batch_pool_counts(batch_pool).held, 0);
    fby_batch_pool_release(&batch_pool);
}

static void a_batch_being_filled_is_not_held(void **state)
{
    (void)state;
    struct fby_batch_pool *batch_pool = batch_pool_of(SLOT);
    struct forebay_batch  *batch      = NULL;
    assert_ok(fby_batch_pool_take(batch_pool, true, &batch));
    assert_int_equal(fby_batch_pool_counts(batch_pool).in_use, 1);
    assert_int_equal(fby_batch_pool_counts(batch_pool).held, 0);
    assert_false(fby_batch_pool_is_full(batch_pool));
    assert_ok(fby_batch_pool_deliver(batch, NULL, NULL, NULL));
    assert_true(fby_batch_pool_is_full(batch_pool));
    fby_batch_unref(batch);
    fby_batch_pool_release(&batch_pool);
}

static void there_is_one_slot_however_little_may_be_held(void **state)
{
    (void)state;
    struct fby_batch_pool *batch_pool = batch_pool_of(1);
    struct forebay_batch  *batch      = hold(batch_pool);
    struct forebay_batch  *other      = NULL;
    assert_int_equal(fby_batch_pool_take(batch_pool, true, &other), FBY_FULL);
    fby_batch_unref(batch);
    fby_batch_pool_release(&batch_pool);
}

static void a_batch_goes_back_with_its_last_reference(void **state)
{
    (void)state;
    struct fby_batch_pool *batch_pool = batch_pool_of(MOST * SLOT);
    struct forebay_batch  *batch      = hold(batch_pool);
    fby_batch_ref(batch);
    fby_batch_unref(batch);
    assert_int_equal(fby_batch_pool_counts(batch_pool).held, 1);
    fby_batch_unref(batch);
    assert_int_equal(fby_batch_pool_counts(batch_pool).held, 0);
    fby_batch_pool_release(&batch_pool);
}

static void a_batch_outlives_the_stream(void **state)
{
    (void)state;
    struct fby_batch_pool *batch_pool = batch_pool_of(MOST * SLOT);
    struct forebay_batch  *first      = hold(batch_pool);
    struct forebay_batch  *last       = hold(batch_pool);
    fby_batch_pool_release(&batch_pool);
    assert_null(batch_pool);
    fby_batch_unref(first);
    last->memory[SLOT - 1] = 1;
    last->samples[2]       = 1;
    assert_true(fby_batch_pool_is_ours(last->batch_pool));
    fby_batch_unref(last); /* and the pool with it */
}

/* ---- Number of slots ----------------------------------------------------- */

static void as_many_slots_as_fit_into_max_held_bytes(void **state)
{
    (void)state;
    for (uint32_t n = 1; n < MOST; n++) {
        struct forebay_batch  *batches[MOST];
        struct forebay_batch  *other      = NULL;
        struct fby_batch_pool *batch_pool = batch_pool_of(n * SLOT + SLOT - 1);
        uint32_t usual = n < FBY_OUTPUT_SLOTS ? n : FBY_OUTPUT_SLOTS;
        for (uint32_t i = 0; i < n; i++) {
            assert_int_equal(
                fby_batch_pool_take(batch_pool, i >= usual, &batches[i]),
                FBY_OK);
            assert_int_equal(batches[i]->has_extra_slot, i >= usual);
            assert_int_equal(fby_batch_pool_counts(batch_pool).in_use, i + 1);
        }
        assert_int_equal(
            fby_batch_pool_take(batch_pool, false, &other), FBY_AGAIN);
        assert_int_equal(
            fby_batch_pool_take(batch_pool, true, &other), FBY_FULL);
        assert_int_equal(fby_batch_pool_counts(batch_pool).overflow, n - usual);
        assert_int_equal(fby_batch_pool_counts(batch_pool).held, 0);
        for (uint32_t i = 0; i < n; i++) {
            fby_batch_unref(batches[i]);
        }
        assert_int_equal(fby_batch_pool_counts(batch_pool).in_use, 0);
        fby_batch_pool_release(&batch_pool);
    }
}

static void a_batch_that_goes_round_begins_anew(void **state)
{
    (void)state;
    struct fby_batch_pool *batch_pool = batch_pool_of(SLOT);
    struct forebay_batch  *batch      = hold(batch_pool);
    struct forebay_batch  *again      = NULL;
    batch->done                       = true;
    batch->err                        = FBY_PROTO;
    batch->next                       = batch;
    fby_batch_unref(batch);
    assert_ok(fby_batch_pool_take(batch_pool, false, &again));
    assert_ptr_equal(again, batch);
    assert_false(again->done || again->delivered);
    assert_int_equal(again->err, FBY_OK);
    assert_null(again->next);
    fby_batch_unref(again); /* not delivered: it was not held */
    assert_int_equal(fby_batch_pool_counts(batch_pool).held, 0);
    again = hold(batch_pool);
    assert_int_equal(fby_batch_pool_counts(batch_pool).held, 1);
    fby_batch_unref(again);
    fby_batch_pool_release(&batch_pool);
}

/* ---- Without memory ------------------------------------------------------ */

static uint32_t allocations; /* that still succeed */

static void *few(size_t size)
{
    return allocations-- > 0 ? malloc(size) : NULL;
}

static void give(void *memory, size_t size)
{
    (void)size;
    free(memory);
}

static struct fby_batch_pool *poor_batch_pool(
    struct fby_device *device, uint32_t n)
{
    struct fby_batch_pool *batch_pool         = NULL;
    *device                                   = fby_device_host;
    device->out_alloc                         = few;
    device->out_free                          = give;
    allocations                               = n;
    const struct fby_batch_pool_config config = {.device = device,
        .out_bytes                                       = SLOT,
        .max_rows                                        = 3,
        .max_held_bytes                                  = MOST * SLOT};
    assert_ok(fby_batch_pool_create(&config, &batch_pool));
    return batch_pool;
}

static void without_memory_for_a_usual_slot_the_system_is_to_blame(void **state)
{
    (void)state;
    struct fby_device      device;
    struct fby_batch_pool *batch_pool = poor_batch_pool(&device, 1);
    struct forebay_batch  *batch      = hold(batch_pool);
    struct forebay_batch  *other      = NULL;
    assert_int_equal(fby_batch_pool_take(batch_pool, true, &other), FBY_SYS);
    assert_int_equal(fby_batch_pool_counts(batch_pool).in_use, 1);
    assert_false(fby_batch_pool_counts(batch_pool).out_of_memory);
    allocations = 1; /* then it is made after all */
    assert_ok(fby_batch_pool_take(batch_pool, true, &other));
    assert_false(other->has_extra_slot);
    fby_batch_unref(other);
    fby_batch_unref(batch);
    fby_batch_pool_release(&batch_pool);
}

static void without_memory_for_a_further_slot_one_has_to_come_back(void **state)
{
    (void)state;
    struct fby_device      device;
    struct fby_batch_pool *batch_pool =
        poor_batch_pool(&device, FBY_OUTPUT_SLOTS);
    struct forebay_batch *held[FBY_OUTPUT_SLOTS];
    struct forebay_batch *other = NULL;
    for (int i = 0; i < FBY_OUTPUT_SLOTS; i++) {
        held[i] = hold(batch_pool);
    }
    assert_false(fby_batch_pool_is_full(batch_pool));
    assert_int_equal(fby_batch_pool_take(batch_pool, true, &other), FBY_FULL);
    assert_true(fby_batch_pool_counts(batch_pool).out_of_memory);
    assert_true(fby_batch_pool_is_full(batch_pool));
    assert_int_equal(fby_batch_pool_counts(batch_pool).overflow, 0);
    assert_int_equal(
        fby_batch_pool_counts(batch_pool).in_use, FBY_OUTPUT_SLOTS);
    allocations = 1; /* not asked again before */
    assert_int_equal(fby_batch_pool_take(batch_pool, true, &other), FBY_FULL);
    fby_batch_unref(held[0]);
    assert_false(fby_batch_pool_counts(batch_pool).out_of_memory);
    assert_false(fby_batch_pool_is_full(batch_pool));
    held[0] = hold(batch_pool);
    assert_ok(fby_batch_pool_take(batch_pool, true, &other));
    assert_true(other->has_extra_slot);
    assert_int_equal(fby_batch_pool_counts(batch_pool).overflow, 1);
    fby_batch_unref(other);
    for (int i = 0; i < FBY_OUTPUT_SLOTS; i++) {
        fby_batch_unref(held[i]);
    }
    fby_batch_pool_release(&batch_pool);
}

static void a_batch_pool_without_memory_is_not_full_while_one_is_filled(
    void **state)
{
    (void)state;
    struct fby_device      device;
    struct fby_batch_pool *batch_pool =
        poor_batch_pool(&device, FBY_OUTPUT_SLOTS);
    struct forebay_batch *batches[FBY_OUTPUT_SLOTS];
    struct forebay_batch *other = NULL;
    for (int i = 0; i < FBY_OUTPUT_SLOTS; i++) {
        assert_ok(fby_batch_pool_take(batch_pool, false, &batches[i]));
    }
    assert_int_equal(fby_batch_pool_take(batch_pool, true, &other), FBY_FULL);
    for (int i = 0; i < FBY_OUTPUT_SLOTS; i++) {
        assert_false(fby_batch_pool_is_full(batch_pool));
        assert_ok(fby_batch_pool_deliver(batches[i], NULL, NULL, NULL));
    }
    assert_true(fby_batch_pool_is_full(batch_pool));
    for (int i = 0; i < FBY_OUTPUT_SLOTS; i++) {
        fby_batch_unref(batches[i]);
    }
    fby_batch_pool_release(&batch_pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_usual_slots_go_round),
        cmocka_unit_test(further_slots_are_counted_capped_and_thrown_away),
        cmocka_unit_test(a_batch_being_filled_is_not_held),
        cmocka_unit_test(there_is_one_slot_however_little_may_be_held),
        cmocka_unit_test(a_batch_goes_back_with_its_last_reference),
        cmocka_unit_test(a_batch_outlives_the_stream),
        cmocka_unit_test(as_many_slots_as_fit_into_max_held_bytes),
        cmocka_unit_test(a_batch_that_goes_round_begins_anew),
        cmocka_unit_test(
            without_memory_for_a_usual_slot_the_system_is_to_blame),
        cmocka_unit_test(
            without_memory_for_a_further_slot_one_has_to_come_back),
        cmocka_unit_test(
            a_batch_pool_without_memory_is_not_full_while_one_is_filled),
    };
    return cmocka_run_group_tests_name(
        "trainer_client.shelf", tests, NULL, NULL);
}
