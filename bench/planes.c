/* planes.c - savings and costs of wire: yuv420, compared with u8.
 *
 * Encodes the same random resized crops of 224 x 224 in both formats. Shows the
 * packed bytes, the difference of the delivered pixels, and CPU time of one
 * thread for each stage that differs: file to raw bytes at the worker, packing,
 * unpacking, raw bytes to bf16 planes of red, green and blue at the trainer. No
 * goals, since the format is the user's choice. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "bench/album.h"
#include "codec/codec.h"
#include "common/clock.h"
#include "common/mem.h"
#include "trainer_client/expand/device.h"
#include "worker/transform/field.h"

static uint64_t crops = 512;
static uint64_t pairs = 7;
static uint64_t seed  = 1;

/* ---- one format ---------------------------------------------------------- */

struct wire_format {
    const struct bench_album *album;
    struct fby_transform     *transform;
    struct fby_field_content *field;
    struct fby_expansion     *plan;   /* to bf16 */
    struct fby_expansion     *pixels; /* to u8, interleaved */
    struct fby_codec_job      job;
    size_t                    sample_bytes;
    uint8_t                  *raw;
    uint8_t                  *payload; /* of all crops, `room` bytes each */
    size_t                    room;
    size_t                   *sizes;
    uint8_t                  *out;
};

static struct fby_field_content *field_of(bool yuv420)
{
    struct fby_field_content *field = fby_zalloc(sizeof(*field));
    *field = (struct fby_field_content){.name = "image",
        .group                                = "image",
        .decode                               = FBY_DECODE_RGB8,
        .as.rgb8.dct_scale                    = FBY_DCT_FAITHFUL,
        .wire_type                            = FBY_U8,
        .as.rgb8.yuv420                       = yuv420,
        .n_ops                                = 1,
        .shape             = {3, {BENCH_CROP, BENCH_CROP, 3}},
        .as.rgb8.normalize = true,
        .as.rgb8.mean      = {0.485, 0.456, 0.406},
        .as.rgb8.std       = {0.229, 0.224, 0.225}};
    field->ops[0] =
        (struct fby_op_use){.op = fby_op_by_id(FBY_OP_RANDOM_RESIZED_CROP),
            .params             = {{.n = 2, .i = {BENCH_CROP, BENCH_CROP}},
                            {.n = 2, .real = true, .r = {0.08, 1}},
                            {.n = 2, .real = true, .r = {0.75, 4.0 / 3}}}};
    return field;
}

static struct fby_expansion *plan_of(const struct fby_field_content *field,
    enum fby_type to, enum fby_layout layout)
{
    struct fby_expansion     *plan     = fby_zalloc(sizeof(*plan));
    struct fby_field_content  other    = *field;
    struct fby_field_delivery delivery = {.dtype = to, .layout = layout};
    other.as.rgb8.normalize            = to != FBY_U8;
    if (fby_expansion_init(plan, &other, &delivery, NULL) != FBY_OK) {
        bench_die("no plan");
    }
    plan->name = field->name;
    return plan;
}

static void open_format(
    struct wire_format *self, const struct bench_album *album, bool yuv420)
{
    static struct fby_codec_scratch scratch;
    struct fby_field_content       *field = field_of(yuv420);

    *self = (struct wire_format){
        .album        = album,
        .transform    = fby_transform_create(NULL),
        .field        = field,
        .plan         = plan_of(field, FBY_BF16, FBY_LAYOUT_CHW),
        .pixels       = plan_of(field, FBY_U8, FBY_LAYOUT_HWC),
        .sample_bytes = fby_field_bytes(field),
    };
    self->job = (struct fby_codec_job){
        .coding  = {FBY_FILTER_PHOTO, FBY_CODEC_PACK},
        .params  = yuv420 ? fby_codec_params_of_yuv420(&field->shape)
                          : fby_codec_params_of(FBY_U8, &field->shape),
        .scratch = &scratch,
    };
    self->room    = fby_codec_room(&self->job, self->sample_bytes);
    self->raw     = fby_zalloc(crops * self->sample_bytes);
    self->payload = fby_zalloc(crops * self->room);
    self->sizes   = fby_zalloc(crops * sizeof(*self->sizes));
    self->out     = fby_zalloc((size_t)BENCH_CROP_BYTES * 2);
}

static void close_format(struct wire_format *self)
{
    fby_transform_destroy(&self->transform);
    free(self->field);
    free(self->plan);
    free(self->pixels);
    free(self->raw);
    free(self->payload);
    free(self->sizes);
    free(self->out);
}

/* ---- the stages, for one crop -------------------------------------------- */

static void make(struct wire_format *self, size_t i)
{
    const struct bench_file   *file = &self->album->files[i % self->album->n];
    const struct fby_field_job job  = {.field = self->field,
         .bytes                               = file->bytes,
         .size                                = file->size,
         .seed                                = seed,
         .sample                              = i};
    if (fby_field_write(self->transform, &job,
            self->raw + i * self->sample_bytes, NULL) != FBY_OK) {
        bench_die("the worker refuses a picture of the album");
    }
}

