/* SPDX-License-Identifier: Apache-2.0 */
/* geometry.c - see geometry.h. A number x in Qn is the integer x * 2^n. */
#include "pipeline/plan/geometry.h"

#include "pipeline/plan/fixed.h"

enum { MAX_TRIES = 10 };

/* Limits of an aspect (width / height): 1/256 and 256, in Q32. */
#define MIN_ASPECT (FBY_Q32_ONE >> 8)
#define MAX_ASPECT (FBY_Q32_ONE << 8)

struct range { /* from low to high, in Q32 */
    int64_t low, high;
};

struct ranges {
    struct range area_share; /* the box's area / the picture's area */
    struct range aspect;
    struct range log_aspect; /* log2 of `aspect` */
};

static int64_t clamp_q32(double x, uint64_t low, uint64_t high)
{
    uint64_t value = fby_q32(x);
    value          = value < low ? low : value;
    return (int64_t)(value > high ? high : value);
}

/* True if both sides are within 1 to FBY_MAX_SIDE. */
static bool is_usable(struct fby_size size)
{
    return size.w >= 1 && size.w <= FBY_MAX_SIDE && size.h >= 1 &&
           size.h <= FBY_MAX_SIDE;
}

/* True if `inner` is usable and not larger than `outer`. */
static bool fits(struct fby_size inner, struct fby_size outer)
{
    return is_usable(inner) && inner.w <= outer.w && inner.h <= outer.h;
}

/* round(sqrt(area * aspect)), halves up; `area` and `aspect` are in Q32. Their
 * product is in Q64 and, with the limits of this file, below 2^104. Shifted by
 * 40 to Q24 it fits 64 bits. Its root is in Q12; adding half of 1 rounds it. */
static uint32_t compute_side(uint64_t area, uint64_t aspect)
{
    uint64_t square = (uint64_t)(((unsigned __int128)area * aspect) >> 40);
    return (uint32_t)((fby_isqrt(square) + (1U << 11)) >> 12);
}

/* Draw a size from an area and an aspect. It may exceed the picture. */
static struct fby_size draw_size(
    struct fby_draw *draw, struct fby_size picture, const struct ranges *ranges)
{
    uint64_t share = (uint64_t)fby_draw_between(
        draw, ranges->area_share.low, ranges->area_share.high);
    uint64_t area = (uint64_t)picture.w * picture.h * share;
    int64_t  log =
        fby_draw_between(draw, ranges->log_aspect.low, ranges->log_aspect.high);
    return (struct fby_size){
        .w = compute_side(area, fby_exp2_q32(log)),
        .h = compute_side(area, fby_exp2_q32(-log)),
    };
}

static uint32_t at_least_one(uint64_t pixels)
{
    return pixels < 1 ? 1 : (uint32_t)pixels;
}

/* The largest size within the picture whose aspect is within `aspect_range`. */
static struct fby_size clamp_aspect(
    struct fby_size picture, struct range aspect_range)
{
    uint64_t min_aspect = (uint64_t)aspect_range.low;
    uint64_t max_aspect = (uint64_t)aspect_range.high;
    uint64_t width_q32  = (uint64_t)picture.w << 32;
    if (width_q32 < min_aspect * picture.h) {
        picture.h = at_least_one(fby_div_round(width_q32, min_aspect));
    } else if (width_q32 > max_aspect * picture.h) {
        picture.w =
            at_least_one(fby_div_round(max_aspect * picture.h, FBY_Q32_ONE));
    }
    return picture;
}

/* The box of size `crop` in the middle. x and y are rounded down, as in the
 * fallback of torchvision; fby_plan_center_crop rounds them differently. */
static struct fby_box central_box(struct fby_size picture, struct fby_size crop)
{
    return (struct fby_box){
        .x = (picture.w - crop.w) / 2,
        .y = (picture.h - crop.h) / 2,
        .w = crop.w,
        .h = crop.h,
    };
}

