/* SPDX-License-Identifier: Apache-2.0 */
/* client_cpu.c - CPU time of receiving on the trainer's machine.
 *
 * Another process sends batches that were encoded before the run. The bench
 * measures the CPU time that all threads of the client spend per GB of u8
 * pixels until a batch is received, checked and in a slot (the client's buffer
 * of a batch). Expanding it to tensors is not measured. The baseline receives
 * the same frames over bare TCP, unchecked. Like the client, it decodes LZ4
 * chunks and copies other chunks. Every encoding of 224 x 224 crops is run. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "bench/receive.h"
#include "common/mem.h"

enum { ROWS = 8 * 13 }; /* eight full chunks of 13 crops */
enum { FRAME_BYTES = 4 << 20 /* more than a chunk and its prefix */ };

static uint64_t pairs = 9;
static uint64_t mib   = 1536;
static uint64_t seed  = 1;

static const struct {
    const char *name;
    double      goal; /* highest ratio of client to bare TCP */
} encodings[BENCH_ENCODINGS] = {
    [BENCH_STORE] = {"store", 1.3},
    [BENCH_LZ4]   = {"lz4", 1.1},
    [BENCH_PACK]  = {"pack", 1.3},
};

/* CPU time in ns per byte, which is s per GB. */
static double client_cost(void *arg)
{
    return bench_receive_stream(arg).receive_cpu_ns;
}

static double bare_tcp_cost(void *arg)
{
    return bench_receive_tcp(arg).receive_cpu_ns;
}

static void receive_batch(const struct bench_receive *self, uint8_t *slot)
{
    static uint8_t frame[FRAME_BYTES];
    for (uint32_t i = 0; i < self->batch->layout.n_chunks; i++) {
        const struct bench_chunk *chunk   = &self->batch->chunks[i];
        const uint8_t            *payload = frame + FBY_CHUNK_PREFIX;
        bench_tcp_receive(
            &self->tcp, frame, FBY_CHUNK_PREFIX + chunk->wire_bytes);
        if (self->batch->encoding == BENCH_LZ4) {
            bench_batch_decode(self->batch, chunk, payload, slot);
        } else {
            memcpy(slot + chunk->span.raw_offset, payload, chunk->wire_bytes);
        }
    }
}

static struct bench_figure compare(
    enum bench_encoding encoding, const uint8_t *pixels)
{
    struct bench_batch   batch;
    struct bench_receive self = {.receive_batch = receive_batch};
    bench_batch_make(&batch, encoding, pixels, ROWS, BENCH_CROP);
    bench_receive_start(&self, &batch, mib);
    client_cost(&self); /* warm up */
    bare_tcp_cost(&self);
    struct bench_pairs result =
        bench_run_pairs(pairs, client_cost, bare_tcp_cost, &self);
    bench_receive_stop(&self);
    bench_print(encodings[encoding].name,
        "%6.3f  %6.3f  %6.3f  %5.1f %%  %6.3f", result.a.median,
        result.b.median, result.ratio.median, result.ratio.noise,
        (double)batch.wire_bytes / (double)batch.layout.raw_bytes);
    bench_batch_free(&batch);
    return result.ratio;
}

static void run(const struct bench_photos *photos)
{
    struct bench_figure ratios[BENCH_ENCODINGS];
    uint8_t            *pixels = fby_zalloc((size_t)ROWS * BENCH_CROP_BYTES);
    double              noise  = 0;
    bench_photos_crops(photos, seed, ROWS, pixels, NULL);
    bench_print("CPU s/GB", "%6s  %6s  %6s  %7s  %6s", "client", "bare",
        "ratio", "noise", "wire/u8");
    for (int i = 0; i < BENCH_ENCODINGS; i++) {
        ratios[i] = compare((enum bench_encoding)i, pixels);
        noise     = fmax(noise, ratios[i].noise);
    }
    free(pixels);
    bench_print_reliability(noise, BENCH_NEEDS_TWO_CORES);
    for (int i = 0; i < BENCH_ENCODINGS; i++) {
        char name[32];
        snprintf(name, sizeof(name), "client_cpu.%s", encodings[i].name);
        bench_photos_judge(
            photos, name, ratios[i].median, BENCH_AT_MOST, encodings[i].goal);
    }
}

int main(int argc, char **argv)
{
    const struct bench_option options[] = {
        {"pairs", &pairs, 1, BENCH_MAX_PAIRS, "Pairs of runs (9)"},
        {"mib", &mib, 16, 1 << 20, "MiB of pixels per run (1536)"},
        {"seed", &seed, 0, UINT64_MAX, "Seed of the crops (1)"},
        {0},
    };
    const struct bench_program program = {"client_cpu",
        "CPU time of a client, against bare TCP with decoding.", options};
    return bench_photos_main(&program, argc, argv, run);
}
