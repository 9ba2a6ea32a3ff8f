/* Batches to a device whose work is done late and in any order: no memory is
 * filled anew while something still reads it. */
#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/trainer_client/fake_cuda.h"
#include "trainer_client/feed.h"
#include "trainer_client/segments.h"

enum { BYTES = 600, ARENA = 4096, ARENAS = 3, OUTS = 4, STREAMS = 3 };

struct held { /* a batch with its consumer */
    struct fby_feed_out *out;
    void                *stream;
    uint32_t             number;
};

struct look { /* what a consumer's kernel finds */
    const uint8_t *memory;
    uint32_t       number;
    uint32_t      *wrong;
};

struct rig {
    struct fby_feed *feed;
    uint64_t         seed;
    uint32_t         wrong;
    struct look     *looks;
    uint32_t         n_looks;
};

static uint32_t draw(struct rig *rig, uint32_t n)
{
    rig->seed = rig->seed * UINT64_C(6364136223846793005) + 1;
    return (uint32_t)((rig->seed >> 33) % n);
}

static int feeds_device; /* where batches go */

static void begin_with(struct rig *rig, uint64_t seed, bool fixed,
    const struct fby_feed_memory *memory)
{
    struct fby_why               why    = {""};
    const struct fby_feed_config config = {
        .cuda        = fby_cuda(),
        .device      = feeds_device,
        .n_arenas    = ARENAS,
        .arena_bytes = ARENA,
        .n_outs      = OUTS,
        .out_bytes   = BYTES,
        .fixed       = fixed,
        .memory      = *memory,
    };
    fake_cuda_begin(seed);
    *rig       = (struct rig){.seed = seed};
    rig->looks = calloc(4096, sizeof(*rig->looks));
    assert_ok(fby_feed_create(&config, &rig->feed, &why));
}

static void begin(struct rig *rig, uint64_t seed, bool fixed)
{
    begin_with(rig, seed, fixed, &(struct fby_feed_memory){0});
}

static void end(struct rig *rig)
{
    fby_feed_destroy(&rig->feed);
    fake_cuda_end();
    assert_int_equal(fake_cuda_counts().live, 0);
    assert_int_equal(rig->wrong, 0);
    free(rig->looks);
}

static uint8_t value(uint32_t number, uint32_t i)
{
    return (uint8_t)(number * 41 + i);
}

/* Fill a free arena with batch `number` and send it. */
static fby_err send_batch(struct rig *rig, uint32_t number,
    struct fby_feed_out *out, struct fby_why *why)
{
    struct fby_segments list;
    uint32_t            arena  = number % ARENAS;
    uint8_t            *memory = fby_feed_arena(rig->feed, arena);
    fby_err             err    = fby_feed_copied(rig->feed, arena, why);
    while (err == FBY_AGAIN) {
        err = fby_feed_copied(rig->feed, arena, why);
    }
    assert_ok(err);
    for (uint32_t i = 0; i < BYTES; i++) {
        memory[i] = value(number, i);
    }
    fby_segments_begin(&list, memory, BYTES);
    fby_segments_copy(&list, 0, BYTES, 0);
    const struct fby_feed_batch batch = {
        .epoch = 2,
        .step  = number,
        .arena = arena,
        .bytes = fby_segments_finish(&list),
        .list  = list.list,
        .out   = out,
    };
    return fby_feed_submit(rig->feed, &batch, why);
}

static void look(void *arg)
{
    const struct look *look = arg;
    for (uint32_t i = 0; i < BYTES; i++) {
        if (look->memory[i] != value(look->number, i)) {
            (*look->wrong)++;
            return;
        }
    }
}

static void consume(struct rig *rig, const struct held *held)
{
    struct look *one = &rig->looks[rig->n_looks++ % 4096];
    *one             = (struct look){
                    .memory = held->out->memory,
                    .number = held->number,
                    .wrong  = &rig->wrong,
    };
    fake_cuda_call(held->stream, look, one);
}

static char own[STREAMS]; /* handles of streams; the first stands for NULL */

static void *some_stream(struct rig *rig)
{
    uint32_t i = draw(rig, STREAMS);
    return i == 0 ? NULL : &own[i];
}

static struct held take(struct rig *rig, uint32_t number, bool further)
{
    struct fby_why why  = {""};
    struct held    held = {
           .out    = fby_feed_take(rig->feed, further),
           .number = number,
           .stream = some_stream(rig),
    };
    assert_non_null(held.out);
    assert_ok(send_batch(rig, number, held.out, &why));
    return held;
}

static void hand(struct rig *rig, struct held *held)
{
    struct fby_why why = {""};
    assert_ok(fby_feed_hand_out(rig->feed, held->out, held->stream, &why));
    consume(rig, held);
}

static void release(struct rig *rig, const struct held *held)
{
    fby_feed_let_go(rig->feed, held->out, held->stream);
    fby_feed_give(rig->feed, held->out);
}

/* ---- lifetimes ----------------------------------------------------------- */

/* A hundred batches, up to three rings of them held, released in any order;
 * some go back before anybody took them. */
