/* gpu_feed.cu - speed and cost of uploading batches to a GPU (gpu/upload.h).
 *
 * Measures
 * - the speed of uploading, compared with copies alone
 * - the overlap of copies and kernels
 * - CUDA calls and CPU time per batch
 * - a training step on uploaded batches, compared with the same step on values
 *   that stay on the GPU.
 * The upload copies each batch from an arena (a buffer of pinned memory).
 * Arenas are filled once; other benches measure the filling. */
#include "bench/gpu.h"

extern "C" {
#include "common/clock.h"
#include "trainer_client/gpu/upload.h"
}

enum {
    ARENAS       = 6,
    OUTS         = 4,   /* output buffers */
    BATCHES      = 64,  /* batches per run of the upload */
    SMALL_ROWS   = 64,  /* a batch of this many raw pictures fits in one copy */
    STEPS        = 10,  /* steps per run of a training loop */
    STEP_MS      = 22,  /* time of a training step */
    STEP_KERNELS = 21,  /* kernels of a step, about 1 ms each */
    STEP_THREADS = 256, /* threads per block of such a kernel */
    /* Timed once, to find the iterations that take STEP_MS. */
    CALIBRATION_ITERATIONS = 10000
};

/* ---- counted calls ------------------------------------------------------- */

static struct fby_cuda counting;   /* counts the calls of the real functions */
static uint64_t        n_async;    /* calls that return at once */
static uint64_t        n_blocking; /* calls that may wait */

static void count_calls(void)
{
    counting      = *fby_cuda();
    counting.copy = [](void *to, const void *from, size_t size, void *stream) {
        n_async++;
        return fby_cuda()->copy(to, from, size, stream);
    };
    counting.launch = [](const struct fby_cuda_launch *given) {
        n_async++;
        return fby_cuda()->launch(given);
    };
    counting.event_record = [](void *event, void *stream) {
        n_async++;
        return fby_cuda()->event_record(event, stream);
    };
    counting.stream_wait = [](void *stream, void *event) {
        n_async++;
        return fby_cuda()->stream_wait(stream, event);
    };
    counting.stream_sync = [](void *stream) {
        n_blocking++;
        return fby_cuda()->stream_sync(stream);
    };
    counting.allocate = [](void **out, size_t size) {
        n_blocking++;
        return fby_cuda()->allocate(out, size);
    };
    counting.free = [](void *memory) {
        n_blocking++;
        return fby_cuda()->free(memory);
    };
}

/* ---- the upload ---------------------------------------------------------- */

struct upload_bench {
    struct gpu_batch       batch;
    struct fby_gpu_upload *upload;
    cudaStream_t consumer;        /* stream of the code that uses the batches */
    uint32_t     n_submitted;     /* number of batches so far */
    double       cpu_us[BATCHES]; /* CPU time of each batch in the last run */
    uint64_t     calls[BATCHES]; /* CUDA calls for each batch in the last run */
};

static void exit_on_error(fby_err err, const struct fby_error_detail *why)
{
    if (err != FBY_OK) {
        fprintf(stderr, "gpu_feed: %s\n", why->text);
        exit(1);
    }
}

static void open_upload(
    struct upload_bench *b, uint32_t rows, enum gpu_input input)
{
    struct fby_error_detail      why    = {""};
    struct fby_gpu_upload_config config = {};
    *b                                  = {};
    b->batch                            = gpu_batch_make(rows, input, GPU_BF16);
    config.cuda                         = &counting;
    config.n_arenas                     = ARENAS;
    config.arena_bytes                  = b->batch.bytes;
    config.n_outs                       = OUTS;
    config.out_bytes                    = b->batch.out_bytes;
    exit_on_error(fby_gpu_upload_create(&config, &b->upload, &why), &why);
    CHECK(cudaStreamCreateWithFlags(&b->consumer, cudaStreamNonBlocking));
    for (uint32_t i = 0; i < ARENAS; i++) {
        std::copy_n(
            b->batch.arena, b->batch.bytes, fby_gpu_upload_arena(b->upload, i));
    }
}

static void close_upload(struct upload_bench *b)
{
    CHECK(cudaDeviceSynchronize());
    fby_gpu_upload_destroy(&b->upload);
    CHECK(cudaStreamDestroy(b->consumer));
    free(b->batch.arena);
}

/* Submit the next batch, and make b->consumer wait until the batch is expanded.
 * Call wait_for_arena() first. Returns the output buffer of the batch. */
