/* SPDX-License-Identifier: Apache-2.0 */
/* gpu.cu - speed of the expansion kernels and of copies to the GPU.
 *
 * Compares the kernels, on the batch of each case of gpu_cases.h, with copies
 * within the device that read and write as many bytes. A run has 50 launches
 * back to back. They use several buffers in turn, which are together four times
 * as large as the L2 cache, so that the data come from memory. Also measures a
 * copy from pinned memory. */
#include "bench/gpu.h"

enum { LAUNCHES = 50, MAX_BUFFERS = 64 };

struct kernel_bench {
    const struct gpu_case *gpu_case;
    struct gpu_batch       batch;
    int                    n_buffers; /* used in turn */
    uint8_t *arenas[MAX_BUFFERS];     /* device memory: input of the kernel */
    uint8_t *outs[MAX_BUFFERS];       /* device memory: output of the kernel */
};

static void make_buffers(struct kernel_bench *self, enum gpu_case_number number)
{
    cudaDeviceProp properties;
    CHECK(cudaGetDeviceProperties(&properties, 0));
    self->gpu_case          = &gpu_cases[number];
    self->batch          = gpu_batch_make(number, self->gpu_case->rows);
    uint64_t cache_bytes = static_cast<uint64_t>(properties.l2CacheSize);
    self->n_buffers      = static_cast<int>(std::min<uint64_t>(
        4 * cache_bytes / self->batch.moved_bytes + 2, MAX_BUFFERS));
    for (int i = 0; i < self->n_buffers; i++) {
        self->arenas[i] = gpu_upload(&self->batch);
        CHECK(cudaMalloc(&self->outs[i], self->batch.out_bytes));
    }
    CHECK(cudaMemset(self->outs[0], GPU_UNTOUCHED, self->batch.out_bytes));
    gpu_launch(&self->batch, self->arenas[0], self->outs[0], nullptr);
    gpu_require_expected(self->gpu_case->name, &self->batch, self->outs[0]);
}

static void free_buffers(struct kernel_bench *self)
{
    for (int i = 0; i < self->n_buffers; i++) {
        CHECK(cudaFree(self->arenas[i]));
        CHECK(cudaFree(self->outs[i]));
    }
    gpu_batch_free(&self->batch);
}

enum operation { KERNEL, COPY /* of as many bytes as the kernel moves */ };

/* Seconds per launch or copy. */
static double measure_s(struct kernel_bench *self, enum operation operation)
{
    /* A copy reads and writes each of its bytes, so it has half of those that
     * the kernels read and write. It must fit `outs`. */
    uint64_t copy_bytes =
        std::min(self->batch.moved_bytes / 2, self->batch.out_bytes);
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

/* Compare the kernels of a case with copies. Returns the seconds of a launch. */
static double compare_kernels(enum gpu_case_number number)
{
    struct kernel_bench bench;
    double              ratios[GPU_PAIRS];
    double              times[GPU_PAIRS];
    make_buffers(&bench, number);
    const char *name = bench.gpu_case->name;
    gpu_warm_up(name,
        [&] { return measure_s(&bench, KERNEL) + measure_s(&bench, COPY); });
    for (int i = 0; i < GPU_PAIRS; i++) {
        times[i]  = measure_s(&bench, KERNEL);
        ratios[i] = measure_s(&bench, COPY) / times[i];
    }
    double launch_s = bench_median(times, GPU_PAIRS);
    double ratio    = bench_median(ratios, GPU_PAIRS);
    printf("%s: %.1f us, %.0f GB/s read and written\n", name, launch_s * 1e6,
        static_cast<double>(bench.batch.moved_bytes) / launch_s / 1e9);
    if (bench.gpu_case->goal > 0) {
        bench_judge(name, ratio, BENCH_AT_LEAST, bench.gpu_case->goal);
    } else {
        gpu_print_value(name, ratio, "of the speed of copies");
    }
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
    const auto copy = [&] {
        struct gpu_clock clock = gpu_clock_begin(nullptr);
        gpu_copy_to_device(device, host, bytes, nullptr);
        return gpu_clock_end_ms(&clock) / 1e3;
    };
    gpu_warm_up("gpu_pinned_copy", copy);
    for (double &time : times) {
        time = copy();
    }
    CHECK(cudaFreeHost(host));
    CHECK(cudaFree(device));
    return bench_median(times, GPU_PAIRS);
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
    double launch_s[GPU_CASES];
    for (int i = 0; i < GPU_CASES; i++) {
        launch_s[i] = compare_kernels(static_cast<enum gpu_case_number>(i));
    }
    struct gpu_batch batch  = gpu_batch_make(GPU_PACKED_BF16, GPU_ROWS);
    double           copy_s = pinned_copy_s(batch.bytes);
    gpu_print_value("gpu_pinned_copy",
        static_cast<double>(batch.bytes) / copy_s / 1e9, "GB/s");
    bench_judge("gpu_packed_to_copy", launch_s[GPU_PACKED_BF16] / copy_s,
        BENCH_AT_MOST, 0.25);
    gpu_batch_free(&batch);
    return 0;
}
