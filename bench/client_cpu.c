/* client_cpu.c - CPU time of receiving on the trainer's machine.
 *
 * Measures all threads of the client for a GB of u8 pixels, from request to
 * checked bytes in the slot, before expansion; a worker in another process has
 * the batches ready. The baseline receives the same frames over bare TCP and
 * decodes the chunks into a slot unchecked (stored and packed ones: copies
 * them). Runs once for each encoding of 224 x 224 crops. */
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

static const struct encoding {
    const char       *name;
    struct fby_coding coding;
    double            goal;
} encodings[] = {
    {"store", {FBY_FILTER_NONE, FBY_CODEC_STORE}, 1.4},
    {"lz4", {FBY_FILTER_BIT_SHUFFLE, FBY_CODEC_LZ4}, 1.3},
    {"pack", {FBY_FILTER_PHOTO, FBY_CODEC_PACK}, 1.3},
};
enum { N_ENCODINGS = sizeof(encodings) / sizeof(encodings[0]) };

struct fixture {
    struct bench_farm  farm;
    struct bench_stock stock;
    struct bench_ready ready;
    struct bench_raw   raw;
    struct forebay    *stream;
    uint8_t           *frame; /* of the bare connection, one at a time */
    uint8_t           *slots;
    uint64_t           batches; /* per run */
    uint64_t           queued;  /* batches to skip: received before the run */
    const uint8_t     *pixels;
};

/* Seconds of CPU time per GB. */
static double per_gb(const struct fixture *self, int64_t begun_ns)
{
    uint64_t bytes = self->batches * self->stock.layout.raw_bytes;
    return (double)(bench_own_cpu_ns() - begun_ns) / (double)bytes;
}

static double stream(void *arg)
{
    struct fixture *self = arg;
    bench_stream_skip(self->stream, self->queued);
    int64_t begun = bench_own_cpu_ns();
    bench_stream_skip(self->stream, self->batches);
    return per_gb(self, begun);
}

static void take_batch(const struct fixture *self, uint8_t *slot)
{
    bool whole = self->stock.coding.codec != FBY_CODEC_LZ4;
    for (uint32_t i = 0; i < self->stock.layout.n_chunks; i++) {
        const struct bench_chunk *encoded = &self->stock.chunks[i];
        bench_raw_receive(
            &self->raw, self->frame, FBY_CHUNK_PREFIX + encoded->wire_bytes);
        const uint8_t *payload = self->frame + FBY_CHUNK_PREFIX;
        if (whole) {
            memcpy(
                slot + encoded->span.raw_offset, payload, encoded->wire_bytes);
        } else {
            bench_stock_decode(&self->stock, encoded, payload, slot);
        }
    }
}

/* The stream still fills its window for a while: wait, so that this work is
 * not counted here. */
static double receive(void *arg)
{
    struct fixture *self  = arg;
    size_t          slot  = self->stock.layout.raw_bytes;
    size_t          slots = window / slot;
    int64_t         begun;
    bench_wait_idle();
    begun = bench_own_cpu_ns();
    bench_raw_request(&self->raw, self->batches);
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
    self->queued  = 2 * window / self->stock.layout.raw_bytes;
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

static struct bench_figure measure(
    struct fixture *self, const struct encoding *encoding)
{
    begin(self);
    stream(self); /* warm */
    receive(self);
    struct bench_pairs result = bench_pairs(pairs, stream, receive, self);
    end(self);
    bench_row(encoding->name, "%6.3f  %6.3f  %6.3f  %5.1f %%  %6.3f",
        result.a.median, result.b.median, result.ratio.median,
        result.ratio.noise,
        (double)self->stock.wire_bytes / (double)self->stock.layout.raw_bytes);
    return result.ratio;
}

static void compare_all(struct fixture *self, const struct bench_album *album)
{
    struct bench_figure ratios[N_ENCODINGS] = {{0}};
    double              noise               = 0;
    bench_row("CPU s/GB", "%6s  %6s  %6s  %7s  %6s", "client", "bare", "ratio",
        "noise", "wire/u8");
    for (size_t i = 0; i < N_ENCODINGS; i++) {
        bench_stock_make(
            &self->stock, encodings[i].coding, self->pixels, ROWS, BENCH_CROP);
        ratios[i] = measure(self, &encodings[i]);
        noise     = ratios[i].noise > noise ? ratios[i].noise : noise;
        bench_stock_free(&self->stock);
    }
    bench_trust(noise, 2);
    for (size_t i = 0; i < N_ENCODINGS; i++) {
        char name[32];
        snprintf(name, sizeof(name), "client_cpu.%s", encodings[i].name);
        bench_album_goal(
            album, name, ratios[i].median, BENCH_AT_MOST, encodings[i].goal);
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
        {"pairs", &pairs, 1, BENCH_MAX_PAIRS, "Pairs of runs (9)", NULL},
        {"mib", &mib, 16, 1 << 20, "MiB of pixels per run (1536)", NULL},
        {"seed", &seed, 0, UINT64_MAX, "Seed of the crops (1)", NULL},
        {0},
    };
    const struct bench_program program = {"client_cpu",
        "CPU time of a client, against bare TCP and bare decoding.", options};
    return bench_album_main(&program, argc, argv, run);
}
