/* The way of a batch to a device whose work is done late and in any order: no
 * memory is filled anew while something still reads it. */
#include "tests/trainer_client/feed_rig.h"

#include <pthread.h>
#include <stdio.h>

/* ---- lifetimes ----------------------------------------------------------- */

static void nothing_is_overwritten_while_it_is_read(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct rig rig;
        begin(&rig, seed, false);
        hold_and_release(&rig);
        end(&rig);
    }
}

static void with_fixed_outputs_kernels_wait_for_the_consumer(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct rig  rig;
        struct held next[3];
        begin(&rig, seed, true);
        next[0]                = take(&rig, 0, false);
        next[1]                = take(&rig, 1, false);
        const uint8_t *address = next[0].out->memory;
        for (uint32_t number = 2; number < 100; number++) {
            next[2] = take(&rig, number, false);
            assert_ptr_equal(next[2].out->memory, address);
            hand(&rig, &next[0]);
            release(&rig, &next[0]);
            next[0] = next[1];
            next[1] = next[2];
        }
        fby_feed_give(rig.feed, next[0].out);
        fby_feed_give(rig.feed, next[1].out);
        end(&rig);
    }
}

/* What follows on `second` follows what is on `first`. */
static void join(void *first, void *second)
{
    void *event = NULL;
    assert_int_equal(fby_cuda()->event_create(&event), 0);
    assert_int_equal(fby_cuda()->event_record(event, first), 0);
    assert_int_equal(fby_cuda()->stream_wait(second, event), 0);
    assert_int_equal(fby_cuda()->event_destroy(event), 0);
}

static void a_second_stream_sees_the_values_too(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 50; seed++) {
        struct rig rig;
        begin(&rig, seed, seed % 2 == 0);
        for (uint32_t number = 0; number < 20; number++) {
            struct held held  = take(&rig, number, false);
            void       *first = held.stream;
            hand(&rig, &held);
            held.stream = &own[0];
            hand(&rig, &held);
            join(first, held.stream);
            release(&rig, &held);
        }
        end(&rig);
    }
}

static void the_legacy_stream_is_that_of_the_batchs_gpu(void **state)
{
    (void)state;
    feeds_device = 1;
    for (int fixed = 0; fixed <= 1; fixed++) {
        struct rig rig;
        int        chosen = -1;
        begin(&rig, 5, fixed != 0);
        for (uint32_t number = 0; number < 20; number++) {
            struct held held = take(&rig, number, false);
            held.stream      = number % 2 == 0 ? NULL : (void *)1;
            assert_int_equal(fby_cuda()->use(0), 0); /* the consumer's */
            hand(&rig, &held);
            release(&rig, &held);
            assert_int_equal(fby_cuda()->chosen(&chosen), 0);
            assert_int_equal(chosen, 0);
        }
        end(&rig);
    }
    feeds_device = 0;
}

struct errand { /* of a thread of ours, which has chosen no device yet */
    struct rig *rig;
    bool        further;
    struct held held;
};

static void *run_errand(void *opaque)
{
    struct errand *errand = opaque;
    struct fby_why why    = {""};
    errand->held          = take(errand->rig, 0, errand->further);
    while (fby_feed_copied(errand->rig->feed, 0, &why) == FBY_AGAIN) {
    }
    return NULL;
}

/* A context takes half a gigabyte: of eight ranks seven would have one on the
 * first's GPU. */
static void nothing_is_set_up_on_a_gpu_that_is_not_the_batchs(void **state)
{
    (void)state;
    feeds_device = 1;
    for (uint32_t i = 0; i < 4; i++) {
        struct rig    rig;
        pthread_t     thread;
        struct errand errand = {.rig = &rig, .further = i % 2 == 1};
        begin(&rig, i, i / 2 == 1);
        assert_int_equal(pthread_create(&thread, NULL, run_errand, &errand), 0);
        assert_int_equal(pthread_join(thread, NULL), 0);
        errand.held.stream = &own[1];
        hand(&rig, &errand.held);
        fby_feed_let_go(rig.feed, errand.held.out, errand.held.stream);
        assert_int_equal(fake_cuda_contexts(), 1 << 1);
        fby_feed_give(rig.feed, errand.held.out);
        end(&rig);
    }
    feeds_device = 0;
}

