/* gpu.h - shared by the GPU benches: checked calls, and the output lines from
 * which bench/run-gpu makes a table:
 *     NAME ratio VALUE goal OP GOAL met|missed
 *     NAME value VALUE UNIT */
#ifndef FBY_BENCH_GPU_H
#define FBY_BENCH_GPU_H

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

extern "C" {
#include "bench/gpu_batch.h"
}
#include "trainer_client/gpu/cuda.h"

enum { GPU_ROWS = 256, GPU_PAIRS = 9, GPU_PIECE = 16 << 20 };

#define CHECK(call)                                                      \
    do {                                                                 \
        int code_ = static_cast<int>(call);                              \
        if (code_ != 0) {                                                \
            fprintf(stderr, "%s: line %d: %s: %s\n", __FILE__, __LINE__, \
                #call, fby_cuda()->text(code_));                         \
            exit(1);                                                     \
        }                                                                \
    } while (0)

/* Prepare the first GPU for launches; false, with a message, if none. */
static inline bool gpu_begin(const char *name)
{
    int n = 0;
    if (fby_cuda()->count(&n) != 0 || n == 0) {
        printf("%s: there is no GPU, nothing is measured\n", name);
        return false;
    }
    CHECK(fby_cuda()->use(0));
    CHECK(fby_cuda()->prepare());
    return true;
}

/* A batch of gpu_batch.h; exits if there is no memory. */
static inline struct gpu_batch gpu_make(uint32_t rows, bool packed, bool bf16)
{
    struct gpu_batch batch;
    if (!gpu_batch_make(rows, packed, bf16, &batch)) {
        fprintf(stderr, "there is too little memory\n");
        exit(1);
    }
    return batch;
}

/* The median; sorts `values`. */
static inline double gpu_median(double *values, int n)
{
    std::sort(values, values + n);
    return values[n / 2];
}

/* Print a value and whether it meets its goal; `op` is ">=" or "<=". */
static inline void gpu_goal(
    const char *name, double value, const char *op, double wanted)
{
    bool met = *op == '>' ? value >= wanted : value <= wanted;
    printf("%s ratio %.3g goal %s %.3g %s\n", name, value, op, wanted,
        met ? "met" : "missed");
    fflush(stdout);
}

static inline void gpu_value(const char *name, double value, const char *unit)
{
    printf("%s value %.4g %s\n", name, value, unit);
    fflush(stdout);
}

/* Device memory with a batch's arena in it. */
static inline uint8_t *gpu_upload(const struct gpu_batch *batch)
{
    void *there = nullptr;
    CHECK(cudaMalloc(&there, batch->bytes));
    CHECK(
        cudaMemcpy(there, batch->arena, batch->bytes, cudaMemcpyHostToDevice));
    return static_cast<uint8_t *>(there);
}

static inline void gpu_launch(
    const struct gpu_batch *batch, void *arena, void *out, cudaStream_t stream)
{
    const struct fby_cuda_launch launch = {
        arena, batch->list, out, {batch->blocks}, batch->shared, stream};
    CHECK(fby_cuda()->launch(&launch));
}

/* Copy from pinned memory, in copies of the size that the upload uses. */
static inline void gpu_copy_in(
    uint8_t *there, const uint8_t *host, uint64_t bytes, cudaStream_t stream)
{
    for (uint64_t at = 0; at < bytes; at += GPU_PIECE) {
        CHECK(cudaMemcpyAsync(there + at, host + at,
            std::min<uint64_t>(GPU_PIECE, bytes - at), cudaMemcpyHostToDevice,
            stream));
    }
}

/* Measures the milliseconds between two points of a stream. */
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
