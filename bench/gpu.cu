/* gpu.cu - what a GPU makes of batches, against copies of as many bytes there:
 * 256 pictures of 224 x 224, 50 launches back to back, buffers rotating over
 * four times the second-level cache; then a pinned copy, and how long 4 KiB on another stream wait behind one.
 * Results, with date and device, belong into bench/results/. */
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

extern "C" {
#include "bench/gpu_batch.h"
}
#include "trainer_client/cuda.h"

enum { ROWS = 256, LAUNCHES = 50, PAIRS = 9, PIECE = 16 << 20, SMALL = 1000, MOST = 64 };

#define CHECK(call)                                                       \
    do {                                                                  \
        int code_ = static_cast<int>(call);                               \
        if (code_ != 0) {                                                 \
            fprintf(stderr, "gpu: line %d: %s: %s\n", __LINE__, #call,     \
                fby_cuda()->text(code_));                                 \
            exit(1);                                                      \
        }                                                                 \
    } while (0)

struct rig {
    struct gpu_batch batch;
    int              copies; /* that the buffers rotate over */
    uint8_t         *arena[MOST];
    uint8_t         *out[MOST];
    cudaEvent_t      begun, ended;
};

static double median(double *values, int n)
{
    std::sort(values, values + n);
    return values[n / 2];
}

static void begin(struct rig *rig, bool packed, bool bf16)
{
    cudaDeviceProp about;
    CHECK(cudaGetDeviceProperties(&about, 0));
    if (!gpu_batch_make(ROWS, packed, bf16, &rig->batch)) {
        fprintf(stderr, "gpu: there is too little memory\n");
        exit(1);
    }
    uint64_t both = rig->batch.bytes + rig->batch.out_bytes;
    rig->copies   = std::min<int>(
        static_cast<int>(4ULL * about.l2CacheSize / both) + 2, MOST);
    for (int i = 0; i < rig->copies; i++) {
        CHECK(cudaMalloc(&rig->arena[i], rig->batch.bytes));
        CHECK(cudaMalloc(&rig->out[i], rig->batch.out_bytes));
        CHECK(cudaMemcpy(rig->arena[i], rig->batch.arena, rig->batch.bytes,
            cudaMemcpyDefault));
    }
    CHECK(cudaEventCreate(&rig->begun));
    CHECK(cudaEventCreate(&rig->ended));
}

static void end(struct rig *rig)
{
    for (int i = 0; i < rig->copies; i++) {
        CHECK(cudaFree(rig->arena[i]));
        CHECK(cudaFree(rig->out[i]));
    }
    CHECK(cudaEventDestroy(rig->begun));
    CHECK(cudaEventDestroy(rig->ended));
    free(rig->batch.arena);
}

/* Seconds of one launch, or of one copy that reads and writes as much. */
static double measure(struct rig *rig, bool copy)
{
    float    ms   = 0;
    uint64_t half = (rig->batch.bytes + rig->batch.out_bytes) / 2;
    half          = std::min(half, rig->batch.out_bytes);
    CHECK(cudaEventRecord(rig->begun, nullptr));
    for (int i = 0; i < LAUNCHES; i++) {
        int k = i % rig->copies;
        if (copy) {
            CHECK(cudaMemcpyAsync(rig->out[k], rig->out[(k + 1) % rig->copies],
                half, cudaMemcpyDeviceToDevice, nullptr));
            continue;
        }
        const struct fby_cuda_launch launch = {rig->arena[k], rig->batch.list,
            rig->out[k], {rig->batch.blocks}, rig->batch.shared, nullptr};
        CHECK(fby_cuda()->launch(&launch));
    }
    CHECK(cudaEventRecord(rig->ended, nullptr));
    CHECK(cudaEventSynchronize(rig->ended));
    CHECK(cudaEventElapsedTime(&ms, rig->begun, rig->ended));
    return ms / 1e3 / LAUNCHES;
}

static void goal(const char *name, double value, const char *op, double wanted)
{
    bool met = *op == '>' ? value >= wanted : value <= wanted;
    printf("%s ratio %.2f goal %s %.2f %s\n", name, value, op, wanted,
        met ? "met" : "missed");
}

