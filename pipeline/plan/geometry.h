/* SPDX-License-Identifier: Apache-2.0 */
/* geometry.h - boxes and sizes of ops that crop, resize and erase.
 *
 * The functions use integers only. The rules are torchvision's;
 * proto/PROTOCOL.md, "Draws", defines every rounding and how many words each
 * function draws. Except for fby_draw_bool, they return false and leave *out
 * unchanged if a side of the picture is 0 or above FBY_MAX_SIDE, or if the
 * picture is too small for the crop. */
#ifndef FBY_PIPELINE_PLAN_GEOMETRY_H
#define FBY_PIPELINE_PLAN_GEOMETRY_H

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "pipeline/plan/draw.h"

enum { FBY_MAX_SIDE = 65535 }; /* pixels, before and after ops */

struct fby_size { /* pixels */
    uint32_t w, h;
};

struct fby_box { /* pixels; x and y are those of the upper left corner */
    uint32_t x, y, w, h;
};

/* Draw a box: its share of the picture's area from `scale` (uniform), its
 * aspect w/h from `ratio` (log-uniform), then its position. After ten boxes
 * that do not fit, use the largest central box whose aspect is within `ratio`.
 *
 * `scale` and `ratio` are {low, high}, clamped to 0..1 and to 1/256..256. */
FBY_CHECKED bool fby_plan_random_resized_crop(struct fby_draw *draw,
    struct fby_size picture, const double scale[2], const double ratio[2],
    struct fby_box *out);

/* Draw a box in the same way, but `ratio` is the range of h/w, and w and h are
 * smaller than the picture's. Return false after ten boxes that do not fit. */
FBY_CHECKED bool fby_plan_random_erasing(struct fby_draw *draw,
    struct fby_size picture, const double scale[2], const double ratio[2],
    struct fby_box *out);

/* Draw the position of a box of size `crop` in the picture. */
FBY_CHECKED bool fby_plan_random_crop(struct fby_draw *draw,
    struct fby_size picture, struct fby_size crop, struct fby_box *out);

/* Set *out to the central box of size `crop`; x and y round halves to even. */
FBY_CHECKED bool fby_plan_center_crop(
    struct fby_size picture, struct fby_size crop, struct fby_box *out);

/* Set *out to the size of the picture after it is scaled so that its shorter
 * side has `shorter` pixels; the longer side is rounded down. */
FBY_CHECKED bool fby_plan_resize_shorter(
    struct fby_size picture, uint32_t shorter, struct fby_size *out);

/* Draw true with probability floor(p * 2^32) / 2^32. Uses one word. */
bool fby_draw_bool(struct fby_draw *draw, double p);

#endif
