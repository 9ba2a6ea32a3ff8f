/* SPDX-License-Identifier: Apache-2.0 */
/* An upload that cannot be opened, or whose memory cannot be pinned. */
#include "tests/trainer_client/upload_rig.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>

static void nothing_is_left(void)
{
    fake_cuda_end();
    assert_int_equal(fake_cuda_counts().live, 0);
}

/* True if an upload opens while the call of `function` that follows `n` others
 * fails. */
static bool opens(bool fixed, const char *function, uint32_t n)
{
    struct fby_gpu_upload             *upload = NULL;
    struct fby_error_detail            why    = {""};
    char                               words[64];
    const struct fby_gpu_upload_config config = {.cuda = fby_cuda(),
        .n_arenas                                      = 2,
        .arena_bytes                                   = ARENA,
        .n_outs                                        = 2,
        .out_bytes                                     = BYTES,
        .fixed_address                                 = fixed};
    (void)snprintf(words, sizeof(words), "CUDA: %s failed with 719", function);
    fake_cuda_begin(1);
    fake_cuda_fail_once(function, n);
    fby_err err = fby_gpu_upload_create(&config, &upload, &why);
    if (err == FBY_OK) {
        fake_cuda_await_pins(2);
        fake_cuda_fail(NULL);
        fby_gpu_upload_destroy(&upload);
    } else {
        assert_int_equal(err, FBY_SYS);
        assert_memory_equal(why.text, words, strlen(words));
    }
    assert_null(upload);
    nothing_is_left();
    return err == FBY_OK;
}

/* Lanes, arenas, the memory's stream, outs: as many calls as there are. */
static void a_failed_call_while_opening_leaks_nothing(void **state)
{
    (void)state;
    static const struct {
        const char *function;
        uint32_t    n, n_fixed;
    } calls[] = {
        {"cudaSetDevice", 1, 1},
        {"cudaFuncGetAttributes", 1, 1},
        {"cudaStreamCreateWithFlags", FBY_GPU_UPLOAD_LANES + 1,
            FBY_GPU_UPLOAD_LANES + 1},
        {"cudaMalloc", FBY_GPU_UPLOAD_LANES + 2, FBY_GPU_UPLOAD_LANES + 1},
        {"cudaEventCreateWithFlags", 2 + 2 * 2,
            2 * FBY_GPU_UPLOAD_LANES + 2 + 1 + 2 * 2},
    };
    for (uint32_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        for (uint32_t k = 0; k < calls[i].n; k++) {
            assert_false(opens(false, calls[i].function, k));
        }
        for (uint32_t k = 0; k < calls[i].n_fixed; k++) {
            assert_false(opens(true, calls[i].function, k));
        }
    }
    assert_true(opens(false, "cudaMalloc", FBY_GPU_UPLOAD_LANES + 2));
    assert_true(opens(true, "cudaMalloc", FBY_GPU_UPLOAD_LANES + 1));
    assert_true(opens(false, "cudaMemPoolCreate", 0));
}

/* An allocator with so much memory, which is there in the stream's order. */
struct heap {
    uint32_t left, live;
};

static void *allocate(void *arg, size_t bytes, int32_t device, void *stream)
{
    struct heap *heap = arg;
    assert_int_equal(device, feeds_device);
    if (heap->left == 0) {
        return NULL;
    }
    heap->left--;
    heap->live++;
    return fake_cuda_take(stream, bytes);
}

static void deallocate(void *arg, void *memory, void *stream)
{
    struct heap *heap = arg;
    heap->live--;
    fake_cuda_give(stream, memory);
}

static void an_allocator_without_memory_leaves_nothing_behind(void **state)
{
    (void)state;
    feeds_device = 1;
    for (uint32_t n = 0; n < 4; n++) {
        struct fby_gpu_upload             *upload = NULL;
        struct fby_error_detail            why    = {""};
        struct heap                        heap   = {.left = n / 2};
        const struct fby_gpu_upload_config config = {.cuda = fby_cuda(),
            .device                                        = feeds_device,
            .n_arenas                                      = 1,
            .arena_bytes                                   = ARENA,
            .n_outs                                        = 2,
            .out_bytes                                     = BYTES,
            .fixed_address                                 = n == 0,
            .memory = {allocate, deallocate, &heap}};
        fake_cuda_begin(1);
        assert_int_equal(
            fby_gpu_upload_create(&config, &upload, &why), FBY_SYS);
        assert_string_equal(
            why.text, "the allocator has no 600 bytes for a batch's tensors");
        assert_null(upload);
        nothing_is_left();
        assert_int_equal(heap.live + heap.left, 0);
    }
    feeds_device = 0;
}

