/* gpu.cu - speed of the expansion kernel and of copies to the GPU.
 *
 * Compares the kernel, on 256 pictures of 224 x 224, with copies within the
 * device that read and write as many bytes. A run has 50 launches back to back.
 * They use several buffers in turn, four times as large as the second-level
 * cache, so that the data come from memory. Also measures a copy from pinned
 * memory, and the delay of a copy of 4 KiB while large copies run on another
 * stream. */
#include "bench/gpu.h"

enum { LAUNCHES = 50, MAX_BUFFERS = 64 };
enum { SMALL_COPIES = 1000, SMALL_BYTES = 4096 };

struct kernel_bench {
    struct gpu_batch batch;
    int              n_buffers; /* used in turn */
    uint8_t         *arena[MAX_BUFFERS];
    uint8_t         *out[MAX_BUFFERS];
};

static void begin(struct kernel_bench *b, bool packed, bool bf16)
{
    cudaDeviceProp properties;
    CHECK(cudaGetDeviceProperties(&properties, 0));
    b->batch       = gpu_batch_make(GPU_ROWS, packed, bf16);
    uint64_t bytes = b->batch.bytes + b->batch.out_bytes;
    b->n_buffers   = std::min<int>(
        static_cast<int>(4ULL * properties.l2CacheSize / bytes) + 2,
        MAX_BUFFERS);
    for (int i = 0; i < b->n_buffers; i++) {
        b->arena[i] = gpu_upload(&b->batch);
        CHECK(cudaMalloc(&b->out[i], b->batch.out_bytes));
    }
}

static void end(struct kernel_bench *b)
{
    for (int i = 0; i < b->n_buffers; i++) {
        CHECK(cudaFree(b->arena[i]));
        CHECK(cudaFree(b->out[i]));
    }
    free(b->batch.arena);
}

enum measured { KERNEL, COPY /* of as many bytes as the kernel moves */ };

/* Seconds per launch or copy. */
static double measure(struct kernel_bench *b, enum measured what)
{
    /* A copy reads and writes each byte, so it moves twice as many bytes. */
    uint64_t copy_bytes = (b->batch.bytes + b->batch.out_bytes) / 2;
    /* Must fit the output buffers; has no effect in the cases below. */
    copy_bytes             = std::min(copy_bytes, b->batch.out_bytes);
    struct gpu_clock clock = gpu_clock_begin(nullptr);
    for (int i = 0; i < LAUNCHES; i++) {
        int k = i % b->n_buffers;
        if (what == COPY) {
            CHECK(cudaMemcpyAsync(b->out[k], b->out[(k + 1) % b->n_buffers],
                copy_bytes, cudaMemcpyDeviceToDevice, nullptr));
        } else {
            gpu_launch(&b->batch, b->arena[k], b->out[k], nullptr);
        }
    }
    return gpu_clock_end_ms(&clock) / 1e3 / LAUNCHES;
}

/* Compare the kernel with copies. Returns the seconds of a launch. */
static double bench_kernel(
    const char *name, bool packed, bool bf16, double goal)
{
    struct kernel_bench b;
    double              ratios[GPU_PAIRS];
    double              times[GPU_PAIRS];
    begin(&b, packed, bf16);
    (void)measure(&b, KERNEL); /* warm up */
    (void)measure(&b, COPY);
    for (int i = 0; i < GPU_PAIRS; i++) {
        times[i]  = measure(&b, KERNEL);
        ratios[i] = measure(&b, COPY) / times[i];
    }
    double   took  = bench_median(times, GPU_PAIRS);
    uint64_t moved = b.batch.bytes + b.batch.out_bytes;
    printf("%s: %.1f us, %.0f GB/s read and written\n", name, took * 1e6,
        static_cast<double>(moved) / took / 1e9);
    bench_goal(name, bench_median(ratios, GPU_PAIRS), BENCH_AT_LEAST, goal);
    end(&b);
    return took;
}

/* Seconds to copy `bytes` from pinned memory. */
static double pinned_copy_seconds(uint64_t bytes)
{
    uint8_t *host, *device;
    double   times[GPU_PAIRS];
    CHECK(cudaMallocHost(&host, bytes));
    CHECK(cudaMalloc(&device, bytes));
    for (int i = -1; i < GPU_PAIRS; i++) { /* run -1 warms up */
        struct gpu_clock clock = gpu_clock_begin(nullptr);
        gpu_copy_in(device, host, bytes, nullptr);
        times[std::max(i, 0)] = gpu_clock_end_ms(&clock) / 1e3;
    }
    CHECK(cudaFreeHost(host));
    CHECK(cudaFree(device));
    return bench_median(times, GPU_PAIRS);
}

/* The 99th percentile of the time, in ms, of a 4 KiB copy while large copies
 * run on another stream. */
static double small_copy_ms(void)
{
    uint8_t     *host, *device;
    cudaStream_t large, small;
    double       times[SMALL_COPIES];
    CHECK(cudaMallocHost(&host, GPU_COPY_BYTES + SMALL_BYTES));
    CHECK(cudaMalloc(&device, GPU_COPY_BYTES + SMALL_BYTES));
    CHECK(cudaStreamCreateWithFlags(&large, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&small, cudaStreamNonBlocking));
    for (int i = 0; i < SMALL_COPIES; i++) {
        /* Two, so that the second one waits when the small copy begins. */
        gpu_copy_in(device, host, GPU_COPY_BYTES, large);
        gpu_copy_in(device, host, GPU_COPY_BYTES, large);
        struct gpu_clock clock = gpu_clock_begin(small);
        gpu_copy_in(
            device + GPU_COPY_BYTES, host + GPU_COPY_BYTES, SMALL_BYTES, small);
        times[i] = gpu_clock_end_ms(&clock);
        CHECK(cudaStreamSynchronize(large));
    }
    CHECK(cudaStreamDestroy(large));
    CHECK(cudaStreamDestroy(small));
    CHECK(cudaFreeHost(host));
    CHECK(cudaFree(device));
    return bench_percentile(times, SMALL_COPIES, 99);
}

static void print_device(void)
{
    cudaDeviceProp properties;
    int            runtime = 0;
    int            driver  = 0;
    CHECK(cudaGetDeviceProperties(&properties, 0));
    CHECK(cudaRuntimeGetVersion(&runtime));
    CHECK(cudaDriverGetVersion(&driver));
    printf("device %s\n", properties.name);
    printf("sm_%d%d, %d multiprocessors, driver for CUDA %d.%d, runtime "
           "%d.%d; synthetic pictures\n",
        properties.major, properties.minor, properties.multiProcessorCount,
        driver / 1000, driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10);
}

int main(void)
{
    if (!gpu_begin("gpu")) {
        return 0;
    }
    print_device();
    const bool packed = true, raw = false, bf16 = true, f32 = false;
    bench_kernel("gpu_u8_f32", raw, f32, 0.85);
    bench_kernel("gpu_u8_bf16", raw, bf16, 0.80);
    double           took = bench_kernel("gpu_packed_bf16", packed, bf16, 0.30);
    struct gpu_batch batch  = gpu_batch_make(GPU_ROWS, packed, bf16);
    double           copied = pinned_copy_seconds(batch.bytes);
    gpu_print_value("gpu_pinned_copy",
        static_cast<double>(batch.bytes) / copied / 1e9, "GB/s");
    bench_goal("gpu_packed_to_copy", took / copied, BENCH_AT_MOST, 0.25);
    free(batch.arena);
    bench_goal("gpu_small_copy_ms", small_copy_ms(), BENCH_AT_MOST, 1.0);
    return 0;
}
