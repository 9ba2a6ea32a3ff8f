/* SPDX-License-Identifier: Apache-2.0 */
/* flip_pad_erase.c - the steps vertical_flip, pad and erase. */
#include <string.h>

#include "worker/transform/steps/steps.h"

static void swap_rows(uint8_t *a, uint8_t *b, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        uint8_t byte = a[i];
        a[i]         = b[i];
        b[i]         = byte;
    }
}

void fby_apply_vertical_flip(const struct fby_step_work *work)
{
    const struct fby_image *image = &work->in;
    size_t                  size  = (size_t)image->width * work->channels;
    for (uint32_t y = 0; y < image->height / 2; y++) {
        swap_rows(fby_image_row(image, y),
            fby_image_row(image, image->height - 1 - y), size);
    }
}

enum { NO_PIXEL = -1 }; /* no source pixel (or row): use the fill */

/* The source pixel, 0..n-1 or NO_PIXEL, for `position`, which may be outside. A
 * reflection must not reach beyond the other end. */
static int64_t source_pixel(int64_t position, int64_t n, enum fby_pad_mode mode)
{
    if (position >= 0 && position < n) {
        return position;
    }
    bool before = position < 0; /* else the position is after the last pixel */
    switch (mode) {
    case FBY_PAD_EDGE:
        return before ? 0 : n - 1;
    case FBY_PAD_REFLECT:
        return before ? -position : 2 * n - 2 - position;
    case FBY_PAD_SYMMETRIC:
        return before ? -position - 1 : 2 * n - 1 - position;
    case FBY_PAD_CONSTANT:
        break;
    }
    return NO_PIXEL;
}

/* Write a row of the result from row `y` of the source, or NO_PIXEL. */
static void pad_row(const struct fby_step_work *work, int64_t y, uint8_t *out)
{
    const int64_t    *v           = work->step->v;
    enum fby_pad_mode mode        = (enum fby_pad_mode)v[FBY_PAD_MODE];
    struct fby_paint  fill        = fby_paint_from_grey(work, v[FBY_PAD_FILL]);
    uint32_t          pixel_bytes = work->channels;
    const uint8_t    *row =
        y == NO_PIXEL ? NULL : fby_image_row(&work->in, (uint32_t)y);
    for (uint32_t x = 0; x < work->out.width; x++) {
        int64_t in_x = source_pixel(x - v[FBY_PAD_LEFT], work->in.width, mode);
        bool    is_filled = row == NULL || in_x == NO_PIXEL;
        memcpy(out + (size_t)x * pixel_bytes,
            is_filled ? fill.level : row + (size_t)in_x * pixel_bytes,
            pixel_bytes);
    }
}

void fby_apply_pad(const struct fby_step_work *work)
{
    const int64_t    *v    = work->step->v;
    enum fby_pad_mode mode = (enum fby_pad_mode)v[FBY_PAD_MODE];
    for (uint32_t y = 0; y < work->out.height; y++) {
        int64_t in_y = source_pixel(y - v[FBY_PAD_TOP], work->in.height, mode);
        pad_row(work, in_y, fby_image_row(&work->out, y));
    }
}

/* Indices in step->v of an erase; ERASE_RGB is the first of three. */
enum { ERASE_X, ERASE_Y, ERASE_W, ERASE_H, ERASE_RGB };

void fby_apply_erase(const struct fby_step_work *work)
{
    const int64_t   *v     = work->step->v;
    struct fby_paint paint = fby_paint_from_rgb(work, v + ERASE_RGB);
    for (int64_t y = v[ERASE_Y]; y < v[ERASE_Y] + v[ERASE_H]; y++) {
        uint8_t *row = fby_image_row(&work->in, (uint32_t)y);
        for (int64_t x = v[ERASE_X]; x < v[ERASE_X] + v[ERASE_W]; x++) {
            memcpy(row + x * FBY_RGB, paint.level, FBY_RGB);
        }
    }
}
