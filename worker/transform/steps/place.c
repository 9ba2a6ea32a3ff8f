/* place.c - steps that move or replace pixels: vertical_flip, pad, erase. */
#include <string.h>

#include "worker/transform/steps/steps.h"

/* ---- vertical_flip ---- */

static void swap_rows(uint8_t *a, uint8_t *b, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        uint8_t byte = a[i];
        a[i]         = b[i];
        b[i]         = byte;
    }
}

void fby_do_vertical_flip(const struct fby_step_work *work)
{
    const struct fby_image *image = &work->in;
    size_t                  size  = (size_t)image->width * work->channels;
    for (uint32_t y = 0; y < image->height / 2; y++) {
        swap_rows(fby_image_row(image, y),
            fby_image_row(image, image->height - 1 - y), size);
    }
}

/* ---- pad ---- */

/* The source pixel, 0..n-1, for position `at`, which may be outside; -1: fill.
 * A reflection must not reach beyond the other end. */
static int64_t source_of(int64_t at, int64_t n, enum fby_pad_mode mode)
{
    if (at >= 0 && at < n) {
        return at;
    }
    bool before = at < 0;
    switch (mode) {
    case FBY_PAD_EDGE:
        return before ? 0 : n - 1;
    case FBY_PAD_REFLECT:
        return before ? -at : 2 * n - 2 - at;
    case FBY_PAD_SYMMETRIC:
        return before ? -at - 1 : 2 * n - 1 - at;
    case FBY_PAD_CONSTANT:
        break;
    }
    return -1;
}

static void pad_row(const struct fby_step_work *work, int64_t y, uint8_t *out)
{
    const int64_t    *v    = work->step->v;
    enum fby_pad_mode mode = (enum fby_pad_mode)v[5];
    struct fby_paint  fill = fby_step_fill(work, v[4]);
    uint32_t          c    = work->channels;
    const uint8_t *row = y < 0 ? NULL : fby_image_row(&work->in, (uint32_t)y);
    for (uint32_t x = 0; x < work->out.width; x++) {
        int64_t from = source_of(x - v[0], work->in.width, mode);
        if (row == NULL || from < 0) {
            memcpy(out + (size_t)x * c, fill.level, c);
        } else {
            memcpy(out + (size_t)x * c, row + (size_t)from * c, c);
        }
    }
}

void fby_do_pad(const struct fby_step_work *work)
{
    const int64_t    *v    = work->step->v;
    enum fby_pad_mode mode = (enum fby_pad_mode)v[5];
    for (uint32_t y = 0; y < work->out.height; y++) {
        int64_t from = source_of(y - v[1], work->in.height, mode);
        pad_row(work, from, fby_image_row(&work->out, y));
    }
}

/* ---- erase ---- */

void fby_do_erase(const struct fby_step_work *work)
{
    const int64_t   *v     = work->step->v;
    struct fby_paint paint = fby_step_paint(work, v + 4);
    for (int64_t y = v[1]; y < v[1] + v[3]; y++) {
        uint8_t *at = fby_image_row(&work->in, (uint32_t)y) + v[0] * FBY_RGB;
        for (int64_t x = 0; x < v[2]; x++) {
            memcpy(at + x * FBY_RGB, paint.level, FBY_RGB);
        }
    }
}
