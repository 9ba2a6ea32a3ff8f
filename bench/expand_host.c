/* expand_host.c - speed at which the host device makes tensors of pictures.
 *
 * One thread expands pictures of 224 x 224 in buffers of at least four times
 * the last-level cache, so that memory is part of the cost: u8 pixels to
 * normalised f32 and bf16 planes, as in the client, and packed photos to u8
 * planes. Output bytes per second of CPU, compared with memcpy of as many. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/album.h"
#include "bench/bench.h"
#include "codec/photo.h"
#include "common/clock.h"
#include "common/mem.h"
#include "common/pages.h"
#include "trainer_client/expand/device.h"

enum { CHUNK_CROPS = 13, CACHE_TIMES = 4 };
static const size_t default_cache = 32 << 20; /* if the size is unknown */

static uint64_t pairs  = 7;
static uint64_t images = 0; /* 0: enough to fill four times the cache */
static uint64_t seed   = 1;

static const struct fby_pictures photo = {.images = CHUNK_CROPS,
    .width                                        = BENCH_CROP,
    .height                                       = BENCH_CROP,
    .planes                                       = 3};

struct fixture {
    uint32_t             images;
    uint8_t             *raw; /* pixels, interleaved */
    uint8_t             *payloads;
    size_t              *sizes;
    uint8_t             *from; /* source of memcpy */
    uint8_t             *out;
    uint8_t             *scratch;
    size_t               out_bytes; /* all images, this run */
    struct fby_expansion plan;
};

static const size_t chunk_bytes = (size_t)CHUNK_CROPS * BENCH_CROP_BYTES;

static double rate(const struct fixture *self, int64_t begun_ns)
{
    return (double)self->out_bytes / (double)(fby_thread_cpu_ns() - begun_ns);
}

static double expand(void *arg)
{
    const struct fixture *self  = arg;
    struct fby_why        why   = {{0}};
    int64_t               begun = fby_thread_cpu_ns();
    if (fby_device_host.expand(
            &self->plan, self->raw, self->images, self->out, &why) != FBY_OK) {
        bench_die("%s", why.text);
    }
    return rate(self, begun);
}

static double unpack(void *arg)
{
    const struct fixture *self  = arg;
    int64_t               begun = fby_thread_cpu_ns();
    for (size_t i = 0; i < self->images / CHUNK_CROPS; i++) {
        if (!fby_photo_decode_planar(&photo,
                self->payloads + i * fby_photo_bound(&photo), self->sizes[i],
                self->out + i * chunk_bytes, self->scratch)) {
            bench_die("the photo decoder refuses our own payload");
        }
    }
    return rate(self, begun);
}

static double copy(void *arg)
{
    const struct fixture *self  = arg;
    int64_t               begun = fby_thread_cpu_ns();
    memcpy(self->out, self->from, self->out_bytes);
    return rate(self, begun);
}

/* ---- set-up -------------------------------------------------------------- */

/* Bytes of the last-level cache; 0 if unknown. sysconf() is not used, because
 * it adds the caches of other packages. */
static size_t last_cache(void)
{
    char  text[32] = "";
    FILE *file = fopen("/sys/devices/system/cpu/cpu0/cache/index3/size", "r");
    if (file == NULL) {
        return 0;
    }
    bool  read = fgets(text, sizeof(text), file) != NULL;
    char *unit = text;
    fclose(file);
    size_t kib = read ? strtoul(text, &unit, 10) : 0;
    return *unit == 'M' ? kib << 20 : kib << 10;
}

static uint32_t count_images(void)
{
    size_t found = last_cache();
    size_t cache = found > 0 ? found : default_cache;
    size_t need  = images > 0 ? images * BENCH_CROP_BYTES : CACHE_TIMES * cache;
    size_t chunks = (need + chunk_bytes - 1) / chunk_bytes;
    bench_row("buffers", "%zu MiB of pixels; the last cache has %zu MiB%s",
        chunks * chunk_bytes >> 20, cache >> 20,
        found > 0 ? "" : " (a guess: the system does not tell)");
    return (uint32_t)(chunks * CHUNK_CROPS);
}

