/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks of the decode threads, without a receiver. */
#include "tests/test.h"

#include <poll.h>
#include <string.h>

#include "trainer_client/batch/decode_pool.h"

static struct fby_decode_pool *pool_of(struct fby_setup *setup)
{
    struct fby_decode_pool *self = NULL;
    *setup                       = (struct fby_setup){.decode_threads = 1};
    assert_ok(fby_decode_pool_create(setup, NULL, NULL, &self));
    return self;
}

static void a_task_that_was_done_is_used_again_and_zeroed(void **state)
{
    (void)state;
    struct fby_setup              setup;
    struct fby_decode_pool       *self = pool_of(&setup);
    struct fby_decode_task       *a    = fby_decode_pool_new_task(self);
    struct fby_decode_task       *b    = fby_decode_pool_new_task(self);
    const struct fby_decode_task *old  = a;
    assert_ptr_not_equal(a, b);
    a->slot = 7;
    a->ok   = true;
    fby_decode_pool_recycle(self, b);
    fby_decode_pool_recycle(self, a);
    a = fby_decode_pool_new_task(self); /* the last one first */
    assert_ptr_equal(a, old);
    assert_int_equal(a->slot, 0);
    assert_false(a->ok);
    assert_null(a->next);
    assert_ptr_equal(fby_decode_pool_new_task(self), b);
    fby_decode_pool_recycle(self, a);
    fby_decode_pool_recycle(self, b);
    fby_decode_pool_destroy(&self);
    assert_null(self);
}

/* The next that is finished; CTest's time-out guards. */
static struct fby_decode_task *take(struct fby_decode_pool *self)
{
    struct pollfd ready = {fby_decode_pool_wakeup(self)->fd, POLLIN, 0};
    struct fby_decode_task *task = fby_decode_pool_take_finished(self);
    while (task == NULL) {
        poll(&ready, 1, -1);
        task = fby_decode_pool_take_finished(self);
    }
    return task;
}

static void damaged_chunks_are_counted_and_come_back_in_order(void **state)
{
    (void)state;
    enum { TASKS = 5 };
    struct fby_setup        setup;
    struct fby_decode_pool *self = pool_of(&setup);
    assert_null(fby_decode_pool_take_finished(self));
    for (int i = 0; i < TASKS; i++) {
        struct fby_decode_task *task = fby_decode_pool_new_task(self);
        task->kind                   = FBY_TASK_DECODE_CHUNK;
        task->slot                   = i;
        task->ok                     = true;
        zmq_msg_init_size(&task->frame, (size_t)i * 40);
        memset(zmq_msg_data(&task->frame), 0x5a, (size_t)i * 40);
        fby_decode_pool_submit(self, task);
    }
    for (int i = 0; i < TASKS; i++) {
        struct fby_decode_task *task = take(self);
        assert_int_equal(task->slot, i);
        assert_false(task->ok);
        fby_decode_pool_recycle(self, task);
    }
    assert_null(fby_decode_pool_take_finished(self));
    assert_int_equal(fby_decode_pool_counts(self).corrupt, TASKS);
    assert_int_equal(fby_decode_pool_counts(self).expand_ns, 0);
    fby_decode_pool_destroy(&self);
}

static void there_is_room_again_once_a_task_is_taken_back(void **state)
{
    (void)state;
    struct fby_setup        setup;
    struct fby_decode_pool *self = pool_of(&setup);
    for (int i = 0; i < FBY_DECODE_QUEUE + 1 /* thread */; i++) {
        assert_true(fby_decode_pool_has_room(self));
        struct fby_decode_task *task = fby_decode_pool_new_task(self);
        task->kind                   = FBY_TASK_DECODE_CHUNK;
        task->keeps                  = true;
        zmq_msg_init(&task->frame);
        fby_decode_pool_submit(self, task);
    }
    assert_false(fby_decode_pool_has_room(self));
    fby_decode_pool_recycle(self, take(self));
    assert_true(fby_decode_pool_has_room(self));
    fby_decode_pool_destroy(&self);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_task_that_was_done_is_used_again_and_zeroed),
        cmocka_unit_test(there_is_room_again_once_a_task_is_taken_back),
        cmocka_unit_test(damaged_chunks_are_counted_and_come_back_in_order),
    };
    return cmocka_run_group_tests_name(
        "trainer_client.decode_pool", tests, NULL, NULL);
}