static struct fby_gpu_output *submit_next(struct upload_bench *b)
{
    struct fby_error_detail     why   = {""};
    struct fby_gpu_upload_batch batch = {};
    batch.step                        = b->n_submitted;
    batch.arena                       = b->n_submitted++ % ARENAS;
    batch.bytes                       = b->batch.bytes;
    batch.list                        = b->batch.list_offset;
    batch.out = fby_gpu_upload_take_output(b->upload, /* extra */ false);
    exit_on_error(fby_gpu_upload_submit(b->upload, &batch, &why), &why);
    exit_on_error(
        fby_gpu_upload_await(b->upload, batch.out, b->consumer, &why), &why);
    return batch.out;
}

/* Give an output buffer back, for reuse when b->consumer has done its work. */
static void release(struct upload_bench *b, struct fby_gpu_output *out)
{
    fby_gpu_upload_release(b->upload, out, b->consumer);
    fby_gpu_upload_recycle(b->upload, out);
}

/* Wait until the arena of the next batch has been copied to the GPU. */
static void wait_for_arena(struct upload_bench *b)
{
    struct fby_error_detail why = {""};
    fby_err                 err = FBY_AGAIN;
    while (err == FBY_AGAIN) {
        err = fby_gpu_upload_poll_copied(
            b->upload, b->n_submitted % ARENAS, &why);
    }
    exit_on_error(err, &why);
}

/* Seconds to upload BATCHES batches, until the last is expanded on the GPU. */
static double uploads_s(struct upload_bench *b)
{
    struct gpu_clock clock = gpu_clock_begin(b->consumer);
    for (int i = 0; i < BATCHES; i++) {
        wait_for_arena(b);
        uint64_t calls_before = n_async;
        int64_t  cpu_before   = fby_thread_cpu_ns();
        release(b, submit_next(b));
        b->cpu_us[i] =
            static_cast<double>(fby_thread_cpu_ns() - cpu_before) / 1e3;
        b->calls[i] = n_async - calls_before;
    }
    return gpu_clock_end_ms(&clock) / 1e3;
}

struct feed_buffers { /* pinned arena, device memory and output of a batch */
    uint8_t *host, *device, *out;
};

static struct feed_buffers make_feed_buffers(const struct gpu_batch *batch)
{
    struct feed_buffers buffers = {};
    CHECK(cudaMallocHost(&buffers.host, batch->bytes));
    std::copy_n(batch->arena, batch->bytes, buffers.host);
    buffers.device = gpu_upload(batch);
    CHECK(cudaMalloc(&buffers.out, batch->out_bytes));
    return buffers;
}

static void free_feed_buffers(struct feed_buffers *buffers)
{
    CHECK(cudaFreeHost(buffers->host));
    CHECK(cudaFree(buffers->device));
    CHECK(cudaFree(buffers->out));
}

/* Seconds of as many copies as a run of uploads has, without its kernels. */
static double copies_s(
    const struct upload_bench *b, const struct feed_buffers *buffers)
{
    struct gpu_clock clock = gpu_clock_begin(b->consumer);
    for (int i = 0; i < BATCHES; i++) {
        gpu_copy_to_device(
            buffers->device, buffers->host, b->batch.bytes, b->consumer);
    }
    return gpu_clock_end_ms(&clock) / 1e3;
}

/* Seconds of as many kernels as a run of uploads has, without its copies. */
static double kernels_s(
    const struct upload_bench *b, const struct feed_buffers *buffers)
{
    struct gpu_clock clock = gpu_clock_begin(b->consumer);
    for (int i = 0; i < BATCHES; i++) {
        gpu_launch(&b->batch, buffers->device, buffers->out, b->consumer);
    }
    return gpu_clock_end_ms(&clock) / 1e3;
}

static void measure_copies(void)
{
    struct upload_bench b;
    double              speed[GPU_PAIRS], overlap[GPU_PAIRS], rate[GPU_PAIRS];
    open_upload(&b, GPU_ROWS, GPU_RAW);
    struct feed_buffers buffers = make_feed_buffers(&b.batch);
    (void)uploads_s(&b); /* warm up */
    (void)copies_s(&b, &buffers);
    (void)kernels_s(&b, &buffers);
    for (int i = 0; i < GPU_PAIRS; i++) {
        double copies  = copies_s(&b, &buffers);
        double kernels = kernels_s(&b, &buffers);
        double both    = uploads_s(&b);
        speed[i]       = copies / both;
        /* The time saved, divided by the most that overlap can save. */
        overlap[i] = (copies + kernels - both) / std::min(copies, kernels);
        rate[i]    = BATCHES * static_cast<double>(b.batch.bytes) / both / 1e9;
    }
    gpu_print_value("gpu_feed", bench_median(rate, GPU_PAIRS), "GB/s");
    bench_judge(
        "gpu_feed_copy", bench_median(speed, GPU_PAIRS), BENCH_AT_LEAST, 0.90);
    gpu_print_value("gpu_feed_hidden", bench_median(overlap, GPU_PAIRS),
        "overlap, as a fraction of the shorter of copy and kernels");
    free_feed_buffers(&buffers);
    close_upload(&b);
}

