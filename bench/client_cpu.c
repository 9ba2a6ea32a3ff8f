/* client_cpu.c - what receiving costs the trainer's machine.
 *
 * CPU time of the client, all of its threads, for a GB of u8 pixels, from
 * request to checked bytes in the slot, before anything is expanded; batches
 * lie ready in a worker in another process. Against the least it can cost:
 * receiving the same frames from a bare TCP connection, and decoding the same
 * chunks into a slot (of what is stored or packed: copying them), unchecked.
 * Once for each way in which crops of 224 x 224 travel. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "bench/raw.h"
#include "bench/ready.h"
#include "bench/stream.h"
#include "common/mem.h"

enum { ROWS = 104 };

static const uint64_t window      = 64 << 20; /* bytes */
static const size_t   frame_bytes = 4 << 20;  /* of any frame, at most */

static uint64_t pairs = 9;
static uint64_t mib   = 1536;
static uint64_t seed  = 1;

static const struct way {
    const char       *name;
    struct fby_coding coding;
    double            goal;
} ways[] = {
    {"store", {FBY_FILTER_NONE, FBY_CODEC_STORE}, 1.4},
    {"lz4", {FBY_FILTER_BIT_SHUFFLE, FBY_CODEC_LZ4}, 1.3},
    {"pack", {FBY_FILTER_PHOTO, FBY_CODEC_PACK}, 1.3},
};
enum { N_WAYS = sizeof(ways) / sizeof(ways[0]) };

struct fixture {
    struct bench_farm  farm;
    struct bench_stock stock;
    struct bench_ready ready;
    struct bench_raw   raw;
    struct forebay    *stream;
    uint8_t           *frame; /* of the raw side, one at a time */
    uint8_t           *slots;
    uint64_t           batches; /* of a run */
    uint64_t           lying;   /* before it: what came while nobody took */
    const uint8_t     *pixels;
};

/* Seconds of CPU a GB. */
static double per_gb(const struct fixture *self, int64_t begun_ns)
{
    uint64_t bytes = self->batches * self->stock.layout.raw_bytes;
    return (double)(bench_own_cpu_ns() - begun_ns) / (double)bytes;
}

static double stream(void *arg)
{
    struct fixture *self = arg;
    bench_stream_skip(self->stream, self->lying);
    int64_t begun = bench_own_cpu_ns();
    bench_stream_skip(self->stream, self->batches);
    return per_gb(self, begun);
}

static void take_batch(const struct fixture *self, uint8_t *slot)
{
    bool whole = self->stock.coding.codec != FBY_CODEC_LZ4;
    for (uint32_t i = 0; i < self->stock.layout.n_chunks; i++) {
        const struct bench_block *block = &self->stock.blocks[i];
        bench_raw_take(
            &self->raw, self->frame, FBY_CHUNK_PREFIX + block->wire_bytes);
        const uint8_t *payload = self->frame + FBY_CHUNK_PREFIX;
        if (whole) {
            memcpy(slot + block->span.raw_offset, payload, block->wire_bytes);
        } else {
            bench_stock_decode(&self->stock, block, payload, slot);
        }
    }
}

/* The stream goes on filling its window for a while: wait, or that would be
 * counted here. */
static double receive(void *arg)
{
    struct fixture *self  = arg;
    size_t          slot  = self->stock.layout.raw_bytes;
    size_t          slots = window / slot;
    int64_t         begun;
    bench_settle();
    begun = bench_own_cpu_ns();
    bench_raw_ask(&self->raw, self->batches);
    for (uint64_t i = 0; i < self->batches; i++) {
        take_batch(self, self->slots + i % slots * slot);
    }
    return per_gb(self, begun);
}

static void begin(struct fixture *self)
{
    struct forebay_options options = forebay_options();
    options.window_bytes           = window;
    self->batches = (mib << 20) / self->stock.layout.raw_bytes + 1;
    self->lying   = 2 * window / self->stock.layout.raw_bytes;
    bench_farm_begin(&self->farm);
    bench_ready_pipeline(&self->farm, &self->stock);
    bench_farm_start_server(&self->farm);
    bench_ready_start(&self->ready, &self->farm,
        &(struct bench_ready_plan){
            .workers = 1, .stock = &self->stock, .samples = 100 * ROWS});
    bench_raw_start(&self->raw, &self->stock, false);
    self->stream = bench_stream_open(&self->farm, &options);
}

static void end(struct fixture *self)
{
    forebay_close(&self->stream);
    bench_raw_stop(&self->raw);
    bench_ready_stop(&self->ready);
    bench_farm_remove(&self->farm);
}

static struct bench_figure measure(struct fixture *self, const struct way *way)
{
    begin(self);
    stream(self); /* warm */
    receive(self);
    struct bench_pairs result = bench_pairs(pairs, stream, receive, self);
    end(self);
    bench_row(way->name, "%6.3f  %6.3f  %6.3f  %5.1f %%  %6.3f",
        result.a.median, result.b.median, result.ratio.median,
        result.ratio.noise,
        (double)self->stock.wire_bytes / (double)self->stock.layout.raw_bytes);
    return result.ratio;
}

static void compare_all(struct fixture *self, const struct bench_album *album)
{
    struct bench_figure ratios[N_WAYS] = {{0}};
    double              noise          = 0;
    bench_row("CPU s/GB", "%6s  %6s  %6s  %7s  %6s", "client", "bare", "ratio",
        "noise", "wire/u8");
    for (size_t i = 0; i < N_WAYS; i++) {
        bench_stock_make(
            &self->stock, ways[i].coding, self->pixels, ROWS, BENCH_CROP);
        ratios[i] = measure(self, &ways[i]);
        noise     = ratios[i].noise > noise ? ratios[i].noise : noise;
        bench_stock_free(&self->stock);
    }
    bench_trust(noise, 2);
    for (size_t i = 0; i < N_WAYS; i++) {
        char name[32];
        snprintf(name, sizeof(name), "client_cpu.%s", ways[i].name);
        bench_album_goal(
            album, name, ratios[i].median, BENCH_AT_MOST, ways[i].goal);
    }
}

static void run(const struct bench_album *album)
{
    uint8_t       *pixels  = fby_zalloc((size_t)ROWS * BENCH_CROP_BYTES);
    struct fixture fixture = {.pixels = pixels,
        .slots                        = fby_zalloc(window),
        .frame                        = fby_zalloc(frame_bytes)};
    bench_album_crops(album, seed, ROWS, pixels, NULL);
    compare_all(&fixture, album);
    free(pixels);
    free(fixture.slots);
    free(fixture.frame);
}

int main(int argc, char **argv)
{
    const struct bench_option options[] = {
        {"pairs", &pairs, 1, BENCH_MAX_PAIRS, "Of runs in turn (9)", NULL},
        {"mib", &mib, 16, 1 << 20, "MiB of pixels of a run (1536)", NULL},
        {"seed", &seed, 0, UINT64_MAX, "Of the crops (1)", NULL},
        {0},
    };
    const struct bench_program program = {"client_cpu",
        "CPU time of a client, against bare TCP and bare decoding.", options};
    return bench_album_main(&program, argc, argv, run);
}
