/* SPDX-License-Identifier: Apache-2.0 */
/* expand_host.c - speed of the expansion on the CPU (raw pixels to tensors).
 *
 * One thread expands u8 pixels of 224 x 224 to normalised f32, bf16 and f16
 * planes, as the client does, and packed photos to u8 planes. The pixels have
 * four times the size of the last-level cache, so that access to memory is part
 * of the cost, but all buffers together take at most half of the memory.
 * Compares output bytes per second of CPU time with memcpy(). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/batch.h"
#include "bench/bench.h"
#include "bench/photos.h"
#include "codec/photo.h"
#include "common/cgroup.h"
#include "common/clock.h"
#include "common/mem.h"
#include "common/pages.h"
#include "trainer_client/expand/device.h"

enum { CACHE_MULTIPLE = 4 }; /* size of the pixels / size of the cache */
static const size_t default_cache_bytes = 32 << 20; /* assumed if unknown */

static uint64_t pairs  = 7;
static uint64_t images = 0; /* 0: the default, see choose_images() */
static uint64_t seed   = 1;

struct expand_bench {
    uint32_t           images;
    uint8_t           *raw;         /* u8 pixels of all images, interleaved */
    struct bench_batch packed;      /* the same images in photo format 1 */
    uint8_t           *copy_source; /* source of memcpy() */
    uint8_t           *out;
    size_t out_bytes;          /* bytes that a run writes, set by compare() */
    struct fby_expansion plan; /* to floats, for expand_rate() */
};

static _Alignas(64) uint8_t scratch[FBY_PHOTO_SCRATCH_BYTES];

/* Output bytes per ns of CPU time since begun_ns. */
static double rate_since(const struct expand_bench *self, int64_t begun_ns)
{
    return (double)self->out_bytes / (double)(fby_thread_cpu_ns() - begun_ns);
}

static double expand_rate(void *arg)
{
    const struct expand_bench *self  = arg;
    struct fby_error_detail    why   = {{0}};
    int64_t                    begun = fby_thread_cpu_ns();
    if (fby_device_host.expand(
            &self->plan, self->raw, self->images, self->out, &why) != FBY_OK) {
        bench_die("%s", why.text);
    }
    return rate_since(self, begun);
}

static double unpack_rate(void *arg)
{
    const struct expand_bench *self  = arg;
    int64_t                    begun = fby_thread_cpu_ns();
    for (uint32_t i = 0; i < self->packed.layout.n_chunks; i++) {
        const struct bench_chunk *chunk    = &self->packed.chunks[i];
        const struct fby_pictures pictures = {
            chunk->span.rows, BENCH_CROP, BENCH_CROP, .planes = 3};
        if (!fby_photo_decode_planar(&pictures,
                self->packed.payloads + chunk->offset, chunk->wire_bytes,
                self->out + chunk->span.raw_offset, scratch)) {
            bench_die("the photo codec cannot decode its own payload");
        }
    }
    return rate_since(self, begun);
}

static double copy_rate(void *arg)
{
    const struct expand_bench *self  = arg;
    int64_t                    begun = fby_thread_cpu_ns();
    memcpy(self->out, self->copy_source, self->out_bytes);
    return rate_since(self, begun);
}

/* Bytes of the last-level cache; 0 if unknown. sysconf() is not used, because
 * it adds the caches of other processor sockets. */
static size_t last_level_cache_bytes(void)
{
    char  text[32] = "";
    FILE *file = fopen("/sys/devices/system/cpu/cpu0/cache/index3/size", "r");
    if (file == NULL) {
        return 0;
    }
    char  *unit = text;
    char  *line = fgets(text, sizeof(text), file);
    size_t size = line != NULL ? strtoul(line, &unit, 10) : 0;
    fclose(file);
    return size << (*unit == 'M' ? 20 : 10); /* "32768K" or "32M" */
}

/* The bytes of memory that this process may use. */
static uint64_t memory_bytes(void)
{
    long     pages   = sysconf(_SC_PHYS_PAGES);
    long     page    = sysconf(_SC_PAGESIZE);
    uint64_t machine = UINT64_MAX;
    uint64_t limit   = fby_cgroup_memory("");
    if (pages > 0 && page > 0) {
        machine = (uint64_t)pages * (uint64_t)page;
    }
    return limit < machine ? limit : machine;
}

/* The number of images whose buffers fit in half of the memory; at least 1. */
static uint32_t max_images(void)
{
    /* an image as pixels, as packed ones, and twice as floats */
    const uint64_t image_bytes = (2 + 2 * sizeof(float)) * BENCH_CROP_BYTES;
    uint64_t       n           = memory_bytes() / 2 / image_bytes;
    n                          = n < UINT32_MAX ? n : UINT32_MAX;
    return n > 0 ? (uint32_t)n : 1;
}