static void make_plan(struct fixture *self, enum fby_type type)
{
    struct fby_why                  why   = {{0}};
    const struct fby_field_content  field = {.name = "image",
         .decode                                   = FBY_DECODE_RGB8,
         .wire_type                                = FBY_U8,
         .as.rgb8.normalize                        = true,
         .as.rgb8.mean                             = {0.485, 0.456, 0.406},
         .as.rgb8.std                              = {0.229, 0.224, 0.225},
         .shape = {3, {BENCH_CROP, BENCH_CROP, 3}}};
    const struct fby_field_delivery to    = {
           .dtype = type, .layout = FBY_LAYOUT_CHW};
    if (fby_expansion_init(&self->plan, &field, &to, &why) != FBY_OK) {
        bench_die("%s", why.text);
    }
}

/* Map memory as the client does for tensors. */
static void *map_pages(size_t bytes)
{
    void *memory = fby_pages_map(bytes);
    if (memory == NULL) {
        bench_die("no memory for %zu bytes", bytes);
    }
    return memory;
}

static void prepare(struct fixture *self, const struct bench_album *album)
{
    self->images   = count_images();
    size_t chunks  = self->images / CHUNK_CROPS;
    size_t bytes   = chunks * chunk_bytes * sizeof(float);
    self->raw      = fby_zalloc(chunks * chunk_bytes);
    self->payloads = fby_zalloc(chunks * fby_photo_bound(&photo));
    self->sizes    = fby_zalloc(chunks * sizeof(*self->sizes));
    self->from     = map_pages(bytes);
    self->out      = map_pages(bytes);
    self->scratch  = aligned_alloc(64, FBY_PHOTO_SCRATCH_BYTES);
    memset(self->from, 1, bytes);
    memset(self->out, 1, bytes);
    bench_album_crops(album, seed, self->images, self->raw, NULL);
    for (size_t i = 0; i < chunks; i++) {
        self->sizes[i] = fby_photo_encode(&photo, self->raw + i * chunk_bytes,
            self->payloads + i * fby_photo_bound(&photo), self->scratch);
    }
}

static void finish(struct fixture *self)
{
    free(self->raw);
    free(self->payloads);
    free(self->sizes);
    size_t bytes = self->images / CHUNK_CROPS * chunk_bytes * sizeof(float);
    fby_pages_unmap(self->from, bytes);
    fby_pages_unmap(self->out, bytes);
    free(self->scratch);
}

/* ---- the runs ------------------------------------------------------------ */

static struct bench_figure compare(struct fixture *self, const char *name,
    size_t value_bytes, double (*make)(void *))
{
    self->out_bytes = (size_t)self->images * BENCH_CROP_BYTES * value_bytes;
    struct bench_pairs result = bench_pairs(pairs, make, copy, self);
    bench_row(name, "%6.2f GB/s of %6.2f, ratio %.3f, noise %.1f %%",
        result.a.median, result.b.median, result.ratio.median,
        result.ratio.noise);
    return result.ratio;
}

static double max_of(double a, double b, double c)
{
    double most = a > b ? a : b;
    return most > c ? most : c;
}

static void compare_all(struct fixture *self, const struct bench_album *album)
{
    make_plan(self, FBY_F32);
    struct bench_figure f32 = compare(self, "u8 HWC -> f32 CHW", 4, expand);
    make_plan(self, FBY_BF16);
    struct bench_figure bf16 = compare(self, "u8 HWC -> bf16 CHW", 2, expand);
    struct bench_figure planes =
        compare(self, "packed photo -> planes", 1, unpack);
    bench_trust(max_of(f32.noise, bf16.noise, planes.noise), 0);
    bench_goal("expand_host.f32", f32.median, BENCH_AT_LEAST, 0.9);
    bench_goal("expand_host.bf16", bf16.median, BENCH_AT_LEAST, 0.7);
    bench_album_goal(
        album, "expand_host.packed", planes.median, BENCH_AT_LEAST, 0.5);
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
        {"images", &images, 1, 1000000,
            "Number of images (four times the cache)", NULL},
        {"pairs", &pairs, 1, BENCH_MAX_PAIRS, "Pairs of runs (7)", NULL},
        {"seed", &seed, 0, UINT64_MAX, "Seed of the crops (1)", NULL},
        {0},
    };
    const struct bench_program program = {"expand_host",
        "Speed of the host device's expansions, against memcpy.", options};
    return bench_album_main(&program, argc, argv, run);
}
