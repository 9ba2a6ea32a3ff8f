/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/test.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/resource.h>

#include "common/clock.h"
#include "worker/stages/memory.h"

enum { PAGE = 4096, MIB = 1 << 20 };

static fby_err take_now(
    struct fby_memory *memory, size_t size, struct fby_memory_block *out)
{
    fby_err err = fby_memory_reserve(memory, size, out);
    return err == FBY_OK ? fby_memory_commit(memory, out) : err;
}

static void a_block_is_page_aligned_and_writable(void **state)
{
    (void)state;
    struct fby_memory      *memory = fby_memory_create(MIB);
    struct fby_memory_block block;
    assert_ok(take_now(memory, 5000, &block));
    assert_int_equal((uintptr_t)block.data % PAGE, 0);
    assert_true(block.size >= 5000);
    memset(block.data, 1, block.size);
    fby_memory_free(memory, &block);
    assert_null(block.data);
    fby_memory_destroy(&memory);
}

static void the_limit_is_never_passed(void **state)
{
    (void)state;
    struct fby_memory      *memory = fby_memory_create(MIB);
    struct fby_memory_block most;
    struct fby_memory_block more;
    assert_int_equal(take_now(memory, MIB + 1, &more), FBY_FULL);
    assert_int_equal(fby_memory_allocate(memory, SIZE_MAX, &more), FBY_FULL);
    assert_ok(take_now(memory, MIB - PAGE, &most));
    assert_int_equal(take_now(memory, (size_t)2 * PAGE, &more), FBY_FULL);
    assert_ok(take_now(memory, PAGE, &more));
    struct fby_memory_counts counts = fby_memory_counts(memory);
    assert_int_equal(counts.used, MIB);
    fby_memory_free(memory, &most);
    fby_memory_free(memory, &more);
    fby_memory_destroy(&memory);
}

static void a_block_given_back_is_taken_again(void **state)
{
    (void)state;
    struct fby_memory      *memory = fby_memory_create(MIB);
    struct fby_memory_block block;
    assert_ok(take_now(memory, MIB / 2, &block));
    uint8_t *data = block.data;
    fby_memory_free(memory, &block);
    assert_int_equal(fby_memory_counts(memory).kept, MIB / 2);
    assert_ok(take_now(memory, MIB / 2 - 100, &block));
    assert_ptr_equal(block.data, data);
    fby_memory_free(memory, &block);
    fby_memory_destroy(&memory);
}

static void kept_blocks_make_room_for_other_sizes(void **state)
{
    (void)state;
    struct fby_memory      *memory = fby_memory_create(MIB);
    struct fby_memory_block small[4];
    struct fby_memory_block large;
    for (int i = 0; i < 4; i++) {
        assert_ok(take_now(memory, MIB / 4, &small[i]));
    }
    for (int i = 0; i < 4; i++) {
        fby_memory_free(memory, &small[i]);
    }
    assert_ok(take_now(memory, MIB, &large));
    assert_int_equal(fby_memory_counts(memory).kept, 0);
    fby_memory_free(memory, &large);
    fby_memory_destroy(&memory);
}

static void reserved_memory_is_charged_before_it_is_committed(void **state)
{
    (void)state;
    struct fby_memory      *memory = fby_memory_create(MIB);
    struct fby_memory_block block;
    struct fby_memory_block more;
    assert_ok(fby_memory_reserve(memory, MIB - PAGE, &block));
    assert_null(block.data);
    assert_int_equal(fby_memory_counts(memory).used, MIB - PAGE);
    assert_int_equal(fby_memory_counts(memory).reserved, MIB - PAGE);
    assert_int_equal(
        fby_memory_reserve(memory, (size_t)2 * PAGE, &more), FBY_FULL);
    assert_int_equal(take_now(memory, (size_t)2 * PAGE, &more), FBY_FULL);
    assert_ok(fby_memory_commit(memory, &block));
    memset(block.data, 1, block.size);
    assert_int_equal(fby_memory_counts(memory).reserved, 0);
    assert_int_equal(fby_memory_counts(memory).used, MIB - PAGE);
    fby_memory_free(memory, &block);
    assert_int_equal(fby_memory_counts(memory).used, 0);
    fby_memory_destroy(&memory);
}

/* As many batches may wait as the limit allows; those in work use the same
 * pages one after the other. */
