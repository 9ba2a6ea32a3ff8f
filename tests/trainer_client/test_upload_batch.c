/* SPDX-License-Identifier: Apache-2.0 */
/* Batches on their way to a device that works late and in any order: no memory
 * is filled again before its last read. */
#include "tests/trainer_client/upload_rig.h"

#include <pthread.h>
#include <stdio.h>

/* ---- Lifetimes ----------------------------------------------------------- */

static void no_memory_is_overwritten_while_it_is_read(void **state)
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
        fby_gpu_upload_recycle(rig.upload, next[0].out);
        fby_gpu_upload_recycle(rig.upload, next[1].out);
        end(&rig);
    }
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
            assert_int_equal(fby_cuda()->use_device(0), 0); /* the consumer's */
            hand(&rig, &held);
            release(&rig, &held);
            assert_int_equal(fby_cuda()->current_device(&chosen), 0);
            assert_int_equal(chosen, 0);
        }
        end(&rig);
    }
    feeds_device = 0;
}

/* The values are waited for on the caller's thread: its stream is that of no
 * other. */
static void a_threads_own_stream_is_found_on_the_thread(void **state)
{
    (void)state;
    feeds_device = 1;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct rig rig;
        begin(&rig, seed, seed % 2 == 0);
        assert_int_equal(fby_cuda()->use_device(1), 0);
        for (uint32_t number = 0; number < 20; number++) {
            struct held held = take(&rig, number, false);
            held.stream      = (void *)2;
            hand(&rig, &held);
            release(&rig, &held);
        }
        assert_int_equal(fby_cuda()->use_device(0), 0);
        end(&rig);
    }
    feeds_device = 0;
}

/* If the thread has chosen another GPU, its own stream belongs to that GPU: it
 * can wait for the values, but no release can be recorded there. */
static void a_threads_own_stream_of_another_gpu_takes_no_release(void **state)
{
    (void)state;
    feeds_device = 1;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct rig              rig;
        struct fby_error_detail why = {""};
        begin(&rig, seed, false);
        struct held held = take(&rig, 0, false);
        held.stream      = (void *)2;
        assert_int_equal(fby_cuda()->use_device(0), 0); /* the consumer's */
        hand(&rig, &held);
        release(&rig, &held);
        struct fby_gpu_output *out =
            fby_gpu_upload_take_output(rig.upload, false);
        assert_int_equal(send_batch(&rig, 1, out, &why), FBY_SYS);
        assert_string_equal(why.text,
            "a batch was released on a stream that cannot be waited for: CUDA: "
            "cudaEventRecord failed with 400 (cudaErrorUnknown: unknown "
            "error), at epoch 2 step 0");
        fby_gpu_upload_recycle(rig.upload, out);
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
    struct errand          *errand = opaque;
    struct fby_error_detail why    = {""};
    errand->held                   = take(errand->rig, 0, errand->further);
    while (
        fby_gpu_upload_poll_copied(errand->rig->upload, 0, &why) == FBY_AGAIN) {
    }
    return NULL;
}

/* A context takes half a gigabyte: of eight ranks seven would have one on the
 * first's GPU. */
static void no_context_is_created_on_another_gpu(void **state)
{
    (void)state;
    feeds_device = 1;
    assert_int_equal(fby_cuda()->use_device(0), 0); /* the consumer's */
    for (uint32_t i = 0; i < 4; i++) {
        struct rig    rig;
        pthread_t     thread;
        struct errand errand = {.rig = &rig, .further = i % 2 == 1};
        begin(&rig, i, i / 2 == 1);
        assert_int_equal(pthread_create(&thread, NULL, run_errand, &errand), 0);
        assert_int_equal(pthread_join(thread, NULL), 0);
        errand.held.stream = &own[1];
        hand(&rig, &errand.held);
        fby_gpu_upload_release(rig.upload, errand.held.out, errand.held.stream);
        fby_gpu_upload_recycle(rig.upload, errand.held.out);
        fby_gpu_upload_destroy(&rig.upload);
        assert_int_equal(fake_cuda_contexts(), 1 << 1);
        end(&rig);
    }
    feeds_device = 0;
}

/* The consumer's stream stands still before it reads. */
static void a_slow_reader_keeps_its_values(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 4; i++) {
        struct rig rig;
        begin(&rig, i, i % 2 == 1);
        for (uint32_t number = 0; number < FBY_GPU_UPLOAD_LANES; number++) {
            struct held held = take(&rig, number, i / 2 == 1);
            held.stream      = &own[1 + number % 2];
            fake_cuda_pause(held.stream, number % 2 == 0);
            hand(&rig, &held);
            release(&rig, &held);
            fake_cuda_run();
        }
        fake_cuda_pause(&own[1], false);
        end(&rig);
    }
}

