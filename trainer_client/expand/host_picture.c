/* SPDX-License-Identifier: Apache-2.0 */
/* host_picture.c - read the raw pixels of a flipped picture. */
#include "trainer_client/expand/host_picture.h"

void fby_picture_init(struct fby_picture *self,
    const struct fby_expansion *plan, const struct fby_ops_row *row,
    const uint8_t *raw)
{
    self->raw      = raw;
    self->width    = plan->ops.width;
    self->height   = plan->ops.height;
    self->mirror_x = row->mirror_x != 0;
    self->mirror_y = row->mirror_y != 0;
    self->to_rgb = plan->yuv420 ? fby_yuv_line_kernel(fby_simd_level()) : NULL;
    self->converted_y = NULL;
}

/* The number of pixels that the tile has from raw column `x` on, in the
 * direction in which columns are read. */
static uint32_t pixels_left_in_tile(const struct fby_picture *self, uint32_t x)
{
    uint32_t tile_column = x % FBY_YUV_COLUMNS;
    return self->mirror_x ? tile_column + 1 : FBY_YUV_COLUMNS - tile_column;
}

/* Convert line `y` of the tile that has column `x` to RGB, unless self->rgb has
 * that line. Returns the pixels from column `x` on. */
static const uint8_t *convert_from_planes(
    struct fby_picture *self, uint32_t x, uint32_t y)
{
    uint32_t            tile_column = x % FBY_YUV_COLUMNS;
    struct fby_yuv_line line        = fby_yuv_line_at(
               self->raw, self->width, self->height, x - tile_column, y);
    if (self->converted_y != line.y) {
        self->to_rgb(&line, self->rgb);
        self->converted_y = line.y;
    }
    return self->rgb + 3 * (size_t)tile_column;
}

const uint8_t *fby_picture_pixels(
    struct fby_picture *self, uint32_t x, uint32_t y, uint32_t *n)
{
    uint32_t column = self->mirror_x ? self->width - 1 - x : x;
    uint32_t line   = self->mirror_y ? self->height - 1 - y : y;
    if (self->to_rgb != NULL) {
        uint32_t left = pixels_left_in_tile(self, column);
        *n            = *n < left ? *n : left;
    }
    /* In a mirrored line, output pixel x is the last of the *n raw pixels. */
    column -= self->mirror_x ? *n - 1 : 0;
    return self->to_rgb != NULL
               ? convert_from_planes(self, column, line)
               : self->raw + 3 * ((size_t)line * self->width + column);
}