static void pack(struct wire_format *self, size_t i)
{
    struct fby_bytes_in raw = {
        self->raw + i * self->sample_bytes, self->sample_bytes};
    struct fby_bytes_out out = {self->payload + i * self->room, self->room};
    if (fby_codec_encode(&self->job, raw, out, &self->sizes[i]) != FBY_OK) {
        bench_die("a crop cannot be packed");
    }
}

static void unpack(struct wire_format *self, size_t i)
{
    struct fby_bytes_in in = {self->payload + i * self->room, self->sizes[i]};
    if (fby_codec_decode(&self->job, in, self->out, self->sample_bytes) !=
        FBY_OK) {
        bench_die("the codec refuses our own payload");
    }
}

static void expand(struct wire_format *self, size_t i)
{
    if (fby_device_host.expand(self->plan, self->raw + i * self->sample_bytes,
            1, self->out, NULL) != FBY_OK) {
        bench_die("the device fails");
    }
}

/* ---- comparison ---------------------------------------------------------- */

struct comparison {
    struct wire_format planes, pixels;
    void (*work)(struct wire_format *wire_format, size_t i);
};

/* Microseconds of CPU time per crop. */
static double time_of(struct comparison *self, struct wire_format *wire_format)
{
    int64_t begun = fby_thread_cpu_ns();
    for (size_t i = 0; i < crops; i++) {
        self->work(wire_format, i);
    }
    return (double)(fby_thread_cpu_ns() - begun) / 1e3 / (double)crops;
}

static double time_planes(void *arg)
{
    struct comparison *self = arg;
    return time_of(self, &self->planes);
}

static double time_pixels(void *arg)
{
    struct comparison *self = arg;
    return time_of(self, &self->pixels);
}

static void compare(struct comparison *self, const char *name,
    void (*work)(struct wire_format *wire_format, size_t i))
{
    self->work = work;
    time_planes(self); /* warm; also makes the next stage's input */
    time_pixels(self);
    struct bench_pairs times =
        bench_pairs(pairs, time_planes, time_pixels, self);
    bench_row(name, "%8.1f  %8.1f  %6.2f   noise %.1f %%", times.b.median,
        times.a.median, times.ratio.median, times.ratio.noise);
}

static double packed_bytes(const struct wire_format *wire_format)
{
    double sum = 0;
    for (size_t i = 0; i < crops; i++) {
        sum += (double)wire_format->sizes[i];
    }
    return sum / (double)crops;
}

static void compare_bytes(const struct comparison *self)
{
    double planes = packed_bytes(&self->planes);
    double pixels = packed_bytes(&self->pixels);
    bench_row("bytes, stored", "%8zu  %8zu  %6.2f", self->pixels.sample_bytes,
        self->planes.sample_bytes,
        (double)self->planes.sample_bytes / (double)self->pixels.sample_bytes);
    bench_row("bytes, packed", "%8.0f  %8.0f  %6.2f", pixels, planes,
        planes / pixels);
    bench_row("of u8, packed", "%8.3f  %8.3f", pixels / BENCH_CROP_BYTES,
        planes / BENCH_CROP_BYTES);
}

/* Print the difference over all pixels of all crops. */
static void compare_pixels(const struct comparison *self)
{
    const struct wire_format *planes = &self->planes;
    double                    sum    = 0;
    for (size_t i = 0; i < crops; i++) {
        const uint8_t *right = self->pixels.raw + i * BENCH_CROP_BYTES;
        if (fby_device_host.expand(planes->pixels,
                planes->raw + i * planes->sample_bytes, 1, planes->out,
                NULL) != FBY_OK) {
            bench_die("the device fails");
        }
        for (size_t k = 0; k < BENCH_CROP_BYTES; k++) {
            double off = (double)planes->out[k] - right[k];
            sum += off * off;
        }
    }
    double mean = sum / (double)crops / BENCH_CROP_BYTES;
    bench_row("difference", "%.2f levels (root mean square), PSNR %.1f dB",
        sqrt(mean), 10 * log10(255 * 255 / mean));
}

static void run(const struct bench_album *album)
{
    struct comparison self = {.work = NULL};
    open_format(&self.planes, album, true);
    open_format(&self.pixels, album, false);
    bench_row("us of CPU a crop", "%8s  %8s  %6s", "u8", "yuv420", "ratio");
    compare(&self, "file to raw bytes", make);
    compare(&self, "packing", pack);
    compare(&self, "unpacking", unpack);
    compare(&self, "to bf16 planes", expand);
    compare_bytes(&self);
    compare_pixels(&self);
    close_format(&self.planes);
    close_format(&self.pixels);
}

int main(int argc, char **argv)
{
    const struct bench_option options[] = {
        {"crops", &crops, 1, 100000, "Number of crops (512)", NULL},
        {"pairs", &pairs, 1, BENCH_MAX_PAIRS, "Pairs of runs (7)", NULL},
        {"seed", &seed, 0, UINT64_MAX, "Seed of the crops (1)", NULL},
        {0},
    };
    const struct bench_program program = {"planes",
        "Bytes and CPU time of 224 x 224 crops as yuv420 and as u8.", options};
    return bench_album_main(&program, argc, argv, run);
}
