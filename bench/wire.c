/* wire.c - speed of prepared batches, compared with bare TCP.
 *
 * A worker has batches ready, stored without compression. Measures bytes per
 * second from request to checked bytes in the client's slot, over loopback. The
 * baseline is one TCP connection that moves as many bytes between two
 * processes, hashes them at both ends and receives them into reused slots. */
#include <inttypes.h>
#include <stdlib.h>

#include "bench/bench.h"
#include "bench/raw.h"
#include "bench/ready.h"
#include "bench/stream.h"
#include "common/clock.h"
#include "common/cores.h"
#include "common/mem.h"

enum { ROWS = 104, SIDE = 224 };

static const uint64_t window = 64 << 20; /* bytes */

static uint64_t pairs = 9;
static uint64_t mib   = 2048;

struct fixture {
    struct bench_farm  farm;
    struct bench_stock stock;
    struct bench_ready ready;
    struct bench_raw   raw;
    struct forebay    *stream;
    uint8_t           *slots;   /* of the bare connection */
    uint64_t           batches; /* per run */
    uint64_t           queued;  /* batches to skip: received before the run */
    double             ready_cores, raw_cores; /* both processes, last run */
};

struct start {
    int64_t wall_ns, cpu_ns;
};

static struct start start_now(int64_t other_cpu_ns)
{
    return (struct start){
        .wall_ns = fby_now_ns(), .cpu_ns = bench_own_cpu_ns() + other_cpu_ns};
}

/* GB/s of raw bytes since `start`; *cores: used by both processes. */
static double finish(const struct fixture *self, struct start start,
    int64_t other_cpu_ns, double *cores)
{
    struct start now   = start_now(other_cpu_ns);
    double       ns    = (double)(now.wall_ns - start.wall_ns);
    uint64_t     bytes = self->batches * self->stock.layout.raw_bytes;
    *cores             = (double)(now.cpu_ns - start.cpu_ns) / ns;
    return (double)bytes / ns;
}

static double stream(void *arg)
{
    struct fixture *self = arg;
    bench_stream_skip(self->stream, self->queued);
    struct start start = start_now(bench_ready_cpu_ns(&self->ready));
    bench_stream_skip(self->stream, self->batches);
    return finish(
        self, start, bench_ready_cpu_ns(&self->ready), &self->ready_cores);
}

static void take_batch(const struct fixture *self, uint8_t *slot)
{
    for (uint32_t i = 0; i < self->stock.layout.n_chunks; i++) {
        const struct bench_chunk *encoded = &self->stock.chunks[i];
        uint64_t                  prefix[FBY_CHUNK_PREFIX / sizeof(uint64_t)];
        bench_raw_receive(&self->raw, prefix, sizeof(prefix));
        bench_raw_receive(
            &self->raw, slot + encoded->span.raw_offset, encoded->wire_bytes);
        if (fby_xxh64(slot + encoded->span.raw_offset, encoded->wire_bytes) !=
            prefix[0]) {
            bench_die("TCP changed a byte");
        }
    }
}

static double receive(void *arg)
{
    struct fixture *self  = arg;
    size_t          slot  = self->stock.layout.raw_bytes;
    size_t          slots = window / slot;
    bench_wait_idle();
    struct start start = start_now(bench_raw_cpu_ns(&self->raw));
    bench_raw_request(&self->raw, self->batches);
    for (uint64_t i = 0; i < self->batches; i++) {
        take_batch(self, self->slots + i % slots * slot);
    }
    return finish(self, start, bench_raw_cpu_ns(&self->raw), &self->raw_cores);
}

static void prepare(struct fixture *self)
{
    uint64_t               random  = 1;
    struct forebay_options options = forebay_options();
    size_t                 n       = (size_t)ROWS * SIDE * SIDE * 3;
    uint8_t               *pixels  = fby_zalloc(n);
    options.window_bytes           = window;
    for (size_t i = 0; i < n; i++) {
        pixels[i] = (uint8_t)bench_random(&random);
    }
    bench_stock_make(&self->stock,
        (struct fby_coding){FBY_FILTER_NONE, FBY_CODEC_STORE}, pixels, ROWS,
        SIDE);
    free(pixels);
    self->batches = (mib << 20) / n + 1;
    self->queued  = 2 * window / n;
    self->slots   = fby_zalloc(window);
    bench_farm_begin(&self->farm);
    bench_ready_pipeline(&self->farm, &self->stock);
    bench_farm_start_server(&self->farm);
    bench_ready_start(&self->ready, &self->farm,
        &(struct bench_ready_plan){
            .workers = 1, .stock = &self->stock, .samples = 100 * ROWS});
    bench_raw_start(&self->raw, &self->stock, true);
    self->stream = bench_stream_open(&self->farm, &options);
}

