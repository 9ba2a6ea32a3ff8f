/* fake_cuda.h - a CUDA device of the test's own: fby_cuda() answers with it.
 *
 * Streams are queues of work that is done later, in any order that streams and
 * events allow: some of it, drawn at random, at every call. Copies read their
 * source when they are done, so that memory filled anew too early is seen; a
 * launch is the rehearsal of the kernel. "Device" memory is the host's, and
 * never zeroed. What no user of CUDA may do ends the program with its name. */
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
    uint64_t live; /* streams, events, memory, pins: made and not given back */
};

/* From now on; the seed of what is drawn. */
void fake_cuda_begin(uint64_t seed);

/* All work of all streams, then forget it. */
void fake_cuda_end(void);

/* Let a function of the runtime, "cudaMalloc", fail from now on with error 719;
 * NULL: none. */
void fake_cuda_fail(const char *function);

/* Let one call of `function` fail, after `n` that succeed. */
void fake_cuda_fail_once(const char *function, uint32_t n);

/* Pause a stream, or resume it. No thread may wait for a paused stream. */
void fake_cuda_pause(void *stream, bool paused);

/* Do more of the work at each call, for a caller that polls; call before there
 * is any work. */
void fake_cuda_hurry(void);

/* Do all work that can be done. */
void fake_cuda_run(void);

/* Capture a graph from now on: a call that would join it fails the test.
 * fake_cuda_mode is the calling thread's capture mode; 0: global. */
void fake_cuda_capture(void);
int  fake_cuda_mode(void);

/* Wait until other threads have pinned memory `n` times in all: what
 * fails from then on fails no pinning. */
void fake_cuda_await_pins(uint32_t n);

/* Stages of the calling thread that were begun and not ended. */
int fake_cuda_stages_open(void);

/* Bits of the devices on which something was set up, which takes memory there:
 * those that threads had chosen, 0 unless they chose, in any other call. */
uint32_t fake_cuda_contexts(void);

/* The answers of driver_version and count. */
void fake_cuda_driver(int version, int devices);

struct fake_cuda_counts fake_cuda_counts(void);

/* Memory of the consumer's on the device, in the order of a stream. */
void *fake_cuda_take(void *stream, size_t size);
void  fake_cuda_give(void *stream, void *memory);

/* A copy of the consumer's, from the device. */
void fake_cuda_read(void *stream, void *to, const void *from, size_t size);

/* Values of the consumer's own on the device, which are no batch's. */
void fake_cuda_fill(void *stream, void *to, size_t size);

/* A kernel of the consumer's: `work(arg)` when `stream` gets there. */
void fake_cuda_call(void *stream, void (*work)(void *arg), void *arg);

#endif
