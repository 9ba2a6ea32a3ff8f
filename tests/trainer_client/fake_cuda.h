/* SPDX-License-Identifier: Apache-2.0 */
/* fake_cuda.h - a fake CUDA device, which fby_cuda() returns in tests.
 *
 * Streams are queues of work. Every call executes a random part of it, in any
 * order that streams and events allow. A copy is executed in parts, and each
 * reads its source then, so that a source overwritten too early is noticed. A
 * launch runs the kernel on the host (kernel_run.h). "Device" memory is host
 * memory. It is never zeroed, and what a batch overwrites is filled with 0xdb
 * before. A use that CUDA forbids aborts with a message. */
#ifndef FBY_TEST_FAKE_CUDA_H
#define FBY_TEST_FAKE_CUDA_H

#include <stdbool.h>
#include <stdint.h>

#include "trainer_client/gpu/cuda.h"

struct fake_cuda_counts {
    uint64_t async;  /* copy, launch, record, wait */
    uint64_t blocks; /* stream_sync, allocate, free, pin, unpin */
    uint64_t copied; /* bytes */
    uint64_t stages; /* begun */
    uint64_t live;   /* streams, events, memory, pins not yet released */
};

/* Reset the device; `seed` decides the order of work. */
void fake_cuda_begin(uint64_t seed);

/* Execute all work of all streams, then release the streams and events. */
void fake_cuda_end(void);

/* Make a runtime function, such as "cudaMalloc", fail with error 719 from now
 * on; NULL: no function fails. */
void fake_cuda_fail(const char *function);

/* Make one call of `function` fail, after `n` that succeed. */
void fake_cuda_fail_once(const char *function, uint32_t n);

/* Pause a stream, or resume it. No thread may wait for a paused stream. */
void fake_cuda_pause(void *stream, bool paused);

/* Execute more work at each call, for a caller that polls. Call this before any
 * work is queued. */
void fake_cuda_hurry(void);

/* Execute all work that can be executed. */
void fake_cuda_run(void);

/* Capture a graph from now on: a call that would be captured too fails the
 * test. fake_cuda_mode is the calling thread's capture mode; 0: global. */
void fake_cuda_capture(void);
int  fake_cuda_mode(void);

/* Wait until other threads have pinned memory `n` times in all, so that a
 * failure chosen afterwards does not hit pinning. */
void fake_cuda_await_pins(uint32_t n);

/* The number of stages that the calling thread has begun and not ended. */
int fake_cuda_stages_open(void);

/* A bit for each device with a context, which takes device memory. Any call
 * except the queries of fby_cuda creates a context on the thread's device (0 by
 * default). */
uint32_t fake_cuda_contexts(void);

/* Set the results of driver_version and count. */
void fake_cuda_driver(int version, int devices);

struct fake_cuda_counts fake_cuda_counts(void);

/* Allocate or free device memory of the consumer, in the order of a stream. */
void *fake_cuda_take(void *stream, size_t size);
void  fake_cuda_give(void *stream, void *memory);

/* Queue a copy by the consumer from the device. */
void fake_cuda_read(void *stream, void *to, const void *from, size_t size);

/* Queue a write of the consumer's own values, not of a batch, on the device. */
void fake_cuda_fill(void *stream, void *to, size_t size);

/* Queue a kernel of the consumer: `work(arg)` runs in the order of `stream`. */
void fake_cuda_call(void *stream, void (*work)(void *arg), void *arg);

#endif
