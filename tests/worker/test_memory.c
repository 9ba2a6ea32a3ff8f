#include "tests/test.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/resource.h>

#include "common/clock.h"
#include "worker/memory.h"

enum { PAGE = 4096, MIB = 1 << 20 };

static void a_block_is_page_aligned_and_writable(void **state)
{
    (void)state;
    struct fby_memory *memory = fby_memory_create(MIB);
    struct fby_block   block;
    assert_ok(fby_memory_try_take(memory, 5000, &block));
    assert_int_equal((uintptr_t)block.data % PAGE, 0);
    assert_true(block.size >= 5000);
    memset(block.data, 1, block.size);
    fby_memory_give(memory, &block);
    assert_null(block.data);
    fby_memory_destroy(&memory);
}

static void the_limit_is_never_passed(void **state)
{
    (void)state;
    struct fby_memory *memory = fby_memory_create(MIB);
    struct fby_block   most;
    struct fby_block   more;
    assert_int_equal(fby_memory_try_take(memory, MIB + 1, &more), FBY_FULL);
    assert_int_equal(fby_memory_take(memory, SIZE_MAX, &more), FBY_FULL);
    assert_ok(fby_memory_try_take(memory, MIB - PAGE, &most));
    assert_int_equal(
        fby_memory_try_take(memory, (size_t)2 * PAGE, &more), FBY_FULL);
    assert_ok(fby_memory_try_take(memory, PAGE, &more));
    struct fby_memory_counts counts = fby_memory_counts(memory);
    assert_int_equal(counts.used, MIB);
    assert_int_equal(counts.peak, MIB);
    fby_memory_give(memory, &most);
    fby_memory_give(memory, &more);
    fby_memory_destroy(&memory);
}

static void a_block_given_back_is_taken_again(void **state)
{
    (void)state;
    struct fby_memory *memory = fby_memory_create(MIB);
    struct fby_block   block;
    assert_ok(fby_memory_try_take(memory, MIB / 2, &block));
    uint8_t *data = block.data;
    fby_memory_give(memory, &block);
    assert_int_equal(fby_memory_counts(memory).kept, MIB / 2);
    assert_ok(fby_memory_try_take(memory, MIB / 2 - 100, &block));
    assert_ptr_equal(block.data, data);
    fby_memory_give(memory, &block);
    fby_memory_destroy(&memory);
}

static void kept_blocks_make_room_for_other_sizes(void **state)
{
    (void)state;
    struct fby_memory *memory = fby_memory_create(MIB);
    struct fby_block   small[4];
    struct fby_block   large;
    for (int i = 0; i < 4; i++) {
        assert_ok(fby_memory_try_take(memory, MIB / 4, &small[i]));
    }
    for (int i = 0; i < 4; i++) {
        fby_memory_give(memory, &small[i]);
    }
    assert_ok(fby_memory_try_take(memory, MIB, &large));
    assert_int_equal(fby_memory_counts(memory).kept, 0);
    fby_memory_give(memory, &large);
    fby_memory_destroy(&memory);
}

static void reserved_memory_is_charged_before_it_is_there(void **state)
{
    (void)state;
    struct fby_memory *memory = fby_memory_create(MIB);
    struct fby_block   block;
    struct fby_block   more;
    assert_ok(fby_memory_reserve(memory, MIB - PAGE, &block));
    assert_null(block.data);
    assert_int_equal(fby_memory_counts(memory).used, MIB - PAGE);
    assert_int_equal(fby_memory_counts(memory).reserved, MIB - PAGE);
    assert_int_equal(
        fby_memory_reserve(memory, (size_t)2 * PAGE, &more), FBY_FULL);
    assert_int_equal(
        fby_memory_try_take(memory, (size_t)2 * PAGE, &more), FBY_FULL);
    assert_ok(fby_memory_place(memory, &block));
    memset(block.data, 1, block.size);
    assert_int_equal(fby_memory_counts(memory).reserved, 0);
    assert_int_equal(fby_memory_counts(memory).used, MIB - PAGE);
    fby_memory_give(memory, &block);
    assert_int_equal(fby_memory_counts(memory).used, 0);
    fby_memory_destroy(&memory);
}

/* Batches that wait for their turn are as many as the limit allows; those that
 * have it use the same pages one after the other. */
static void reservations_take_turns_in_one_block(void **state)
{
    (void)state;
    struct fby_memory *memory = fby_memory_create(MIB);
    struct fby_block   blocks[4];
    uint8_t           *data = NULL;
    for (int i = 0; i < 4; i++) {
        assert_ok(fby_memory_reserve(memory, MIB / 4, &blocks[i]));
    }
    for (int i = 0; i < 4; i++) {
        assert_ok(fby_memory_place(memory, &blocks[i]));
        assert_true(data == NULL || data == blocks[i].data);
        data = blocks[i].data;
        fby_memory_give(memory, &blocks[i]);
        assert_int_equal(fby_memory_counts(memory).kept, MIB / 4);
    }
    fby_memory_destroy(&memory);
}

