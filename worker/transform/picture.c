/* SPDX-License-Identifier: Apache-2.0 */
/* picture.c - decode pictures into memory; checks that the formats share. */
#include "worker/transform/picture.h"

#include <string.h>

static fby_err report_no_memory(
    const struct fby_picture_head *head, struct fby_error_detail *why)
{
    return fby_error_set(why, FBY_FULL,
        "no memory for a picture of %u x %u pixels", head->width, head->height);
}

fby_err fby_picture_check_size(const char *format,
    const struct fby_picture_file *file, uint32_t width, uint32_t height,
    uint32_t pixels_per_byte, struct fby_error_detail *why)
{
    uint64_t pixels = (uint64_t)width * height;
    if (width > FBY_MAX_SIDE || height > FBY_MAX_SIDE) {
        return fby_error_set(why, FBY_BAD_SAMPLE,
            "%s claims %u x %u pixels; a picture has at most %d a side: make "
            "it smaller",
            format, width, height, FBY_MAX_SIDE);
    }
    if (pixels > FBY_PICTURE_MAX_PIXELS) {
        return fby_error_set(why, FBY_BAD_SAMPLE,
            "%s claims %u x %u pixels; at most %llu are decoded", format, width,
            height, (unsigned long long)FBY_PICTURE_MAX_PIXELS);
    }
    return pixels / pixels_per_byte <= file->size
               ? FBY_OK
               : fby_error_set(why, FBY_BAD_SAMPLE,
                     "%s claims %u x %u pixels in %zu bytes, more than a %s of "
                     "this size can hold",
                     format, width, height, file->size, format);
}

fby_err fby_picture_alloc_scratch(const struct fby_picture_need *need,
    const struct fby_picture_head *head, struct fby_scratch scratch[2],
    struct fby_error_detail *why)
{
    bool enough = fby_scratch_grow(&scratch[0], need->scratch[0]) == FBY_OK &&
                  fby_scratch_grow(&scratch[1], need->scratch[1]) == FBY_OK;
    return enough ? FBY_OK : report_no_memory(head, why);
}

/* ---- pictures in memory ---- */

static fby_err on_head(void *arg, const struct fby_picture_head *head,
    struct fby_picture_part *part, struct fby_error_detail *why)
{
    struct fby_decoded_part *decoded = arg;
    if (decoded->part.box.w == 0) { /* empty: the whole picture is wanted */
        decoded->part.box =
            (struct fby_box){.w = head->width, .h = head->height};
    }
    *part                = decoded->part;
    decoded->head        = *head;
    decoded->region      = decoded->decoder->region(head, part);
    decoded->n_ready     = 0;
    struct fby_size size = {decoded->region.width, decoded->region.height};
    return fby_image_alloc(&decoded->memory, size, head->channels,
               &decoded->image) == FBY_OK
               ? FBY_OK
               : report_no_memory(head, why);
}

static void on_rows(void *arg, const struct fby_image *rows)
{
    struct fby_decoded_part *decoded = arg;
    for (uint32_t y = 0; y < rows->height; y++) {
        memcpy(decoded->image.pixels + decoded->n_ready * decoded->image.stride,
            rows->pixels + y * rows->stride, decoded->image.stride);
        decoded->n_ready++;
    }
}

fby_err fby_picture_decode_part(struct fby_decoded_part *decoded,
    const struct fby_picture_file *file, struct fby_error_detail *why)
{
    const struct fby_picture_sink sink       = {on_head, on_rows, decoded};
    struct fby_scratch            scratch[2] = {{0}};
    fby_err err = decoded->decoder->stream(file, &sink, scratch, why);
    fby_scratch_fini(&scratch[0]);
    fby_scratch_fini(&scratch[1]);
    return err;
}

fby_err fby_picture_decode(const struct fby_picture_decoder *decoder,
    const struct fby_picture_file *file, struct fby_scratch *memory,
    struct fby_image *out, struct fby_error_detail *why)
{
    struct fby_decoded_part decoded = {
        .decoder = decoder, .part.unit = 1, .memory = *memory};
    fby_err err = fby_picture_decode_part(&decoded, file, why);
    *memory     = decoded.memory; /* which may have grown */
    if (err == FBY_OK) {
        *out = decoded.image;
    }
    return err;
}
