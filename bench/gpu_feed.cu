/* gpu_feed.cu - the upload of batches to a GPU (gpu/upload.h):
 * - speed of its copies, compared with copies alone
 * - overlap of copies and kernels
 * - CUDA calls and CPU time per batch
 * - a training step on uploaded batches, compared with the step on resident
 *   values
 * Arenas are filled once; other benches measure their filling. */
#include <ctime>

#include "bench/gpu.h"

extern "C" {
#include "trainer_client/gpu/upload.h"
}

enum {
    ARENAS       = 6,
    OUTS         = 4,
    BATCHES      = 64, /* per run of the pipeline */
    SMALL_ROWS   = 64, /* raw pictures of less than GPU_PIECE bytes */
    STEPS        = 10, /* per run of a training loop */
    STEP_KERNELS = 21, /* of about 1 ms each */
    STEP_THREADS = 256
};

/* ---- calls, counted ------------------------------------------------------ */

static struct fby_cuda counted; /* the real table, with these replaced: */
static uint64_t        n_async, n_blocking;

static int copy(void *to, const void *from, size_t size, void *stream)
{
    n_async++;
    return fby_cuda()->copy(to, from, size, stream);
}

static int launch(const struct fby_cuda_launch *given)
{
    n_async++;
    return fby_cuda()->launch(given);
}

static int event_record(void *event, void *stream)
{
    n_async++;
    return fby_cuda()->event_record(event, stream);
}

static int stream_wait(void *stream, void *event)
{
    n_async++;
    return fby_cuda()->stream_wait(stream, event);
}

static int stream_sync(void *stream)
{
    n_blocking++;
    return fby_cuda()->stream_sync(stream);
}

static int allocate(void **out, size_t size)
{
    n_blocking++;
    return fby_cuda()->allocate(out, size);
}

static int free_memory(void *memory)
{
    n_blocking++;
    return fby_cuda()->free(memory);
}

static void count_calls(void)
{
    counted              = *fby_cuda();
    counted.copy         = copy;
    counted.launch       = launch;
    counted.event_record = event_record;
    counted.stream_wait  = stream_wait;
    counted.stream_sync  = stream_sync;
    counted.allocate     = allocate;
    counted.free         = free_memory;
}

/* ---- the pipeline -------------------------------------------------------- */

struct upload_bench {
    struct gpu_batch       batch;
    struct fby_gpu_upload *upload;
    cudaStream_t           consumer;
    uint32_t               sent;
    double                 cpu_us[BATCHES];
    uint64_t               calls[BATCHES];
};

static void must(fby_err err, const struct fby_why *why)
{
    if (err != FBY_OK) {
        fprintf(stderr, "gpu_feed: %s\n", why->text);
        exit(1);
    }
}

static void begin(struct upload_bench *b, uint32_t rows, bool packed)
{
    struct fby_why               why    = {""};
    struct fby_gpu_upload_config config = {};
    *b                                  = {};
    b->batch                            = gpu_make(rows, packed, true);
    config.cuda                         = &counted;
    config.n_arenas                     = ARENAS;
    config.arena_bytes                  = b->batch.bytes;
    config.n_outs                       = OUTS;
    config.out_bytes                    = b->batch.out_bytes;
    must(fby_gpu_upload_create(&config, &b->upload, &why), &why);
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

static double thread_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e6 +
           static_cast<double>(now.tv_nsec) / 1e3;
}

/* Submit the next batch. Does not wait for a free arena, since the client does
 * other work meanwhile. */
static struct fby_gpu_upload_out *send(struct upload_bench *b)
{
    struct fby_why              why   = {""};
    struct fby_gpu_upload_batch batch = {};
    batch.step                        = b->sent;
    batch.arena                       = b->sent++ % ARENAS;
    batch.bytes                       = b->batch.bytes;
    batch.list                        = b->batch.list;
    batch.out                         = fby_gpu_upload_take(b->upload, false);
    must(fby_gpu_upload_submit(b->upload, &batch, &why), &why);
    must(
        fby_gpu_upload_hand_out(b->upload, batch.out, b->consumer, &why), &why);
    return batch.out;
}

