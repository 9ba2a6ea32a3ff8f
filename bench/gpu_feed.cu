/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_feed.cu - speed and cost of uploading batches to a GPU (gpu/upload.h).
 *
 * An upload copies a batch from an arena (a buffer of pinned memory) to the GPU
 * and expands it there with a kernel. Measures
 * - the speed of uploads, compared with that of their copies alone
 * - how far copies and kernels run at the same time
 * - CUDA calls and CPU time per batch
 * - the delay of a copy of 4 KiB on a stream of its own, while as many batches
 *   as possible are queued
 * - a training step on uploaded batches, compared with the same step on a batch
 *   that stays on the GPU.
 * Arenas are filled once; other benches measure the filling. */
#include "bench/gpu.h"

extern "C" {
#include "common/clock.h"
#include "trainer_client/gpu/upload.h"
}

enum {
    ARENAS       = 6,  /* used in turn */
    OUTS         = 4,  /* output buffers */
    BATCHES      = 64, /* batches in a run of uploads */
    SMALL_ROWS   = 64, /* a batch of this many raw pictures fits in one copy */
    SMALL_COPIES = 1000,
    SMALL_BYTES  = 4096,
    STEPS        = 10,  /* training steps in a run */
    STEP_MS      = 22,  /* time of a training step */
    STEP_KERNELS = 21,  /* kernels of a step, about 1 ms each */
    STEP_THREADS = 256, /* threads per block of such a kernel */
    /* iterations of the step that make_model() times */
    CALIBRATION_ITERATIONS = 10000
};

/* ---- counted calls ------------------------------------------------------- */

static struct fby_cuda counted;    /* fby_cuda(), with calls counted */
static uint64_t        n_async;    /* calls that return at once */
static uint64_t        n_blocking; /* calls that may wait */

static void count_calls(void)
{
    counted      = *fby_cuda();
    counted.copy = [](void *to, const void *from, size_t size, void *stream) {
        n_async++;
        return fby_cuda()->copy(to, from, size, stream);
    };
    counted.launch = [](const struct fby_cuda_launch *launch) {
        n_async++;
        return fby_cuda()->launch(launch);
    };
    counted.event_record = [](void *event, void *stream) {
        n_async++;
        return fby_cuda()->event_record(event, stream);
    };
    counted.stream_wait = [](void *stream, void *event) {
        n_async++;
        return fby_cuda()->stream_wait(stream, event);
    };
    counted.stream_sync = [](void *stream) {
        n_blocking++;
        return fby_cuda()->stream_sync(stream);
    };
    counted.allocate = [](void **out, size_t size) {
        n_blocking++;
        return fby_cuda()->allocate(out, size);
    };
    counted.free = [](void *memory) {
        n_blocking++;
        return fby_cuda()->free(memory);
    };
}

/* ---- the upload ---------------------------------------------------------- */

struct upload_bench {
    struct gpu_batch       batch;
    struct fby_gpu_upload *upload;
    cudaStream_t consumer;    /* stream of the code that uses the batches */
    uint32_t     n_submitted; /* number of batches so far */
    /* For each batch of the last run: */
    double   cpu_us[BATCHES]; /* CPU time */
    uint64_t calls[BATCHES];  /* CUDA calls that return at once */
};

static void exit_on_error(fby_err err, const struct fby_error_detail *why)
{
    if (err != FBY_OK) {
        fprintf(stderr, "gpu_feed: %s\n", why->text);
        exit(1);
    }
}

static void close_upload(struct upload_bench *self)
{
    CHECK(cudaDeviceSynchronize());
    fby_gpu_upload_destroy(&self->upload);
    CHECK(cudaStreamDestroy(self->consumer));
    gpu_batch_free(&self->batch);
}

/* Submit the next batch, and let self->consumer wait until it is expanded. Call
 * wait_for_arena() first. Returns the output buffer of the batch. */
static struct fby_gpu_output *submit_next(struct upload_bench *self)
{
    struct fby_error_detail     why   = {""};
    struct fby_gpu_upload_batch batch = {};
    batch.arena                       = self->n_submitted % ARENAS;
    batch.step                        = self->n_submitted++;
    batch.bytes                       = self->batch.bytes;
    batch.list                        = self->batch.list_offset;
    batch.out = fby_gpu_upload_take_output(self->upload, /* extra */ false);
    exit_on_error(fby_gpu_upload_submit(self->upload, &batch, &why), &why);
    exit_on_error(
        fby_gpu_upload_await(self->upload, batch.out, self->consumer, &why),
        &why);
    return batch.out;
}

