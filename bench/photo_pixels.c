/* SPDX-License-Identifier: Apache-2.0 */
/* photo_pixels.c - the functions of photos.h that compute pixels: the reference
 * decoder, crops, and enlarged copies of photographs. */
#include <stdio.h>
#include <stdlib.h>

#include <jpeglib.h>

#include "bench/photos.h"
#include "common/mem.h"
#include "worker/transform/field.h"
#include "worker/transform/jpeg.h"
#include "worker/transform/resize/resize.h"

struct pixels { /* a buffer that grows */
    uint8_t *data;
    size_t   size; /* bytes */
};

static void decode_in_full(const struct bench_photo *photo, struct pixels *out)
{
    struct jpeg_decompress_struct jpeg;
    struct jpeg_error_mgr         errors;
    jpeg.err = jpeg_std_error(&errors); /* exits on errors */
    jpeg_create_decompress(&jpeg);
    jpeg_mem_src(&jpeg, photo->bytes, photo->size);
    jpeg_read_header(&jpeg, TRUE);
    jpeg.out_color_space = JCS_RGB;
    jpeg_start_decompress(&jpeg);
    size_t stride = (size_t)jpeg.output_width * 3;
    if (stride * jpeg.output_height > out->size) {
        out->size = stride * jpeg.output_height;
        out->data = fby_realloc(out->data, out->size);
    }
    while (jpeg.output_scanline < jpeg.output_height) {
        JSAMPROW row = out->data + stride * jpeg.output_scanline;
        jpeg_read_scanlines(&jpeg, &row, 1);
    }
    jpeg_finish_decompress(&jpeg);
    jpeg_destroy_decompress(&jpeg);
}

void bench_photos_decode(
    const struct bench_photos *self, size_t first, size_t n)
{
    struct pixels pixels = {0};
    for (size_t i = first; i < first + n; i++) {
        decode_in_full(&self->photos[i % self->n], &pixels);
    }
    free(pixels.data);
}

void bench_crop_field_init(
    struct fby_field_content *out, enum bench_pixels pixels)
{
    *out = (struct fby_field_content){.name = "image",
        .group                              = "image",
        .decode                             = FBY_DECODE_RGB8,
        .as.rgb8.dct_scale                  = FBY_DCT_OFF,
        .as.rgb8.yuv420                     = pixels == BENCH_YUV420,
        .as.rgb8.normalize                  = true,
        .as.rgb8.mean                       = {0.485, 0.456, 0.406},
        .as.rgb8.std                        = {0.229, 0.224, 0.225},
        .wire_type                          = FBY_U8,
        .n_ops                              = 1,
        .shape                              = {3, {BENCH_CROP, BENCH_CROP, 3}}};
    out->ops[0] =
        (struct fby_op_use){.op = fby_op_by_id(FBY_OP_RANDOM_RESIZED_CROP),
            /* size, scale, ratio */
            .params = {{.n = 2, .i = {BENCH_CROP, BENCH_CROP}},
                {.n = 2, .real = true, .r = {0.08, 1}},
                {.n = 2, .real = true, .r = {3. / 4, 4. / 3}}}};
}

/* Returns true if the area cut out of the photograph is narrower or lower than
 * the crop. */
static bool is_upscaled(const struct fby_field_job *job)
{
    struct fby_error_detail why = {{0}};
    struct fby_field_plan   plan;
    if (fby_field_plan(job, &plan, &why) != FBY_OK) {
        bench_die("%s", why.text);
    }
    return plan.plans[0].w < BENCH_CROP || plan.plans[0].h < BENCH_CROP;
}

static struct fby_field_job crop_job(const struct bench_photos *photos,
    const struct fby_field_content *field, uint64_t seed, size_t i)
{
    const struct bench_photo *photo = &photos->photos[i % photos->n];
    return (struct fby_field_job){.field = field,
        .bytes                           = photo->bytes,
        .size                            = photo->size,
        .seed                            = seed,
        .sample                          = i};
}

static void write_crop(struct fby_transform *transform,
    const struct fby_field_job *job, uint8_t *out)
{
    struct fby_error_detail why = {{0}};
    if (fby_field_write(transform, job, out, &why) != FBY_OK) {
        bench_die("%s", why.text);
    }
}

