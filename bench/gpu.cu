/* gpu.cu - the speed of the expansion kernel, compared with device copies of as
 * many bytes: 256 pictures of 224 x 224, 50 launches back to back, buffers
 * rotating over four times the second-level cache. Then the speed of a pinned
 * copy, and the delay of 4 KiB on another stream behind one. */
#include "bench/gpu.h"

enum { LAUNCHES = 50, SMALL = 1000, MOST = 64 };

struct kernel_bench {
    struct gpu_batch batch;
    int              copies; /* buffers, used in turn */
    uint8_t         *arena[MOST];
    uint8_t         *out[MOST];
};

static void begin(struct kernel_bench *b, bool packed, bool bf16)
{
    cudaDeviceProp about;
    CHECK(cudaGetDeviceProperties(&about, 0));
    b->batch      = gpu_make(GPU_ROWS, packed, bf16);
    uint64_t both = b->batch.bytes + b->batch.out_bytes;
    b->copies     = std::min<int>(
        static_cast<int>(4ULL * about.l2CacheSize / both) + 2, MOST);
    for (int i = 0; i < b->copies; i++) {
        b->arena[i] = gpu_upload(&b->batch);
        CHECK(cudaMalloc(&b->out[i], b->batch.out_bytes));
    }
}

static void end(struct kernel_bench *b)
{
    for (int i = 0; i < b->copies; i++) {
        CHECK(cudaFree(b->arena[i]));
        CHECK(cudaFree(b->out[i]));
    }
    free(b->batch.arena);
}

/* Seconds per launch, or per copy that reads and writes as many bytes. */
static double measure(struct kernel_bench *b, bool copy)
{
    uint64_t half          = (b->batch.bytes + b->batch.out_bytes) / 2;
    half                   = std::min(half, b->batch.out_bytes);
    struct gpu_clock clock = gpu_clock_begin(nullptr);
    for (int i = 0; i < LAUNCHES; i++) {
        int k = i % b->copies;
        if (copy) {
            CHECK(cudaMemcpyAsync(b->out[k], b->out[(k + 1) % b->copies], half,
                cudaMemcpyDeviceToDevice, nullptr));
        } else {
            gpu_launch(&b->batch, b->arena[k], b->out[k], nullptr);
        }
    }
    return gpu_clock_end_ms(&clock) / 1e3 / LAUNCHES;
}

/* Returns the seconds of a launch. */
static double expand(const char *name, bool packed, bool bf16, double wanted)
{
    struct kernel_bench b;
    double              ratios[GPU_PAIRS];
    double              times[GPU_PAIRS];
    begin(&b, packed, bf16);
    (void)measure(&b, false);
    (void)measure(&b, true);
    for (int i = 0; i < GPU_PAIRS; i++) {
        times[i]  = measure(&b, false);
        ratios[i] = measure(&b, true) / times[i];
    }
    double   took  = gpu_median(times, GPU_PAIRS);
    uint64_t moved = b.batch.bytes + b.batch.out_bytes;
    printf("%s: %.1f us, %.0f GB/s read and written\n", name, took * 1e6,
        static_cast<double>(moved) / took / 1e9);
    gpu_goal(name, gpu_median(ratios, GPU_PAIRS), ">=", wanted);
    end(&b);
    return took;
}

/* Seconds of a pinned copy of `bytes`, in copies of GPU_PIECE bytes. */
static double copy_pinned(uint64_t bytes)
{
    uint8_t *host, *there;
    double   times[GPU_PAIRS];
    CHECK(cudaMallocHost(&host, bytes));
    CHECK(cudaMalloc(&there, bytes));
    for (int i = -1; i < GPU_PAIRS; i++) {
        struct gpu_clock clock = gpu_clock_begin(nullptr);
        gpu_copy_in(there, host, bytes, nullptr);
        times[std::max(i, 0)] = gpu_clock_end_ms(&clock) / 1e3;
    }
    CHECK(cudaFreeHost(host));
    CHECK(cudaFree(there));
    return gpu_median(times, GPU_PAIRS);
}

/* The 99th percentile of the time, in ms, of a 4 KiB copy while large copies
 * run on another stream. */
static double small_copy(void)
{
    uint8_t     *host, *there;
    cudaStream_t large, small;
    double       times[SMALL];
    CHECK(cudaMallocHost(&host, GPU_PIECE + 4096));
    CHECK(cudaMalloc(&there, GPU_PIECE + 4096));
    CHECK(cudaStreamCreateWithFlags(&large, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&small, cudaStreamNonBlocking));
    for (int i = 0; i < SMALL; i++) {
        gpu_copy_in(there, host, GPU_PIECE, large);
        gpu_copy_in(there, host, GPU_PIECE, large);
        struct gpu_clock clock = gpu_clock_begin(small);
        gpu_copy_in(there + GPU_PIECE, host + GPU_PIECE, 4096, small);
        times[i] = gpu_clock_end_ms(&clock);
        CHECK(cudaStreamSynchronize(large));
    }
    std::sort(times, times + SMALL);
    CHECK(cudaStreamDestroy(large));
    CHECK(cudaStreamDestroy(small));
    CHECK(cudaFreeHost(host));
    CHECK(cudaFree(there));
    return times[SMALL * 99 / 100];
}

static void name_device(void)
{
    cudaDeviceProp about;
    int            runtime = 0;
    int            driver  = 0;
    CHECK(cudaGetDeviceProperties(&about, 0));
    CHECK(cudaRuntimeGetVersion(&runtime));
    CHECK(cudaDriverGetVersion(&driver));
    printf("device %s\n", about.name);
    printf("sm_%d%d, %d multiprocessors, driver for CUDA %d.%d, runtime "
           "%d.%d; pictures are made up\n",
        about.major, about.minor, about.multiProcessorCount, driver / 1000,
        driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10);
}

int main(void)
{
    if (!gpu_begin("gpu")) {
        return 0;
    }
    name_device();
    expand("gpu_u8_f32", false, false, 0.85);
    expand("gpu_u8_bf16", false, true, 0.80);
    double           took   = expand("gpu_packed_bf16", true, true, 0.30);
    struct gpu_batch batch  = gpu_make(GPU_ROWS, true, true);
    double           copied = copy_pinned(batch.bytes);
    gpu_value("gpu_pinned_copy",
        static_cast<double>(batch.bytes) / copied / 1e9, "GB/s");
    gpu_goal("gpu_packed_to_copy", took / copied, "<=", 0.25);
    free(batch.arena);
    gpu_goal("gpu_small_copy_ms", small_copy(), "<=", 1.0);
    return 0;
}
