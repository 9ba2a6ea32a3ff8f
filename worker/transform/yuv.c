/* SPDX-License-Identifier: Apache-2.0 */
/* yuv.c - the portable conversion, and the layout of the planes. */
#include "worker/transform/yuv.h"

#include "common/yuv420.h"

/* ---- colours ---- */

/* Fixed-point numbers with 16 bits of fraction. The factors below are those of
 * libjpeg: 0.299, 0.587, 0.114, 0.16874, 0.33126, 0.5, 0.41869 and 0.08131
 * times 2^16. HALF is one half, for rounding; for Cb and Cr libjpeg adds one
 * less. CENTRE is 128, the Cb and Cr of grey. */
enum { HALF = 1 << 15, CENTRE = 128 << 16 };

void fby_yuv_from_rgb(uint8_t *pixels, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint8_t *pixel = pixels + i * FBY_RGB;
        int32_t  r     = pixel[0];
        int32_t  g     = pixel[1];
        int32_t  b     = pixel[2];
        pixel[0] = (uint8_t)((19595 * r + 38470 * g + 7471 * b + HALF) >> 16);
        pixel[1] =
            (uint8_t)((32768 * b - 11059 * r - 21709 * g + CENTRE + HALF - 1) >>
                      16);
        pixel[2] =
            (uint8_t)((32768 * r - 27439 * g - 5329 * b + CENTRE + HALF - 1) >>
                      16);
    }
}

/* ---- planes ---- */

/* The rounded mean of one channel of 2 x 2 pixels. `right` is the distance to
 * the right pixels, in bytes. */
static uint8_t mean_2x2(
    const uint8_t *upper, const uint8_t *lower, uint32_t right)
{
    uint32_t sum = 2U + upper[0] + upper[right] + lower[0] + lower[right];
    return (uint8_t)(sum / 4);
}

/* Split the pixels from `x` (even) on. An odd width repeats the last pixel. */
static void split_from(uint32_t x, const uint8_t *const in[2], uint32_t width,
    const struct yuv_lines *out)
{
    for (; x < width; x += 2) {
        const uint8_t *upper   = in[0] + (size_t)x * FBY_RGB;
        const uint8_t *lower   = in[1] + (size_t)x * FBY_RGB;
        uint32_t       right   = x + 1 < width ? FBY_RGB : 0;
        uint32_t       right_x = x + 1 < width ? x + 1 : x;
        out->y[0][x]           = upper[0];
        out->y[0][right_x]     = upper[right];
        out->y[1][x]           = lower[0];
        out->y[1][right_x]     = lower[right];
        out->cb[x / 2]         = mean_2x2(upper + 1, lower + 1, right);
        out->cr[x / 2]         = mean_2x2(upper + 2, lower + 2, right);
    }
}

/* The destinations of lines y and y + 1 of the picture, both the same if line y
 * is the last. The planes are stored in strips of FBY_YUV_LINES lines. */
static struct yuv_lines lines_at(
    const struct fby_image *picture, uint32_t y, uint8_t *out)
{
    struct fby_yuv_strip strip =
        fby_yuv_strip_at(picture->width, picture->height, y);
    uint32_t strip_line = y % FBY_YUV_LINES;
    size_t   chroma_offset =
        (size_t)(strip_line / 2) * fby_yuv_chroma_dim(picture->width);
    uint8_t *upper = out + strip.at[0] + (size_t)strip_line * picture->width;
    bool     has_lower = y + 1 < picture->height;
    return (struct yuv_lines){
        .y  = {upper, has_lower ? upper + picture->width : upper},
        .cb = out + strip.at[1] + chroma_offset,
        .cr = out + strip.at[2] + chroma_offset,
    };
}

void fby_yuv_write_planes(const struct fby_image *picture, uint8_t *out)
{
    yuv_split_fn *kernel = yuv_split_for(fby_simd_level());
    for (uint32_t y = 0; y < picture->height; y += 2) {
        const uint8_t       *upper     = picture->pixels + y * picture->stride;
        bool                 has_lower = y + 1 < picture->height;
        const uint8_t *const in[2]     = {
                upper, has_lower ? upper + picture->stride : upper};
        struct yuv_lines lines = lines_at(picture, y, out);
        uint32_t done = kernel != NULL ? kernel(in, picture->width, &lines) : 0;
        split_from(done, in, picture->width, &lines);
    }
}
