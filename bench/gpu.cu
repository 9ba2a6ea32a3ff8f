/* SPDX-License-Identifier: Apache-2.0 */
/* gpu.cu - speed of the expansion kernel and of copies to the GPU.
 *
 * Compares the kernel, on 256 pictures of 224 x 224, with copies within the
 * device that read and write as many bytes. A run has 50 launches back to back.
 * They use several buffers in turn, which are together four times as large as
 * the L2 cache, so that the data come from memory. Also measures a copy from
 * pinned memory, and the delay of a copy of 4 KiB while large copies run on
 * another stream. */
#include "bench/gpu.h"

enum { LAUNCHES = 50, MAX_BUFFERS = 64 };
enum { SMALL_COPIES = 1000, SMALL_BYTES = 4096 };

struct kernel_bench {
    struct gpu_batch batch;
    int              n_buffers;   /* used in turn */
    uint8_t *arenas[MAX_BUFFERS]; /* device memory: input of the kernel */
    uint8_t *outs[MAX_BUFFERS];   /* device memory: output of the kernel */
};

static void make_buffers(
    struct kernel_bench *self, enum gpu_input input, enum gpu_output output)
{
    cudaDeviceProp properties;
    CHECK(cudaGetDeviceProperties(&properties, 0));
    self->batch          = gpu_batch_make(GPU_ROWS, input, output);
    uint64_t bytes       = self->batch.bytes + self->batch.out_bytes;
    uint64_t cache_bytes = static_cast<uint64_t>(properties.l2CacheSize);
    self->n_buffers      = static_cast<int>(
        std::min<uint64_t>(4 * cache_bytes / bytes + 2, MAX_BUFFERS));
    for (int i = 0; i < self->n_buffers; i++) {
        self->arenas[i] = gpu_upload(&self->batch);
        CHECK(cudaMalloc(&self->outs[i], self->batch.out_bytes));
    }
}

static void free_buffers(struct kernel_bench *self)
{
    for (int i = 0; i < self->n_buffers; i++) {
        CHECK(cudaFree(self->arenas[i]));
        CHECK(cudaFree(self->outs[i]));
    }
    free(self->batch.arena);
}

enum operation { KERNEL, COPY /* of as many bytes as the kernel moves */ };

/* Seconds per launch or copy. */
static double measure_s(struct kernel_bench *self, enum operation operation)
{
    /* The kernel reads `bytes` and writes `out_bytes`. A copy reads and writes
     * each of its bytes, so it has half of the sum. It must fit `outs`. */
    uint64_t copy_bytes    = (self->batch.bytes + self->batch.out_bytes) / 2;
    copy_bytes             = std::min(copy_bytes, self->batch.out_bytes);
    struct gpu_clock clock = gpu_clock_begin(nullptr);
    for (int i = 0; i < LAUNCHES; i++) {
        int k = i % self->n_buffers;
        if (operation == COPY) {
            CHECK(cudaMemcpyAsync(self->outs[k],
                self->outs[(k + 1) % self->n_buffers], copy_bytes,
                cudaMemcpyDeviceToDevice, nullptr));
        } else {
            gpu_launch(&self->batch, self->arenas[k], self->outs[k], nullptr);
        }
    }
    return gpu_clock_end_ms(&clock) / 1e3 / LAUNCHES;
}

/* Compare the kernel with copies. Returns the seconds of a launch. */
static double compare_kernel(
    const char *name, enum gpu_input input, enum gpu_output output, double goal)
{
    struct kernel_bench bench;
    double              ratios[GPU_PAIRS];
    double              times[GPU_PAIRS];
    make_buffers(&bench, input, output);
    (void)measure_s(&bench, KERNEL); /* warm up */
    (void)measure_s(&bench, COPY);
    for (int i = 0; i < GPU_PAIRS; i++) {
        times[i]  = measure_s(&bench, KERNEL);
        ratios[i] = measure_s(&bench, COPY) / times[i];
    }
    double   launch_s = bench_median(times, GPU_PAIRS);
    uint64_t moved    = bench.batch.bytes + bench.batch.out_bytes;
    printf("%s: %.1f us, %.0f GB/s read and written\n", name, launch_s * 1e6,
        static_cast<double>(moved) / launch_s / 1e9);
    bench_judge(name, bench_median(ratios, GPU_PAIRS), BENCH_AT_LEAST, goal);
    free_buffers(&bench);
    return launch_s;
}

/* Seconds to copy `bytes` from pinned memory. */
static double pinned_copy_s(uint64_t bytes)
{
    uint8_t *host, *device;
    double   times[GPU_PAIRS];
    CHECK(cudaMallocHost(&host, bytes));
    CHECK(cudaMalloc(&device, bytes));
    for (int i = -1; i < GPU_PAIRS; i++) { /* -1 warms up; 0 overwrites it */
        struct gpu_clock clock = gpu_clock_begin(nullptr);
        gpu_copy_to_device(device, host, bytes, nullptr);
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
        /* Queue two, so that one still waits when the small copy begins. */
        gpu_copy_to_device(device, host, GPU_COPY_BYTES, large);
        gpu_copy_to_device(device, host, GPU_COPY_BYTES, large);
        struct gpu_clock clock = gpu_clock_begin(small);
        gpu_copy_to_device(
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
    gpu_begin("gpu");
    print_device();
    compare_kernel("gpu_u8_f32", GPU_RAW, GPU_F32, 0.85);
    compare_kernel("gpu_u8_bf16", GPU_RAW, GPU_BF16, 0.80);
    double kernel_s =
        compare_kernel("gpu_packed_bf16", GPU_PACKED, GPU_BF16, 0.30);
    struct gpu_batch batch  = gpu_batch_make(GPU_ROWS, GPU_PACKED, GPU_BF16);
    double           copy_s = pinned_copy_s(batch.bytes);
    gpu_print_value("gpu_pinned_copy",
        static_cast<double>(batch.bytes) / copy_s / 1e9, "GB/s");
    bench_judge("gpu_packed_to_copy", kernel_s / copy_s, BENCH_AT_MOST, 0.25);
    free(batch.arena);
    bench_judge("gpu_small_copy_ms", small_copy_ms(), BENCH_AT_MOST, 1.0);
    return 0;
}