static void reservations_take_turns_in_one_block(void **state)
{
    (void)state;
    struct fby_memory      *memory = fby_memory_create(MIB);
    struct fby_memory_block blocks[4];
    uint8_t                *data = NULL;
    for (int i = 0; i < 4; i++) {
        assert_ok(fby_memory_reserve(memory, MIB / 4, &blocks[i]));
    }
    for (int i = 0; i < 4; i++) {
        assert_ok(fby_memory_commit(memory, &blocks[i]));
        assert_true(data == NULL || data == blocks[i].data);
        data = blocks[i].data;
        fby_memory_free(memory, &blocks[i]);
        assert_int_equal(fby_memory_counts(memory).kept, MIB / 4);
    }
    fby_memory_destroy(&memory);
}

static void a_reservation_can_be_given_back_unused(void **state)
{
    (void)state;
    struct fby_memory      *memory = fby_memory_create(MIB);
    struct fby_memory_block block;
    assert_ok(fby_memory_reserve(memory, MIB, &block));
    fby_memory_free(memory, &block);
    assert_int_equal(block.size, 0);
    struct fby_memory_counts counts = fby_memory_counts(memory);
    assert_int_equal(counts.used + counts.reserved + counts.kept, 0);
    fby_memory_destroy(&memory);
}

/* A kept block that is slightly too large would use bytes that others have
 * reserved. */
static void a_reservation_never_grows_past_the_limit(void **state)
{
    (void)state;
    struct fby_memory      *memory = fby_memory_create(MIB);
    struct fby_memory_block block;
    struct fby_memory_block others;
    assert_ok(take_now(memory, MIB / 2, &block));
    fby_memory_free(memory, &block);
    assert_ok(fby_memory_reserve(memory, MIB / 2 - PAGE, &block));
    assert_ok(fby_memory_reserve(memory, MIB / 2 + PAGE, &others));
    assert_ok(fby_memory_commit(memory, &block));
    assert_ok(fby_memory_commit(memory, &others));
    struct fby_memory_counts counts = fby_memory_counts(memory);
    assert_int_equal(counts.used, MIB);
    assert_int_equal(counts.kept, 0);
    fby_memory_free(memory, &block);
    fby_memory_free(memory, &others);
    fby_memory_destroy(&memory);
}

static void a_reservation_stays_when_the_system_has_no_memory(void **state)
{
    (void)state;
    struct fby_memory      *memory = fby_memory_create((size_t)64 * MIB);
    struct fby_memory_block block;
    struct rlimit           before;
    assert_ok(fby_memory_reserve(memory, (size_t)64 * MIB, &block));
    getrlimit(RLIMIT_AS, &before);
    struct rlimit none = {.rlim_cur = MIB, .rlim_max = before.rlim_max};
    setrlimit(RLIMIT_AS, &none);
    fby_err err = fby_memory_commit(memory, &block);
    setrlimit(RLIMIT_AS, &before);
    assert_int_equal(err, FBY_AGAIN);
    assert_null(block.data);
    assert_int_equal(fby_memory_counts(memory).reserved, 64 * MIB);
    assert_ok(fby_memory_commit(memory, &block));
    assert_int_equal(fby_memory_counts(memory).used, 64 * MIB);
    fby_memory_free(memory, &block);
    fby_memory_destroy(&memory);
}

static void blocks_that_were_not_used_since_are_freed(void **state)
{
    (void)state;
    struct fby_memory      *memory = fby_memory_create(MIB);
    struct fby_memory_block block;
    int64_t                 before_ns = fby_now_ns() - 1;
    assert_ok(take_now(memory, MIB / 2, &block));
    fby_memory_free(memory, &block);
    fby_memory_trim(memory, before_ns);
    assert_int_equal(fby_memory_counts(memory).kept, MIB / 2);
    fby_memory_trim(memory, fby_now_ns());
    assert_int_equal(fby_memory_counts(memory).kept, 0);
    fby_memory_destroy(&memory);
}

/* ---- At the edges -------------------------------------------------------- */

static void check_counts(
    struct fby_memory *memory, size_t used, size_t reserved, size_t kept)
{
    struct fby_memory_counts counts = fby_memory_counts(memory);
    assert_int_equal(counts.used / PAGE, used);
    assert_int_equal(counts.reserved / PAGE, reserved);
    assert_int_equal(counts.kept / PAGE, kept);
    assert_int_equal((counts.used | counts.reserved | counts.kept) % PAGE, 0);
}

static struct fby_memory_block take(struct fby_memory *memory, size_t pages)
{
    struct fby_memory_block block;
    assert_ok(take_now(memory, pages * PAGE, &block));
    return block;
}

