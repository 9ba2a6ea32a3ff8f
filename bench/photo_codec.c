/* SPDX-License-Identifier: Apache-2.0 */
/* photo_codec.c - size of 224 x 224 crops in photo format 1.
 *
 * A worker makes the crops. They are encoded in chunks as on the wire: 13 crops
 * and a frame prefix. Compares photo format 1 with bit-shuffle and LZ4 of the
 * plain pixels. Also compares it with bit-shuffle and LZ4 of the output of the
 * photo filter. That is the best that LZ4 can do, at three times the CPU time,
 * and has no goal. A second row omits crops that were scaled up, which are
 * smooth and pack better. */
#include <stdlib.h>
#include <string.h>

#include "bench/batch.h"
#include "bench/bench.h"
#include "bench/photos.h"
#include "common/mem.h"

enum { CHUNK_CROPS = FBY_CHUNK_RAW / BENCH_CROP_BYTES };

static const size_t plane_bytes = (size_t)BENCH_CROP * BENCH_CROP;

static uint64_t crops = 1024;
static uint64_t seed  = 1;

struct sizes { /* total bytes of the crops in each form */
    uint64_t raw, pack, lz4, filtered_lz4;
};

/* Split interleaved RGB into the planes G, R - G, B - G of the photo filter. */
static void split_planes(const uint8_t *crop, uint8_t *planes)
{
    for (size_t i = 0; i < plane_bytes; i++) {
        uint8_t g                   = crop[3 * i + 1];
        planes[i]                   = g;
        planes[plane_bytes + i]     = (uint8_t)(crop[3 * i] - g);
        planes[2 * plane_bytes + i] = (uint8_t)(crop[3 * i + 2] - g);
    }
}

/* Map 0, -1, 1, -2, ... to 0, 1, 2, 3, ... (zigzag), modulo 256. */
static uint8_t zigzag(int residue)
{
    unsigned value = (unsigned)residue & 0xff; /* -1 is 255 */
    return (uint8_t)(value < 128 ? 2 * value : 511 - 2 * value);
}

/* Predict each pixel as left + up - up_left, and write the error of this. */
static void filter_plane(const uint8_t *plane, uint8_t *out)
{
    for (size_t y = 0; y < BENCH_CROP; y++) {
        for (size_t x = 0; x < BENCH_CROP; x++) {
            const uint8_t *pixel = plane + y * BENCH_CROP + x;
            int            left  = x > 0 ? pixel[-1] : 0;
            int            up    = y > 0 ? pixel[-BENCH_CROP] : 0;
            int up_left          = x > 0 && y > 0 ? pixel[-BENCH_CROP - 1] : 0;
            *out++               = zigzag(*pixel - (left + up - up_left));
        }
    }
}

static void filter_crop(const uint8_t *crop, uint8_t *out)
{
    static uint8_t planes[BENCH_CROP_BYTES];
    split_planes(crop, planes);
    for (size_t p = 0; p < 3; p++) {
        filter_plane(planes + p * plane_bytes, out + p * plane_bytes);
    }
}

/* Returns the size of the images as a chunk on the wire, with its prefix. */
static uint64_t wire_bytes(
    enum bench_encoding encoding, const uint8_t *pixels, uint32_t images)
{
    struct bench_batch batch;
    bench_batch_make(&batch, encoding, pixels, images, BENCH_CROP);
    uint64_t bytes = batch.wire_bytes;
    bench_batch_free(&batch);
    return bytes;
}

static struct sizes measure(const uint8_t *raw, size_t n)
{
    static uint8_t filtered[CHUNK_CROPS * BENCH_CROP_BYTES];
    struct sizes   sizes = {.raw = n * BENCH_CROP_BYTES};
    for (size_t i = 0; i < n; i += CHUNK_CROPS) {
        const uint8_t *chunk  = raw + i * BENCH_CROP_BYTES;
        uint32_t       left   = (uint32_t)(n - i);
        uint32_t       images = left < CHUNK_CROPS ? left : CHUNK_CROPS;
        for (size_t k = 0; k < images; k++) {
            filter_crop(
                chunk + k * BENCH_CROP_BYTES, filtered + k * BENCH_CROP_BYTES);
        }
        sizes.pack += wire_bytes(BENCH_PACK, chunk, images);
        sizes.lz4 += wire_bytes(BENCH_LZ4, chunk, images);
        sizes.filtered_lz4 += wire_bytes(BENCH_LZ4, filtered, images);
    }
    return sizes;
}

/* Remove the crops that were scaled up. Returns the number of the others. */
static size_t remove_upscaled(uint8_t *raw, const bool *upscaled)
{
    size_t n = 0;
    for (size_t i = 0; i < crops; i++) {
        if (!upscaled[i]) {
            memmove(raw + n++ * BENCH_CROP_BYTES, raw + i * BENCH_CROP_BYTES,
                BENCH_CROP_BYTES);
        }
    }
    return n;
}

static double ratio(uint64_t bytes, uint64_t whole)
{
    return whole > 0 ? (double)bytes / (double)whole : 0;
}

static void print_sizes(const char *name, size_t n, const struct sizes *s)
{
    bench_print(name, "%6zu  %6.3f  %13.3f  %22.3f", n, ratio(s->pack, s->raw),
        ratio(s->lz4, s->raw), ratio(s->filtered_lz4, s->raw));
}

static void run(const struct bench_photos *photos)
{
    uint8_t *raw      = fby_zalloc(crops * BENCH_CROP_BYTES);
    bool    *upscaled = fby_zalloc(crops * sizeof(*upscaled));
    bench_photos_crops(photos, seed, crops, raw, upscaled);
    struct sizes all     = measure(raw, crops);
    size_t       n_sharp = remove_upscaled(raw, upscaled);
    struct sizes sharp   = measure(raw, n_sharp);
    bench_print("wire / u8", "%6s  %6s  %13s  %22s", "crops", "pack",
        "bit-shuf. LZ4", "photo filter, b.-s. LZ4");
    print_sizes("all crops", crops, &all);
    print_sizes("not scaled up", n_sharp, &sharp);
    bench_print("pack / LZ4 of filtered", "%.3f, no goal",
        ratio(all.pack, all.filtered_lz4));
    bench_photos_judge(
        photos, "photo_codec", ratio(all.pack, all.raw), BENCH_AT_MOST, 0.36);
    bench_photos_judge(photos, "photo_codec.of_lz4", ratio(all.pack, all.lz4),
        BENCH_AT_MOST, 0.97);
    free(raw);
    free(upscaled);
}

int main(int argc, char **argv)
{
    const struct bench_option options[] = {
        {"crops", &crops, 1, 100000, "Number of crops (1024)"},
        {"seed", &seed, 0, UINT64_MAX, "Seed of the crops (1)"},
        {0},
    };
    const struct bench_program program = {"photo_codec",
        "The size of 224 x 224 crops of photographs on the wire.", options};
    return bench_photos_main(&program, argc, argv, run);
}
