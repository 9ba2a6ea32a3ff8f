/* affine.c - rotate, shear, scale and move a picture or a mask.
 *
 * Each result pixel is mapped to a point of the source in Q31, by two additions
 * a pixel. A picture is interpolated between four pixels, where those outside
 * count as 0. The weight of those inside then also mixes the result with
 * `fill`, as in torchvision. A mask takes the nearest pixel. */
#include <string.h>

#include "pipeline/plan/angle.h"
#include "worker/transform/steps/steps.h"

struct q31_point { /* in the source, Q31 of a pixel */
    int64_t x, y;
};

struct affine_map {
    struct q31_point first;  /* source of the upper left pixel */
    struct q31_point across; /* step to the next pixel */
    struct q31_point down;   /* step to the next row */
};

static int64_t times_q16(int64_t q30, int64_t q16)
{
    return q30 * q16 / 65536;
}

/* The inverse of scale, rotation and shear, Q30, as torchvision's
 * _get_inverse_affine_matrix. */
static void invert(const int64_t *v, int64_t out[4])
{
    int64_t sine   = fby_sin_q30(v[FBY_AFFINE_ANGLE]);
    int64_t cosine = fby_cos_q30(v[FBY_AFFINE_ANGLE]);
    int64_t a      = cosine + times_q16(sine, v[FBY_AFFINE_TAN_Y]);
    int64_t c      = sine - times_q16(cosine, v[FBY_AFFINE_TAN_Y]);
    int64_t b      = -times_q16(a, v[FBY_AFFINE_TAN_X]) - sine;
    int64_t d      = cosine - times_q16(c, v[FBY_AFFINE_TAN_X]);
    int64_t scale  = v[FBY_AFFINE_SCALE];
    out[0]         = d * 65536 / scale;
    out[1]         = -b * 65536 / scale;
    out[2]         = -c * 65536 / scale;
    out[3]         = a * 65536 / scale;
}

static struct affine_map map_of(const int64_t *v, struct fby_size size)
{
    int64_t m[4];
    invert(v, m);
    /* Twice the distance of the centre from the middle, and of the first pixel
     * from the centre. */
    int64_t corner = v[FBY_AFFINE_CORNER];
    int64_t cx     = corner ? -(int64_t)size.w : 0;
    int64_t cy     = corner ? -(int64_t)size.h : 0;
    int64_t x      = 1 - (int64_t)size.w - cx - 2 * v[FBY_AFFINE_RIGHT];
    int64_t y      = 1 - (int64_t)size.h - cy - 2 * v[FBY_AFFINE_DOWN];
    int64_t half   = INT64_C(1) << 30; /* of a pixel */
    return (struct affine_map){
        .first  = {m[0] * x + m[1] * y + (cx + size.w - 1) * half,
             m[2] * x + m[3] * y + (cy + size.h - 1) * half},
        .across = {2 * m[0], 2 * m[2]},
        .down   = {2 * m[1], 2 * m[3]},
    };
}

static bool is_inside(const struct fby_image *in, int64_t x, int64_t y)
{
    return x >= 0 && x < in->width && y >= 0 && y < in->height;
}

/* ---- a mask ---- */

static uint8_t nearest(
    const struct fby_image *in, struct q31_point at, uint8_t fill)
{
    int64_t x = (at.x + (INT64_C(1) << 30)) >> 31;
    int64_t y = (at.y + (INT64_C(1) << 30)) >> 31;
    return is_inside(in, x, y) ? fby_image_row(in, (uint32_t)y)[x] : fill;
}

/* ---- a picture ---- */

/* Add the pixel at x, y, if it is inside, times `weight` of 2^32. */
static void add_weighted(const struct fby_image *in, int64_t x, int64_t y,
    uint64_t weight, uint64_t sums[FBY_RGB + 1])
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

static void interpolate(const struct fby_image *in, struct q31_point at,
    struct fby_paint paint, uint8_t *out)
{
    int64_t  x                 = at.x >> 31;
    int64_t  y                 = at.y >> 31;
    uint64_t right             = (uint64_t)(at.x >> 15) & 65535; /* Q16 */
    uint64_t below             = (uint64_t)(at.y >> 15) & 65535;
    uint64_t sums[FBY_RGB + 1] = {0};
    add_weighted(in, x, y, (65536 - right) * (65536 - below), sums);
    add_weighted(in, x + 1, y, right * (65536 - below), sums);
    add_weighted(in, x, y + 1, (65536 - right) * below, sums);
    add_weighted(in, x + 1, y + 1, right * below, sums);
    int64_t share = (int64_t)(sums[FBY_RGB] >> 16); /* inside, Q16 */
    for (int c = 0; c < FBY_RGB; c++) {
        int64_t fill  = paint.level[c];
        int64_t level = (int64_t)(sums[c] >> 16); /* Q16 */
        int64_t mixed = (level - fill * 65536) * share / 65536 + fill * 65536;
        out[c]        = fby_level_of_q16(mixed + 32768);
    }
}

/* ---- rows ---- */

static void do_row(const struct fby_step_work *work, struct q31_point at,
    struct q31_point across, uint8_t *out)
{
    struct fby_paint fill = fby_step_fill(work, work->step->v[FBY_AFFINE_FILL]);
    for (uint32_t x = 0; x < work->out.width; x++) {
        if (work->channels == FBY_RGB) {
            interpolate(&work->in, at, fill, out + (size_t)x * FBY_RGB);
        } else {
            out[x] = nearest(&work->in, at, fill.level[0]);
        }
        at.x += across.x;
        at.y += across.y;
    }
}

void fby_do_affine(const struct fby_step_work *work)
{
    struct fby_size   size = {work->in.width, work->in.height};
    struct affine_map map  = map_of(work->step->v, size);
    for (uint32_t y = 0; y < size.h; y++) {
        struct q31_point at = {
            map.first.x + y * map.down.x, map.first.y + y * map.down.y};
        do_row(work, at, map.across, fby_image_row(&work->out, y));
    }
}
