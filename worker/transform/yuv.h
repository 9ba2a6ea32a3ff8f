/* SPDX-License-Identifier: Apache-2.0 */
/* yuv.h - convert a finished picture to the planes of yuv420.
 *
 * The ops run on interleaved pixels of three channels. A JPEG that stores Y, Cb
 * and Cr is decoded to Y, Cb, Cr, with Cb and Cr upsampled to every pixel.
 * Other pictures are RGB, and are converted after the ops. Then Cb and Cr are
 * averaged over 2 x 2 pixels, and the planes are stored in the layout of
 * common/yuv420.h. Integer arithmetic gives the same bytes with and without
 * vector instructions. */
#ifndef FBY_WORKER_TRANSFORM_YUV_H
#define FBY_WORKER_TRANSFORM_YUV_H

#include "common/simd.h"
#include "worker/transform/image.h"

/* Convert `n` pixels from RGB to Y, Cb, Cr in place: BT.601 in full range, as
 * in JFIF, in the fixed-point arithmetic of libjpeg. */
void fby_yuv_from_rgb(uint8_t *pixels, size_t n);

/* Write the planes of a Y, Cb, Cr picture to `out`, which has fby_yuv_bytes. */
void fby_yuv_write_planes(const struct fby_image *picture, uint8_t *out);

/* The destinations of one line of Cb and Cr, and of the one or two lines of Y
 * that share it. */
struct yuv_lines {
    uint8_t *y[2]; /* equal if there is only one line */
    uint8_t *cb, *cr;
};

/* Split two lines of `width` pixels (or one line given twice) into planes, from
 * the left. A kernel may stop before the end. Returns the number of pixels of a
 * line that were split, which is even. */
typedef uint32_t yuv_split_fn(
    const uint8_t *const in[2], uint32_t width, const struct yuv_lines *out);
yuv_split_fn yuv_split_avx2;

/* Returns the kernel of a level, or NULL if there is only portable C. */
yuv_split_fn *yuv_split_for(enum fby_simd level);

#endif