/* Give an output buffer back. It is reused after the work of self->consumer. */
static void release(struct upload_bench *self, struct fby_gpu_output *out)
{
    fby_gpu_upload_release(self->upload, out, self->consumer);
    fby_gpu_upload_recycle(self->upload, out);
}

static void open_upload(
    struct upload_bench *self, uint32_t rows, enum gpu_case_number number)
{
    struct fby_error_detail      why    = {""};
    struct fby_gpu_upload_config config = {};
    *self                               = {};
    self->batch                         = gpu_batch_make(number, rows);
    config.cuda                         = &counted;
    config.n_arenas                     = ARENAS;
    config.arena_bytes                  = self->batch.bytes;
    config.n_outs                       = OUTS;
    config.out_bytes                    = self->batch.out_bytes;
    exit_on_error(fby_gpu_upload_create(&config, &self->upload, &why), &why);
    CHECK(cudaStreamCreateWithFlags(&self->consumer, cudaStreamNonBlocking));
    for (uint32_t i = 0; i < ARENAS; i++) {
        std::copy_n(self->batch.arena, self->batch.bytes,
            fby_gpu_upload_arena(self->upload, i));
    }
    struct fby_gpu_output *out = submit_next(self);
    gpu_require_expected("gpu_feed", &self->batch, out->memory);
    release(self, out);
}

/* True if the next arena is free: its last batch has been copied. */
static bool arena_is_free(struct upload_bench *self)
{
    struct fby_error_detail why = {""};
    fby_err                 err = fby_gpu_upload_poll_copied(
                        self->upload, self->n_submitted % ARENAS, &why);
    if (err != FBY_AGAIN) {
        exit_on_error(err, &why);
    }
    return err == FBY_OK;
}

static void wait_for_arena(struct upload_bench *self)
{
    while (!arena_is_free(self)) {
        /* poll again */
    }
}

/* Seconds to upload BATCHES batches, until the last is expanded on the GPU. */
static double uploads_s(struct upload_bench *self)
{
    struct gpu_clock clock = gpu_clock_begin(self->consumer);
    for (int i = 0; i < BATCHES; i++) {
        wait_for_arena(self);
        uint64_t calls_before = n_async;
        int64_t  cpu_before   = fby_thread_cpu_ns();
        release(self, submit_next(self));
        self->cpu_us[i] =
            static_cast<double>(fby_thread_cpu_ns() - cpu_before) / 1e3;
        self->calls[i] = n_async - calls_before;
    }
    return gpu_clock_end_ms(&clock) / 1e3;
}

struct batch_buffers {
    uint8_t *host, *device; /* a batch in pinned memory and on the GPU */
    uint8_t *out;           /* the expanded batch, on the GPU */
};

static struct batch_buffers make_batch_buffers(const struct gpu_batch *batch)
{
    struct batch_buffers buffers = {};
    CHECK(cudaMallocHost(&buffers.host, batch->bytes));
    std::copy_n(batch->arena, batch->bytes, buffers.host);
    buffers.device = gpu_upload(batch);
    CHECK(cudaMalloc(&buffers.out, batch->out_bytes));
    return buffers;
}

static void free_batch_buffers(struct batch_buffers *buffers)
{
    CHECK(cudaFreeHost(buffers->host));
    CHECK(cudaFree(buffers->device));
    CHECK(cudaFree(buffers->out));
}

/* Seconds for the copies of a run of uploads, without its kernels. */
static double copies_s(
    const struct upload_bench *self, const struct batch_buffers *buffers)
{
    struct gpu_clock clock = gpu_clock_begin(self->consumer);
    for (int i = 0; i < BATCHES; i++) {
        gpu_copy_to_device(
            buffers->device, buffers->host, self->batch.bytes, self->consumer);
    }
    return gpu_clock_end_ms(&clock) / 1e3;
}

