/* gpu_feed.cu - the upload of batches to a GPU (gpu/upload.h).
 *
 * Measures
 * - the speed of uploading, compared with copies alone
 * - the overlap of copies and kernels
 * - CUDA calls and CPU time per batch
 * - a training step on uploaded batches, compared with the same step on values
 *   that stay on the GPU.
 * Arenas are filled once; other benches measure the filling. */
#include "bench/gpu.h"

extern "C" {
#include "common/clock.h"
#include "trainer_client/gpu/upload.h"
}

enum {
    ARENAS       = 6,
    OUTS         = 4,   /* output buffers */
    BATCHES      = 64,  /* per run of the upload */
    SMALL_ROWS   = 64,  /* a batch of this many raw pictures fits in one copy */
    STEPS        = 10,  /* per run of a training loop */
    STEP_MS      = 22,  /* time of a training step */
    STEP_KERNELS = 21,  /* of about 1 ms each */
    STEP_THREADS = 256, /* of a block */
    /* Timed once, to find the iterations that take STEP_MS. */
    CALIBRATION_ITERATIONS = 10000
};

/* ---- counted calls ------------------------------------------------------- */

static struct fby_cuda counted; /* calls the real functions and counts calls */
static uint64_t        n_async; /* calls that return at once */
static uint64_t        n_blocking; /* calls that may wait */

static void count_calls(void)
{
    counted      = *fby_cuda();
    counted.copy = [](void *to, const void *from, size_t size, void *stream) {
        n_async++;
        return fby_cuda()->copy(to, from, size, stream);
    };
    counted.launch = [](const struct fby_cuda_launch *given) {
        n_async++;
        return fby_cuda()->launch(given);
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
    cudaStream_t           consumer;  /* of the code that uses the batches */
    uint32_t               submitted; /* batches */
    double   cpu_us[BATCHES];         /* CPU time of the batch, last run */
    uint64_t calls[BATCHES];          /* CUDA calls, last run */
};

static void exit_on_error(fby_err err, const struct fby_error_detail *why)
{
    if (err != FBY_OK) {
        fprintf(stderr, "gpu_feed: %s\n", why->text);
        exit(1);
    }
}

static void begin(struct upload_bench *b, uint32_t rows, bool packed)
{
    struct fby_error_detail      why    = {""};
    struct fby_gpu_upload_config config = {};
    *b                                  = {};
    b->batch                            = gpu_batch_make(rows, packed, true);
    config.cuda                         = &counted;
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

static void end(struct upload_bench *b)
{
    CHECK(cudaDeviceSynchronize());
    fby_gpu_upload_destroy(&b->upload);
    CHECK(cudaStreamDestroy(b->consumer));
    free(b->batch.arena);
}

/* Submit the next batch, and make b->consumer wait for it. The batch's arena
 * must be free, see wait_for_arena(). */
static struct fby_gpu_upload_out *submit_next(struct upload_bench *b)
{
    struct fby_error_detail     why   = {""};
    struct fby_gpu_upload_batch batch = {};
    batch.step                        = b->submitted;
    batch.arena                       = b->submitted++ % ARENAS;
    batch.bytes                       = b->batch.bytes;
    batch.list                        = b->batch.list;
    batch.out = fby_gpu_upload_take_out(b->upload, false);
    exit_on_error(fby_gpu_upload_submit(b->upload, &batch, &why), &why);
    exit_on_error(
        fby_gpu_upload_hand_out(b->upload, batch.out, b->consumer, &why), &why);
    return batch.out;
}

static void release(struct upload_bench *b, struct fby_gpu_upload_out *out)
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
        err =
            fby_gpu_upload_poll_copied(b->upload, b->submitted % ARENAS, &why);
    }
    exit_on_error(err, &why);
}

/* Seconds to upload BATCHES batches, until the last is expanded on the GPU. */
static double run_uploads(struct upload_bench *b)
{
    struct gpu_clock clock = gpu_clock_begin(b->consumer);
    for (int i = 0; i < BATCHES; i++) {
        wait_for_arena(b);
        uint64_t calls  = n_async;
        int64_t  before = fby_thread_cpu_ns();
        release(b, submit_next(b));
        b->cpu_us[i] = static_cast<double>(fby_thread_cpu_ns() - before) / 1e3;
        b->calls[i]  = n_async - calls;
    }
    return gpu_clock_end_ms(&clock) / 1e3;
}

/* ---- copies and kernels -------------------------------------------------- */

struct feed_buffers { /* for runs without the upload */
    uint8_t *host, *device, *out;
};

static struct feed_buffers buffers_begin(const struct gpu_batch *batch)
{
    struct feed_buffers buffers = {};
    CHECK(cudaMallocHost(&buffers.host, batch->bytes));
    std::copy_n(batch->arena, batch->bytes, buffers.host);
    buffers.device = gpu_upload(batch);
    CHECK(cudaMalloc(&buffers.out, batch->out_bytes));
    return buffers;
}

static void buffers_end(struct feed_buffers *buffers)
{
    CHECK(cudaFreeHost(buffers->host));
    CHECK(cudaFree(buffers->device));
    CHECK(cudaFree(buffers->out));
}