static void blocks_are_whole_pages_up_to_the_limit(void **state)
{
    (void)state;
    struct fby_memory      *memory = fby_memory_create((size_t)10 * PAGE + 100);
    struct fby_memory_block blocks[4];
    struct fby_memory_block more;
    assert_ok(take_now(memory, 0, &blocks[0]));
    assert_ok(take_now(memory, PAGE, &blocks[1]));
    assert_ok(take_now(memory, PAGE + 1, &blocks[2]));
    check_counts(memory, 4, 0, 0);
    assert_int_equal(
        fby_memory_reserve(memory, (size_t)6 * PAGE + 1, &more), FBY_FULL);
    assert_ok(fby_memory_reserve(memory, (size_t)6 * PAGE, &blocks[3]));
    check_counts(memory, 10, 6, 0);
    assert_int_equal(fby_memory_reserve(memory, 0, &more), FBY_FULL);
    for (int i = 0; i < 4; i++) {
        fby_memory_free(memory, &blocks[i]);
        assert_int_equal(blocks[i].size, 0);
        fby_memory_free(memory, &blocks[i]); /* no block: fine */
    }
    check_counts(memory, 0, 0, 4);
    /* The last 100 bytes of the limit are no whole page: they are unusable. */
    assert_int_equal(
        fby_memory_allocate(memory, (size_t)10 * PAGE + 1, &more), FBY_FULL);
    assert_int_equal(
        fby_memory_reserve(memory, (size_t)10 * PAGE + 1, &more), FBY_FULL);
    fby_memory_destroy(&memory);
    assert_null(memory);
    fby_memory_destroy(&memory);
}

static void a_kept_block_may_waste_an_eighth(void **state)
{
    (void)state;
    struct fby_memory      *memory = fby_memory_create(MIB);
    struct fby_memory_block block  = take(memory, 9);
    const uint8_t          *data   = block.data;
    fby_memory_free(memory, &block);
    block = take(memory, 8);
    assert_ptr_equal(block.data, data);
    assert_int_equal(block.size, 9 * PAGE);
    check_counts(memory, 9, 0, 0);
    fby_memory_free(memory, &block);
    block = take(memory, 7); /* two of nine pages would be wasted */
    assert_int_equal(block.size, 7 * PAGE);
    check_counts(memory, 7, 0, 9);
    struct fby_memory_block other = take(memory, 10);
    assert_int_equal(other.size, 10 * PAGE);
    check_counts(memory, 17, 0, 9);
    fby_memory_free(memory, &block);
    fby_memory_free(memory, &other);
    fby_memory_destroy(&memory);
}

/* The kept block fits, but is larger than the rest of the limit. */
static void a_kept_block_beyond_the_limit_is_not_taken(void **state)
{
    (void)state;
    struct fby_memory      *memory = fby_memory_create((size_t)20 * PAGE);
    struct fby_memory_block first  = take(memory, 11);
    struct fby_memory_block block  = take(memory, 9);
    struct fby_memory_block last;
    fby_memory_free(memory, &block);
    assert_ok(fby_memory_reserve(memory, PAGE, &last));
    check_counts(memory, 12, 1, 9);
    block = take(memory, 8);
    assert_int_equal(block.size, 8 * PAGE);
    check_counts(memory, 20, 1, 0);
    fby_memory_free(memory, &first);
    fby_memory_free(memory, &block);
    fby_memory_free(memory, &last);
    fby_memory_destroy(&memory);
}

static void the_newest_of_sixty_four_is_taken_first(void **state)
{
    enum { KEPT = 64 };
    (void)state;
    struct fby_memory      *memory = fby_memory_create(MIB);
    struct fby_memory_block blocks[KEPT + 1];
    const uint8_t          *data[KEPT + 1];
    for (int i = 0; i <= KEPT; i++) {
        blocks[i] = take(memory, 1);
        data[i]   = blocks[i].data;
    }
    check_counts(memory, KEPT + 1, 0, 0);
    for (int i = 0; i < KEPT; i++) {
        fby_memory_free(memory, &blocks[i]);
    }
    check_counts(memory, 1, 0, KEPT);
    fby_memory_free(memory, &blocks[KEPT]); /* the oldest is unmapped */
    check_counts(memory, 0, 0, KEPT);
    for (int i = KEPT; i > 0; i--) {
        blocks[i] = take(memory, 1);
        assert_ptr_equal(blocks[i].data, data[i]);
    }
    check_counts(memory, KEPT, 0, 0);
    for (int i = 1; i <= KEPT; i++) {
        fby_memory_free(memory, &blocks[i]);
    }
    fby_memory_destroy(&memory);
}

struct taker {
    struct fby_memory *memory;
    atomic_int         taken;
    fby_err            end;
};

