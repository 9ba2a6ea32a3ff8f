/* SPDX-License-Identifier: Apache-2.0 */
/* yuv420.h - the memory layout of a yuv420 picture.
 *
 * Y (brightness) has a value for each pixel. Cb and Cr (colour, "chroma") have
 * a value for each 2 x 2 pixels. The picture is cut into strips of 32 lines;
 * the last strip may have fewer. Each strip holds its lines of Y, then its
 * lines of Cb, then its lines of Cr. So a large picture can be sent strip by
 * strip, and no tile of a compressed picture (photo format 1) spans two strips.
 * PROTOCOL.md, "Raw layout". */
#ifndef FBY_COMMON_YUV420_H
#define FBY_COMMON_YUV420_H

#include <stdint.h>

#include "common/device_inline.h"

enum { FBY_YUV_LINES = 32 }; /* lines of Y in a strip */

/* The number of Cb or Cr values of a line or column with `n` values of Y. */
FBY_DEVICE_INLINE uint32_t fby_yuv_chroma_dim(uint32_t n)
{
    return n / 2 + n % 2;
}

/* The bytes of the first `lines` lines of a picture `width` pixels wide. For
 * whole strips, this is also the offset of the next strip. */
FBY_DEVICE_INLINE uint64_t fby_yuv_bytes(uint32_t width, uint32_t lines)
{
    return (uint64_t)width * lines +
           2 * (uint64_t)fby_yuv_chroma_dim(width) * fby_yuv_chroma_dim(lines);
}

struct fby_yuv_strip {
    uint64_t at[3]; /* offsets of the strip's Y, Cb and Cr in the picture */
    uint32_t lines; /* lines of Y */
};

/* The strip that contains line `y` < height. */
FBY_DEVICE_INLINE struct fby_yuv_strip fby_yuv_strip_at(
    uint32_t width, uint32_t height, uint32_t y)
{
    struct fby_yuv_strip strip;
    uint32_t             first_line = y / FBY_YUV_LINES * FBY_YUV_LINES;
    uint32_t             lines_left = height - first_line;
    strip.lines =
        lines_left < FBY_YUV_LINES ? lines_left : (uint32_t)FBY_YUV_LINES;
    strip.at[0] = fby_yuv_bytes(width, first_line);
    strip.at[1] = strip.at[0] + (uint64_t)width * strip.lines;
    strip.at[2] = strip.at[1] + (uint64_t)fby_yuv_chroma_dim(width) *
                                    fby_yuv_chroma_dim(strip.lines);
    return strip;
}

#endif
