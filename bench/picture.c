/* picture.c - the album's work on single pictures: reference decoder, crops,
 * enlarged copies. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

#include "bench/album.h"
#include "common/mem.h"
#include "pipeline/plan/geometry.h"
#include "worker/transform/jpeg.h"
#include "worker/transform/resize/resize.h"

enum { QUALITY = 90 };

/* ---- the reference decoder ----------------------------------------------- */

struct pixels { /* one per thread */
    uint8_t *at;
    size_t   size;
};

static void decode_in_full(const struct bench_file *file, struct pixels *out)
{
    struct jpeg_decompress_struct jpeg;
    struct jpeg_error_mgr         errors;
    jpeg.err = jpeg_std_error(&errors); /* exits; load() has tried all files */
    jpeg_create_decompress(&jpeg);
    jpeg_mem_src(&jpeg, file->bytes, file->size);
    jpeg_read_header(&jpeg, TRUE);
    jpeg.out_color_space = JCS_RGB;
    jpeg_start_decompress(&jpeg);
    size_t stride = (size_t)jpeg.output_width * 3;
    if (stride * jpeg.output_height > out->size) {
        out->size = stride * jpeg.output_height;
        out->at   = fby_regrow(out->at, out->size);
    }
    while (jpeg.output_scanline < jpeg.output_height) {
        JSAMPROW row = out->at + stride * jpeg.output_scanline;
        jpeg_read_scanlines(&jpeg, &row, 1);
    }
    jpeg_finish_decompress(&jpeg);
    jpeg_destroy_decompress(&jpeg);
}

void bench_album_decode(const struct bench_album *self, size_t first, size_t n)
{
    struct pixels pixels = {0};
    for (size_t i = first; i < first + n; i++) {
        decode_in_full(&self->files[i % self->n], &pixels);
    }
    free(pixels.at);
}

/* ---- crops --------------------------------------------------------------- */

struct picture_buffers {
    struct fby_scratch decoded;
    struct fby_scratch scaled;
    struct fby_resizer resizer;
};

static void free_buffers(struct picture_buffers *self)
{
    fby_scratch_fini(&self->decoded);
    fby_scratch_fini(&self->scaled);
    fby_resizer_fini(&self->resizer);
}

static struct fby_image decode(
    struct picture_buffers *self, const struct bench_file *file)
{
    struct fby_image              image;
    struct fby_why                why  = {{0}};
    const struct fby_picture_file jpeg = {file->bytes, file->size};
    if (fby_jpeg_decode(&jpeg, &self->decoded, &image, &why) != FBY_OK) {
        bench_die("%s", why.text);
    }
    return image;
}

static struct fby_image window_of(
    const struct fby_image *image, const struct fby_box *box)
{
    return (struct fby_image){
        .pixels =
            image->pixels + box->y * image->stride + (size_t)box->x * FBY_RGB,
        .stride = image->stride,
        .width  = box->w,
        .height = box->h,
    };
}

static void scale(struct picture_buffers *self, const struct fby_image *from,
    const struct fby_image *to)
{
    const struct fby_resize_spec whole = fby_resize_whole(from, to);
    if (fby_resize(&self->resizer, from, &whole, to) != FBY_OK) {
        bench_die("a picture cannot be scaled");
    }
}

static struct fby_box draw_box(
    const struct bench_file *file, uint64_t seed, size_t i)
{
    static const double scale_range[2] = {0.08, 1};
    static const double ratio_range[2] = {3. / 4, 4. / 3};
    struct fby_box      box;
    struct fby_draw     draw =
        fby_draw_begin(seed, 0, i, "image", "random_resized_crop", 0);
    if (!fby_plan_random_resized_crop(&draw,
            (struct fby_size){file->width, file->height}, scale_range,
            ratio_range, &box)) {
        bench_die("a picture has no crop");
    }
    return box;
}

static void crop_one(struct picture_buffers *self,
    const struct bench_file *file, const struct fby_box *box, uint8_t *pixels)
{
    struct fby_image       image  = decode(self, file);
    const struct fby_image window = window_of(&image, box);
    struct fby_image       crop   = {.stride = (size_t)BENCH_CROP * FBY_RGB,
                .width                       = BENCH_CROP,
                .height                      = BENCH_CROP};
    crop.pixels                   = pixels;
    scale(self, &window, &crop);
}

void bench_album_crops(const struct bench_album *self, uint64_t seed, size_t n,
    uint8_t *out, bool *upscaled)
{
    struct picture_buffers room = {0};
    for (size_t i = 0; i < n; i++) {
        const struct bench_file *file = &self->files[i % self->n];
        struct fby_box           box  = draw_box(file, seed, i);
        crop_one(&room, file, &box, out + i * BENCH_CROP_BYTES);
        if (upscaled != NULL) {
            upscaled[i] = box.w < BENCH_CROP || box.h < BENCH_CROP;
        }
    }
    free_buffers(&room);
}

/* ---- enlarged copies ----------------------------------------------------- */

static void encode(const struct fby_image *image, struct bench_file *out)
{
    struct jpeg_compress_struct jpeg;
    struct jpeg_error_mgr       errors;
    unsigned char              *bytes = NULL;
    unsigned long               size  = 0;
    jpeg.err                          = jpeg_std_error(&errors);
    jpeg_create_compress(&jpeg);
    jpeg_mem_dest(&jpeg, &bytes, &size);
    jpeg.image_width      = image->width;
    jpeg.image_height     = image->height;
    jpeg.input_components = FBY_RGB;
    jpeg.in_color_space   = JCS_RGB;
    jpeg_set_defaults(&jpeg);
    jpeg_set_quality(&jpeg, QUALITY, TRUE);
    jpeg_start_compress(&jpeg, TRUE);
    while (jpeg.next_scanline < jpeg.image_height) {
        JSAMPROW row = image->pixels + image->stride * jpeg.next_scanline;
        jpeg_write_scanlines(&jpeg, &row, 1);
    }
    jpeg_finish_compress(&jpeg);
    jpeg_destroy_compress(&jpeg);
    *out = (struct bench_file){.bytes = bytes,
        .size                         = size,
        .width                        = image->width,
        .height                       = image->height};
}

static void enlarge(struct picture_buffers *room, const struct bench_file *from,
    uint64_t pixels, struct bench_file *out)
{
    struct fby_image small = decode(room, from);
    struct fby_image large;
    uint32_t         times = 1;
    while ((uint64_t)small.width * small.height * times * times < pixels) {
        times++;
    }
    struct fby_size size = {small.width * times, small.height * times};
    if (fby_image_of(&room->scaled, size, FBY_RGB, &large) != FBY_OK) {
        bench_die("no memory for a picture");
    }
    scale(room, &small, &large);
    encode(&large, out);
}

void bench_album_enlarge(const struct bench_album *from, size_t n,
    uint64_t pixels, struct bench_album *out)
{
    struct picture_buffers room = {0};
    out->n                      = n < from->n ? n : from->n;
    out->synthetic              = from->synthetic;
    out->files                  = fby_zalloc(out->n * sizeof(*out->files));
    for (size_t i = 0; i < out->n; i++) {
        enlarge(&room, &from->files[i], pixels, &out->files[i]);
    }
    free_buffers(&room);
}