/* ---- a real worker ------------------------------------------------------- */

enum { MEMBERS = 32, MEMBER_BYTES = 2 << 20, MEMBER_ROWS = 8 };
static const uint64_t batch_bytes = (uint64_t)MEMBER_ROWS * MEMBER_BYTES;

/* The same with a worker that reads the bytes from a tar file in the page
 * cache, copies them to its arena and hashes them once more. It shows the cost
 * of making even the simplest batch. */
static void make_reader(struct bench_farm *farm, uint8_t *bytes)
{
    struct bench_file  files[MEMBERS];
    struct bench_album album = {.files = files, .n = MEMBERS};
    for (int i = 0; i < MEMBERS; i++) {
        files[i]       = (struct bench_file){.size = MEMBER_BYTES};
        files[i].bytes = bytes;
    }
    bench_farm_begin(farm);
    bench_farm_pipeline(farm,
        "forebay: 1\n"
        "splits: {train: {shards: \"d:train-{0..0}.tar\"}}\n"
        "global_batch: %d\n"
        "fields:\n"
        "  bytes:\n"
        "    from: jpg\n"
        "    decode: bytes\n"
        "    length: %d\n"
        "    wire: {filter: none, codec: store}\n",
        MEMBER_ROWS, MEMBER_BYTES);
    bench_farm_make_folder(farm);
    bench_album_shards(&album, farm->photos, 1, 1);
    bench_farm_start(farm, 1, 0, "1G");
}

static void show_reader(void)
{
    enum { RUNS = 7 };
    double                 rates[RUNS];
    size_t                 runs = pairs < RUNS ? pairs : RUNS;
    struct bench_farm      farm;
    struct forebay_options options = forebay_options();
    uint8_t               *bytes   = fby_zalloc(MEMBER_BYTES);
    uint64_t               n       = (mib << 20) / batch_bytes + 1;
    options.window_bytes           = window;
    make_reader(&farm, bytes);
    struct forebay *stream = bench_stream_open(&farm, &options);
    for (size_t i = 0; i < runs; i++) {
        bench_stream_skip(stream, 2 * window / batch_bytes);
        int64_t begun = fby_now_ns();
        bench_stream_skip(stream, n);
        rates[i] = (double)(n * batch_bytes) / (double)(fby_now_ns() - begun);
    }
    forebay_close(&stream);
    bench_farm_remove(&farm);
    free(bytes);
    bench_row("a worker that reads tar", "%5.2f GB/s, noise %.1f %%; no goal",
        bench_median(rates, runs), bench_noise(rates, runs));
}

/* ---- the run ------------------------------------------------------------- */

static void clean(struct fixture *self)
{
    forebay_close(&self->stream);
    bench_raw_stop(&self->raw);
    bench_ready_stop(&self->ready);
    bench_farm_remove(&self->farm);
    bench_stock_free(&self->stock);
    free(self->slots);
}

static void run(struct fixture *self)
{
    stream(self); /* warm */
    receive(self);
    struct bench_pairs result = bench_pairs(pairs, stream, receive, self);
    bench_row("forebay, store", "%5.2f GB/s, noise %.1f %%, %.2f cores",
        result.a.median, result.a.noise, self->ready_cores);
    bench_row("TCP, hashed at both ends",
        "%5.2f GB/s, noise %.1f %%, %.2f cores", result.b.median,
        result.b.noise, self->raw_cores);
    bench_row("CPU of both processes", "%.3f and %.3f s/GB",
        self->ready_cores / result.a.median, self->raw_cores / result.b.median);
    bench_row("ratio", "%.3f, noise %.1f %%, %" PRIu64 " pairs",
        result.ratio.median, result.ratio.noise, pairs);
    show_reader();
    bench_trust(result.ratio.noise, 2);
    bench_goal("wire", result.ratio.median, BENCH_AT_LEAST,
        fby_cores() >= 4 ? 0.9 : 0.8);
}

int main(int argc, char **argv)
{
    struct fixture            fixture;
    const struct bench_option options[] = {
        {"pairs", &pairs, 1, BENCH_MAX_PAIRS, "Pairs of runs (9)", NULL},
        {"mib", &mib, 64, 1 << 20, "MiB per run (2048)", NULL},
        {0},
    };
    bench_options(argc, argv, options,
        "Speed of ready batches over loopback, against bare TCP.");
    bench_begin("wire");
    prepare(&fixture);
    run(&fixture);
    clean(&fixture);
    return 0;
}