static void measure_calls(const char *name, uint32_t rows, double max_calls)
{
    struct upload_bench b;
    open_upload(&b, rows, GPU_RAW);
    (void)uploads_s(&b); /* warm up: pins the arenas */
    n_blocking = 0;
    (void)uploads_s(&b);
    uint64_t blocking = n_blocking;
    bench_judge(name,
        static_cast<double>(*std::max_element(b.calls, b.calls + BATCHES)),
        BENCH_AT_MOST, max_calls);
    if (rows == SMALL_ROWS) { /* these goals are for small batches */
        bench_judge("gpu_feed_blocking_calls", static_cast<double>(blocking),
            BENCH_AT_MOST, 0);
        bench_judge("gpu_feed_cpu_us", bench_median(b.cpu_us, BATCHES),
            BENCH_AT_MOST, 20);
    }
    close_upload(&b);
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

struct model {            /* a simulated model: its step runs keep_busy() */
    uint32_t  blocks;     /* thread blocks of a kernel */
    uint64_t  iterations; /* per thread of a kernel */
    float    *out;        /* results of the threads */
    uint32_t *resident;   /* a batch that stays on the GPU */
};

static void training_step(
    const struct upload_bench *b, const struct model *m, const void *batch)
{
    for (int i = 0; i < STEP_KERNELS; i++) {
        keep_busy<<<m->blocks, STEP_THREADS, 0, b->consumer>>>(
            static_cast<const uint32_t *>(batch), b->batch.out_bytes / 4,
            m->iterations, m->out);
    }
    CHECK(cudaGetLastError());
}

enum input { RESIDENT, UPLOADED };

/* Milliseconds per training step, on the resident batch or on uploaded ones. */
static double step_ms(
    struct upload_bench *b, const struct model *m, enum input input)
{
    struct gpu_clock clock = gpu_clock_begin(b->consumer);
    for (int i = 0; i < STEPS; i++) {
        if (input == RESIDENT) {
            training_step(b, m, m->resident);
            continue;
        }
        wait_for_arena(b);
        struct fby_gpu_output *out = submit_next(b);
        training_step(b, m, out->memory);
        release(b, out);
    }
    return gpu_clock_end_ms(&clock) / STEPS;
}

/* Make a model whose step takes STEP_MS on the resident batch. */
static struct model make_model(struct upload_bench *b)
{
    cudaDeviceProp properties;
    struct model   m = {};
    CHECK(cudaGetDeviceProperties(&properties, 0));
    m.blocks     = static_cast<uint32_t>(properties.multiProcessorCount) * 8;
    m.iterations = CALIBRATION_ITERATIONS;
    CHECK(cudaMalloc(&m.out, sizeof(float) * m.blocks * STEP_THREADS));
    CHECK(cudaMalloc(&m.resident, b->batch.out_bytes));
    CHECK(cudaMemset(m.resident, 0, b->batch.out_bytes));
    CHECK(cudaDeviceSynchronize());
    (void)step_ms(b, &m, RESIDENT); /* warm up */
    double ms = step_ms(b, &m, RESIDENT);
    m.iterations =
        static_cast<uint64_t>(CALIBRATION_ITERATIONS * STEP_MS / ms) + 1;
    return m;
}

static void measure_step(void)
{
    struct upload_bench b;
    double              ratios[GPU_PAIRS], times[GPU_PAIRS];
    open_upload(&b, GPU_ROWS, GPU_PACKED);
    struct model m = make_model(&b);
    (void)step_ms(&b, &m, UPLOADED); /* warm up */
    for (int i = 0; i < GPU_PAIRS; i++) {
        times[i]  = step_ms(&b, &m, RESIDENT);
        ratios[i] = step_ms(&b, &m, UPLOADED) / times[i];
    }
    gpu_print_value("gpu_step", bench_median(times, GPU_PAIRS), "ms");
    bench_judge(
        "gpu_step_fed", bench_median(ratios, GPU_PAIRS), BENCH_AT_MOST, 1.01);
    CHECK(cudaFree(m.out));
    CHECK(cudaFree(m.resident));
    close_upload(&b);
}

int main(void)
{
    if (!gpu_begin("gpu_feed")) {
        return 0;
    }
    count_calls();
    measure_copies();
    measure_calls("gpu_feed_calls", SMALL_ROWS, 7);
    measure_calls("gpu_feed_calls_37_mib", GPU_ROWS, 9);
    measure_step();
    return 0;
}
