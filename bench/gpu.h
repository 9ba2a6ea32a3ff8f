/* SPDX-License-Identifier: Apache-2.0 */
/* gpu.h - functions of the GPU benches.
 *
 * Batches are expanded once before they are measured, and compared with the
 * host's expansion. tests/gpu/run makes a table of what bench_judge() and
 * gpu_print_value() print. */
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
#include "common/mem.h"
}
#include "bench/gpu_require.h"
#include "trainer_client/gpu/cuda.h"

enum {
    GPU_ROWS       = 256,     /* pictures of a batch of gpu_feed and gpu_way */
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

/* Warm up with measure(), which returns a time, see bench_warm_up(). */
template <typename Measure>
static inline void gpu_warm_up(const char *name, Measure measure)
{
    bench_warm_up(
        name, [](void *arg) { return (*static_cast<Measure *>(arg))(); },
        &measure);
}

/* Allocate device memory and copy the arena of a batch to it. */
static inline uint8_t *gpu_upload(const struct gpu_batch *batch)
{
    void *device = nullptr;
    CHECK(cudaMalloc(&device, batch->arena_bytes));
    CHECK(
        cudaMemcpy(device, batch->arena, batch->bytes, cudaMemcpyHostToDevice));
    return static_cast<uint8_t *>(device);
}

/* Launch the expansion of a batch. `arena` is its copy in device memory. Each
 * launch adds to the grey sums in the arena, so only the first one for a copy
 * gives the expected values. */
static inline void gpu_launch(
    const struct gpu_batch *batch, void *arena, void *out, cudaStream_t stream)
{
    const struct fby_cuda_launch launch = {arena, batch->list_offset, out,
        {batch->blocks[0], batch->blocks[1], batch->blocks[2]},
        batch->shared_bytes, stream};
    CHECK(fby_cuda()->launch(&launch));
}

/* Wait for the GPU, and end the bench unless `out`, in device memory, has what
 * the host makes of the batch. */
static inline void gpu_require_expected(
    const char *name, const struct gpu_batch *batch, const void *out)
{
    uint8_t *host = static_cast<uint8_t *>(fby_zalloc(batch->out_bytes));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(host, out, batch->out_bytes, cudaMemcpyDeviceToHost));
    for (uint64_t i = 0; i < batch->out_bytes; i++) {
        if (host[i] != batch->expected[i]) {
            fprintf(stderr, "%s: byte %llu is %d, and on the host %d\n", name,
                static_cast<unsigned long long>(i), host[i],
                batch->expected[i]);
            exit(1);
        }
    }
    free(host);
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
