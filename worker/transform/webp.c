/* SPDX-License-Identifier: Apache-2.0 */
/* webp.c - decode untrusted files with libwebp.
 *
 * The library decodes into our memory. It makes the same bytes with and without
 * SIMD. */
#include "worker/transform/webp.h"

#include <string.h>
#include <webp/decode.h>

enum {
    ROW_SLACK       = 64,      /* readable bytes after a row */
    FIXED_BYTES     = 1 << 20, /* tables and state of the library */
    COLUMN_BYTES    = 256,     /* what it keeps for a column of pixels, */
    LOSSLESS_BYTES  = 4,       /* ... for a pixel of a lossless file, */
    ALPHA_BYTES     = 6,       /* ... and for a pixel of a file with alpha */
    MAX_SIDE        = 16383,   /* pixels, of the format */
    RIFF_HEAD_BYTES = 12,
    FORMAT_LOSSY    = 1 /* of WebPBitstreamFeatures */
};

bool fby_picture_is_webp(const struct fby_picture_file *file)
{
    return file->size >= RIFF_HEAD_BYTES &&
           memcmp(file->bytes, "RIFF", 4) == 0 &&
           memcmp(file->bytes + 8, "WEBP", 4) == 0;
}

/* Turn an error of the library into a message. */
static fby_err refuse(VP8StatusCode status, struct fby_error_detail *why)
{
    if (status == VP8_STATUS_OUT_OF_MEMORY) {
        return fby_error_set(why, FBY_FULL, "WebP: out of memory");
    }
    bool is_short =
        status == VP8_STATUS_NOT_ENOUGH_DATA || status == VP8_STATUS_SUSPENDED;
    return fby_error_set(why, FBY_BAD_SAMPLE, "WebP: the file is %s",
        is_short ? "truncated" : "damaged");
}

/* Most bytes that the library allocates for each pixel. */
static uint64_t pixel_bytes(const WebPBitstreamFeatures *features)
{
    bool is_lossy = features->format == FORMAT_LOSSY;
    return features->has_alpha ? ALPHA_BYTES : is_lossy ? 0 : LOSSLESS_BYTES;
}

static struct fby_picture_head head_of(const WebPBitstreamFeatures *features)
{
    uint32_t width  = (uint32_t)features->width;
    uint32_t height = (uint32_t)features->height;
    return (struct fby_picture_head){
        .width         = width,
        .height        = height,
        .orientation   = 1,
        .channels      = FBY_RGB,
        .needs_whole   = true,
        .library_bytes = FIXED_BYTES + (uint64_t)width * COLUMN_BYTES +
                         (uint64_t)width * height * pixel_bytes(features),
    };
}

static fby_err read_head(const struct fby_picture_file *file,
    struct fby_picture_head *out, struct fby_error_detail *why)
{
    WebPBitstreamFeatures features;

    VP8StatusCode status = WebPGetFeatures(file->bytes, file->size, &features);
    if (status != VP8_STATUS_OK) {
        return refuse(status, why);
    }
    if (features.has_animation) {
        return fby_error_set(why, FBY_BAD_SAMPLE,
            "the WebP is an animation, which is not decoded: take a frame, for "
            "example with 'webpmux -get frame 1 FILE -o FRAME.webp'");
    }
    if (features.width > MAX_SIDE || features.height > MAX_SIDE) {
        return fby_error_set(why, FBY_BAD_SAMPLE,
            "WebP claims %d x %d pixels; a picture has at most %d a side",
            features.width, features.height, MAX_SIDE);
    }
    /* A byte can hold any number of pixels. */
    fby_err err = fby_picture_check_size("WebP", file, (uint32_t)features.width,
        (uint32_t)features.height, UINT32_MAX, why);
    if (err == FBY_OK) {
        *out = head_of(&features);
    }
    return err;
}

static struct fby_picture_region region_of(
    const struct fby_picture_head *head, const struct fby_picture_part *part)
{
    (void)head;
    return (struct fby_picture_region){
        .width = part->box.w, .height = part->box.h};
}

static struct fby_picture_need need_of(
    const struct fby_picture_head *head, const struct fby_picture_part *part)
{
    (void)part;
    return (struct fby_picture_need){
        .scratch = {0, fby_image_bytes(head->width, head->height) + ROW_SLACK}};
}

/* Decode the whole picture into `pixels`, without gaps between rows. */
static fby_err decode_whole(const struct fby_picture_file *file,
    const struct fby_picture_head *head, uint8_t *pixels,
    struct fby_error_detail *why)
{
    WebPDecoderConfig config;
    if (!WebPInitDecoderConfig(&config)) {
        return fby_error_set(why, FBY_BAD_SAMPLE,
            "this libwebp is not the one that the program was built with");
    }
    WebPRGBABuffer *rgb              = &config.output.u.RGBA;
    config.output.colorspace         = MODE_RGB;
    config.output.is_external_memory = 1;

    rgb->rgba   = pixels;
    rgb->stride = (int)(head->width * FBY_RGB);
    rgb->size   = (size_t)fby_image_bytes(head->width, head->height);

    VP8StatusCode status = WebPDecode(file->bytes, file->size, &config);
    WebPFreeDecBuffer(&config.output);
    return status == VP8_STATUS_OK ? FBY_OK : refuse(status, why);
}

/* Pass the wanted part of the picture in `memory` to the sink. */
static void deliver_part(const struct fby_picture_sink *sink,
    const struct fby_scratch *memory, const struct fby_picture_head *head,
    const struct fby_box *box)
{
    size_t           stride = (size_t)head->width * FBY_RGB;
    struct fby_image rows   = {memory->memory, stride, box->w, box->h};
    rows.pixels += box->y * stride + (size_t)box->x * FBY_RGB;
    sink->rows(sink->arg, &rows);
}

static fby_err stream(const struct fby_picture_file *file,
    const struct fby_picture_sink *sink, struct fby_scratch scratch[2],
    struct fby_error_detail *why)
{
    struct fby_picture_part part = {.unit = 1};
    struct fby_picture_head head = {0};

    fby_err err = read_head(file, &head, why);
    if (err == FBY_OK) {
        err = sink->head(sink->arg, &head, &part, why);
    }
    if (err == FBY_OK) {
        struct fby_picture_need need = need_of(&head, &part);
        err = fby_picture_alloc_scratch(&need, &head, scratch, why);
    }
    if (err == FBY_OK) {
        err = decode_whole(file, &head, scratch[1].memory, why);
    }
    if (err == FBY_OK) {
        deliver_part(sink, &scratch[1], &head, &part.box);
    }
    return err;
}

const struct fby_picture_decoder fby_webp_picture = {
    read_head, region_of, need_of, stream};