static void *take_until_refused(void *opaque)
{
    struct taker           *taker = opaque;
    struct fby_memory_block block;
    while ((taker->end = fby_memory_allocate(taker->memory, MIB, &block)) ==
           FBY_OK) {
        atomic_fetch_add(&taker->taken, 1);
        fby_memory_free(taker->memory, &block);
    }
    return NULL;
}

static void a_thread_waits_for_memory_until_the_pool_closes(void **state)
{
    (void)state;
    struct taker            taker = {.memory = fby_memory_create(MIB)};
    struct fby_memory_block block;
    pthread_t               thread;
    assert_ok(fby_memory_allocate(taker.memory, MIB, &block));
    pthread_create(&thread, NULL, take_until_refused, &taker);
    assert_int_equal(atomic_load(&taker.taken), 0);
    fby_memory_free(taker.memory, &block);
    while (atomic_load(&taker.taken) < 100) {
    }
    assert_ok(fby_memory_allocate(taker.memory, MIB, &block));
    fby_memory_close(taker.memory);
    pthread_join(thread, NULL);
    assert_int_equal(taker.end, FBY_GONE);
    fby_memory_free(taker.memory, &block);
    fby_memory_destroy(&taker.memory);
}

/* NOLINTBEGIN(readability-identifier-naming): the linker's names */

int __real_pthread_cond_wait(pthread_cond_t *changed, pthread_mutex_t *lock);
int __wrap_pthread_cond_wait(pthread_cond_t *changed, pthread_mutex_t *lock);

static sem_t waiting; /* posted before a wait, with the lock held */

int __wrap_pthread_cond_wait(pthread_cond_t *changed, pthread_mutex_t *lock)
{
    sem_post(&waiting);
    return __real_pthread_cond_wait(changed, lock);
}

/* NOLINTEND(readability-identifier-naming) */

static void *take_once(void *opaque)
{
    struct taker           *taker = opaque;
    struct fby_memory_block block;
    taker->end = fby_memory_allocate(taker->memory, MIB, &block);
    if (taker->end == FBY_OK) {
        fby_memory_free(taker->memory, &block);
    }
    return NULL;
}

/* True if the returned block was used or only reserved. */
static void returned_memory_wakes_a_waiting_thread(void **state)
{
    (void)state;
    for (int reserved = 0; reserved < 2; reserved++) {
        struct taker            taker = {.memory = fby_memory_create(MIB)};
        struct fby_memory_block block;
        pthread_t               thread;
        sem_init(&waiting, 0, 0);
        if (reserved == 1) {
            assert_ok(fby_memory_reserve(taker.memory, MIB, &block));
        } else {
            assert_ok(fby_memory_allocate(taker.memory, MIB, &block));
        }
        pthread_create(&thread, NULL, take_once, &taker);
        sem_wait(&waiting); /* the thread waits before it frees the lock */
        fby_memory_free(taker.memory, &block);
        pthread_join(thread, NULL);
        assert_ok(taker.end);
        assert_int_equal(fby_memory_counts(taker.memory).used, 0);
        assert_int_equal(fby_memory_counts(taker.memory).reserved, 0);
        fby_memory_destroy(&taker.memory);
        sem_destroy(&waiting);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_block_is_page_aligned_and_writable),
        cmocka_unit_test(the_limit_is_never_passed),
        cmocka_unit_test(a_block_given_back_is_taken_again),
        cmocka_unit_test(kept_blocks_make_room_for_other_sizes),
        cmocka_unit_test(reserved_memory_is_charged_before_it_is_committed),
        cmocka_unit_test(reservations_take_turns_in_one_block),
        cmocka_unit_test(a_reservation_can_be_given_back_unused),
        cmocka_unit_test(a_reservation_never_grows_past_the_limit),
        cmocka_unit_test(a_reservation_stays_when_the_system_has_no_memory),
        cmocka_unit_test(blocks_that_were_not_used_since_are_freed),
        cmocka_unit_test(blocks_are_whole_pages_up_to_the_limit),
        cmocka_unit_test(a_kept_block_may_waste_an_eighth),
        cmocka_unit_test(a_kept_block_beyond_the_limit_is_not_taken),
        cmocka_unit_test(the_newest_of_sixty_four_is_taken_first),
        cmocka_unit_test(a_thread_waits_for_memory_until_the_pool_closes),
        cmocka_unit_test(returned_memory_wakes_a_waiting_thread),
    };
    return cmocka_run_group_tests_name("worker.memory", tests, NULL, NULL);
}
