/* SPDX-License-Identifier: Apache-2.0 */
/* planes.c - savings and costs of `wire: yuv420`, compared with u8.
 *
 * Encodes the same random resized crops of 224 x 224 in both formats. Shows the
 * packed bytes, the difference of the delivered pixels, and the CPU time of one
 * thread for each stage that differs:
 * - the worker decodes a file to raw bytes
 * - the worker packs the raw bytes
 * - the trainer unpacks them
 * - the trainer expands raw bytes to bf16 planes of red, green and blue.
 * There are no goals, since the format is the user's choice. */
#include <math.h>
#include <stdlib.h>

#include "bench/photos.h"
#include "codec/codec.h"
#include "common/clock.h"
#include "common/mem.h"
#include "trainer_client/expand/device.h"
#include "worker/transform/field.h"

static uint64_t crops = 512;
static uint64_t pairs = 7;
static uint64_t seed  = 1;

struct wire_format { /* one format, and all crops in it */
    const struct bench_photos *photos;
    struct fby_transform      *transform;
    struct fby_field_content   field;
    struct fby_expansion       to_bf16;
    struct fby_expansion       to_u8;        /* interleaved RGB */
    struct fby_codec_job       job;          /* photo format 1 */
    size_t                     sample_bytes; /* raw bytes of one crop */
    size_t                     capacity;     /* room for one payload, bytes */
    uint8_t                   *raw;          /* all crops before packing */
    uint8_t *payloads; /* all packed crops, `capacity` bytes each */
    size_t  *sizes;    /* bytes of each payload */
    uint8_t *out;      /* one unpacked or expanded crop */
};

static void open_format(struct wire_format *self,
    const struct bench_photos *photos, enum bench_pixels pixels)
{
    static struct fby_codec_scratch scratch;
    const struct fby_shape         *shape = &self->field.shape;
    bench_crop_field_init(&self->field, pixels);
    bench_crop_expansion_init(&self->to_bf16, pixels, FBY_BF16, FBY_LAYOUT_CHW);
    bench_crop_expansion_init(&self->to_u8, pixels, FBY_U8, FBY_LAYOUT_HWC);
    self->field.as.rgb8.dct_scale = FBY_DCT_FAITHFUL;
    self->photos                  = photos;
    self->transform               = fby_transform_create(/* limits */ NULL);
    self->sample_bytes            = fby_field_bytes(&self->field);
    self->job.coding  = (struct fby_coding){FBY_FILTER_PHOTO, FBY_CODEC_PACK};
    self->job.params  = pixels == BENCH_YUV420
                            ? fby_codec_params_of_yuv420(shape)
                            : fby_codec_params_of(FBY_U8, shape);
    self->job.scratch = &scratch;
    self->capacity = fby_codec_encode_capacity(&self->job, self->sample_bytes);
    self->raw      = fby_zalloc(crops * self->sample_bytes);
    self->payloads = fby_zalloc(crops * self->capacity);
    self->sizes    = fby_zalloc(crops * sizeof(*self->sizes));
    self->out      = fby_zalloc((size_t)BENCH_CROP_BYTES * 2); /* as bf16 */
}

static void close_format(struct wire_format *self)
{
    fby_transform_destroy(&self->transform);
    free(self->raw);
    free(self->payloads);
    free(self->sizes);
    free(self->out);
}

static uint8_t *raw_at(const struct wire_format *self, size_t i)
{
    return self->raw + i * self->sample_bytes;
}

static void file_to_raw(struct wire_format *self, size_t i)
{
    const struct bench_photo *file = &self->photos->photos[i % self->photos->n];
    const struct fby_field_job job = {.field = &self->field,
        .bytes                               = file->bytes,
        .size                                = file->size,
        .seed                                = seed,
        .sample                              = i};
    if (fby_field_write(self->transform, &job, raw_at(self, i), NULL) !=
        FBY_OK) {
        bench_die("the worker refuses a photograph");
    }
}

static void pack_raw(struct wire_format *self, size_t i)
{
    struct fby_bytes_in  raw = {raw_at(self, i), self->sample_bytes};
    struct fby_bytes_out out = {
        self->payloads + i * self->capacity, self->capacity};
    if (fby_codec_encode(&self->job, raw, out, &self->sizes[i]) != FBY_OK) {
        bench_die("a crop cannot be packed");
    }
}

static void unpack_payload(struct wire_format *self, size_t i)
{
    struct fby_bytes_in payload = {
        self->payloads + i * self->capacity, self->sizes[i]};
    if (fby_codec_decode(&self->job, payload, self->out, self->sample_bytes) !=
        FBY_OK) {
        bench_die("the codec cannot decode a crop that it encoded");
    }
}

