/* SPDX-License-Identifier: Apache-2.0 */
/* yuv.h - convert the pixels of a yuv420 picture to RGB.
 *
 * C and CUDA compile the same inline integer arithmetic. Cb and Cr are
 * upsampled with libjpeg's triangle filter ("fancy upsampling"), separately in
 * each tile of 32 lines and 256 columns. In place of a value outside the tile,
 * the filter takes the nearest value inside. So a block of threads needs one
 * tile only. The conversion is BT.601 in full range with 16 fractional bits, as
 * in libjpeg. The RGB levels are then expanded like those of a u8 picture. */
#ifndef FBY_CLIENT_EXPAND_YUV_H
#define FBY_CLIENT_EXPAND_YUV_H

#include "common/yuv420.h"

enum { FBY_YUV_COLUMNS = 256 }; /* columns of Y in a tile */

/* A line (or column) of a tile has `n` values of Cb or Cr. For pixel `i` of the
 * line, the triangle filter mixes value i / 2 with a neighbour. Returns the
 * index of this neighbour. */
FBY_DEVICE_INLINE uint32_t fby_yuv_neighbour(uint32_t i, uint32_t n)
{
    uint32_t near = i / 2;
    if (i % 2 == 0) {
        return near > 0 ? near - 1 : 0;
    }
    return near + 1 < n ? near + 1 : near;
}

/* A line of pixels in a tile. [0] is Cb, [1] is Cr. */
struct fby_yuv_line {
    const uint8_t *y;
    const uint8_t *near[2];     /* the line of Cb or Cr of this line of Y */
    const uint8_t *adjacent[2]; /* the line above or below `near` that the
                                   filter mixes in */
    uint32_t       width;       /* values of Y */
};

/* The part of line `y` of a picture from column `x`, at which a tile begins, to
 * the end of the tile. */
FBY_DEVICE_INLINE struct fby_yuv_line fby_yuv_line_at(
    const uint8_t *raw, uint32_t width, uint32_t height, uint32_t x, uint32_t y)
{
    struct fby_yuv_line  line;
    struct fby_yuv_strip strip      = fby_yuv_strip_at(width, height, y);
    uint32_t             strip_line = y % FBY_YUV_LINES;
    uint64_t             stride     = fby_yuv_chroma_dim(width);
    uint32_t             adjacent =
        fby_yuv_neighbour(strip_line, fby_yuv_chroma_dim(strip.lines));
    uint32_t left = width - x;
    line.y        = raw + strip.at[0] + (uint64_t)strip_line * width + x;
    for (int c = 0; c < 2; c++) {
        const uint8_t *plane = raw + strip.at[1 + c] + x / 2;
        line.near[c]         = plane + strip_line / 2 * stride;
        line.adjacent[c]     = plane + adjacent * stride;
    }
    line.width = left < FBY_YUV_COLUMNS ? left : (uint32_t)FBY_YUV_COLUMNS;
    return line;
}

/* The level of Cb (c = 0) or Cr (c = 1) at pixel `x` of the line, minus 128. */
FBY_DEVICE_INLINE int32_t fby_yuv_chroma(
    const struct fby_yuv_line *line, int c, uint32_t x)
{
    uint32_t own       = x / 2;
    uint32_t neighbour = fby_yuv_neighbour(x, fby_yuv_chroma_dim(line->width));
    int32_t  near      = 3 * line->near[c][own] + line->adjacent[c][own];
    int32_t  far = 3 * line->near[c][neighbour] + line->adjacent[c][neighbour];
    /* libjpeg rounds ties up in even columns and down in odd ones. */
    return ((3 * near + far + (x % 2 == 0 ? 8 : 7)) >> 4) - 128;
}

FBY_DEVICE_INLINE uint8_t fby_yuv_level(int32_t value)
{
    return (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
}

struct fby_rgb {
    uint8_t r, g, b;
};

/* Convert level `y`, and `u` and `v`, which are Cb and Cr minus 128. The
 * factors are 1.402, -0.34414, -0.71414 and 1.772 times 65536; 32768 rounds. */
FBY_DEVICE_INLINE struct fby_rgb fby_yuv_to_rgb(int32_t y, int32_t u, int32_t v)
{
    struct fby_rgb pixel;
    pixel.r = fby_yuv_level(y + ((91881 * v + 32768) >> 16));
    pixel.g = fby_yuv_level(y + ((-22554 * u - 46802 * v + 32768) >> 16));
    pixel.b = fby_yuv_level(y + ((116130 * u + 32768) >> 16));
    return pixel;
}

/* The RGB levels of pixel `x` of a line. */
FBY_DEVICE_INLINE struct fby_rgb fby_yuv_pixel(
    const struct fby_yuv_line *line, uint32_t x)
{
    return fby_yuv_to_rgb(
        line->y[x], fby_yuv_chroma(line, 0, x), fby_yuv_chroma(line, 1, x));
}

#endif
