/* SPDX-License-Identifier: Apache-2.0 */
/* host_flips.c - expand pictures whose only random ops are flips.
 *
 * The pixels of a flipped picture are copied to a buffer in the order of the
 * output. The kernel for unflipped pictures then expands the buffer, which
 * stays in the cache. The buffer holds several lines if they are short, so that
 * the kernel gets many pixels. Masks are expanded line by line, unbuffered. */
#include "trainer_client/expand/host_picture.h"

#include <string.h>

enum { BUFFER_PIXELS = 4096, RGB = 3 /* channels, each of one byte */ };

void fby_reverse_portable(const uint8_t *raw, uint32_t n, uint8_t *out)
{
    for (uint32_t i = 0; i < n; i++) {
        memcpy(out + (size_t)i * RGB, raw + (size_t)(n - 1 - i) * RGB, RGB);
    }
}

struct flip_buffer {
    struct fby_picture   picture;
    struct fby_expansion plan; /* plan.pixels: number of pixels in `bytes` */
    fby_expand_image_fn *expand;
    fby_reverse_fn      *reverse;
    size_t               n_flushed; /* pixels that are expanded already */
    uint8_t             *out;       /* the whole output picture */
    uint8_t              bytes[BUFFER_PIXELS * RGB];
};

/* Expand the buffer, append the result to the output, and empty the buffer. */
static void flush(struct flip_buffer *self)
{
    bool   planar = self->plan.layout == FBY_LAYOUT_CHW;
    size_t stride = fby_type_bytes(self->plan.to) * (planar ? 1 : (size_t)RGB);
    if (self->plan.pixels > 0) {
        self->expand(&self->plan, self->bytes, /*non_temporal=*/false,
            self->out + self->n_flushed * stride);
    }
    self->n_flushed += self->plan.pixels;
    self->plan.pixels = 0;
}

/* Append line `y` of the output to the buffer. Flush the buffer when full. */
static void append_line(struct flip_buffer *self, uint32_t y)
{
    uint32_t width = self->plan.ops.width;
    for (uint32_t x = 0; x < width;) {
        uint32_t space = BUFFER_PIXELS - self->plan.pixels;
        uint32_t n     = width - x < space ? width - x : space;
        uint8_t *to    = self->bytes + (size_t)self->plan.pixels * RGB;
        /* Raw pixels, reversed below if mirror_x. The call may reduce `n`. */
        const uint8_t *from = fby_picture_pixels(&self->picture, x, y, &n);
        if (self->picture.mirror_x) {
            self->reverse(from, n, to);
        } else {
            memcpy(to, from, (size_t)n * RGB);
        }
        x += n;
        self->plan.pixels += n;
        if (self->plan.pixels == BUFFER_PIXELS) {
            flush(self);
        }
    }
}

static void expand_flipped_rgb(struct flip_buffer *self,
    const struct fby_ops_row *row, const uint8_t *raw, uint8_t *out)
{
    fby_picture_init(&self->picture, &self->plan, row, raw);
    self->n_flushed = 0;
    self->out       = out;
    for (uint32_t y = 0; y < self->plan.ops.height; y++) {
        append_line(self, y);
    }
    flush(self);
}

static void expand_flipped_mask(const struct fby_expansion *plan,
    const struct fby_ops_row *row, const uint8_t *raw, uint8_t *out)
{
    size_t line_bytes = (size_t)plan->ops.width * plan->channels;
    for (uint32_t out_y = 0; out_y < plan->ops.height; out_y++) {
        uint32_t raw_y = row->mirror_y ? plan->ops.height - 1 - out_y : out_y;
        fby_expand_line(plan, raw + raw_y * line_bytes, row->mirror_x != 0,
            (size_t)out_y * plan->ops.width, out);
    }
}

static void expand_unflipped(const struct fby_expansion *plan,
    const uint8_t *raw, fby_expand_image_fn *expand, uint8_t *out)
{
    if (plan->yuv420) {
        fby_expand_yuv(plan, raw, /*non_temporal=*/false, out);
    } else {
        expand(plan, raw, /*non_temporal=*/false, out);
    }
}

void fby_expand_flips(const struct fby_expand_job *job)
{
    const struct fby_expansion *plan = job->plan;
    struct flip_buffer          buffer;
    buffer.plan        = *plan;
    buffer.plan.pixels = 0;
    buffer.expand      = fby_expand_image_kernel(fby_simd_level());
    buffer.reverse     = fby_reverse_kernel(fby_simd_level());
    for (uint32_t r = 0; r < job->rows; r++) {
        const struct fby_ops_row *row = &job->params[r];
        const uint8_t *raw = (const uint8_t *)job->raw + r * plan->raw_bytes;
        uint8_t       *out = (uint8_t *)job->out + r * plan->out_bytes;
        if (row->mirror_x == 0 && row->mirror_y == 0) {
            expand_unflipped(plan, raw, buffer.expand, out);
        } else if (plan->channels == RGB) {
            expand_flipped_rgb(&buffer, row, raw, out);
        } else {
            expand_flipped_mask(plan, row, raw, out);
        }
    }
}
