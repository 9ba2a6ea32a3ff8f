/* geometry.h - which part of a picture an op takes, and how large it gets.
 *
 * Pure functions of (draw, picture size, parameters): integers only, no pixel
 * is needed. The rules are torchvision's, with every rounding fixed in
 * proto/PROTOCOL.md, "Draws". All return false, with nothing written, when the
 * picture cannot be used: a side of 0 or above FBY_MAX_SIDE, or too small for
 * the crop. `draw` is advanced by as many words as the rule says. */
#ifndef FBY_PIPELINE_PLAN_GEOMETRY_H
#define FBY_PIPELINE_PLAN_GEOMETRY_H

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "pipeline/plan/draw.h"

enum { FBY_MAX_SIDE = 65535 }; /* pixels, of a picture before and after ops */

struct fby_size { /* pixels */
    uint32_t w, h;
};

struct fby_box { /* pixels; x and y of its upper left corner */
    uint32_t x, y, w, h;
};

/* A box of a share `scale` (uniform) of the picture's area and of an aspect
 * w/h in `ratio` (log-uniform), anywhere in the picture: ten tries, then the
 * largest central box whose aspect is within `ratio`.
 *
 * Each pair is {low, high}, low <= high; scale within 0..1, ratio within
 * 1/256..256 (what lies outside counts as the nearest end). */
FBY_CHECKED bool fby_plan_random_resized_crop(struct fby_draw *draw,
    struct fby_size picture, const double scale[2], const double ratio[2],
    struct fby_box *out);

/* A box of exactly `crop`, anywhere in the picture. */
FBY_CHECKED bool fby_plan_random_crop(struct fby_draw *draw,
    struct fby_size picture, struct fby_size crop, struct fby_box *out);

/* The box of exactly `crop` in the middle; half pixels go to the even side. */
FBY_CHECKED bool fby_plan_center_crop(
    struct fby_size picture, struct fby_size crop, struct fby_box *out);

/* The size at which the shorter side is `shorter` and the longer one
 * floor(shorter * longer / shorter_before). */
FBY_CHECKED bool fby_plan_resize_shorter(
    struct fby_size picture, uint32_t shorter, struct fby_size *out);

/* True with probability floor(p * 2^32) / 2^32; takes one word. */
bool fby_plan_flip(struct fby_draw *draw, double p);

#endif
