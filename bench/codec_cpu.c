/* SPDX-License-Identifier: Apache-2.0 */
/* codec_cpu.c - CPU time of the photo codec, compared with LZ4's compressor.
 *
 * One thread encodes the same 224 x 224 crops in two ways: with photo format 1
 * (its filter, then its bit packing), and by LZ4_compress_default() of the
 * plain pixels in the 64 KiB blocks of the wire format. Also shows the time of
 * decoding. */
#include <lz4.h>
#include <stdlib.h>

#include "bench/bench.h"
#include "bench/photos.h"
#include "codec/codec.h"
#include "codec/photo.h"
#include "common/clock.h"
#include "common/mem.h"

enum { CHUNK_CROPS = 13 }; /* as many as in a chunk of a worker */

static uint64_t crops = 512;
static uint64_t pairs = 9;
static uint64_t seed  = 1;

static const struct fby_pictures chunk_shape = {
    CHUNK_CROPS, BENCH_CROP, BENCH_CROP, .planes = 3};
static const size_t chunk_bytes = (size_t)CHUNK_CROPS * BENCH_CROP_BYTES;

struct codec_cpu_bench {
    uint8_t *raw; /* pixels of all chunks */
    size_t   n_chunks;
    uint8_t *payloads; /* of all chunks, in photo format 1 */
    size_t  *sizes;    /* bytes of each payload */
    uint8_t *out;      /* one decoded chunk, or one block of LZ4 */
};

static _Alignas(64) uint8_t scratch[FBY_PHOTO_SCRATCH_BYTES];

static const uint8_t *chunk_pixels(const struct codec_cpu_bench *self, size_t i)
{
    return self->raw + i * chunk_bytes;
}

static uint8_t *payload_of(const struct codec_cpu_bench *self, size_t i)
{
    return self->payloads + i * fby_photo_encode_capacity(&chunk_shape);
}

/* CPU time since `begun_ns` per byte of all pixels, in ns (= s per GB). */
static double cost_since(const struct codec_cpu_bench *self, int64_t begun_ns)
{
    double ns = (double)(fby_thread_cpu_ns() - begun_ns);
    return ns / (double)(self->n_chunks * chunk_bytes);
}

static double encode_cost(void *arg)
{
    const struct codec_cpu_bench *self  = arg;
    int64_t                       begun = fby_thread_cpu_ns();
    for (size_t i = 0; i < self->n_chunks; i++) {
        self->sizes[i] = fby_photo_encode(
            &chunk_shape, chunk_pixels(self, i), payload_of(self, i), scratch);
    }
    return cost_since(self, begun);
}

static double decode_cost(void *arg)
{
    const struct codec_cpu_bench *self  = arg;
    int64_t                       begun = fby_thread_cpu_ns();
    for (size_t i = 0; i < self->n_chunks; i++) {
        if (!fby_photo_decode(&chunk_shape, payload_of(self, i), self->sizes[i],
                self->out, scratch)) {
            bench_die("the photo codec cannot decode its own payload");
        }
    }
    return cost_since(self, begun);
}

static double lz4_cost(void *arg)
{
    const struct codec_cpu_bench *self  = arg;
    size_t                        total = self->n_chunks * chunk_bytes;
    int64_t                       begun = fby_thread_cpu_ns();
    for (size_t offset = 0; offset < total; offset += FBY_CODEC_BLOCK) {
        size_t left = total - offset;
        int    size = (int)(left < FBY_CODEC_BLOCK ? left : FBY_CODEC_BLOCK);
        if (LZ4_compress_default((const char *)self->raw + offset,
                (char *)self->out, size, LZ4_compressBound(size)) <= 0) {
            bench_die("LZ4 cannot compress a block");
        }
    }
    return cost_since(self, begun);
}

static void print_cost(const char *name, struct bench_figure figure)
{
    bench_print(name, "%6.3f s of CPU a GB, noise %.1f %%", figure.median,
        figure.noise);
}

static void compare_all(
    struct codec_cpu_bench *self, const struct bench_photos *photos)
{
    encode_cost(self); /* warm up; makes the payloads */
    lz4_cost(self);
    struct bench_pairs packing =
        bench_run_pairs(pairs, encode_cost, lz4_cost, self);
    struct bench_pairs decoding =
        bench_run_pairs(pairs, decode_cost, encode_cost, self);
    print_cost("filter + pack", packing.a);
    print_cost("LZ4_compress_default", packing.b);
    print_cost("unpack + inverse filter", decoding.a);
    bench_print_ratio(&packing);
    bench_print_reliability(packing.ratio.noise, BENCH_ANY_CORES);
    bench_photos_judge(
        photos, "codec_cpu", packing.ratio.median, BENCH_AT_MOST, 0.25);
}

static void run(const struct bench_photos *photos)
{
    size_t                 n_chunks = (crops + CHUNK_CROPS - 1) / CHUNK_CROPS;
    struct codec_cpu_bench bench    = {.n_chunks = n_chunks,
           .raw = fby_zalloc(n_chunks * chunk_bytes),
           .payloads =
               fby_zalloc(n_chunks * fby_photo_encode_capacity(&chunk_shape)),
           .sizes = fby_zalloc(n_chunks * sizeof(*bench.sizes)),
           .out   = fby_zalloc(chunk_bytes)};
    bench_photos_crops(photos, seed, n_chunks * CHUNK_CROPS, bench.raw, NULL);
    compare_all(&bench, photos);
    free(bench.raw);
    free(bench.payloads);
    free(bench.sizes);
    free(bench.out);
}

int main(int argc, char **argv)
{
    const struct bench_option options[] = {
        {"crops", &crops, 1, 100000, "Number of crops (512)"},
        {"pairs", &pairs, 1, BENCH_MAX_PAIRS, "Pairs of runs (9)"},
        {"seed", &seed, 0, UINT64_MAX, "Seed of the crops (1)"},
        {0},
    };
    const struct bench_program program = {"codec_cpu",
        "CPU time of the photo codec, against LZ4, on 224 x 224 crops.",
        options};
    return bench_photos_main(&program, argc, argv, run);
}