static void release(struct upload_bench *b, struct fby_gpu_upload_out *out)
{
    fby_gpu_upload_release(b->upload, out, b->consumer);
    fby_gpu_upload_give(b->upload, out);
}

static void wait_for_arena(struct upload_bench *b)
{
    struct fby_why why = {""};
    fby_err        err = FBY_AGAIN;
    while (err == FBY_AGAIN) {
        err = fby_gpu_upload_copied(b->upload, b->sent % ARENAS, &why);
    }
    must(err, &why);
}

/* Seconds from the first call to the last value. */
static double run(struct upload_bench *b)
{
    struct gpu_clock clock = gpu_clock_begin(b->consumer);
    for (int i = 0; i < BATCHES; i++) {
        wait_for_arena(b);
        uint64_t calls  = n_async;
        double   before = thread_us();
        release(b, send(b));
        b->cpu_us[i] = thread_us() - before;
        b->calls[i]  = n_async - calls;
    }
    return gpu_clock_end_ms(&clock) / 1e3;
}

/* ---- copies and kernels -------------------------------------------------- */

struct alone { /* buffers for the same work without a pipeline */
    uint8_t *host, *there, *out;
};

static struct alone alone_begin(const struct gpu_batch *batch)
{
    struct alone alone = {};
    CHECK(cudaMallocHost(&alone.host, batch->bytes));
    std::copy_n(batch->arena, batch->bytes, alone.host);
    alone.there = gpu_upload(batch);
    CHECK(cudaMalloc(&alone.out, batch->out_bytes));
    return alone;
}

static void alone_end(struct alone *alone)
{
    CHECK(cudaFreeHost(alone->host));
    CHECK(cudaFree(alone->there));
    CHECK(cudaFree(alone->out));
}

static double copies(const struct upload_bench *b, const struct alone *alone)
{
    struct gpu_clock clock = gpu_clock_begin(b->consumer);
    for (int i = 0; i < BATCHES; i++) {
        gpu_copy_in(alone->there, alone->host, b->batch.bytes, b->consumer);
    }
    return gpu_clock_end_ms(&clock) / 1e3;
}

static double kernels(const struct upload_bench *b, const struct alone *alone)
{
    struct gpu_clock clock = gpu_clock_begin(b->consumer);
    for (int i = 0; i < BATCHES; i++) {
        gpu_launch(&b->batch, alone->there, alone->out, b->consumer);
    }
    return gpu_clock_end_ms(&clock) / 1e3;
}

static void measure_copies(void)
{
    struct upload_bench b;
    double              speed[GPU_PAIRS], hidden[GPU_PAIRS], rate[GPU_PAIRS];
    begin(&b, GPU_ROWS, false);
    struct alone alone = alone_begin(&b.batch);
    (void)run(&b);
    (void)copies(&b, &alone);
    (void)kernels(&b, &alone);
    for (int i = 0; i < GPU_PAIRS; i++) {
        double copy   = copies(&b, &alone);
        double kernel = kernels(&b, &alone);
        double both   = run(&b);
        speed[i]      = copy / both;
        hidden[i]     = (copy + kernel - both) / std::min(copy, kernel);
        rate[i] = BATCHES * static_cast<double>(b.batch.bytes) / both / 1e9;
    }
    gpu_value("gpu_feed", gpu_median(rate, GPU_PAIRS), "GB/s");
    gpu_goal("gpu_feed_copy", gpu_median(speed, GPU_PAIRS), ">=", 0.90);
    gpu_value("gpu_feed_hidden", gpu_median(hidden, GPU_PAIRS),
        "of the kernels' time, or the copies'");
    alone_end(&alone);
    end(&b);
}