/* Seconds for the kernels of a run of uploads, without its copies. */
static double kernels_s(
    const struct upload_bench *self, const struct batch_buffers *buffers)
{
    struct gpu_clock clock = gpu_clock_begin(self->consumer);
    for (int i = 0; i < BATCHES; i++) {
        gpu_launch(&self->batch, buffers->device, buffers->out, self->consumer);
    }
    return gpu_clock_end_ms(&clock) / 1e3;
}

static void measure_copies(void)
{
    struct upload_bench bench;
    double gb_per_s[GPU_PAIRS], relative_speed[GPU_PAIRS], overlap[GPU_PAIRS];
    open_upload(&bench, GPU_ROWS, GPU_U8_BF16);
    struct batch_buffers buffers = make_batch_buffers(&bench.batch);
    gpu_warm_up("gpu_feed", [&] {
        return uploads_s(&bench) + copies_s(&bench, &buffers) +
               kernels_s(&bench, &buffers);
    });
    for (int i = 0; i < GPU_PAIRS; i++) {
        double copy_s     = copies_s(&bench, &buffers);
        double kernel_s   = kernels_s(&bench, &buffers);
        double upload_s   = uploads_s(&bench);
        double max_saved  = std::min(copy_s, kernel_s); /* by full overlap */
        overlap[i]        = (copy_s + kernel_s - upload_s) / max_saved;
        relative_speed[i] = copy_s / upload_s;
        gb_per_s[i] =
            BATCHES * static_cast<double>(bench.batch.bytes) / upload_s / 1e9;
    }
    gpu_print_value("gpu_feed", bench_median(gb_per_s, GPU_PAIRS), "GB/s");
    bench_judge("gpu_feed_copy", bench_median(relative_speed, GPU_PAIRS),
        BENCH_AT_LEAST, 0.90);
    gpu_print_value("gpu_feed_hidden", bench_median(overlap, GPU_PAIRS),
        "overlap, as a fraction of the shorter of copy and kernels");
    free_batch_buffers(&buffers);
    close_upload(&bench);
}

static void measure_calls(const char *name, uint32_t rows, double max_calls)
{
    struct upload_bench bench;
    open_upload(&bench, rows, GPU_U8_BF16);
    gpu_warm_up(name, [&] { return uploads_s(&bench); }); /* pins arenas */
    n_blocking = 0;
    (void)uploads_s(&bench);
    uint64_t most_calls = *std::max_element(bench.calls, bench.calls + BATCHES);
    bench_judge(
        name, static_cast<double>(most_calls), BENCH_AT_MOST, max_calls);
    if (rows == SMALL_ROWS) { /* these goals are for small batches */
        bench_judge("gpu_feed_blocking_calls", static_cast<double>(n_blocking),
            BENCH_AT_MOST, 0);
        bench_judge("gpu_feed_cpu_us", bench_median(bench.cpu_us, BATCHES),
            BENCH_AT_MOST, 20);
    }
    close_upload(&bench);
}

/* Milliseconds that a small copy waits behind all batches that a stream of ours
 * can have queued. */
static double small_copy_ms(struct upload_bench *self, uint8_t *device,
    const uint8_t *host, cudaStream_t stream)
{
    for (int i = 0; i < ARENAS && arena_is_free(self); i++) {
        release(self, submit_next(self));
    }
    struct gpu_clock clock = gpu_clock_begin(stream);
    gpu_copy_to_device(device, host, SMALL_BYTES, stream);
    return gpu_clock_end_ms(&clock);
}

static void measure_small_copies(void)
{
    struct upload_bench bench;
    uint8_t            *host, *device;
    cudaStream_t        stream;
    double              times[SMALL_COPIES];
    open_upload(&bench, GPU_ROWS, GPU_U8_BF16);
    CHECK(cudaMallocHost(&host, SMALL_BYTES));
    CHECK(cudaMalloc(&device, SMALL_BYTES));
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    gpu_warm_up("gpu_small_copy_ms", [&] { return uploads_s(&bench); });
    for (double &time : times) {
        time = small_copy_ms(&bench, device, host, stream);
    }
    bench_judge("gpu_small_copy_ms", bench_percentile(times, SMALL_COPIES, 99),
        BENCH_AT_MOST, 1.0);
    close_upload(&bench);
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFreeHost(host));
    CHECK(cudaFree(device));
}

/* ---- a training step ----------------------------------------------------- */