static void a_batch_costs_at_most_seven_calls_and_none_that_blocks(void **state)
{
    (void)state;
    struct rig rig;
    begin(&rig, 5, false);
    for (uint32_t number = 0; number < ARENAS; number++) { /* all pinned */
        struct held held = take(&rig, number, false);
        hand(&rig, &held);
        release(&rig, &held);
    }
    struct fake_cuda_counts before = fake_cuda_counts();
    for (uint32_t number = 0; number < 500; number++) {
        struct held held = take(&rig, ARENAS + number, false);
        hand(&rig, &held);
        release(&rig, &held);
    }
    struct fake_cuda_counts after = fake_cuda_counts();
    assert_true(after.async - before.async <= (uint64_t)7 * 500);
    assert_int_equal(after.blocks, before.blocks);
    end(&rig);
}

/* Step 7, while `call` fails (NULL: none does); its memory is given back. */
static fby_err send_while_failing(
    struct rig *rig, const char *call, struct fby_why *why)
{
    struct fby_feed_out *out = fby_feed_take(rig->feed, false);
    fake_cuda_fail(call);
    fby_err err = send_batch(rig, 7, out, why);
    fake_cuda_fail(NULL);
    fby_feed_give(rig->feed, out);
    return err;
}

/* Pin, copy, launch, whether or not they work. */
static void every_stage_that_is_begun_is_ended(void **state)
{
    (void)state;
    static const char *const calls[] = {
        NULL, "cudaMemcpyAsync", "cudaLaunchKernel"};
    for (uint32_t i = 0; i < 3; i++) {
        struct rig     rig;
        struct fby_why why = {""};
        begin(&rig, i, false);
        fby_err err = send_while_failing(&rig, calls[i], &why);
        assert_int_equal(err, i == 0 ? FBY_OK : FBY_SYS);
        assert_int_equal(fake_cuda_counts().stages, 3);
        assert_int_equal(fake_cuda_stages_open(), 0);
        end(&rig);
    }
}

/* ---- failures ------------------------------------------------------------ */

static void an_error_names_the_call_and_the_batch(void **state)
{
    (void)state;
    static const char *const calls[] = {
        "cudaMemcpyAsync", "cudaLaunchKernel", "cudaEventRecord"};
    for (uint32_t i = 0; i < 3; i++) {
        struct rig     rig;
        struct fby_why why = {""};
        begin(&rig, i, false);
        fby_err err = send_while_failing(&rig, calls[i], &why);
        assert_int_equal(err, FBY_SYS);
        char words[200];
        (void)snprintf(words, sizeof(words),
            "CUDA: %s failed with 719 (cudaErrorLaunchFailure: unspecified "
            "launch failure), at epoch 2 step 7",
            calls[i]);
        assert_string_equal(why.text, words);
        end(&rig);
    }
}

/* Its memory is written no earlier than if nothing had failed. */
static void a_batch_that_fails_forgets_no_reader_of_the_one_before(void **state)
{
    (void)state;
    static const char *const calls[] = {
        "cudaSetDevice", "cudaMemcpyAsync", "cudaEventQuery"};
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct rig     rig;
        struct fby_why why = {""};
        begin(&rig, seed, false);
        struct held held = take(&rig, 0, false);
        hand(&rig, &held);
        release(&rig, &held);
        struct fby_feed_out *out = fby_feed_take(rig.feed, false);
        assert_ptr_equal(out, held.out);
        fake_cuda_await_pins(ARENAS);
        fake_cuda_fail(calls[seed % 3]);
        assert_int_equal(send_batch(&rig, 1, out, &why), FBY_SYS);
        fake_cuda_fail(NULL);
        fby_feed_give(rig.feed, out);
        held = take(&rig, 2, false);
        assert_ptr_equal(out, held.out);
        hand(&rig, &held);
        release(&rig, &held);
        end(&rig);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_overwritten_while_it_is_read),
        cmocka_unit_test(with_fixed_outputs_kernels_wait_for_the_consumer),
        cmocka_unit_test(a_second_stream_sees_the_values_too),
        cmocka_unit_test(the_legacy_stream_is_that_of_the_batchs_gpu),
        cmocka_unit_test(nothing_is_set_up_on_a_gpu_that_is_not_the_batchs),
        cmocka_unit_test(
            a_batch_costs_at_most_seven_calls_and_none_that_blocks),
        cmocka_unit_test(every_stage_that_is_begun_is_ended),
        cmocka_unit_test(an_error_names_the_call_and_the_batch),
        cmocka_unit_test(
            a_batch_that_fails_forgets_no_reader_of_the_one_before),
    };
    return cmocka_run_group_tests_name(
        "trainer_client.feed_batch", tests, NULL, NULL);
}
