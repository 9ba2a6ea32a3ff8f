/* SPDX-License-Identifier: Apache-2.0 */
/* Memory for tensors, from CUDA or from the caller: it is freed after its last
 * use, also after a failure; without memory there is no further batch. */
#include "tests/trainer_client/upload_rig.h"

/* An allocator as PyTorch's: what comes back is used again, and overwritten,
 * in the order of the stream that it came back on; what it gives is in use
 * until that stream gets there. */
struct heap {
    uint8_t *free[16 * OUTS];
    uint32_t n;
    uint32_t live;
};

static void scribble(void *memory)
{
    memset(memory, 0xee, BYTES);
}

static void *heap_allocate(
    void *arg, size_t bytes, int32_t device, void *stream)
{
    struct heap *heap = arg;
    assert_int_equal(device, feeds_device);
    assert_non_null(stream);
    assert_int_equal(bytes, BYTES);
    heap->live++;
    void *memory =
        heap->n > 0 ? heap->free[--heap->n] : aligned_alloc(256, 1024);
    fake_cuda_call(stream, scribble, memory);
    return memory;
}

static void heap_free(void *arg, void *memory, void *stream)
{
    struct heap *heap = arg;
    fake_cuda_call(stream, scribble, memory);
    assert_true(heap->n < sizeof(heap->free) / sizeof(heap->free[0]));
    heap->free[heap->n++] = memory;
    heap->live--;
}

static void begin_on_heap(
    struct rig *rig, uint64_t seed, bool fixed, struct heap *heap)
{
    begin_with(rig, seed, fixed,
        &(struct fby_gpu_upload_memory){heap_allocate, heap_free, heap});
}

static void the_callers_memory_is_freed_after_its_last_use(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct rig  rig;
        struct heap heap = {.n = 0};
        begin_on_heap(&rig, seed, false, &heap);
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
        begin_on_heap(&rig, seed, true, &heap);
        struct held held = take(&rig, 0, true);
        hand(&rig, &held);
        fby_gpu_upload_stop(rig.upload);
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
    struct fby_error_detail why = {""};
    struct fby_gpu_output  *out = fby_gpu_upload_take_output(rig->upload, true);
    fake_cuda_fail(fixed ? NULL : "cudaLaunchKernel");
    fby_err err = send_batch(rig, 0, out, &why);
    if (fixed) {
        assert_ok(err);
        fby_gpu_upload_stop(rig->upload); /* it is copied */
        fake_cuda_fail("cudaLaunchKernel");
        err = fby_gpu_upload_await(rig->upload, out, NULL, &why);
    }
    assert_int_equal(err, FBY_SYS);
    fake_cuda_fail(NULL);
    fby_gpu_upload_recycle(rig->upload, out);
}

static void memory_goes_back_after_a_launch_that_failed_in_part(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 400; seed++) {
        struct rig  rig;
        struct heap heap  = {.n = 0};
        bool        fixed = seed % 2 == 0;
        begin_on_heap(&rig, seed, fixed, &heap);
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
    struct rig              rig;
    struct heap             heap = {.n = 0};
    struct fby_error_detail why  = {""};
    begin_on_heap(&rig, 3, false, &heap);
    struct held held = take(&rig, 0, false);
    hand(&rig, &held);
    fake_cuda_fail("cudaEventRecord");
    release(&rig, &held);
    fake_cuda_fail(NULL);
    struct fby_gpu_output *out = fby_gpu_upload_take_output(rig.upload, false);
    assert_int_equal(send_batch(&rig, 1, out, &why), FBY_SYS);
    assert_non_null(strstr(why.text, "released on a stream"));
    assert_non_null(strstr(why.text, "epoch 2 step 0"));
    fby_gpu_upload_recycle(rig.upload, out);
    uint8_t *kept = held.out->memory; /* a reader may still use it */
    end(&rig);
    assert_int_equal(heap.live, 1);
    while (heap.n > 0) {
        assert_ptr_not_equal(heap.free[--heap.n], kept);
        free(heap.free[heap.n]);
    }
    free(kept);
}

/* All of the caller's memory was given back but `lost`, which is in use. */
static void free_heap(struct heap *heap, uint8_t *lost)
{
    while (heap->n > 0) {
        assert_ptr_not_equal(heap->free[--heap->n], lost);
        free(heap->free[heap->n]);
    }
    free(lost);
}

/* Its kernels run, and no event tells when they end. */
static void memory_of_a_launch_without_an_event_is_not_given_back(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 4; i++) {
        struct rig              rig;
        struct heap             heap  = {.n = 0};
        struct fby_error_detail why   = {""};
        bool                    fixed = i % 2 == 1;
        begin_on_heap(&rig, i, fixed, &heap);
        struct fby_gpu_output *out =
            fby_gpu_upload_take_output(rig.upload, i / 2 == 1);
        uint8_t *lost = out->memory;
        fake_cuda_await_pins(ARENAS);
        fake_cuda_fail_once("cudaEventRecord", fixed ? 3 : 1);
        fby_err err = send_batch(&rig, 0, out, &why);
        assert_int_equal(err, fixed ? FBY_OK : FBY_SYS);
        if (fixed) {
            assert_int_equal(
                fby_gpu_upload_await(rig.upload, out, NULL, &why), FBY_SYS);
        }
        fby_gpu_upload_recycle(rig.upload, out);
        end(&rig);
        assert_int_equal(heap.live, 1);
        free_heap(&heap, lost);
    }
}