static void hold_and_release(struct rig *rig)
{
    struct held held[3 * OUTS];
    uint32_t    n = 0;
    for (uint32_t number = 0; number < 100; number++) {
        if (n == 3 * OUTS || (n > 0 && draw(rig, 3) == 0)) {
            uint32_t i = draw(rig, n);
            release(rig, &held[i]);
            held[i] = held[--n];
        }
        if (n < 3 * OUTS) {
            held[n] = take(rig, number, n >= OUTS);
            if (draw(rig, 8) == 0) {
                fby_feed_give(rig->feed, held[n].out);
            } else {
                hand(rig, &held[n++]);
            }
        }
    }
    while (n > 0) {
        release(rig, &held[--n]);
    }
}

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
        struct fby_feed_out *out = fby_feed_take(rig.feed, false);
        fake_cuda_fail(calls[i]);
        assert_int_equal(
            send_batch(&rig, 7, out, &why), i == 0 ? FBY_OK : FBY_SYS);
        assert_int_equal(fake_cuda_counts().stages, 3);
        assert_int_equal(fake_cuda_stages_open(), 0);
        fake_cuda_fail(NULL);
        fby_feed_give(rig.feed, out);
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
        struct fby_feed_out *out = fby_feed_take(rig.feed, false);
        fake_cuda_fail(calls[i]);
        assert_int_equal(send_batch(&rig, 7, out, &why), FBY_SYS);
        char words[200];
        (void)snprintf(words, sizeof(words),
            "CUDA: %s failed with 719 (cudaErrorLaunchFailure: unspecified "
            "launch failure), at epoch 2 step 7",
            calls[i]);
        assert_string_equal(why.text, words);
        fake_cuda_fail(NULL);
        fby_feed_give(rig.feed, out);
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

static void what_fails_while_opening_leaves_nothing_behind(void **state)
{
    (void)state;
    static const char *const calls[] = {"cudaSetDevice",
        "cudaFuncGetAttributes", "cudaMalloc", "cudaEventCreateWithFlags"};
    for (uint32_t i = 0; i < 4; i++) {
        struct fby_feed             *feed   = NULL;
        struct fby_why               why    = {""};
        const struct fby_feed_config config = {.cuda = fby_cuda(),
            .n_arenas                                = 1,
            .arena_bytes                             = ARENA,
            .n_outs                                  = 1,
            .out_bytes                               = BYTES};
        fake_cuda_begin(1);
        fake_cuda_fail(calls[i]);
        assert_int_equal(fby_feed_create(&config, &feed, &why), FBY_SYS);
        assert_null(feed);
        assert_non_null(strstr(why.text, calls[i]));
        fake_cuda_end();
        assert_int_equal(fake_cuda_counts().live, 0);
    }
}

static void memory_that_cannot_be_pinned_fails_the_batch(void **state)
{
    (void)state;
    struct fby_feed             *feed   = NULL;
    struct fby_why               why    = {""};
    const struct fby_feed_config config = {.cuda = fby_cuda(),
        .n_arenas                                = 1,
        .arena_bytes                             = ARENA,
        .n_outs                                  = 1,
        .out_bytes                               = BYTES};
    fake_cuda_begin(1);
    fake_cuda_fail("cudaHostRegister");
    assert_ok(fby_feed_create(&config, &feed, &why));
    struct rig           rig = {.feed = feed};
    struct fby_feed_out *out = fby_feed_take(feed, false);
    assert_int_equal(send_batch(&rig, 0, out, &why), FBY_SYS);
    assert_non_null(strstr(why.text, "CUDA: cudaHostRegister failed with 719"));
    assert_non_null(strstr(why.text, "ulimit -l"));
    fby_feed_give(feed, out);
    fby_feed_destroy(&feed);
    fake_cuda_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_overwritten_while_it_is_read),
        cmocka_unit_test(
            memory_of_the_callers_goes_back_after_all_that_used_it),
        cmocka_unit_test(without_memory_there_is_no_further_batch),
        cmocka_unit_test(without_an_event_there_is_no_further_batch),
        cmocka_unit_test(with_fixed_outputs_kernels_wait_for_the_consumer),
        cmocka_unit_test(a_second_stream_sees_the_values_too),
        cmocka_unit_test(the_legacy_stream_is_that_of_the_batchs_gpu),
        cmocka_unit_test(
            a_batch_costs_at_most_seven_calls_and_none_that_blocks),
        cmocka_unit_test(every_stage_that_is_begun_is_ended),
        cmocka_unit_test(an_error_names_the_call_and_the_batch),
        cmocka_unit_test(
            a_batch_that_fails_forgets_no_reader_of_the_one_before),
        cmocka_unit_test(memory_goes_back_after_a_launch_that_failed_in_part),
        cmocka_unit_test(the_fixed_memory_goes_back_after_its_last_reader),
        cmocka_unit_test(a_release_that_is_lost_ends_the_stream),
        cmocka_unit_test(what_fails_while_opening_leaves_nothing_behind),
        cmocka_unit_test(memory_that_cannot_be_pinned_fails_the_batch),
    };
    return cmocka_run_group_tests_name(
        "trainer_client.feed", tests, NULL, NULL);
}
