#include "trainer_client/expand/picture.h"

void fby_picture_init(struct fby_picture *self,
    const struct fby_expansion *plan, const struct fby_ops_row *row,
    const uint8_t *raw)
{
    self->raw      = raw;
    self->width    = plan->ops.width;
    self->height   = plan->ops.height;
    self->mirror_x = row->mirror_x != 0;
    self->mirror_y = row->mirror_y != 0;
    self->to_rgb   = plan->yuv420 ? fby_yuv_line_of(fby_simd()) : NULL;
    self->made     = NULL;
}

/* How many pixels from column `x` of the picture on, in the order of the
 * result, are in the same tile. */
static uint32_t left_in_tile(const struct fby_picture *self, uint32_t x)
{
    uint32_t before = x % FBY_YUV_COLUMNS;
    return self->mirror_x ? before + 1 : FBY_YUV_COLUMNS - before;
}

/* RGB from column `x` of line `y` of the picture on. */
static const uint8_t *from_planes(
    struct fby_picture *self, uint32_t x, uint32_t y)
{
    uint32_t            before = x % FBY_YUV_COLUMNS;
    struct fby_yuv_line line =
        fby_yuv_line_at(self->raw, self->width, self->height, x - before, y);
    if (self->made != line.y) {
        self->to_rgb(&line, self->rgb);
        self->made = line.y;
    }
    return self->rgb + 3 * (size_t)before;
}

const uint8_t *fby_picture_pixels(
    struct fby_picture *self, uint32_t x, uint32_t y, uint32_t *n)
{
    uint32_t column = self->mirror_x ? self->width - 1 - x : x;
    uint32_t line   = self->mirror_y ? self->height - 1 - y : y;
    if (self->to_rgb != NULL) {
        uint32_t left = left_in_tile(self, column);
        *n            = *n < left ? *n : left;
    }
    column -= self->mirror_x ? *n - 1 : 0;
    return self->to_rgb != NULL
               ? from_planes(self, column, line)
               : self->raw + 3 * ((size_t)line * self->width + column);
}
