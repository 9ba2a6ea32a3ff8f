#include "pipeline/plan/geometry.h"

#include "pipeline/plan/augment.h"
#include "pipeline/plan/fixed.h"

enum { TRIES = 10 };

/* Aspects, Q32. */
#define MIN_RATIO (FBY_Q32_ONE >> 8)
#define MAX_RATIO (FBY_Q32_ONE << 8)

struct range { /* Q32 */
    int64_t low, high;
};

static int64_t clamp_q32(double x, uint64_t low, uint64_t high)
{
    uint64_t value = fby_q32(x);
    value          = value < low ? low : value;
    return (int64_t)(value > high ? high : value);
}

static bool usable(struct fby_size size)
{
    return size.w >= 1 && size.w <= FBY_MAX_SIDE && size.h >= 1 &&
           size.h <= FBY_MAX_SIDE;
}

static bool fits(struct fby_size inner, struct fby_size outer)
{
    return usable(inner) && inner.w <= outer.w && inner.h <= outer.h;
}

/* round(sqrt(area * aspect)), halves up; both Q32. With the limits of this
 * file the product is below 2^104, so that Q24 of it fits 64 bits. */
static uint32_t side_of(uint64_t area, uint64_t aspect)
{
    uint64_t square = (uint64_t)(((unsigned __int128)area * aspect) >> 40);
    return (uint32_t)((fby_isqrt(square) + (1U << 11)) >> 12);
}

/* One try: an area and an aspect, as a size that may not fit. */
static struct fby_size try_size(struct fby_draw *draw, struct fby_size picture,
    struct range scale, struct range log_ratio)
{
    uint64_t share = (uint64_t)fby_draw_between(draw, scale.low, scale.high);
    uint64_t area  = (uint64_t)picture.w * picture.h * share;
    int64_t  log   = fby_draw_between(draw, log_ratio.low, log_ratio.high);
    return (struct fby_size){
        .w = side_of(area, fby_exp2_q32(log)),
        .h = side_of(area, fby_exp2_q32(-log)),
    };
}

static uint32_t at_least_one(uint64_t pixels)
{
    return pixels < 1 ? 1 : (uint32_t)pixels;
}

/* The largest size within the picture whose aspect is within `ratio`. */
static struct fby_size clamped_size(struct fby_size picture, struct range ratio)
{
    uint64_t low  = (uint64_t)ratio.low;
    uint64_t high = (uint64_t)ratio.high;
    uint64_t wide = (uint64_t)picture.w << 32; /* aspect * h */
    if (wide < low * picture.h) {
        picture.h = at_least_one(fby_div_round(wide, low));
    } else if (wide > high * picture.h) {
        uint64_t w = (picture.h * high + FBY_Q32_ONE / 2) >> 32;
        picture.w  = at_least_one(w);
    }
    return picture;
}

static struct fby_box central(struct fby_size picture, struct fby_size crop)
{
    return (struct fby_box){
        .x = (picture.w - crop.w) / 2,
        .y = (picture.h - crop.h) / 2,
        .w = crop.w,
        .h = crop.h,
    };
}

/* Anywhere in the picture; y is drawn before x. */
static struct fby_box anywhere(
    struct fby_draw *draw, struct fby_size picture, struct fby_size crop)
{
    uint64_t y = fby_draw_below(draw, picture.h - crop.h + UINT64_C(1));
    uint64_t x = fby_draw_below(draw, picture.w - crop.w + UINT64_C(1));
    return (struct fby_box){
        .x = (uint32_t)x, .y = (uint32_t)y, .w = crop.w, .h = crop.h};
}

static struct range share_of(const double scale[2])
{
    return (struct range){clamp_q32(scale[0], 0, FBY_Q32_ONE),
        clamp_q32(scale[1], 0, FBY_Q32_ONE)};
}

static struct range aspect_of(const double ratio[2])
{
    return (struct range){clamp_q32(ratio[0], MIN_RATIO, MAX_RATIO),
        clamp_q32(ratio[1], MIN_RATIO, MAX_RATIO)};
}

static struct range log_of(const struct range *aspect)
{
    return (struct range){fby_log2_q32((uint64_t)aspect->low),
        fby_log2_q32((uint64_t)aspect->high)};
}

bool fby_plan_random_resized_crop(struct fby_draw *draw,
    struct fby_size picture, const double scale[2], const double ratio[2],
    struct fby_box *out)
{
    if (!usable(picture)) {
        return false;
    }
    struct range share     = share_of(scale);
    struct range aspect    = aspect_of(ratio);
    struct range log_ratio = log_of(&aspect);
    for (int i = 0; i < TRIES; i++) {
        struct fby_size crop = try_size(draw, picture, share, log_ratio);
        if (fits(crop, picture)) {
            *out = anywhere(draw, picture, crop);
            return true;
        }
    }
    *out = central(picture, clamped_size(picture, aspect));
    return true;
}

bool fby_plan_random_erasing(struct fby_draw *draw, struct fby_size picture,
    const double scale[2], const double ratio[2], struct fby_box *out)
{
    struct range share     = share_of(scale);
    struct range aspect    = aspect_of(ratio);
    struct range log_ratio = log_of(&aspect);
    for (int i = 0; i < TRIES; i++) {
        struct fby_size turned = try_size(draw, picture, share, log_ratio);
        struct fby_size box    = {.w = turned.h, .h = turned.w};
        if (usable(box) && box.w < picture.w && box.h < picture.h) {
            *out = anywhere(draw, picture, box);
            return true;
        }
    }
    return false;
}

bool fby_plan_random_crop(struct fby_draw *draw, struct fby_size picture,
    struct fby_size crop, struct fby_box *out)
{
    if (!usable(picture) || !fits(crop, picture)) {
        return false;
    }
    *out = anywhere(draw, picture, crop);
    return true;
}

/* round(gap / 2), halves to even. */
static uint32_t half_of(uint32_t gap)
{
    return (gap + (gap / 2) % 2) / 2;
}

bool fby_plan_center_crop(
    struct fby_size picture, struct fby_size crop, struct fby_box *out)
{
    if (!usable(picture) || !fits(crop, picture)) {
        return false;
    }
    *out = (struct fby_box){
        .x = half_of(picture.w - crop.w),
        .y = half_of(picture.h - crop.h),
        .w = crop.w,
        .h = crop.h,
    };
    return true;
}

bool fby_plan_resize_shorter(
    struct fby_size picture, uint32_t shorter, struct fby_size *out)
{
    if (!usable(picture) || shorter < 1) {
        return false;
    }
    bool     upright = picture.w <= picture.h;
    uint64_t least   = upright ? picture.w : picture.h;
    uint64_t most    = upright ? picture.h : picture.w;
    uint64_t longer  = shorter * most / least;
    if (longer > FBY_MAX_SIDE) {
        return false;
    }
    out->w = upright ? shorter : (uint32_t)longer;
    out->h = upright ? (uint32_t)longer : shorter;
    return true;
}

bool fby_plan_flip(struct fby_draw *draw, double p)
{
    return fby_draw_u32(draw) < fby_q32(p);
}