/* Keep all multiprocessors busy for `iterations` iterations per thread. Writes
 * the results, so that the compiler does not remove the loop. */
__global__ void keep_busy(
    const uint32_t *values, uint64_t n, uint64_t iterations, float *out)
{
    uint64_t i   = blockIdx.x * uint64_t(blockDim.x) + threadIdx.x;
    float    bit = static_cast<float>(values[i % n] & 1);
    float    sum = bit;
    for (uint64_t iteration = 0; iteration < iterations; iteration++) {
        sum = sum * 0.999f + bit;
    }
    out[i] = sum;
}

struct model {            /* simulated: a step runs keep_busy() */
    uint32_t  blocks;     /* thread blocks of a kernel */
    uint64_t  iterations; /* of each thread of a kernel */
    float    *out;        /* results of the threads */
    uint32_t *resident;   /* a batch that stays on the GPU */
};

static void training_step(const struct upload_bench *self,
    const struct model *model, const void *batch)
{
    for (int i = 0; i < STEP_KERNELS; i++) {
        keep_busy<<<model->blocks, STEP_THREADS, 0, self->consumer>>>(
            static_cast<const uint32_t *>(batch), self->batch.out_bytes / 4,
            model->iterations, model->out);
    }
    CHECK(cudaGetLastError());
}

enum input { RESIDENT, UPLOADED };

/* Milliseconds per training step, on the resident batch or on uploaded ones. */
static double step_ms(
    struct upload_bench *self, const struct model *model, enum input input)
{
    struct gpu_clock clock = gpu_clock_begin(self->consumer);
    for (int i = 0; i < STEPS; i++) {
        if (input == RESIDENT) {
            training_step(self, model, model->resident);
            continue;
        }
        wait_for_arena(self);
        struct fby_gpu_output *out = submit_next(self);
        training_step(self, model, out->memory);
        release(self, out);
    }
    return gpu_clock_end_ms(&clock) / STEPS;
}

/* Make a model whose step takes STEP_MS on the resident batch. */
static struct model make_model(struct upload_bench *self)
{
    cudaDeviceProp properties;
    struct model   model = {};
    CHECK(cudaGetDeviceProperties(&properties, 0));
    model.blocks = static_cast<uint32_t>(properties.multiProcessorCount) * 8;
    model.iterations = CALIBRATION_ITERATIONS;
    CHECK(cudaMalloc(&model.out, sizeof(float) * model.blocks * STEP_THREADS));
    CHECK(cudaMalloc(&model.resident, self->batch.out_bytes));
    CHECK(cudaMemset(model.resident, 0, self->batch.out_bytes));
    CHECK(cudaDeviceSynchronize());
    gpu_warm_up("gpu_step", [&] { return step_ms(self, &model, RESIDENT); });
    double ms = step_ms(self, &model, RESIDENT);
    model.iterations =
        static_cast<uint64_t>(CALIBRATION_ITERATIONS * STEP_MS / ms) + 1;
    return model;
}

static void measure_step(void)
{
    struct upload_bench bench;
    double              ratios[GPU_PAIRS], times[GPU_PAIRS];
    open_upload(&bench, GPU_ROWS, GPU_PACKED_BF16);
    struct model model = make_model(&bench);
    gpu_warm_up("gpu_step", [&] {
        return step_ms(&bench, &model, RESIDENT) +
               step_ms(&bench, &model, UPLOADED);
    });
    for (int i = 0; i < GPU_PAIRS; i++) {
        times[i]  = step_ms(&bench, &model, RESIDENT);
        ratios[i] = step_ms(&bench, &model, UPLOADED) / times[i];
    }
    gpu_print_value("gpu_step", bench_median(times, GPU_PAIRS), "ms");
    bench_judge(
        "gpu_step_fed", bench_median(ratios, GPU_PAIRS), BENCH_AT_MOST, 1.01);
    CHECK(cudaFree(model.out));
    CHECK(cudaFree(model.resident));
    close_upload(&bench);
}

int main(void)
{
    gpu_begin("gpu_feed");
    count_calls();
    measure_copies();
    measure_small_copies();
    measure_calls("gpu_feed_calls", SMALL_ROWS, 7);
    measure_calls("gpu_feed_calls_37_mib", GPU_ROWS, 9); /* 3 copies, not 1 */
    measure_step();
    return 0;
}