/* ---- calls --------------------------------------------------------------- */

static void measure_calls(const char *name, uint32_t rows, double most)
{
    struct upload_bench b;
    begin(&b, rows, false);
    (void)run(&b); /* while arenas are still being pinned */
    n_blocking = 0;
    (void)run(&b);
    uint64_t blocking = n_blocking;
    gpu_goal(name,
        static_cast<double>(*std::max_element(b.calls, b.calls + BATCHES)),
        "<=", most);
    if (rows == SMALL_ROWS) {
        gpu_goal(
            "gpu_feed_blocking_calls", static_cast<double>(blocking), "<=", 0);
        gpu_goal("gpu_feed_cpu_us", gpu_median(b.cpu_us, BATCHES), "<=", 20);
    }
    end(&b);
}

/* ---- a training step ----------------------------------------------------- */

/* Keep all multiprocessors busy for `turns` iterations on the batch. */
__global__ void work(
    const uint32_t *values, uint64_t n, uint64_t turns, float *out)
{
    uint64_t i    = blockIdx.x * uint64_t(blockDim.x) + threadIdx.x;
    float    a    = static_cast<float>(values[i % n] & 1);
    float    mine = a;
    for (uint64_t turn = 0; turn < turns; turn++) {
        mine = mine * 0.999f + a;
    }
    out[i] = mine;
}

struct model {
    uint32_t  blocks;
    uint64_t  turns;
    float    *out;
    uint32_t *values; /* a resident batch */
};

static void step(
    const struct upload_bench *b, const struct model *m, const void *at)
{
    for (int i = 0; i < STEP_KERNELS; i++) {
        work<<<m->blocks, STEP_THREADS, 0, b->consumer>>>(
            static_cast<const uint32_t *>(at), b->batch.out_bytes / 4, m->turns,
            m->out);
    }
    CHECK(cudaGetLastError());
}

static double loop_ms(struct upload_bench *b, const struct model *m, bool fed)
{
    struct gpu_clock clock = gpu_clock_begin(b->consumer);
    for (int i = 0; i < STEPS; i++) {
        if (!fed) {
            step(b, m, m->values);
            continue;
        }
        wait_for_arena(b);
        struct fby_gpu_upload_out *out = send(b);
        step(b, m, out->memory);
        release(b, out);
    }
    return gpu_clock_end_ms(&clock) / STEPS;
}

static struct model model_begin(struct upload_bench *b)
{
    cudaDeviceProp about;
    struct model   m = {};
    CHECK(cudaGetDeviceProperties(&about, 0));
    m.blocks = static_cast<uint32_t>(about.multiProcessorCount) * 8;
    m.turns  = 10000;
    CHECK(cudaMalloc(&m.out, sizeof(float) * m.blocks * STEP_THREADS));
    CHECK(cudaMalloc(&m.values, b->batch.out_bytes));
    CHECK(cudaMemset(m.values, 0, b->batch.out_bytes));
    CHECK(cudaDeviceSynchronize());
    (void)loop_ms(b, &m, false);
    double ms = loop_ms(b, &m, false);
    m.turns   = static_cast<uint64_t>(10000 * 22 / ms) + 1;
    return m;
}

static void measure_step(void)
{
    struct upload_bench b;
    double              ratios[GPU_PAIRS], times[GPU_PAIRS];
    begin(&b, GPU_ROWS, true);
    struct model m = model_begin(&b);
    (void)loop_ms(&b, &m, true);
    for (int i = 0; i < GPU_PAIRS; i++) {
        times[i]  = loop_ms(&b, &m, false);
        ratios[i] = loop_ms(&b, &m, true) / times[i];
    }
    gpu_value("gpu_step", gpu_median(times, GPU_PAIRS), "ms");
    gpu_goal("gpu_step_fed", gpu_median(ratios, GPU_PAIRS), "<=", 1.01);
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
