/* SPDX-License-Identifier: Apache-2.0 */
/* upload_rig.h - batches that are filled, uploaded to the fake GPU and consumed
 * on some stream.
 *
 * A consumer's kernel checks the values of its batch when it runs; end() fails
 * the test if any value was wrong. */
#ifndef FBY_TESTS_CLIENT_UPLOAD_RIG_H
#define FBY_TESTS_CLIENT_UPLOAD_RIG_H

#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/trainer_client/fake_cuda.h"
#include "trainer_client/expand/segments.h"
#include "trainer_client/gpu/upload.h"

enum { BYTES = 600, ARENA = 4096, ARENAS = 3, OUTS = 4, STREAMS = 3 };

struct held { /* a batch with its consumer */
    struct fby_gpu_output *out;
    void                  *stream;
    uint32_t               number;
};

struct check { /* argument of a consumer's kernel */
    const uint8_t *memory;
    uint32_t       number;
    uint32_t      *wrong;
};

struct rig {
    struct fby_gpu_upload *upload;
    uint64_t               seed;
    uint32_t               wrong;
    struct check          *checks;
    uint32_t               n_checks;
};

static inline uint32_t draw(struct rig *rig, uint32_t n)
{
    rig->seed = rig->seed * UINT64_C(6364136223846793005) + 1;
    return (uint32_t)((rig->seed >> 33) % n);
}

static int feeds_device; /* number of the device that batches go to */

static inline void open_upload(
    struct rig *rig, bool fixed, const struct fby_gpu_upload_memory *memory)
{
    struct fby_error_detail            why    = {""};
    const struct fby_gpu_upload_config config = {
        .cuda          = fby_cuda(),
        .device        = feeds_device,
        .n_arenas      = ARENAS,
        .arena_bytes   = ARENA,
        .n_outs        = OUTS,
        .out_bytes     = BYTES,
        .fixed_address = fixed,
        .memory        = *memory,
    };
    assert_ok(fby_gpu_upload_create(&config, &rig->upload, &why));
}

static inline void begin_with(struct rig *rig, uint64_t seed, bool fixed,
    const struct fby_gpu_upload_memory *memory)
{
    fake_cuda_begin(seed);
    *rig        = (struct rig){.seed = seed};
    rig->checks = calloc(4096, sizeof(*rig->checks));
    open_upload(rig, fixed, memory);
}

/* Begin while the consumer captures a graph. */
static inline void begin_captured(struct rig *rig, bool fixed)
{
    fake_cuda_begin(1);
    fake_cuda_capture();
    *rig        = (struct rig){.seed = 1};
    rig->checks = calloc(4096, sizeof(*rig->checks));
    open_upload(rig, fixed, &(struct fby_gpu_upload_memory){0});
}

static inline void begin(struct rig *rig, uint64_t seed, bool fixed)
{
    begin_with(rig, seed, fixed, &(struct fby_gpu_upload_memory){0});
}

static inline void end(struct rig *rig)
{
    fby_gpu_upload_destroy(&rig->upload);
    fake_cuda_end();
    assert_int_equal(fake_cuda_counts().live, 0);
    assert_int_equal(rig->wrong, 0);
    free(rig->checks);
}

static inline uint8_t value(uint32_t number, uint32_t i)
{
    return (uint8_t)(number * 41 + i);
}

/* Fill a free arena with batch `number` and send it. */
static inline fby_err send_batch(struct rig *rig, uint32_t number,
    struct fby_gpu_output *out, struct fby_error_detail *why)
{
    struct fby_segments list;
    uint32_t            arena  = number % ARENAS;
    uint8_t            *memory = fby_gpu_upload_arena(rig->upload, arena);
    fby_err err = fby_gpu_upload_poll_copied(rig->upload, arena, why);
    while (err == FBY_AGAIN) {
        err = fby_gpu_upload_poll_copied(rig->upload, arena, why);
    }
    assert_ok(err);
    for (uint32_t i = 0; i < BYTES; i++) {
        memory[i] = value(number, i);
    }
    fby_segments_begin(&list, memory, BYTES);
    fby_segments_append_copy(&list, 0, BYTES, 0);
    const struct fby_gpu_upload_batch batch = {
        .epoch = 2,
        .step  = number,
        .arena = arena,
        .bytes = fby_segments_finish(&list),
        .list  = list.list,
        .out   = out,
    };
    return fby_gpu_upload_submit(rig->upload, &batch, why);
}

static inline void check_batch(void *arg)
{
    const struct check *check = arg;
    for (uint32_t i = 0; i < BYTES; i++) {
        if (check->memory[i] != value(check->number, i)) {
            (*check->wrong)++;
            return;
        }
    }
}

static inline void consume(struct rig *rig, const struct held *held)
{
    struct check *one = &rig->checks[rig->n_checks++ % 4096];
    *one              = (struct check){
                     .memory = held->out->memory,
                     .number = held->number,
                     .wrong  = &rig->wrong,
    };
    fake_cuda_call(held->stream, check_batch, one);
}

static char own[STREAMS]; /* handles of streams; the first stands for NULL */

static inline void *some_stream(struct rig *rig)
{
    uint32_t i = draw(rig, STREAMS);
    return i == 0 ? NULL : &own[i];
}

static inline struct held take(struct rig *rig, uint32_t number, bool further)
{
    struct fby_error_detail why  = {""};
    struct held             held = {
                    .out    = fby_gpu_upload_take_output(rig->upload, further),
                    .number = number,
                    .stream = some_stream(rig),
    };
    assert_non_null(held.out);
    assert_ok(send_batch(rig, number, held.out, &why));
    return held;
}

static inline void hand(struct rig *rig, struct held *held)
{
    struct fby_error_detail why = {""};
    assert_ok(fby_gpu_upload_await(rig->upload, held->out, held->stream, &why));
    consume(rig, held);
}

static inline void release(struct rig *rig, const struct held *held)
{
    fby_gpu_upload_release(rig->upload, held->out, held->stream);
    fby_gpu_upload_recycle(rig->upload, held->out);
}

/* Make later work on `second` wait for the work on `first`. */
static inline void join(void *first, void *second)
{
    void *event = NULL;
    assert_int_equal(fby_cuda()->event_create(&event), 0);
    assert_int_equal(fby_cuda()->event_record(event, first), 0);
    assert_int_equal(fby_cuda()->stream_wait(second, event), 0);
    assert_int_equal(fby_cuda()->event_destroy(event), 0);
}

/* Assert the error of a CUDA call that failed at step 7 of epoch 2. */
static inline void assert_names_call(
    const struct fby_error_detail *why, const char *function)
{
    char words[200];
    (void)snprintf(words, sizeof(words),
        "CUDA: %s failed with 719 (cudaErrorLaunchFailure: unspecified launch "
        "failure), at epoch 2 step 7",
        function);
    assert_string_equal(why->text, words);
}

/* Take a hundred batches, hold up to 3 * OUTS of them, and release them in any
 * order. Some are given back before a stream waits for them. */
static inline void hold_and_release(struct rig *rig)
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
                fby_gpu_upload_recycle(rig->upload, held[n].out);
            } else {
                hand(rig, &held[n++]);
            }
        }
    }
    while (n > 0) {
        release(rig, &held[--n]);
    }
}

#endif
