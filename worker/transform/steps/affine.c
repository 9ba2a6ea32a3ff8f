/* SPDX-License-Identifier: Apache-2.0 */
/* affine.c - rotate, shear, scale and move a picture or a mask.
 *
 * Each result pixel is mapped to a point of the source in Q31 (31 bits of
 * fraction). From one pixel to the next, a constant is added to x and to y. In
 * a mask the nearest pixel is copied. In a picture the four pixels around the
 * point are interpolated, where pixels outside the source are black. Then this
 * colour is mixed with `fill`, as in torchvision: its share is the sum of the
 * weights of the pixels inside. */
#include <string.h>

#include "pipeline/plan/fixed.h"
#include "worker/transform/steps/steps.h"

#define HALF_Q31 (INT64_C(1) << 30)

/* A point of the source, or a distance there, in pixels as Q31. */
struct q31_point {
    int64_t x, y;
};

struct affine_map {
    struct q31_point first;  /* the source point of the upper left pixel */
    struct q31_point across; /* from there to that of the pixel on the right */
    struct q31_point down;   /* from there to that of the pixel below */
};

static int64_t times_q16(int64_t value, int64_t factor_q16)
{
    return value * factor_q16 / FBY_Q16_ONE;
}

/* Compute the 2 x 2 matrix that reverses scale, rotation and shear, in Q30,
 * like torchvision's _get_inverse_affine_matrix. The matrix (a b; c d) rotates
 * and shears. Its determinant is 1, so its inverse is (d -b; -c a). */
static void inverse_matrix(const int64_t *params, int64_t out[4])
{
    int64_t sine   = fby_sin_q30(params[FBY_AFFINE_ANGLE]);
    int64_t cosine = fby_cos_q30(params[FBY_AFFINE_ANGLE]);
    int64_t a      = cosine + times_q16(sine, params[FBY_AFFINE_TAN_Y]);
    int64_t c      = sine - times_q16(cosine, params[FBY_AFFINE_TAN_Y]);
    int64_t b      = -times_q16(a, params[FBY_AFFINE_TAN_X]) - sine;
    int64_t d      = cosine - times_q16(c, params[FBY_AFFINE_TAN_X]);
    int64_t scale  = params[FBY_AFFINE_SCALE];
    out[0]         = d * FBY_Q16_ONE / scale;
    out[1]         = -b * FBY_Q16_ONE / scale;
    out[2]         = -c * FBY_Q16_ONE / scale;
    out[3]         = a * FBY_Q16_ONE / scale;
}

static struct affine_map make_map(const int64_t *params, struct fby_size size)
{
    int64_t m[4];
    inverse_matrix(params, m);
    /* cx, cy: from the middle of the picture to the centre of the rotation,
     * which is the middle or the upper left corner. x, y: from that centre to
     * the first result pixel, before the shift. All four are in half pixels,
     * since the middle may be between two pixels. Half pixels times Q30 are
     * pixels in Q31. */
    bool    about_corner = params[FBY_AFFINE_CORNER] != 0;
    int64_t cx           = about_corner ? -(int64_t)size.w : 0;
    int64_t cy           = about_corner ? -(int64_t)size.h : 0;
    int64_t x = 1 - (int64_t)size.w - cx - 2 * params[FBY_AFFINE_RIGHT];
    int64_t y = 1 - (int64_t)size.h - cy - 2 * params[FBY_AFFINE_DOWN];
    return (struct affine_map){
        .first  = {m[0] * x + m[1] * y + (cx + size.w - 1) * HALF_Q31,
             m[2] * x + m[3] * y + (cy + size.h - 1) * HALF_Q31},
        .across = {2 * m[0], 2 * m[2]},
        .down   = {2 * m[1], 2 * m[3]},
    };
}

static bool is_inside(const struct fby_image *in, int64_t x, int64_t y)
{
    return x >= 0 && x < in->width && y >= 0 && y < in->height;
}

static uint8_t nearest_pixel(
    const struct fby_image *in, struct q31_point point, uint8_t fill)
{
    int64_t x = (point.x + HALF_Q31) >> 31;
    int64_t y = (point.y + HALF_Q31) >> 31;
    return is_inside(in, x, y) ? fby_image_row(in, (uint32_t)y)[x] : fill;
}

/* If the pixel at x, y is inside, add it times `weight` (Q32) to the sums of
 * the channels, and the weight to the last sum. */
static void add_weighted(const struct fby_image *in, int64_t x, int64_t y,
    int64_t weight, int64_t sums[FBY_RGB + 1])
{
    if (is_inside(in, x, y)) {
        const uint8_t *pixel =
            fby_image_row(in, (uint32_t)y) + (size_t)x * FBY_RGB;
        for (int c = 0; c < FBY_RGB; c++) {
            sums[c] += pixel[c] * weight;
        }
        sums[FBY_RGB] += weight;
    }
}

static void interpolate(const struct fby_image *in, struct q31_point point,
    struct fby_paint fill, uint8_t *out)
{
    int64_t x = point.x >> 31;
    int64_t y = point.y >> 31;
    /* The fractions of x and y, Q16: the weights of the next column and row. */
    int64_t right             = (point.x >> 15) & (FBY_Q16_ONE - 1);
    int64_t below             = (point.y >> 15) & (FBY_Q16_ONE - 1);
    int64_t sums[FBY_RGB + 1] = {0};
    add_weighted(in, x, y, (FBY_Q16_ONE - right) * (FBY_Q16_ONE - below), sums);
    add_weighted(in, x + 1, y, right * (FBY_Q16_ONE - below), sums);
    add_weighted(in, x, y + 1, (FBY_Q16_ONE - right) * below, sums);
    add_weighted(in, x + 1, y + 1, right * below, sums);
    int64_t share = sums[FBY_RGB] >> 16; /* of pixels inside, Q16 */
    for (int c = 0; c < FBY_RGB; c++) {
        int64_t outside = (int64_t)fill.level[c] * FBY_Q16_ONE; /* Q16 */
        int64_t inside  = sums[c] >> 16;                        /* Q16 */
        int64_t mixed   = (inside - outside) * share / FBY_Q16_ONE + outside;
        out[c]          = fby_level_from_q16(mixed + FBY_Q16_ONE / 2);
    }
}

/* Compute a row of the result. `point` is the source of its first pixel. */
static void write_row(const struct fby_step_work *work, struct q31_point point,
    struct q31_point across, uint8_t *out)
{
    struct fby_paint fill =
        fby_paint_from_grey(work, work->step->v[FBY_AFFINE_FILL]);
    for (uint32_t x = 0; x < work->out.width; x++) {
        if (work->channels == FBY_RGB) {
            interpolate(&work->in, point, fill, out + (size_t)x * FBY_RGB);
        } else {
            out[x] = nearest_pixel(&work->in, point, fill.level[0]);
        }
        point.x += across.x;
        point.y += across.y;
    }
}

void fby_apply_affine(const struct fby_step_work *work)
{
    struct fby_size   size = {work->in.width, work->in.height};
    struct affine_map map  = make_map(work->step->v, size);
    for (uint32_t y = 0; y < size.h; y++) {
        struct q31_point point = {
            map.first.x + y * map.down.x, map.first.y + y * map.down.y};
        write_row(work, point, map.across, fby_image_row(&work->out, y));
    }
}