/* Returns the number of images that fill the buffers, and prints their size. */
static uint32_t choose_images(void)
{
    size_t   found = last_level_cache_bytes();
    size_t   cache = found > 0 ? found : default_cache_bytes;
    uint64_t n     = images;
    uint32_t most  = max_images();
    if (n == 0) {
        n = (CACHE_MULTIPLE * cache + BENCH_CROP_BYTES - 1) / BENCH_CROP_BYTES;
    }
    bool is_limited = images == 0 && n > most;
    n               = is_limited ? most : n;
    bench_print("buffers", "%zu MiB of pixels%s; the last cache has %zu MiB%s",
        (size_t)n * BENCH_CROP_BYTES >> 20,
        is_limited ? ", limited by the memory" : "", cache >> 20,
        found > 0 ? "" : " (assumed, since the system does not tell)");
    return (uint32_t)n;
}

/* Map memory as the client does for tensors. */
static void *map_pages(size_t bytes)
{
    void *memory = fby_pages_map(bytes);
    if (memory == NULL) {
        bench_die("%zu bytes of memory cannot be mapped", bytes);
    }
    return memory;
}

static void make_buffers(
    struct expand_bench *self, const struct bench_photos *photos)
{
    self->images       = choose_images();
    size_t pixel_bytes = (size_t)self->images * BENCH_CROP_BYTES;
    size_t bytes      = pixel_bytes * sizeof(float); /* of the largest output */
    self->raw         = fby_zalloc(pixel_bytes);
    self->copy_source = map_pages(bytes);
    self->out         = map_pages(bytes);
    memset(self->copy_source, 1, bytes); /* touch every page */
    memset(self->out, 1, bytes);
    bench_photos_crops(photos, seed, self->images, self->raw, NULL);
    bench_batch_make(
        &self->packed, BENCH_PACK, self->raw, self->images, BENCH_CROP);
}

static void free_buffers(struct expand_bench *self)
{
    free(self->raw);
    bench_batch_free(&self->packed);
    size_t bytes = (size_t)self->images * BENCH_CROP_BYTES * sizeof(float);
    fby_pages_unmap(self->copy_source, bytes);
    fby_pages_unmap(self->out, bytes);
}

static struct bench_figure compare(struct expand_bench *self, const char *name,
    size_t value_bytes, double (*measured_rate)(void *))
{
    self->out_bytes = (size_t)self->images * BENCH_CROP_BYTES * value_bytes;
    struct bench_pairs result =
        bench_run_pairs(pairs, measured_rate, copy_rate, self);
    bench_print(name, "%6.2f GB/s of %6.2f, ratio %.3f, noise %.1f %%",
        result.a.median, result.b.median, result.ratio.median,
        result.ratio.noise);
    return result.ratio;
}

static struct bench_figure compare_expansion(
    struct expand_bench *self, const char *name, enum fby_type type)
{
    bench_crop_expansion_init(&self->plan, BENCH_RGB, type, FBY_LAYOUT_CHW);
    fby_expansion_set_max_rows(&self->plan, self->images);
    return compare(self, name, fby_type_bytes(type), expand_rate);
}

static void compare_all(
    struct expand_bench *self, const struct bench_photos *photos)
{
    struct bench_figure f32 =
        compare_expansion(self, "u8 HWC -> f32 CHW", FBY_F32);
    struct bench_figure bf16 =
        compare_expansion(self, "u8 HWC -> bf16 CHW", FBY_BF16);
    struct bench_figure f16 =
        compare_expansion(self, "u8 HWC -> f16 CHW", FBY_F16);
    struct bench_figure planes =
        compare(self, "packed photo -> planes", 1, unpack_rate);
    bench_print_reliability(
        fmax(fmax(f32.noise, bf16.noise), fmax(f16.noise, planes.noise)),
        BENCH_ANY_CORES);
    bench_judge("expand_host.f32", f32.median, BENCH_AT_LEAST, 0.9);
    bench_judge("expand_host.bf16", bf16.median, BENCH_AT_LEAST, 0.7);
    bench_judge("expand_host.f16", f16.median, BENCH_AT_LEAST, 0.7);
    bench_photos_judge(
        photos, "expand_host.packed", planes.median, BENCH_AT_LEAST, 0.55);
}

static void run(const struct bench_photos *photos)
{
    struct expand_bench bench;
    make_buffers(&bench, photos);
    compare_all(&bench, photos);
    free_buffers(&bench);
}

int main(int argc, char **argv)
{
    const struct bench_option options[] = {
        {"images", &images, 1, 65536,
            "Number of images (enough for four times the cache, unless memory "
            "is short)"},
        {"pairs", &pairs, 1, BENCH_MAX_PAIRS, "Pairs of runs (7)"},
        {"seed", &seed, 0, UINT64_MAX, "Seed of the crops (1)"},
        {0},
    };
    const struct bench_program program = {"expand_host",
        "Speed of the host device's expansions, against memcpy.", options};
    return bench_photos_main(&program, argc, argv, run);
}
