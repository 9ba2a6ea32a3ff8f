/* Output slots: how many there are, who holds them, when they go. */
#include "tests/test.h"

#include <poll.h>

#include "trainer_client/shelf.h"

enum { MOST = 6 };
#define SLOT UINT64_C(1000) /* bytes */

static struct fby_shelf *shelf_of(uint64_t max_held_bytes)
{
    struct fby_shelf             *shelf  = NULL;
    const struct fby_shelf_config config = {
        .device         = &fby_device_host,
        .out_bytes      = SLOT,
        .max_rows       = 3,
        .max_held_bytes = max_held_bytes,
    };
    assert_ok(fby_shelf_create(&config, &shelf));
    return shelf;
}

/* A batch in the trainer's hands. */
static struct forebay_batch *hold(struct fby_shelf *shelf)
{
    struct forebay_batch *batch = NULL;
    assert_ok(fby_shelf_take(shelf, true, &batch));
    assert_ok(fby_shelf_deliver(batch, NULL, NULL));
    return batch;
}

static bool rings(const struct fby_shelf *shelf)
{
    struct pollfd fd = {.fd = fby_shelf_bell(shelf)->fd, .events = POLLIN};
    bool          on = poll(&fd, 1, 0) == 1;
    fby_bell_clear(fby_shelf_bell(shelf));
    return on;
}

static void the_usual_slots_go_round(void **state)
{
    (void)state;
    struct fby_shelf     *shelf = shelf_of(MOST * SLOT);
    struct forebay_batch *batches[FBY_OUTPUT_SLOTS];
    struct forebay_batch *other = NULL;
    for (int i = 0; i < FBY_OUTPUT_SLOTS; i++) {
        assert_ok(fby_shelf_take(shelf, false, &batches[i]));
    }
    assert_int_equal(fby_shelf_take(shelf, false, &other), FBY_AGAIN);
    assert_false(rings(shelf));
    fby_batch_unref(batches[2]);
    assert_true(rings(shelf));
    assert_ok(fby_shelf_take(shelf, false, &other));
    assert_ptr_equal(other, batches[2]);
    for (int i = 0; i < FBY_OUTPUT_SLOTS; i++) {
        fby_batch_unref(batches[i]);
    }
    assert_int_equal(fby_shelf_counts(shelf).in_use, 0);
    fby_shelf_leave(&shelf);
}

static void further_slots_are_counted_capped_and_thrown_away(void **state)
{
    (void)state;
    struct fby_shelf     *shelf = shelf_of(MOST * SLOT);
    struct forebay_batch *batches[MOST];
    struct forebay_batch *other = NULL;
    for (int i = 0; i < MOST; i++) {
        assert_false(fby_shelf_is_full(shelf));
        batches[i] = hold(shelf);
    }
    assert_true(fby_shelf_is_full(shelf));
    assert_int_equal(fby_shelf_take(shelf, true, &other), FBY_FULL);
    assert_int_equal(fby_shelf_counts(shelf).overflow, MOST - FBY_OUTPUT_SLOTS);
    for (int i = 0; i < MOST; i++) {
        fby_batch_unref(batches[i]);
    }
    assert_int_equal(fby_shelf_counts(shelf).held, 0);
    fby_shelf_leave(&shelf);
}

static void what_is_being_filled_is_not_held(void **state)
{
    (void)state;
    struct fby_shelf     *shelf = shelf_of(SLOT);
    struct forebay_batch *batch = NULL;
    assert_ok(fby_shelf_take(shelf, true, &batch));
    assert_int_equal(fby_shelf_counts(shelf).in_use, 1);
    assert_int_equal(fby_shelf_counts(shelf).held, 0);
    assert_false(fby_shelf_is_full(shelf));
    assert_ok(fby_shelf_deliver(batch, NULL, NULL));
    assert_true(fby_shelf_is_full(shelf));
    fby_batch_unref(batch);
    fby_shelf_leave(&shelf);
}

static void there_is_one_slot_however_little_may_be_held(void **state)
{
    (void)state;
    struct fby_shelf     *shelf = shelf_of(1);
    struct forebay_batch *batch = hold(shelf);
    struct forebay_batch *other = NULL;
    assert_int_equal(fby_shelf_take(shelf, true, &other), FBY_FULL);
    fby_batch_unref(batch);
    fby_shelf_leave(&shelf);
}

static void a_batch_goes_back_with_its_last_reference(void **state)
{
    (void)state;
    struct fby_shelf     *shelf = shelf_of(MOST * SLOT);
    struct forebay_batch *batch = hold(shelf);
    fby_batch_ref(batch);
    fby_batch_unref(batch);
    assert_int_equal(fby_shelf_counts(shelf).held, 1);
    fby_batch_unref(batch);
    assert_int_equal(fby_shelf_counts(shelf).held, 0);
    fby_shelf_leave(&shelf);
}

static void a_batch_outlives_the_stream(void **state)
{
    (void)state;
    struct fby_shelf     *shelf = shelf_of(MOST * SLOT);
    struct forebay_batch *first = hold(shelf);
    struct forebay_batch *last  = hold(shelf);
    fby_shelf_leave(&shelf);
    assert_null(shelf);
    fby_batch_unref(first);
    last->memory[SLOT - 1] = 1;
    last->samples[2]       = 1;
    assert_true(fby_shelf_is_ours(last->shelf));
    fby_batch_unref(last); /* and the shelf with it */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_usual_slots_go_round),
        cmocka_unit_test(further_slots_are_counted_capped_and_thrown_away),
        cmocka_unit_test(what_is_being_filled_is_not_held),
        cmocka_unit_test(there_is_one_slot_however_little_may_be_held),
        cmocka_unit_test(a_batch_goes_back_with_its_last_reference),
        cmocka_unit_test(a_batch_outlives_the_stream),
    };
    return cmocka_run_group_tests_name(
        "trainer_client.shelf", tests, NULL, NULL);
}