/* All but the last bytes are of no segment. */
static fby_err send_large(
    struct fby_gpu_upload *upload, struct fby_gpu_output *out, uint64_t bytes)
{
    struct fby_segments     list;
    struct fby_error_detail why    = {""};
    uint8_t                *memory = fby_gpu_upload_arena(upload, 0);
    uint64_t                at     = bytes;
    do { /* in front of a list that ends where it should */
        at -= FBY_SEGMENT_ALIGN;
        fby_segments_begin(&list, memory, at);
        fby_segments_append_copy(&list, at - BYTES - 8, BYTES, 0);
    } while (fby_segments_finish(&list) > bytes);
    for (uint32_t i = 0; i < BYTES; i++) {
        memory[at - BYTES - 8 + i] = value(7, i);
    }
    const struct fby_gpu_upload_batch batch = {
        .bytes = bytes, .list = list.list, .out = out};
    return fby_gpu_upload_submit(upload, &batch, &why);
}

static void a_large_batch_is_copied_piece_by_piece(void **state)
{
    (void)state;
    struct fby_gpu_upload             *upload = NULL;
    struct fby_error_detail            why    = {""};
    const struct fby_gpu_upload_config config = {.cuda = fby_cuda(),
        .n_arenas                                      = 1,
        .arena_bytes = FBY_GPU_UPLOAD_MAX_COPY + ARENA,
        .n_outs      = 1,
        .out_bytes   = BYTES};
    fake_cuda_begin(1);
    assert_ok(fby_gpu_upload_create(&config, &upload, &why));
    struct fby_gpu_output *out     = fby_gpu_upload_take_output(upload, false);
    static const uint64_t  sizes[] = {FBY_GPU_UPLOAD_MAX_COPY - 1,
         FBY_GPU_UPLOAD_MAX_COPY, FBY_GPU_UPLOAD_MAX_COPY + 1,
         FBY_GPU_UPLOAD_MAX_COPY + ARENA / 2};
    for (uint32_t i = 0; i < 4; i++) {
        struct fake_cuda_counts before = fake_cuda_counts();
        memset(out->memory, 0, BYTES);
        assert_ok(send_large(upload, out, sizes[i]));
        struct fake_cuda_counts after = fake_cuda_counts();
        assert_int_equal(after.copied - before.copied, sizes[i]);
        assert_int_equal(after.async - before.async, i < 2 ? 4 : 5);
        fake_cuda_run();
        for (uint32_t k = 0; k < BYTES; k++) {
            assert_int_equal(out->memory[k], value(7, k));
        }
    }
    fby_gpu_upload_recycle(upload, out);
    fby_gpu_upload_destroy(&upload);
    fake_cuda_end();
}

/* ---- Fixed outputs: lanes ------------------------------------------------ */

static void more_batches_than_lanes_cannot_wait_for_their_kernels(void **state)
{
    (void)state;
    struct rig              rig;
    struct fby_error_detail why = {""};
    struct held             held[FBY_GPU_UPLOAD_LANES];
    begin(&rig, 1, true);
    for (uint32_t i = 0; i < FBY_GPU_UPLOAD_LANES; i++) {
        held[i] = take(&rig, i, false);
    }
    struct fby_gpu_output *out = fby_gpu_upload_take_output(rig.upload, true);
    assert_int_equal(send_batch(&rig, 9, out, &why), FBY_SYS);
    assert_string_equal(why.text, "4 batches wait for their kernels");
    fby_gpu_upload_recycle(rig.upload, held[1].out); /* it was not taken */
    assert_ok(send_batch(&rig, 10, out, &why));
    held[1] = (struct held){.out = out, .number = 10};
    for (uint32_t i = 0; i < FBY_GPU_UPLOAD_LANES; i++) {
        hand(&rig, &held[i]);
        release(&rig, &held[i]);
    }
    end(&rig);
}

