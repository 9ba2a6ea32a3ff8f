/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/test.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "common/queue.h"

enum { ITEMS = 20000 };

static int numbers[ITEMS];

static void items_come_out_in_the_order_they_went_in(void **state)
{
    (void)state;
    struct fby_queue *queue = fby_queue_create(3);
    void             *item  = NULL;
    for (int round = 0; round < 5; round++) {
        assert_ok(fby_queue_push(queue, &numbers[0]));
        assert_ok(fby_queue_push(queue, &numbers[1]));
        assert_ok(fby_queue_pop(queue, &item));
        assert_ptr_equal(item, &numbers[0]);
        assert_ok(fby_queue_pop(queue, &item));
        assert_ptr_equal(item, &numbers[1]);
    }
    assert_int_equal(fby_queue_counts(queue).pushed, 10);
    fby_queue_destroy(&queue);
    assert_null(queue);
}

static void a_full_queue_refuses_who_will_not_wait(void **state)
{
    (void)state;
    struct fby_queue *queue = fby_queue_create(2);
    void             *item  = NULL;
    assert_ok(fby_queue_try_push(queue, &numbers[0]));
    assert_ok(fby_queue_try_push(queue, &numbers[1]));
    assert_int_equal(fby_queue_try_push(queue, &numbers[2]), FBY_FULL);
    assert_int_equal(fby_queue_counts(queue).occupancy, 2);
    assert_ok(fby_queue_pop(queue, &item));
    assert_ok(fby_queue_try_push(queue, &numbers[2]));
    fby_queue_destroy(&queue);
}

static void a_closed_queue_gives_what_is_left_and_takes_nothing(void **state)
{
    (void)state;
    struct fby_queue *queue = fby_queue_create(2);
    void             *item  = NULL;
    assert_ok(fby_queue_push(queue, &numbers[7]));
    fby_queue_close(queue);
    fby_queue_close(queue);
    assert_int_equal(fby_queue_push(queue, &numbers[8]), FBY_GONE);
    assert_ok(fby_queue_pop(queue, &item));
    assert_ptr_equal(item, &numbers[7]);
    assert_int_equal(fby_queue_pop(queue, &item), FBY_GONE);
    fby_queue_destroy(&queue);
}

/* Urgent items need no space, and keep their order among themselves. */
static void urgent_items_overtake_the_others_in_a_full_queue(void **state)
{
    (void)state;
    struct fby_queue     *queue     = fby_queue_create(1);
    struct fby_queue_link urgent[3] = {{NULL}};
    void                 *item      = NULL;
    assert_ok(fby_queue_push(queue, &numbers[0]));
    for (int i = 0; i < 3; i++) {
        assert_ok(fby_queue_push_urgent(queue, &urgent[i]));
    }
    assert_int_equal(fby_queue_try_push(queue, &numbers[1]), FBY_FULL);
    for (int i = 0; i < 2; i++) {
        assert_ok(fby_queue_pop(queue, &item));
        assert_ptr_equal(item, &urgent[i]);
    }
    fby_queue_close(queue);
    assert_int_equal(fby_queue_push_urgent(queue, &urgent[0]), FBY_GONE);
    assert_ok(fby_queue_pop(queue, &item));
    assert_ptr_equal(item, &urgent[2]);
    assert_ok(fby_queue_pop(queue, &item));
    assert_ptr_equal(item, &numbers[0]);
    assert_int_equal(fby_queue_pop(queue, &item), FBY_GONE);
    assert_int_equal(fby_queue_counts(queue).pushed, 4);
    fby_queue_destroy(&queue);
}

struct producer { /* a thread that pushes one item */
    struct fby_queue *queue;
    int              *item;
    fby_err           err; /* of the push */
    pthread_t         thread;
};

static void *push_one(void *opaque)
{
    struct producer *self = opaque;
    self->err             = fby_queue_push(self->queue, self->item);
    return NULL;
}

/* Start a producer, and return when it waits. */
static void start_waiting(struct producer *self)
{
    size_t waiting = fby_queue_counts(self->queue).waiting;
    pthread_create(&self->thread, NULL, push_one, self);
    while (fby_queue_counts(self->queue).waiting == waiting) {
        sched_yield();
    }
}

