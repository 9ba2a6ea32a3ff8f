/* yuv.h - a finished picture to the planes of yuv420.
 *
 * The ops run on interleaved pixels, whatever their three levels mean: those of
 * a JPEG that stores Y, Cb and Cr stay so, with Cb and Cr upsampled; all others
 * are RGB and converted when the ops are done. Then Cb and Cr are averaged over
 * 2 x 2 pixels, and the planes put where common/yuv420.h says. All in whole
 * numbers, with or without vector instructions. */
#ifndef FBY_WORKER_TRANSFORM_YUV_H
#define FBY_WORKER_TRANSFORM_YUV_H

#include "common/simd.h"
#include "worker/transform/image.h"

/* `n` pixels of RGB to Y, Cb, Cr, in place: BT.601 in full range, as JFIF has
 * it, in libjpeg's 16 fractional bits. */
void fby_yuv_of_rgb(uint8_t *pixels, size_t n);

/* Planes of a picture of Y, Cb, Cr, to fby_yuv_bytes at `out`. */
void fby_yuv_planes(const struct fby_image *picture, uint8_t *out);

/* Where one line of Cb and Cr, and the one or two of Y that it is for, go. */
struct yuv_lines {
    uint8_t *y[2]; /* both the same where there is one */
    uint8_t *cb, *cr;
};

/* Two lines of `width` pixels, or one twice, from the left as far as the kernel
 * goes; returns how far, an even number. */
typedef uint32_t yuv_apart_fn(
    const uint8_t *const in[2], uint32_t width, const struct yuv_lines *out);
yuv_apart_fn yuv_apart_avx2;

/* The kernel of a level; NULL: there is none but portable C. */
yuv_apart_fn *yuv_apart_of(enum fby_simd level);

#endif