static void expand_raw(
    struct wire_format *self, const struct fby_expansion *plan, size_t i)
{
    if (fby_device_host.expand(plan, raw_at(self, i), 1, self->out, NULL) !=
        FBY_OK) {
        bench_die("the host device cannot expand a crop");
    }
}

static void raw_to_bf16(struct wire_format *self, size_t i)
{
    expand_raw(self, &self->to_bf16, i);
}

struct format_comparison {
    struct wire_format yuv420, u8;
    void (*stage)(struct wire_format *, size_t i); /* to be measured */
};

/* Microseconds of CPU time of the stage per crop. */
static double stage_us(
    struct format_comparison *self, struct wire_format *wire_format)
{
    int64_t begun = fby_thread_cpu_ns();
    for (size_t i = 0; i < crops; i++) {
        self->stage(wire_format, i);
    }
    return (double)(fby_thread_cpu_ns() - begun) / 1e3 / (double)crops;
}

static double yuv420_us(void *arg)
{
    struct format_comparison *self = arg;
    return stage_us(self, &self->yuv420);
}

static double u8_us(void *arg)
{
    struct format_comparison *self = arg;
    return stage_us(self, &self->u8);
}

/* Measure a stage in both formats, and print a row. */
static void compare_stage(struct format_comparison *self, const char *name,
    void (*stage)(struct wire_format *, size_t i))
{
    self->stage = stage;
    yuv420_us(self); /* warm up, and make the input of the next stage */
    u8_us(self);
    struct bench_pairs times = bench_run_pairs(pairs, yuv420_us, u8_us, self);
    bench_print(name, "%8.1f  %8.1f  %6.2f   noise %.1f %%", times.b.median,
        times.a.median, times.ratio.median, times.ratio.noise);
}

static double mean_packed_bytes(const struct wire_format *wire_format)
{
    double sum = 0;
    for (size_t i = 0; i < crops; i++) {
        sum += (double)wire_format->sizes[i];
    }
    return sum / (double)crops;
}

static void compare_bytes(const struct format_comparison *self)
{
    double yuv420 = mean_packed_bytes(&self->yuv420);
    double u8     = mean_packed_bytes(&self->u8);
    bench_print("bytes, raw", "%8zu  %8zu  %6.2f", self->u8.sample_bytes,
        self->yuv420.sample_bytes,
        (double)self->yuv420.sample_bytes / (double)self->u8.sample_bytes);
    bench_print(
        "bytes, packed", "%8.0f  %8.0f  %6.2f", u8, yuv420, yuv420 / u8);
    bench_print("packed / raw u8", "%8.3f  %8.3f", u8 / BENCH_CROP_BYTES,
        yuv420 / BENCH_CROP_BYTES);
}

/* Print the difference between pixels of yuv420 and of u8, over all crops. */
static void compare_pixels(struct format_comparison *self)
{
    struct wire_format *yuv420 = &self->yuv420;
    double              sum    = 0;
    for (size_t i = 0; i < crops; i++) {
        const uint8_t *expected = raw_at(&self->u8, i);
        expand_raw(yuv420, &yuv420->to_u8, i);
        for (size_t k = 0; k < BENCH_CROP_BYTES; k++) {
            double error = (double)yuv420->out[k] - expected[k];
            sum += error * error;
        }
    }
    double mean_square = sum / (double)crops / BENCH_CROP_BYTES;
    bench_print("difference", "%.2f levels (root mean square), PSNR %.1f dB",
        sqrt(mean_square), 10 * log10(255 * 255 / mean_square));
}

static void run(const struct bench_photos *photos)
{
    static struct format_comparison self;
    open_format(&self.yuv420, photos, BENCH_YUV420);
    open_format(&self.u8, photos, BENCH_RGB);
    bench_print("us of CPU a crop", "%8s  %8s  %6s", "u8", "yuv420", "ratio");
    compare_stage(&self, "file to raw bytes", file_to_raw);
    compare_stage(&self, "packing", pack_raw);
    compare_stage(&self, "unpacking", unpack_payload);
    compare_stage(&self, "to bf16 planes", raw_to_bf16);
    compare_bytes(&self);
    compare_pixels(&self);
    close_format(&self.yuv420);
    close_format(&self.u8);
}

int main(int argc, char **argv)
{
    const struct bench_option options[] = {
        {"crops", &crops, 1, 100000, "Number of crops (512)"},
        {"pairs", &pairs, 1, BENCH_MAX_PAIRS, "Pairs of runs (7)"},
        {"seed", &seed, 0, UINT64_MAX, "Seed of the crops (1)"},
        {0},
    };
    const struct bench_program program = {"planes",
        "Bytes and CPU time of 224 x 224 crops as yuv420 and as u8.", options};
    return bench_photos_main(&program, argc, argv, run);
}