static void an_item_whose_producer_waits_is_not_overtaken(void **state)
{
    (void)state;
    struct fby_queue *queue  = fby_queue_create(2);
    struct producer   first  = {.queue = queue, .item = &numbers[2]};
    struct producer   second = {.queue = queue, .item = &numbers[3]};
    void             *item   = NULL;
    assert_ok(fby_queue_push(queue, &numbers[0]));
    assert_ok(fby_queue_push(queue, &numbers[1]));
    start_waiting(&first);
    start_waiting(&second);
    for (int i = 0; i < 4; i++) {
        assert_ok(fby_queue_pop(queue, &item));
        assert_ptr_equal(item, &numbers[i]);
        fby_err err = fby_queue_try_push(queue, &numbers[4 + i]);
        assert_int_equal(err, i < 2 ? FBY_FULL : FBY_OK);
    }
    pthread_join(first.thread, NULL);
    pthread_join(second.thread, NULL);
    assert_ok(first.err);
    assert_ok(second.err);
    fby_queue_destroy(&queue);
}

static void a_producer_keeps_its_item_if_the_queue_is_closed(void **state)
{
    (void)state;
    struct fby_queue *queue    = fby_queue_create(1);
    struct producer   producer = {.queue = queue, .item = &numbers[1]};
    void             *item     = NULL;
    assert_ok(fby_queue_push(queue, &numbers[0]));
    start_waiting(&producer);
    fby_queue_close(queue);
    assert_ok(fby_queue_pop(queue, &item));
    assert_ptr_equal(item, &numbers[0]);
    assert_int_equal(fby_queue_pop(queue, &item), FBY_GONE);
    pthread_join(producer.thread, NULL);
    assert_int_equal(producer.err, FBY_GONE);
    fby_queue_destroy(&queue);
}

struct traffic {
    struct fby_queue *queue;
    atomic_int        next;        /* number to put in */
    atomic_int        seen[ITEMS]; /* how often each came out */
};

static void *produce(void *opaque)
{
    struct traffic *traffic = opaque;
    int             i       = 0;
    while ((i = atomic_fetch_add(&traffic->next, 1)) < ITEMS) {
        if (fby_queue_push(traffic->queue, &numbers[i]) != FBY_OK) {
            return opaque;
        }
    }
    return NULL;
}

static void *consume(void *opaque)
{
    struct traffic *traffic = opaque;
    void           *item    = NULL;
    while (fby_queue_pop(traffic->queue, &item) == FBY_OK) {
        atomic_fetch_add(&traffic->seen[(int *)item - numbers], 1);
    }
    return NULL;
}

static void many_threads_lose_and_double_nothing(void **state)
{
    (void)state;
    static struct traffic traffic;
    pthread_t             producers[3];
    pthread_t             consumers[3];
    traffic.queue = fby_queue_create(4);
    for (int i = 0; i < 3; i++) {
        pthread_create(&producers[i], NULL, produce, &traffic);
        pthread_create(&consumers[i], NULL, consume, &traffic);
    }
    for (int i = 0; i < 3; i++) {
        void *failed = NULL;
        pthread_join(producers[i], &failed);
        assert_null(failed);
    }
    fby_queue_close(traffic.queue);
    for (int i = 0; i < 3; i++) {
        pthread_join(consumers[i], NULL);
    }
    for (int i = 0; i < ITEMS; i++) {
        assert_int_equal(atomic_load(&traffic.seen[i]), 1);
    }
    struct fby_queue_counts counts = fby_queue_counts(traffic.queue);
    assert_int_equal(counts.pushed, ITEMS);
    assert_true(counts.wait_input_ns + counts.wait_output_ns > 0);
    fby_queue_destroy(&traffic.queue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_come_out_in_the_order_they_went_in),
        cmocka_unit_test(a_full_queue_refuses_who_will_not_wait),
        cmocka_unit_test(a_closed_queue_gives_what_is_left_and_takes_nothing),
        cmocka_unit_test(urgent_items_overtake_the_others_in_a_full_queue),
        cmocka_unit_test(an_item_whose_producer_waits_is_not_overtaken),
        cmocka_unit_test(a_producer_keeps_its_item_if_the_queue_is_closed),
        cmocka_unit_test(many_threads_lose_and_double_nothing),
    };
    return cmocka_run_group_tests_name("common.queue", tests, NULL, NULL);
}