/* The one address of all batches is that of the lost one too. */
static void fixed_memory_that_is_lost_is_not_given_back(void **state)
{
    (void)state;
    struct rig  rig;
    struct heap heap = {.n = 0};
    begin_on_heap(&rig, 3, true, &heap);
    struct held held = take(&rig, 0, false);
    uint8_t    *lost = held.out->memory;
    hand(&rig, &held);
    fake_cuda_fail("cudaEventRecord");
    release(&rig, &held);
    fake_cuda_fail(NULL);
    end(&rig);
    assert_int_equal(heap.live, 1);
    free_heap(&heap, lost);
}

/* On a device that has a pool, or none. */
static void begin_without_pool(struct rig *rig, bool fixed, bool without,
    const struct fby_gpu_upload_memory *memory)
{
    fake_cuda_begin(1);
    fake_cuda_fail(without ? "cudaMemPoolCreate" : NULL);
    *rig        = (struct rig){.seed = 1};
    rig->checks = calloc(4096, sizeof(*rig->checks));
    open_upload(rig, fixed, memory);
    fake_cuda_await_pins(ARENAS); /* whose calls are not to fail */
    fake_cuda_fail(NULL);
}

/* Its pool would give it to another batch. Where the device has no pool, it is
 * given back, because cudaFree waits for the device. */
static void further_memory_that_is_lost_is_not_given_to_the_pool(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 2; i++) {
        struct rig rig;
        begin_without_pool(
            &rig, false, i == 1, &(struct fby_gpu_upload_memory){0});
        struct held held = take(&rig, 0, true);
        uint8_t    *lost = held.out->memory;
        hand(&rig, &held);
        fake_cuda_fail("cudaEventRecord");
        release(&rig, &held);
        fake_cuda_fail(NULL);
        fby_gpu_upload_destroy(&rig.upload);
        fake_cuda_end();
        assert_int_equal(fake_cuda_counts().live, i == 0 ? 1 : 0);
        assert_int_equal(rig.wrong, 0);
        if (i == 0) {
            fake_cuda_give(NULL, lost);
            fake_cuda_end();
        }
        free(rig.checks);
    }
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
    begin_with(&rig, 1, false,
        &(struct fby_gpu_upload_memory){nothing, give_up, &left});
    assert_null(fby_gpu_upload_take_output(rig.upload, true));
    struct held held = take(&rig, 0, false);
    hand(&rig, &held);
    release(&rig, &held);
    end(&rig);
}

/* Each call that makes one: of a pool, without one, of the caller's, fixed. */
static void a_failed_call_gives_no_further_batch(void **state)
{
    (void)state;
    static const struct {
        const char *function;
        uint32_t    n;
    } calls[] = {{"cudaSetDevice", 0}, {"cudaEventCreateWithFlags", 0},
        {"cudaEventCreateWithFlags", 1}, {"cudaEventRecord", 0},
        {"cudaMallocFromPoolAsync", 0}, {"cudaMalloc", 0}};
    for (uint32_t i = 0; i < 24; i++) {
        struct rig                         rig;
        struct heap                        heap   = {.n = 0};
        uint32_t                           kind   = i / 6;
        bool                               theirs = kind == 2;
        bool                               fixed  = kind == 3;
        bool                               used   = fixed       ? i % 6 < 3
                                                    : theirs    ? i % 6 < 4
                                                    : kind == 0 ? i % 6 != 5
                                                                : i % 6 != 4;
        const struct fby_gpu_upload_memory memory = {
            heap_allocate, heap_free, &heap};
        begin_without_pool(&rig, fixed, kind == 1,
            theirs ? &memory : &(struct fby_gpu_upload_memory){0});
        fake_cuda_fail_once(calls[i % 6].function, calls[i % 6].n);
        uint64_t               live = fake_cuda_counts().live;
        struct fby_gpu_output *out =
            fby_gpu_upload_take_output(rig.upload, true);
        fake_cuda_fail(NULL);
        assert_int_equal(out == NULL, used);
        if (out != NULL) {
            fby_gpu_upload_recycle(rig.upload, out);
        }
        assert_int_equal(fake_cuda_counts().live, live);
        assert_int_equal(fake_cuda_mode(), 0);
        end(&rig);
        assert_int_equal(heap.live, 0);
        free_heap(&heap, NULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_callers_memory_is_freed_after_its_last_use),
        cmocka_unit_test(the_fixed_memory_goes_back_after_its_last_reader),
        cmocka_unit_test(memory_goes_back_after_a_launch_that_failed_in_part),
        cmocka_unit_test(a_release_that_is_lost_ends_the_stream),
        cmocka_unit_test(memory_of_a_launch_without_an_event_is_not_given_back),
        cmocka_unit_test(fixed_memory_that_is_lost_is_not_given_back),
        cmocka_unit_test(further_memory_that_is_lost_is_not_given_to_the_pool),
        cmocka_unit_test(without_memory_there_is_no_further_batch),
        cmocka_unit_test(a_failed_call_gives_no_further_batch),
    };
    return cmocka_run_group_tests_name(
        "trainer_client.feed_outs", tests, NULL, NULL);
}