void bench_photos_crops(const struct bench_photos *self, uint64_t seed,
    size_t n, uint8_t *out, bool *upscaled)
{
    struct fby_field_content field;
    struct fby_transform *transform = fby_transform_create(/* limits */ NULL);
    bench_crop_field_init(&field, BENCH_RGB);
    for (size_t i = 0; i < n; i++) {
        const struct fby_field_job job = crop_job(self, &field, seed, i);
        write_crop(transform, &job, out + i * BENCH_CROP_BYTES);
        if (upscaled != NULL) {
            upscaled[i] = is_upscaled(&job);
        }
    }
    fby_transform_destroy(&transform);
}

void bench_photos_discard_crops(
    const struct bench_photos *self, size_t first, size_t n)
{
    struct fby_field_content field;
    struct fby_transform *transform = fby_transform_create(/* limits */ NULL);
    uint8_t              *crop      = fby_zalloc(BENCH_CROP_BYTES);
    bench_crop_field_init(&field, BENCH_RGB);
    field.as.rgb8.dct_scale = FBY_DCT_FAITHFUL;
    for (size_t i = first; i < first + n; i++) {
        const struct fby_field_job job =
            crop_job(self, &field, /* seed */ 1, i);
        write_crop(transform, &job, crop);
    }
    free(crop);
    fby_transform_destroy(&transform);
}

void bench_crop_expansion_init(struct fby_expansion *out,
    enum bench_pixels pixels, enum fby_type type, enum fby_layout layout)
{
    static struct fby_field_content field; /* *out points to its name */
    struct fby_error_detail         why  = {{0}};
    const struct fby_field_delivery form = {.dtype = type, .layout = layout};
    bench_crop_field_init(&field, pixels);
    field.as.rgb8.normalize = type != FBY_U8;
    if (fby_expansion_init(out, &field, &form, &why) != FBY_OK) {
        bench_die("%s", why.text);
    }
}

enum { ENLARGED_QUALITY = 90 };

static void encode_jpeg(const struct fby_image *image, struct bench_photo *out)
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
    jpeg_set_quality(&jpeg, ENLARGED_QUALITY, TRUE);
    jpeg_start_compress(&jpeg, TRUE);
    while (jpeg.next_scanline < jpeg.image_height) {
        JSAMPROW row = image->pixels + image->stride * jpeg.next_scanline;
        jpeg_write_scanlines(&jpeg, &row, 1);
    }
    jpeg_finish_compress(&jpeg);
    jpeg_destroy_compress(&jpeg);
    *out = (struct bench_photo){.bytes = bytes,
        .size                          = size,
        .width                         = image->width,
        .height                        = image->height};
}

struct enlarge_buffers { /* reused for all copies */
    struct fby_scratch decoded, scaled;
    struct fby_resizer resizer;
};

static void enlarge_photo(struct enlarge_buffers *buffers,
    const struct bench_photo *photo, uint64_t min_pixels,
    struct bench_photo *out)
{
    const struct fby_picture_file file = {photo->bytes, photo->size};
    struct fby_error_detail       why  = {{0}};
    struct fby_image              small;
    struct fby_image              large;
    uint32_t                      factor = 1; /* of width and of height */
    if (fby_picture_decode(&fby_jpeg_picture, &file, &buffers->decoded, &small,
            &why) != FBY_OK) {
        bench_die("%s", why.text);
    }
    while (
        (uint64_t)small.width * small.height * factor * factor < min_pixels) {
        factor++;
    }
    const struct fby_size size = {small.width * factor, small.height * factor};
    if (fby_image_alloc(&buffers->scaled, size, FBY_RGB, &large) != FBY_OK) {
        bench_die("there is too little memory for a picture");
    }
    const struct fby_resize_spec whole = fby_resize_spec_whole(&small, &large);
    if (fby_resize(&buffers->resizer, &small, &whole, &large) != FBY_OK) {
        bench_die("a picture cannot be scaled");
    }
    encode_jpeg(&large, out);
}

void bench_photos_enlarge(const struct bench_photos *self, size_t n,
    uint64_t min_pixels, struct bench_photos *out)
{
    struct enlarge_buffers buffers = {0};
    out->n                         = n < self->n ? n : self->n;
    out->synthetic                 = self->synthetic;
    out->photos                    = fby_zalloc(out->n * sizeof(*out->photos));
    for (size_t i = 0; i < out->n; i++) {
        enlarge_photo(&buffers, &self->photos[i], min_pixels, &out->photos[i]);
    }
    fby_scratch_fini(&buffers.decoded);
    fby_scratch_fini(&buffers.scaled);
    fby_resizer_fini(&buffers.resizer);
}