/* Seconds of the copies of a run of uploads, without its kernels. */
static double run_copies(
    const struct upload_bench *b, const struct feed_buffers *buffers)
{
    struct gpu_clock clock = gpu_clock_begin(b->consumer);
    for (int i = 0; i < BATCHES; i++) {
        gpu_copy_in(
            buffers->device, buffers->host, b->batch.bytes, b->consumer);
    }
    return gpu_clock_end_ms(&clock) / 1e3;
}

static double run_kernels(
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
    begin(&b, GPU_ROWS, false);
    struct feed_buffers buffers = buffers_begin(&b.batch);
    (void)run_uploads(&b); /* warm up */
    (void)run_copies(&b, &buffers);
    (void)run_kernels(&b, &buffers);
    for (int i = 0; i < GPU_PAIRS; i++) {
        double copy   = run_copies(&b, &buffers);
        double kernel = run_kernels(&b, &buffers);
        double both   = run_uploads(&b);
        speed[i]      = copy / both;
        overlap[i]    = (copy + kernel - both) / std::min(copy, kernel);
        rate[i] = BATCHES * static_cast<double>(b.batch.bytes) / both / 1e9;
    }
    gpu_print_value("gpu_feed", bench_median(rate, GPU_PAIRS), "GB/s");
    bench_goal(
        "gpu_feed_copy", bench_median(speed, GPU_PAIRS), BENCH_AT_LEAST, 0.90);
    gpu_print_value("gpu_feed_hidden", bench_median(overlap, GPU_PAIRS),
        "overlap, as a fraction of the shorter of copy and kernels");
    buffers_end(&buffers);
    end(&b);
}

/* ---- calls --------------------------------------------------------------- */

static void measure_calls(const char *name, uint32_t rows, double max_calls)
{
    struct upload_bench b;
    begin(&b, rows, false);
    (void)run_uploads(&b); /* warm up: pins the arenas */
    n_blocking = 0;
    (void)run_uploads(&b);
    uint64_t blocking = n_blocking;
    bench_goal(name,
        static_cast<double>(*std::max_element(b.calls, b.calls + BATCHES)),
        BENCH_AT_MOST, max_calls);
    if (rows == SMALL_ROWS) {
        bench_goal("gpu_feed_blocking_calls", static_cast<double>(blocking),
            BENCH_AT_MOST, 0);
        bench_goal("gpu_feed_cpu_us", bench_median(b.cpu_us, BATCHES),
            BENCH_AT_MOST, 20);
    }
    end(&b);
}

/* ---- a training step ----------------------------------------------------- */

/* Keep all multiprocessors busy for `iterations` iterations per thread. */
__global__ void work(
    const uint32_t *values, uint64_t n, uint64_t iterations, float *out)
{
    uint64_t i   = blockIdx.x * uint64_t(blockDim.x) + threadIdx.x;
    float    a   = static_cast<float>(values[i % n] & 1);
    float    sum = a;
    for (uint64_t iteration = 0; iteration < iterations; iteration++) {
        sum = sum * 0.999f + a;
    }
    out[i] = sum;
}

struct model { /* the simulated model; its work is work() */
    uint32_t  blocks;
    uint64_t  iterations;
    float    *out;
    uint32_t *values; /* the resident batch, which stays on the GPU */
};

static void training_step(
    const struct upload_bench *b, const struct model *m, const void *values)
{
    for (int i = 0; i < STEP_KERNELS; i++) {
        work<<<m->blocks, STEP_THREADS, 0, b->consumer>>>(
            static_cast<const uint32_t *>(values), b->batch.out_bytes / 4,
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
            training_step(b, m, m->values);
            continue;
        }
        wait_for_arena(b);
        struct fby_gpu_upload_out *out = submit_next(b);
        training_step(b, m, out->memory);
        release(b, out);
    }
    return gpu_clock_end_ms(&clock) / STEPS;
}

static struct model model_begin(struct upload_bench *b)
{
    cudaDeviceProp about;
    struct model   m = {};
    CHECK(cudaGetDeviceProperties(&about, 0));
    m.blocks     = static_cast<uint32_t>(about.multiProcessorCount) * 8;
    m.iterations = CALIBRATION_ITERATIONS;
    CHECK(cudaMalloc(&m.out, sizeof(float) * m.blocks * STEP_THREADS));
    CHECK(cudaMalloc(&m.values, b->batch.out_bytes));
    CHECK(cudaMemset(m.values, 0, b->batch.out_bytes));
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
    begin(&b, GPU_ROWS, true);
    struct model m = model_begin(&b);
    (void)step_ms(&b, &m, UPLOADED); /* warm up */
    for (int i = 0; i < GPU_PAIRS; i++) {
        times[i]  = step_ms(&b, &m, RESIDENT);
        ratios[i] = step_ms(&b, &m, UPLOADED) / times[i];
    }
    gpu_print_value("gpu_step", bench_median(times, GPU_PAIRS), "ms");
    bench_goal(
        "gpu_step_fed", bench_median(ratios, GPU_PAIRS), BENCH_AT_MOST, 1.01);
    CHECK(cudaFree(m.out));
    CHECK(cudaFree(m.values));
    end(&b);
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
