/* codec_cpu.c - CPU time of the photo codec, compared with LZ4's compressor.
 *
 * One thread encodes the same 224 x 224 crops in two ways: filter and pack of
 * photo format 1, and LZ4_compress_default of the plain pixels, in the 64 KiB
 * blocks of the wire format. Decoding time is shown too. */
#include <inttypes.h>
#include <lz4.h>
#include <stdlib.h>

#include "bench/album.h"
#include "bench/bench.h"
#include "codec/codec.h"
#include "codec/photo.h"
#include "common/clock.h"
#include "common/mem.h"

enum { CHUNK_CROPS = 13 };

static uint64_t crops = 512;
static uint64_t pairs = 9;
static uint64_t seed  = 1;

static const struct fby_pictures photo = {.images = CHUNK_CROPS,
    .width                                        = BENCH_CROP,
    .height                                       = BENCH_CROP,
    .planes                                       = 3};

struct fixture {
    uint8_t *raw;
    size_t   n; /* chunks */
    uint8_t *payloads;
    size_t  *sizes; /* of payloads */
    uint8_t *out;
    uint8_t *scratch;
};

static const size_t chunk_bytes = (size_t)CHUNK_CROPS * BENCH_CROP_BYTES;

static const uint8_t *chunk_of(const struct fixture *self, size_t i)
{
    return self->raw + i * chunk_bytes;
}

static uint8_t *payload_of(const struct fixture *self, size_t i)
{
    return self->payloads + i * fby_photo_bound(&photo);
}

/* Seconds of CPU time per GB of pixels since `begun_ns`. */
static double per_gb(const struct fixture *self, int64_t begun_ns)
{
    double ns = (double)(fby_thread_cpu_ns() - begun_ns);
    return ns / (double)(self->n * chunk_bytes);
}

static double encode(void *arg)
{
    const struct fixture *self  = arg;
    int64_t               begun = fby_thread_cpu_ns();
    for (size_t i = 0; i < self->n; i++) {
        self->sizes[i] = fby_photo_encode(
            &photo, chunk_of(self, i), payload_of(self, i), self->scratch);
    }
    return per_gb(self, begun);
}

static double decode(void *arg)
{
    const struct fixture *self  = arg;
    int64_t               begun = fby_thread_cpu_ns();
    for (size_t i = 0; i < self->n; i++) {
        if (!fby_photo_decode(&photo, payload_of(self, i), self->sizes[i],
                self->out, self->scratch)) {
            bench_die("the photo decoder refuses our own payload");
        }
    }
    return per_gb(self, begun);
}

static double compress_lz4(void *arg)
{
    const struct fixture *self  = arg;
    size_t                total = self->n * chunk_bytes;
    int64_t               begun = fby_thread_cpu_ns();
    for (size_t at = 0; at < total; at += FBY_CODEC_BLOCK) {
        size_t left = total - at;
        int    size = (int)(left < FBY_CODEC_BLOCK ? left : FBY_CODEC_BLOCK);
        if (LZ4_compress_default((const char *)self->raw + at,
                (char *)self->out, size, LZ4_compressBound(size)) <= 0) {
            bench_die("LZ4 fails");
        }
    }
    return per_gb(self, begun);
}

static void print(const char *name, struct bench_figure figure)
{
    bench_row(name, "%6.3f s of CPU a GB, noise %.1f %%", figure.median,
        figure.noise);
}

static void compare_all(struct fixture *self, const struct bench_album *album)
{
    encode(self); /* warm */
    compress_lz4(self);
    struct bench_pairs packing = bench_pairs(pairs, encode, compress_lz4, self);
    struct bench_pairs decoding = bench_pairs(pairs, decode, encode, self);
    print("filter + pack", packing.a);
    print("LZ4_compress_default", packing.b);
    print("unpack + inverse filter", decoding.a);
    bench_row("ratio", "%.3f, noise %.1f %%, %" PRIu64 " pairs",
        packing.ratio.median, packing.ratio.noise, pairs);
    bench_trust(packing.ratio.noise, 0);
    bench_album_goal(
        album, "codec_cpu", packing.ratio.median, BENCH_AT_MOST, 0.25);
}

static void prepare(struct fixture *self, const struct bench_album *album)
{
    self->n        = (crops + CHUNK_CROPS - 1) / CHUNK_CROPS;
    self->raw      = fby_zalloc(self->n * chunk_bytes);
    self->payloads = fby_zalloc(self->n * fby_photo_bound(&photo));
    self->sizes    = fby_zalloc(self->n * sizeof(*self->sizes));
    self->out      = fby_zalloc(chunk_bytes);
    self->scratch  = aligned_alloc(64, FBY_PHOTO_SCRATCH_BYTES);
    bench_album_crops(album, seed, self->n * CHUNK_CROPS, self->raw, NULL);
}

static void finish(struct fixture *self)
{
    free(self->raw);
    free(self->payloads);
    free(self->sizes);
    free(self->out);
    free(self->scratch);
}

static void run(const struct bench_album *album)
{
    struct fixture fixture;
    prepare(&fixture, album);
    compare_all(&fixture, album);
    finish(&fixture);
}

int main(int argc, char **argv)
{
    const struct bench_option options[] = {
        {"crops", &crops, 1, 100000, "Number of crops (512)", NULL},
        {"pairs", &pairs, 1, BENCH_MAX_PAIRS, "Pairs of runs (9)", NULL},
        {"seed", &seed, 0, UINT64_MAX, "Seed of the crops (1)", NULL},
        {0},
    };
    const struct bench_program program = {"codec_cpu",
        "CPU time of the photo codec, against LZ4, on 224 x 224 crops.",
        options};
    return bench_album_main(&program, argc, argv, run);
}