/* Draw the position of a box of size `crop`; y is drawn before x. */
static struct fby_box draw_box(
    struct fby_draw *draw, struct fby_size picture, struct fby_size crop)
{
    uint64_t y = fby_draw_below(draw, picture.h - crop.h + UINT64_C(1));
    uint64_t x = fby_draw_below(draw, picture.w - crop.w + UINT64_C(1));
    return (struct fby_box){
        .x = (uint32_t)x, .y = (uint32_t)y, .w = crop.w, .h = crop.h};
}

static struct ranges make_ranges(const double scale[2], const double ratio[2])
{
    struct ranges r = {
        .area_share = {clamp_q32(scale[0], 0, FBY_Q32_ONE),
            clamp_q32(scale[1], 0, FBY_Q32_ONE)},
        .aspect     = {clamp_q32(ratio[0], MIN_ASPECT, MAX_ASPECT),
                clamp_q32(ratio[1], MIN_ASPECT, MAX_ASPECT)},
    };
    r.log_aspect = (struct range){fby_log2_q32((uint64_t)r.aspect.low),
        fby_log2_q32((uint64_t)r.aspect.high)};
    return r;
}

bool fby_plan_random_resized_crop(struct fby_draw *draw,
    struct fby_size picture, const double scale[2], const double ratio[2],
    struct fby_box *out)
{
    if (!is_usable(picture)) {
        return false;
    }
    struct ranges ranges = make_ranges(scale, ratio);
    for (int i = 0; i < MAX_TRIES; i++) {
        struct fby_size crop = draw_size(draw, picture, &ranges);
        if (fits(crop, picture)) {
            *out = draw_box(draw, picture, crop);
            return true;
        }
    }
    *out = central_box(picture, clamp_aspect(picture, ranges.aspect));
    return true;
}

bool fby_plan_random_erasing(struct fby_draw *draw, struct fby_size picture,
    const double scale[2], const double ratio[2], struct fby_box *out)
{
    struct ranges ranges = make_ranges(scale, ratio);
    for (int i = 0; i < MAX_TRIES; i++) {
        /* draw_size makes w/h, but `ratio` is h/w: swap the sides. */
        struct fby_size drawn = draw_size(draw, picture, &ranges);
        struct fby_size box   = {.w = drawn.h, .h = drawn.w};
        if (is_usable(box) && box.w < picture.w && box.h < picture.h) {
            *out = draw_box(draw, picture, box);
            return true;
        }
    }
    return false;
}

bool fby_plan_random_crop(struct fby_draw *draw, struct fby_size picture,
    struct fby_size crop, struct fby_box *out)
{
    if (!is_usable(picture) || !fits(crop, picture)) {
        return false;
    }
    *out = draw_box(draw, picture, crop);
    return true;
}

/* gap / 2, with halves rounded to even. If gap / 2 is odd when rounded down, 1
 * is added, which rounds a half up to the even number. */
static uint32_t half_to_even(uint32_t gap)
{
    return (gap + (gap / 2) % 2) / 2;
}

bool fby_plan_center_crop(
    struct fby_size picture, struct fby_size crop, struct fby_box *out)
{
    if (!is_usable(picture) || !fits(crop, picture)) {
        return false;
    }
    *out = (struct fby_box){
        .x = half_to_even(picture.w - crop.w),
        .y = half_to_even(picture.h - crop.h),
        .w = crop.w,
        .h = crop.h,
    };
    return true;
}

bool fby_plan_resize_shorter(
    struct fby_size picture, uint32_t shorter, struct fby_size *out)
{
    if (!is_usable(picture) || shorter < 1) {
        return false;
    }
    bool     upright        = picture.w <= picture.h;
    uint64_t shorter_before = upright ? picture.w : picture.h;
    uint64_t longer_before  = upright ? picture.h : picture.w;
    uint64_t longer_after   = shorter * longer_before / shorter_before;
    if (longer_after > FBY_MAX_SIDE) {
        return false;
    }
    out->w = upright ? shorter : (uint32_t)longer_after;
    out->h = upright ? (uint32_t)longer_after : shorter;
    return true;
}

bool fby_draw_bool(struct fby_draw *draw, double p)
{
    return fby_draw_u32(draw) < fby_q32(p);
}
