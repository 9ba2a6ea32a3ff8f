/* Memory for tensors, ours and the caller's: it goes back after all that used
 * it, whatever failed, and where there is none there is no further batch. */
#include "tests/trainer_client/feed_rig.h"

/* An allocator as PyTorch's: what comes back is used again, and overwritten,
 * in the order of the stream that it came back on. */
struct heap {
    uint8_t *free[16 * OUTS];
    uint32_t n;
    uint32_t live;
};

static void *heap_allocate(
    void *arg, size_t bytes, int32_t device, void *stream)
{
    struct heap *heap = arg;
    (void)device;
    assert_non_null(stream);
    assert_int_equal(bytes, BYTES);
    heap->live++;
    return heap->n > 0 ? heap->free[--heap->n] : aligned_alloc(256, 1024);
}

static void scribble(void *memory)
{
    memset(memory, 0xee, BYTES);
}

static void heap_free(void *arg, void *memory, void *stream)
{
    struct heap *heap = arg;
    fake_cuda_call(stream, scribble, memory);
    assert_true(heap->n < sizeof(heap->free) / sizeof(heap->free[0]));
    heap->free[heap->n++] = memory;
    heap->live--;
}

static void memory_of_the_callers_goes_back_after_all_that_used_it(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct rig  rig;
        struct heap heap = {.n = 0};
        begin_with(&rig, seed, false,
            &(struct fby_feed_memory){heap_allocate, heap_free, &heap});
        assert_int_equal(heap.live, OUTS);
        hold_and_release(&rig);
        end(&rig);
        assert_int_equal(heap.live, 0);
        while (heap.n > 0) {
            free(heap.free[--heap.n]);
        }
    }
}

static void the_fixed_memory_goes_back_after_its_last_reader(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct rig  rig;
        struct heap heap = {.n = 0};
        begin_with(&rig, seed, true,
            &(struct fby_feed_memory){heap_allocate, heap_free, &heap});
        struct held held = take(&rig, 0, true);
        hand(&rig, &held);
        fby_feed_stop(rig.feed);
        consume(&rig, &held); /* which may last */
        release(&rig, &held);
        end(&rig);
        assert_int_equal(heap.live, 0);
        free(heap.free[0]);
    }
}

/* The first kernel of a batch may run although the second did not start. */
static void launch_in_part(struct rig *rig, bool fixed)
{
    struct fby_why       why = {""};
    struct fby_feed_out *out = fby_feed_take(rig->feed, true);
    fake_cuda_fail(fixed ? NULL : "cudaLaunchKernel");
    fby_err err = send_batch(rig, 0, out, &why);
    if (fixed) {
        assert_ok(err);
        fby_feed_stop(rig->feed); /* it is copied */
        fake_cuda_fail("cudaLaunchKernel");
        err = fby_feed_hand_out(rig->feed, out, NULL, &why);
    }
    assert_int_equal(err, FBY_SYS);
    fake_cuda_fail(NULL);
    fby_feed_give(rig->feed, out);
}

static void memory_goes_back_after_a_launch_that_failed_in_part(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 400; seed++) {
        struct rig  rig;
        struct heap heap  = {.n = 0};
        bool        fixed = seed % 2 == 0;
        begin_with(&rig, seed, fixed,
            &(struct fby_feed_memory){heap_allocate, heap_free, &heap});
        launch_in_part(&rig, fixed);
        end(&rig);
        assert_int_equal(heap.live, 0);
        while (heap.n > 0) { /* each was scribbled over last */
            assert_int_equal(heap.free[--heap.n][0], 0xee);
            free(heap.free[heap.n]);
        }
    }
}

static void a_release_that_is_lost_ends_the_stream(void **state)
{
    (void)state;
    struct rig     rig;
    struct heap    heap = {.n = 0};
    struct fby_why why  = {""};
    begin_with(&rig, 3, false,
        &(struct fby_feed_memory){heap_allocate, heap_free, &heap});
    struct held held = take(&rig, 0, false);
    hand(&rig, &held);
    fake_cuda_fail("cudaEventRecord");
    release(&rig, &held);
    fake_cuda_fail(NULL);
    struct fby_feed_out *out = fby_feed_take(rig.feed, false);
    assert_int_equal(send_batch(&rig, 1, out, &why), FBY_SYS);
    assert_non_null(strstr(why.text, "released on a stream"));
    assert_non_null(strstr(why.text, "epoch 2 step 0"));
    fby_feed_give(rig.feed, out);
    uint8_t *kept = held.out->memory; /* whoever reads it may go on */
    end(&rig);
    assert_int_equal(heap.live, 1);
    while (heap.n > 0) {
        assert_ptr_not_equal(heap.free[--heap.n], kept);
        free(heap.free[heap.n]);
    }
    free(kept);
}

static void *nothing(void *arg, size_t bytes, int32_t device, void *stream)
{
    uint32_t *left = arg;
    (void)bytes;
    (void)device;
    (void)stream;
    return (*left)-- > 0 ? aligned_alloc(256, 1024) : NULL;
}

static void give_up(void *arg, void *memory, void *stream)
{
    (void)arg;
    (void)stream;
    free(memory);
}

static void without_memory_there_is_no_further_batch(void **state)
{
    (void)state;
    struct rig rig;
    uint32_t   left = OUTS;
    begin_with(
        &rig, 1, false, &(struct fby_feed_memory){nothing, give_up, &left});
    assert_null(fby_feed_take(rig.feed, true));
    struct held held = take(&rig, 0, false);
    hand(&rig, &held);
    release(&rig, &held);
    end(&rig);
}

static void without_an_event_there_is_no_further_batch(void **state)
{
    (void)state;
    for (int fixed = 0; fixed <= 1; fixed++) {
        struct rig rig;
        begin(&rig, 1, fixed != 0);
        fake_cuda_fail("cudaEventCreateWithFlags");
        assert_null(fby_feed_take(rig.feed, true));
        fake_cuda_fail(NULL);
        end(&rig);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            memory_of_the_callers_goes_back_after_all_that_used_it),
        cmocka_unit_test(the_fixed_memory_goes_back_after_its_last_reader),
        cmocka_unit_test(memory_goes_back_after_a_launch_that_failed_in_part),
        cmocka_unit_test(a_release_that_is_lost_ends_the_stream),
        cmocka_unit_test(without_memory_there_is_no_further_batch),
        cmocka_unit_test(without_an_event_there_is_no_further_batch),
    };
    return cmocka_run_group_tests_name(
        "trainer_client.feed_outs", tests, NULL, NULL);
}
