/* SPDX-License-Identifier: Apache-2.0 */
/* gpu.h - functions of the GPU benches.
 *
 * tests/gpu/run makes a table of what bench_judge() and gpu_print_value()
 * print. */
#ifndef FBY_BENCH_GPU_H
#define FBY_BENCH_GPU_H

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

extern "C" {
#include "bench/bench.h"
#include "bench/gpu_batch.h"
}
#include "bench/gpu_require.h"
#include "trainer_client/gpu/cuda.h"

enum {
    GPU_ROWS       = 256,     /* pictures of a batch */
    GPU_PAIRS      = 9,       /* pairs of runs */
    GPU_COPY_BYTES = 16 << 20 /* most bytes of a copy, as in gpu/upload.h */
};

/* End the bench with a message if a CUDA call fails. */
#define CHECK(call)                                                      \
    do {                                                                 \
        int code_ = static_cast<int>(call);                              \
        if (code_ != 0) {                                                \
            fprintf(stderr, "%s: line %d: %s: %s\n", __FILE__, __LINE__, \
                #call, fby_cuda()->error_text(code_));                   \
            exit(1);                                                     \
        }                                                                \
    } while (0)

/* Prepare the first GPU for launches, or exit as fby_gpu_require says. */
static inline void gpu_begin(const char *bench)
{
    int code = fby_gpu_require(bench);
    if (code != 0) {
        exit(code);
    }
    CHECK(fby_cuda()->use_device(0));
    CHECK(fby_cuda()->load_kernels());
}

/* Print a value without a goal: "NAME value VALUE UNIT". */
static inline void gpu_print_value(
    const char *name, double value, const char *unit)
{
    printf("%s value %.4g %s\n", name, value, unit);
    fflush(stdout);
}

/* Allocate device memory and copy the arena of a batch to it. */
static inline uint8_t *gpu_upload(const struct gpu_batch *batch)
{
    void *device = nullptr;
    CHECK(cudaMalloc(&device, batch->bytes));
    CHECK(
        cudaMemcpy(device, batch->arena, batch->bytes, cudaMemcpyHostToDevice));
    return static_cast<uint8_t *>(device);
}

/* Launch the expansion of a batch. `arena` is its copy in device memory. */
static inline void gpu_launch(
    const struct gpu_batch *batch, void *arena, void *out, cudaStream_t stream)
{
    const struct fby_cuda_launch launch = {arena, batch->list_offset, out,
        {batch->blocks}, batch->shared_bytes, stream};
    CHECK(fby_cuda()->launch(&launch));
}

/* Queue the copy of pinned memory to the device, in parts of GPU_COPY_BYTES. */
static inline void gpu_copy_to_device(
    uint8_t *device, const uint8_t *host, uint64_t bytes, cudaStream_t stream)
{
    for (uint64_t offset = 0; offset < bytes; offset += GPU_COPY_BYTES) {
        CHECK(cudaMemcpyAsync(device + offset, host + offset,
            std::min<uint64_t>(GPU_COPY_BYTES, bytes - offset),
            cudaMemcpyHostToDevice, stream));
    }
}

/* Measures the time between two points of a stream. */
struct gpu_clock {
    cudaEvent_t  begun, ended;
    cudaStream_t stream;
};

static inline struct gpu_clock gpu_clock_begin(cudaStream_t stream)
{
    struct gpu_clock clock = {nullptr, nullptr, stream};
    CHECK(cudaEventCreate(&clock.begun));
    CHECK(cudaEventCreate(&clock.ended));
    CHECK(cudaEventRecord(clock.begun, stream));
    return clock;
}

/* Wait for the work of the stream. Returns the ms since gpu_clock_begin(). */
static inline double gpu_clock_end_ms(struct gpu_clock *clock)
{
    float ms = 0;
    CHECK(cudaEventRecord(clock->ended, clock->stream));
    CHECK(cudaEventSynchronize(clock->ended));
    CHECK(cudaEventElapsedTime(&ms, clock->begun, clock->ended));
    CHECK(cudaEventDestroy(clock->begun));
    CHECK(cudaEventDestroy(clock->ended));
    return ms;
}

#endif