static void a_batch_that_fails_or_is_not_taken_keeps_no_lane(void **state)
{
    (void)state;
    struct rig              rig;
    struct fby_error_detail why = {""};
    begin(&rig, 1, true);
    fake_cuda_await_pins(ARENAS);
    for (uint32_t i = 0; i < 4 * FBY_GPU_UPLOAD_LANES; i++) {
        struct fby_gpu_output *out =
            fby_gpu_upload_take_output(rig.upload, false);
        fake_cuda_fail_once("cudaEventRecord", i % 3); /* the third: works */
        fby_err err = send_batch(&rig, i, out, &why);
        fake_cuda_fail(NULL);
        assert_int_equal(err, i % 3 < 2 ? FBY_SYS : FBY_OK);
        fby_gpu_upload_recycle(rig.upload, out);
    }
    struct held held = take(&rig, 99, false);
    hand(&rig, &held);
    release(&rig, &held);
    end(&rig);
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
    struct rig *rig, const char *call, struct fby_error_detail *why)
{
    struct fby_gpu_output *out = fby_gpu_upload_take_output(rig->upload, false);
    fake_cuda_fail(call);
    fby_err err = send_batch(rig, 7, out, why);
    fake_cuda_fail(NULL);
    fby_gpu_upload_recycle(rig->upload, out);
    return err;
}

/* Pin, copy, launch, whether or not they work. */
static void every_stage_that_is_begun_is_ended(void **state)
{
    (void)state;
    static const char *const calls[] = {
        NULL, "cudaMemcpyAsync", "cudaLaunchKernel"};
    for (uint32_t i = 0; i < 3; i++) {
        struct rig              rig;
        struct fby_error_detail why = {""};
        begin(&rig, i, false);
        fby_err err = send_while_failing(&rig, calls[i], &why);
        assert_int_equal(err, i == 0 ? FBY_OK : FBY_SYS);
        assert_int_equal(fake_cuda_counts().stages, 3);
        assert_int_equal(fake_cuda_stages_open(), 0);
        end(&rig);
    }
}

/* ---- Failures ------------------------------------------------------------ */

static void an_error_names_the_call_and_the_batch(void **state)
{
    (void)state;
    static const char *const calls[] = {
        "cudaMemcpyAsync", "cudaLaunchKernel", "cudaEventRecord"};
    for (uint32_t i = 0; i < 3; i++) {
        struct rig              rig;
        struct fby_error_detail why = {""};
        begin(&rig, i, false);
        fby_err err = send_while_failing(&rig, calls[i], &why);
        assert_int_equal(err, FBY_SYS);
        assert_names_call(&why, calls[i]);
        end(&rig);
    }
}

/* No event tells then when the memory of the arena, of the lane or of the tensors
 * is free. */
static void a_record_that_fails_waits_for_what_it_was_to_follow(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 2; i++) { /* after the copy, after the kernels */
        struct rig              rig;
        struct fby_error_detail why = {""};
        begin(&rig, i, false);
        fake_cuda_await_pins(ARENAS);
        struct fby_gpu_output *out =
            fby_gpu_upload_take_output(rig.upload, false);
        uint64_t blocked = fake_cuda_counts().blocks;
        fake_cuda_fail_once("cudaEventRecord", i);
        assert_int_equal(send_batch(&rig, 0, out, &why), FBY_SYS);
        fake_cuda_fail(NULL);
        assert_int_equal(fake_cuda_counts().blocks, blocked + 1);
        fby_gpu_upload_recycle(rig.upload, out);
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
        struct rig              rig;
        struct fby_error_detail why = {""};
        begin(&rig, seed, false);
        struct held held = take(&rig, 0, false);
        hand(&rig, &held);
        release(&rig, &held);
        struct fby_gpu_output *out =
            fby_gpu_upload_take_output(rig.upload, false);
        assert_ptr_equal(out, held.out);
        fake_cuda_await_pins(ARENAS);
        fake_cuda_fail(calls[seed % 3]);
        assert_int_equal(send_batch(&rig, 1, out, &why), FBY_SYS);
        fake_cuda_fail(NULL);
        fby_gpu_upload_recycle(rig.upload, out);
        held = take(&rig, 2, false);
        assert_ptr_equal(out, held.out);
        hand(&rig, &held);
        release(&rig, &held);
        end(&rig);
    }
}

/* The arena's event cannot be asked; then it is asked no more. */
static void a_failed_copy_is_reported_with_its_batch(void **state)
{
    (void)state;
    struct rig              rig;
    struct fby_error_detail why = {""};
    begin(&rig, 1, false);
    struct held held = take(&rig, 7, false);
    fake_cuda_fail("cudaEventQuery");
    assert_int_equal(
        fby_gpu_upload_poll_copied(rig.upload, 7 % ARENAS, &why), FBY_SYS);
    assert_names_call(&why, "cudaEventQuery");
    assert_ok(fby_gpu_upload_poll_copied(
        rig.upload, 8 % ARENAS, &why)); /* never filled */
    fake_cuda_fail(NULL);
    fby_gpu_upload_recycle(rig.upload, held.out);
    end(&rig);
}

