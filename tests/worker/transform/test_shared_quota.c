/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/test.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "worker/transform/shared_quota.h"

enum { LIMIT = 1000 };

struct taker {
    struct fby_shared_quota *quota;
    uint64_t                 bytes;
    fby_err                  err;
    atomic_bool              served;
    pthread_t                thread;
};

static void *take_once(void *opaque)
{
    struct taker *taker = opaque;
    taker->err          = fby_shared_quota_take(taker->quota, taker->bytes);
    atomic_store(&taker->served, true);
    return NULL;
}

static void wait_for_waits(struct fby_shared_quota *quota, uint64_t waits)
{
    while (fby_shared_quota_counts(quota).waits < waits) {
    }
}

/* Begin to take what is not there; back once it waits. */
static void start_waiting(
    struct taker *taker, struct fby_shared_quota *quota, uint64_t bytes)
{
    uint64_t waits = fby_shared_quota_counts(quota).waits;
    *taker         = (struct taker){.quota = quota, .bytes = bytes};
    pthread_create(&taker->thread, NULL, take_once, taker);
    wait_for_waits(quota, waits + 1);
}

static fby_err finish(struct taker *taker)
{
    pthread_join(taker->thread, NULL);
    return taker->err;
}

static void more_than_the_limit_is_refused_at_once(void **state)
{
    (void)state;
    struct fby_shared_quota *quota = fby_shared_quota_create(LIMIT);
    assert_int_equal(fby_shared_quota_take(quota, LIMIT + 1), FBY_FULL);
    assert_ok(fby_shared_quota_take(quota, LIMIT));
    assert_int_equal(fby_shared_quota_counts(quota).used, LIMIT);
    fby_shared_quota_return(quota, LIMIT);
    assert_int_equal(fby_shared_quota_counts(quota).used, 0);
    assert_int_equal(fby_shared_quota_counts(quota).waits, 0);
    fby_shared_quota_destroy(&quota);
}

static void memory_given_back_goes_to_a_waiting_thread(void **state)
{
    (void)state;
    struct fby_shared_quota *quota = fby_shared_quota_create(LIMIT);
    struct taker             taker;
    assert_ok(fby_shared_quota_take(quota, LIMIT));
    start_waiting(&taker, quota, 1);
    assert_false(atomic_load(&taker.served));
    fby_shared_quota_return(quota, LIMIT);
    assert_ok(finish(&taker));
    fby_shared_quota_return(quota, 1);
    fby_shared_quota_destroy(&quota);
}

static void small_requests_do_not_overtake_a_large_one(void **state)
{
    (void)state;
    struct fby_shared_quota *quota = fby_shared_quota_create(LIMIT);
    struct taker             large;
    struct taker             small;
    assert_ok(fby_shared_quota_take(quota, LIMIT / 2));
    start_waiting(&large, quota, LIMIT);
    start_waiting(&small, quota, 1); /* it would fit */
    assert_false(atomic_load(&small.served));
    fby_shared_quota_return(quota, LIMIT / 2);
    assert_ok(finish(&large));
    assert_false(atomic_load(&small.served));
    fby_shared_quota_return(quota, LIMIT);
    assert_ok(finish(&small));
    fby_shared_quota_return(quota, 1);
    fby_shared_quota_destroy(&quota);
}

static void waiting_threads_leave_when_it_is_closed(void **state)
{
    (void)state;
    struct fby_shared_quota *quota = fby_shared_quota_create(LIMIT);
    struct taker             takers[2];
    assert_ok(fby_shared_quota_take(quota, LIMIT));
    start_waiting(&takers[0], quota, 1);
    start_waiting(&takers[1], quota, 1);
    fby_shared_quota_close(quota);
    assert_int_equal(finish(&takers[0]), FBY_GONE);
    assert_int_equal(finish(&takers[1]), FBY_GONE);
    assert_int_equal(fby_shared_quota_take(quota, 0), FBY_GONE);
    fby_shared_quota_return(quota, LIMIT);
    fby_shared_quota_destroy(&quota);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(more_than_the_limit_is_refused_at_once),
        cmocka_unit_test(memory_given_back_goes_to_a_waiting_thread),
        cmocka_unit_test(small_requests_do_not_overtake_a_large_one),
        cmocka_unit_test(waiting_threads_leave_when_it_is_closed),
    };
    return cmocka_run_group_tests_name(
        "worker.transform.allowance", tests, NULL, NULL);
}
