/* photo_codec.c - size of 224 x 224 crops in photo format 1.
 *
 * Crops as a worker makes them, in chunks as on the wire (13 crops and a frame
 * prefix). Compared with bit-shuffle + LZ4 of the plain pixels, and of the
 * photo filter's output (the best that LZ4 can do, at three times the CPU; no
 * goal). Upscaled crops are smooth and pack better, so the others are also
 * shown separately. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/album.h"
#include "bench/bench.h"
#include "codec/codec.h"
#include "codec/photo.h"
#include "common/mem.h"
#include "proto/frame.h"

enum { CHUNK_CROPS = FBY_CHUNK_RAW / BENCH_CROP_BYTES };
static const size_t chunk_bytes = (size_t)CHUNK_CROPS * BENCH_CROP_BYTES;

static const size_t plane_bytes = (size_t)BENCH_CROP * BENCH_CROP;

static uint64_t crops = 1024;
static uint64_t seed  = 1;

struct sizes { /* bytes of all crops */
    uint64_t raw, pack, lz4, filtered_lz4;
};

/* ---- the codecs ---------------------------------------------------------- */

static uint64_t pack_bytes(const uint8_t *raw, uint32_t images, uint8_t *out)
{
    _Alignas(64) static uint8_t scratch[FBY_PHOTO_SCRATCH_BYTES];
    const struct fby_pictures   photo = {.images = images,
          .width                                 = BENCH_CROP,
          .height                                = BENCH_CROP,
          .planes                                = 3};
    return FBY_CHUNK_PREFIX + fby_photo_encode(&photo, raw, out, scratch);
}

static uint64_t lz4_bytes(const uint8_t *raw, size_t size, uint8_t *out)
{
    static struct fby_codec_scratch scratch;
    const struct fby_codec_job      job = {
             .coding  = {FBY_FILTER_BIT_SHUFFLE, FBY_CODEC_LZ4},
             .params  = {.element_bytes = 1, .distance = 3},
             .scratch = &scratch,
    };
    size_t made = 0;
    if (fby_codec_encode(&job, (struct fby_bytes_in){raw, size},
            (struct fby_bytes_out){out, fby_codec_bound(FBY_CODEC_LZ4, size)},
            &made) != FBY_OK) {
        bench_die("LZ4 cannot encode a chunk");
    }
    return FBY_CHUNK_PREFIX + (made < size ? made : size);
}

/* ---- the photo filter, from its definition, of whole crops --------------- */

static void split(const uint8_t *crop, uint8_t *planes)
{
    for (size_t i = 0; i < plane_bytes; i++) {
        uint8_t g                   = crop[3 * i + 1];
        planes[i]                   = g;
        planes[plane_bytes + i]     = (uint8_t)(crop[3 * i] - g);
        planes[2 * plane_bytes + i] = (uint8_t)(crop[3 * i + 2] - g);
    }
}

static uint8_t fold(int residue)
{
    unsigned value = (unsigned)residue & 0xff;
    return (uint8_t)(value < 128 ? 2 * value : 511 - 2 * value);
}

static void filter_plane(const uint8_t *plane, uint8_t *out)
{
    for (size_t y = 0; y < BENCH_CROP; y++) {
        for (size_t x = 0; x < BENCH_CROP; x++) {
            const uint8_t *at      = plane + y * BENCH_CROP + x;
            int            left    = x > 0 ? at[-1] : 0;
            int            up      = y > 0 ? at[-BENCH_CROP] : 0;
            int            up_left = x > 0 && y > 0 ? at[-BENCH_CROP - 1] : 0;
            *out++                 = fold(*at - left - up + up_left);
        }
    }
}

static void filter(const uint8_t *crop, uint8_t *out)
{
    static uint8_t planes[BENCH_CROP_BYTES];
    split(crop, planes);
    for (size_t p = 0; p < 3; p++) {
        size_t at = p * plane_bytes;
        filter_plane(planes + at, out + at);
    }
}

/* ---- all crops ----------------------------------------------------------- */

struct room {
    uint8_t *filtered;
    uint8_t *out;
};

static void add_chunk(struct sizes *sizes, const uint8_t *raw, uint32_t images,
    const struct room *room)
{
    size_t size = (size_t)images * BENCH_CROP_BYTES;
    for (uint32_t i = 0; i < images; i++) {
        size_t at = (size_t)i * BENCH_CROP_BYTES;
        filter(raw + at, room->filtered + at);
    }
    sizes->raw += size;
    sizes->pack += pack_bytes(raw, images, room->out);
    sizes->lz4 += lz4_bytes(raw, size, room->out);
    sizes->filtered_lz4 += lz4_bytes(room->filtered, size, room->out);
}

static struct sizes measure(const uint8_t *raw, size_t n)
{
    struct sizes sizes      = {0};
    size_t       room_bytes = 2 * fby_codec_bound(FBY_CODEC_LZ4, chunk_bytes);
    const struct room room  = {fby_zalloc(chunk_bytes), fby_zalloc(room_bytes)};
    for (size_t i = 0; i < n; i += CHUNK_CROPS) {
        size_t images = n - i < CHUNK_CROPS ? n - i : CHUNK_CROPS;
        add_chunk(&sizes, raw + i * BENCH_CROP_BYTES, (uint32_t)images, &room);
    }
    free(room.filtered);
    free(room.out);
    return sizes;
}

/* Move the crops that were not scaled up to the front; return their number. */
static size_t gather(uint8_t *raw, const bool *upscaled)
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

static double share(uint64_t bytes, uint64_t of)
{
    return of > 0 ? (double)bytes / (double)of : 0;
}

static void print(const char *name, size_t n, const struct sizes *s)
{
    bench_row(name, "%6zu  %6.3f  %13.3f  %22.3f", n, share(s->pack, s->raw),
        share(s->lz4, s->raw), share(s->filtered_lz4, s->raw));
}

static void run(const struct bench_album *album)
{
    uint8_t *raw      = fby_zalloc(crops * BENCH_CROP_BYTES);
    bool    *upscaled = fby_zalloc(crops * sizeof(*upscaled));
    bench_album_crops(album, seed, crops, raw, upscaled);
    struct sizes all   = measure(raw, crops);
    size_t       n     = gather(raw, upscaled);
    struct sizes sharp = measure(raw, n);
    bench_row("wire / u8", "%6s  %6s  %13s  %22s", "crops", "pack",
        "bit-shuf. LZ4", "photo filter, b.-s. LZ4");
    print("all crops", crops, &all);
    print("not scaled up", n, &sharp);
    bench_row("pack / LZ4 of filtered", "%.3f, no goal",
        share(all.pack, all.filtered_lz4));
    bench_album_goal(
        album, "photo_codec", share(all.pack, all.raw), BENCH_AT_MOST, 0.36);
    bench_album_goal(album, "photo_codec.of_lz4", share(all.pack, all.lz4),
        BENCH_AT_MOST, 0.97);
    free(raw);
    free(upscaled);
}

int main(int argc, char **argv)
{
    const struct bench_option options[] = {
        {"crops", &crops, 1, 100000, "Number of crops (1024)", NULL},
        {"seed", &seed, 0, UINT64_MAX, "Seed of the crops (1)", NULL},
        {0},
    };
    const struct bench_program program = {"photo_codec",
        "The size of 224 x 224 crops of photographs on the wire.", options};
    return bench_album_main(&program, argc, argv, run);
}