static void an_arena_is_free_once_it_is_copied(void **state)
{
    (void)state;
    struct rig              rig;
    struct fby_error_detail why = {""};
    begin(&rig, 1, false);
    struct held held = take(&rig, 0, false);
    fake_cuda_run();
    assert_ok(fby_gpu_upload_poll_copied(rig.upload, 0, &why));
    fake_cuda_fail("cudaEventQuery"); /* which is asked no more */
    assert_ok(fby_gpu_upload_poll_copied(rig.upload, 0, &why));
    fake_cuda_fail(NULL);
    fby_gpu_upload_recycle(rig.upload, held.out);
    end(&rig);
}

static void a_failed_hand_out_is_reported_with_its_batch(void **state)
{
    (void)state;
    static const char *const calls[] = {
        "cudaStreamWaitEvent", "cudaLaunchKernel", "cudaEventRecord"};
    for (uint32_t i = 0; i < 4; i++) {
        struct rig              rig;
        struct fby_error_detail why = {""};
        begin(&rig, i, i > 0);
        struct held held = take(&rig, 7, false);
        fake_cuda_fail(calls[i < 2 ? 0 : i - 1]);
        assert_int_equal(
            fby_gpu_upload_await(rig.upload, held.out, held.stream, &why),
            FBY_SYS);
        fake_cuda_fail(NULL);
        assert_names_call(&why, calls[i < 2 ? 0 : i - 1]);
        fby_gpu_upload_recycle(rig.upload, held.out);
        end(&rig);
    }
}

/* The error names the first event that could not be recorded. */
static void the_first_release_that_is_lost_is_reported(void **state)
{
    (void)state;
    struct rig              rig;
    struct fby_error_detail why = {""};
    struct held             held[2];
    begin(&rig, 1, false);
    for (uint32_t i = 0; i < 2; i++) {
        held[i] = take(&rig, 3 + i, false);
        hand(&rig, &held[i]);
    }
    fake_cuda_fail("cudaEventRecord");
    release(&rig, &held[1]);
    release(&rig, &held[0]);
    fake_cuda_fail(NULL);
    struct fby_gpu_output *out = fby_gpu_upload_take_output(rig.upload, false);
    assert_int_equal(send_batch(&rig, 5, out, &why), FBY_SYS);
    assert_non_null(strstr(why.text, "at epoch 2 step 4"));
    fby_gpu_upload_recycle(rig.upload, out);
    end(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_memory_is_overwritten_while_it_is_read),
        cmocka_unit_test(with_fixed_outputs_kernels_wait_for_the_consumer),
        cmocka_unit_test(a_second_stream_sees_the_values_too),
        cmocka_unit_test(the_legacy_stream_is_that_of_the_batchs_gpu),
        cmocka_unit_test(a_threads_own_stream_is_found_on_the_thread),
        cmocka_unit_test(a_threads_own_stream_of_another_gpu_takes_no_release),
        cmocka_unit_test(no_context_is_created_on_another_gpu),
        cmocka_unit_test(a_slow_reader_keeps_its_values),
        cmocka_unit_test(a_large_batch_is_copied_piece_by_piece),
        cmocka_unit_test(more_batches_than_lanes_cannot_wait_for_their_kernels),
        cmocka_unit_test(a_batch_that_fails_or_is_not_taken_keeps_no_lane),
        cmocka_unit_test(
            a_batch_costs_at_most_seven_calls_and_none_that_blocks),
        cmocka_unit_test(every_stage_that_is_begun_is_ended),
        cmocka_unit_test(an_error_names_the_call_and_the_batch),
        cmocka_unit_test(a_record_that_fails_waits_for_what_it_was_to_follow),
        cmocka_unit_test(
            a_batch_that_fails_forgets_no_reader_of_the_one_before),
        cmocka_unit_test(a_failed_copy_is_reported_with_its_batch),
        cmocka_unit_test(an_arena_is_free_once_it_is_copied),
        cmocka_unit_test(a_failed_hand_out_is_reported_with_its_batch),
        cmocka_unit_test(the_first_release_that_is_lost_is_reported),
    };
    return cmocka_run_group_tests_name(
        "trainer_client.feed_batch", tests, NULL, NULL);
}