/* Returns the seconds of a launch. */
static double expand(
    const char *name, bool packed, bool bf16, double wanted)
{
    struct rig rig;
    double     ratios[PAIRS];
    double     times[PAIRS];
    begin(&rig, packed, bf16);
    (void)measure(&rig, false);
    (void)measure(&rig, true);
    for (int i = 0; i < PAIRS; i++) {
        times[i]  = measure(&rig, false);
        ratios[i] = measure(&rig, true) / times[i];
    }
    double   took  = median(times, PAIRS);
    uint64_t moved = rig.batch.bytes + rig.batch.out_bytes;
    printf("%-28s %7.1f us  %6.0f GB/s\n", name, took * 1e6,
        static_cast<double>(moved) / took / 1e9);
    goal(name, median(ratios, PAIRS), ">=", wanted);
    end(&rig);
    return took;
}

/* Seconds of a pinned copy of `bytes`, in pieces. */
static double copy_pinned(uint64_t bytes)
{
    uint8_t    *host, *there;
    double      times[PAIRS];
    cudaEvent_t begun, ended;
    CHECK(cudaMallocHost(&host, bytes));
    CHECK(cudaMalloc(&there, bytes));
    CHECK(cudaEventCreate(&begun));
    CHECK(cudaEventCreate(&ended));
    for (int i = -1; i < PAIRS; i++) {
        float ms = 0;
        CHECK(cudaEventRecord(begun, nullptr));
        for (uint64_t at = 0; at < bytes; at += PIECE) {
            CHECK(cudaMemcpyAsync(there + at, host + at,
                std::min<uint64_t>(PIECE, bytes - at), cudaMemcpyHostToDevice,
                nullptr));
        }
        CHECK(cudaEventRecord(ended, nullptr));
        CHECK(cudaEventSynchronize(ended));
        CHECK(cudaEventElapsedTime(&ms, begun, ended));
        times[i < 0 ? 0 : i] = ms / 1e3;
    }
    CHECK(cudaEventDestroy(begun));
    CHECK(cudaEventDestroy(ended));
    CHECK(cudaFreeHost(host));
    CHECK(cudaFree(there));
    return median(times, PAIRS);
}

/* The 99th percentile of what 4 KiB take behind pieces on another stream. */
static double small_copy(void)
{
    uint8_t     *host, *there;
    cudaStream_t large, small;
    cudaEvent_t  begun, ended;
    double       times[SMALL];
    CHECK(cudaMallocHost(&host, PIECE + 4096));
    CHECK(cudaMalloc(&there, PIECE + 4096));
    CHECK(cudaStreamCreateWithFlags(&large, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&small, cudaStreamNonBlocking));
    CHECK(cudaEventCreate(&begun));
    CHECK(cudaEventCreate(&ended));
    for (int i = 0; i < SMALL; i++) {
        float ms = 0;
        CHECK(cudaMemcpyAsync(
            there, host, PIECE, cudaMemcpyHostToDevice, large));
        CHECK(cudaMemcpyAsync(
            there, host, PIECE, cudaMemcpyHostToDevice, large));
        CHECK(cudaEventRecord(begun, small));
        CHECK(cudaMemcpyAsync(there + PIECE, host + PIECE, 4096,
            cudaMemcpyHostToDevice, small));
        CHECK(cudaEventRecord(ended, small));
        CHECK(cudaEventSynchronize(ended));
        CHECK(cudaEventElapsedTime(&ms, begun, ended));
        times[i] = ms;
        CHECK(cudaStreamSynchronize(large));
    }
    std::sort(times, times + SMALL);
    CHECK(cudaFreeHost(host));
    CHECK(cudaFree(there));
    return times[SMALL * 99 / 100];
}

int main(void)
{
    int            n = 0;
    cudaDeviceProp about;
    if (fby_cuda()->count(&n) != 0 || n == 0) {
        puts("gpu: there is no GPU, nothing is measured");
        return 0;
    }
    CHECK(cudaGetDeviceProperties(&about, 0));
    CHECK(fby_cuda()->prepare());
    printf("%s, pictures are made up\n", about.name);
    expand("gpu_u8_f32", false, false, 0.85);
    expand("gpu_u8_bf16", false, true, 0.80);
    double           took = expand("gpu_packed_bf16", true, true, 0.30);
    struct gpu_batch batch;
    if (gpu_batch_make(ROWS, true, true, &batch)) {
        double copied = copy_pinned(batch.bytes);
        printf("pinned copy %.1f GB/s\n",
            static_cast<double>(batch.bytes) / copied / 1e9);
        goal("gpu_packed_to_copy", took / copied, "<=", 0.25);
        free(batch.arena);
    }
    goal("gpu_small_copy_ms", small_copy(), "<=", 1.0);
    return 0;
}