static void a_reservation_can_be_given_back_as_it_is(void **state)
{
    (void)state;
    struct fby_memory *memory = fby_memory_create(MIB);
    struct fby_block   block;
    assert_ok(fby_memory_reserve(memory, MIB, &block));
    fby_memory_give(memory, &block);
    assert_int_equal(block.size, 0);
    struct fby_memory_counts counts = fby_memory_counts(memory);
    assert_int_equal(counts.used + counts.reserved + counts.kept, 0);
    fby_memory_destroy(&memory);
}

/* A kept block that is a little too large would be charged with what others
 * have reserved. */
static void a_reservation_never_grows_past_the_limit(void **state)
{
    (void)state;
    struct fby_memory *memory = fby_memory_create(MIB);
    struct fby_block   block;
    struct fby_block   others;
    assert_ok(fby_memory_try_take(memory, MIB / 2, &block));
    fby_memory_give(memory, &block);
    assert_ok(fby_memory_reserve(memory, MIB / 2 - PAGE, &block));
    assert_ok(fby_memory_reserve(memory, MIB / 2 + PAGE, &others));
    assert_ok(fby_memory_place(memory, &block));
    assert_ok(fby_memory_place(memory, &others));
    struct fby_memory_counts counts = fby_memory_counts(memory);
    assert_int_equal(counts.used, MIB);
    assert_int_equal(counts.kept, 0);
    fby_memory_give(memory, &block);
    fby_memory_give(memory, &others);
    fby_memory_destroy(&memory);
}

static void a_reservation_stays_when_the_system_has_no_memory(void **state)
{
    (void)state;
    struct fby_memory *memory = fby_memory_create((size_t)64 * MIB);
    struct fby_block   block;
    struct rlimit      before;
    assert_ok(fby_memory_reserve(memory, (size_t)64 * MIB, &block));
    getrlimit(RLIMIT_AS, &before);
    struct rlimit none = {.rlim_cur = MIB, .rlim_max = before.rlim_max};
    setrlimit(RLIMIT_AS, &none);
    fby_err err = fby_memory_place(memory, &block);
    setrlimit(RLIMIT_AS, &before);
    assert_int_equal(err, FBY_AGAIN);
    assert_null(block.data);
    assert_int_equal(fby_memory_counts(memory).reserved, 64 * MIB);
    assert_ok(fby_memory_place(memory, &block));
    assert_int_equal(fby_memory_counts(memory).used, 64 * MIB);
    fby_memory_give(memory, &block);
    fby_memory_destroy(&memory);
}

static void what_nobody_wanted_since_goes_back_to_the_system(void **state)
{
    (void)state;
    struct fby_memory *memory = fby_memory_create(MIB);
    struct fby_block   block;
    int64_t            before_ns = fby_now_ns() - 1;
    assert_ok(fby_memory_try_take(memory, MIB / 2, &block));
    fby_memory_give(memory, &block);
    fby_memory_trim(memory, before_ns);
    assert_int_equal(fby_memory_counts(memory).kept, MIB / 2);
    fby_memory_trim(memory, fby_now_ns());
    assert_int_equal(fby_memory_counts(memory).kept, 0);
    fby_memory_destroy(&memory);
}

struct taker {
    struct fby_memory *memory;
    atomic_int         taken;
    fby_err            end;
};

static void *take_until_refused(void *opaque)
{
    struct taker    *taker = opaque;
    struct fby_block block;
    while (
        (taker->end = fby_memory_take(taker->memory, MIB, &block)) == FBY_OK) {
        atomic_fetch_add(&taker->taken, 1);
        fby_memory_give(taker->memory, &block);
    }
    return NULL;
}

static void a_taker_waits_its_turn_and_leaves_when_closed(void **state)
{
    (void)state;
    struct taker     taker = {.memory = fby_memory_create(MIB)};
    struct fby_block block;
    pthread_t        thread;
    assert_ok(fby_memory_take(taker.memory, MIB, &block));
    pthread_create(&thread, NULL, take_until_refused, &taker);
    assert_int_equal(atomic_load(&taker.taken), 0);
    fby_memory_give(taker.memory, &block);
    while (atomic_load(&taker.taken) < 100) {
    }
    assert_ok(fby_memory_take(taker.memory, MIB, &block));
    fby_memory_close(taker.memory);
    pthread_join(thread, NULL);
    assert_int_equal(taker.end, FBY_GONE);
    fby_memory_give(taker.memory, &block);
    fby_memory_destroy(&taker.memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_block_is_page_aligned_and_writable),
        cmocka_unit_test(the_limit_is_never_passed),
        cmocka_unit_test(a_block_given_back_is_taken_again),
        cmocka_unit_test(kept_blocks_make_room_for_other_sizes),
        cmocka_unit_test(reserved_memory_is_charged_before_it_is_there),
        cmocka_unit_test(reservations_take_turns_in_one_block),
        cmocka_unit_test(a_reservation_can_be_given_back_as_it_is),
        cmocka_unit_test(a_reservation_never_grows_past_the_limit),
        cmocka_unit_test(a_reservation_stays_when_the_system_has_no_memory),
        cmocka_unit_test(what_nobody_wanted_since_goes_back_to_the_system),
        cmocka_unit_test(a_taker_waits_its_turn_and_leaves_when_closed),
    };
    return cmocka_run_group_tests_name("worker.memory", tests, NULL, NULL);
}