static void memory_that_cannot_be_pinned_fails_the_batch(void **state)
{
    (void)state;
    struct fby_gpu_upload             *upload = NULL;
    struct fby_error_detail            why    = {""};
    const struct fby_gpu_upload_config config = {.cuda = fby_cuda(),
        .n_arenas                                      = 1,
        .arena_bytes                                   = ARENA,
        .n_outs                                        = 1,
        .out_bytes                                     = BYTES};
    fake_cuda_begin(1);
    fake_cuda_fail("cudaHostRegister");
    assert_ok(fby_gpu_upload_create(&config, &upload, &why));
    struct rig             rig = {.upload = upload};
    struct fby_gpu_output *out = fby_gpu_upload_take_output(upload, false);
    assert_int_equal(send_batch(&rig, 0, out, &why), FBY_SYS);
    assert_string_equal(why.text,
        "CUDA: cudaHostRegister failed with 719 (cudaErrorLaunchFailure: "
        "unspecified launch failure), for a slot of 4096 bytes; ulimit -l "
        "says how much may be locked");
    assert_int_equal(fake_cuda_counts().copied, 0);
    fby_gpu_upload_recycle(upload, out);
    fby_gpu_upload_destroy(&upload);
    nothing_is_left();
}

static bool takes_signals(void)
{
    sigset_t blocked;
    pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    return !sigismember(&blocked, SIGINT) && !sigismember(&blocked, SIGCHLD);
}

/* A graph captured while an upload opens, is used and ends contains no call of
 * ours, and the caller's thread takes its signals as before. */
static void no_call_joins_a_captured_graph(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 8; i++) {
        struct rig rig;
        feeds_device = i / 4 == 1 ? 1 : 0;
        begin_captured(&rig, i % 2 == 1);
        struct held held = take(&rig, 0, i / 2 % 2 == 1);
        hand(&rig, &held);
        release(&rig, &held);
        end(&rig);
        assert_true(takes_signals());
        assert_int_equal(fake_cuda_mode(), 0);
    }
    feeds_device = 0;
}

static int mode_of_deallocate = -1;

static void deallocate_in_mode(void *arg, void *memory, void *stream)
{
    mode_of_deallocate = fake_cuda_mode();
    deallocate(arg, memory, stream);
}

static void the_allocator_too_runs_in_a_mode_of_its_own(void **state)
{
    (void)state;
    struct fby_gpu_upload             *upload = NULL;
    struct fby_error_detail            why    = {""};
    struct heap                        heap   = {.left = 9};
    const struct fby_gpu_upload_config config = {.cuda = fby_cuda(),
        .n_arenas                                      = 1,
        .arena_bytes                                   = ARENA,
        .n_outs                                        = 1,
        .out_bytes                                     = BYTES,
        .memory = {allocate, deallocate_in_mode, &heap}};
    fake_cuda_begin(1);
    assert_int_equal(fby_cuda()->use_device(0), 0);
    assert_ok(fby_gpu_upload_create(&config, &upload, &why));
    fby_gpu_upload_destroy(&upload);
    assert_int_not_equal(mode_of_deallocate, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_failed_call_while_opening_leaks_nothing),
        cmocka_unit_test(an_allocator_without_memory_leaves_nothing_behind),
        cmocka_unit_test(memory_that_cannot_be_pinned_fails_the_batch),
        cmocka_unit_test(no_call_joins_a_captured_graph),
        cmocka_unit_test(the_allocator_too_runs_in_a_mode_of_its_own),
    };
    return cmocka_run_group_tests_name(
        "trainer_client.feed", tests, NULL, NULL);
}
