/* ops.h - the ops of the device, one pixel at a time.
 *
 * Inline arithmetic only, so that every device is compiled from the same lines
 * (see value.h). A pixel of the result comes from one pixel of its own picture,
 * mirrored or not, and from one of its partner's if two rows are mixed. The
 * random parameters are in struct fby_ops_row. Levels are binary32, 0 to 1
 * until normalize. Only contrast depends on other pixels: it needs the mean
 * grey of the picture at that step. A pass of its own computes it from integer
 * sums, so the order of summation does not matter.
 *
 * Compared with torchvision v2 on float32 pictures, for the same parameters:
 * flips, erasing, mixup, cutmix, brightness and hue give the same bits. So does
 * normalize if the list has another op that works on levels; alone or with
 * flips it is value.h's. Saturation and contrast are within 3e-7. */
#ifndef FBY_CLIENT_EXPAND_OPS_H
#define FBY_CLIENT_EXPAND_OPS_H

#include "trainer_client/expand/ops_plan.h"
#include "trainer_client/expand/value.h"

/* ---- one level, one pixel ------------------------------------------------ */

/* The factor of torchvision. Division by it restores the byte, except for 255.
 */
#define FBY_OPS_UNIT 0.00392156862745098F /* 1 / 255 */

FBY_DEVICE_INLINE float fby_ops_level(uint8_t value)
{
    return (float)value * FBY_OPS_UNIT;
}

/* Levels that are not normalised are delivered as 0 to 255. */
FBY_DEVICE_INLINE float fby_ops_byte(float level)
{
    return level < 1.0F ? level / FBY_OPS_UNIT : level * 255.0F;
}

FBY_DEVICE_INLINE float fby_ops_limit(float level)
{
    return level < 0.0F ? 0.0F : level > 1.0F ? 1.0F : level;
}

FBY_DEVICE_INLINE float fby_ops_grey(const float rgb[3])
{
    float red   = rgb[0] * 0.2989F;
    float green = rgb[1] * 0.587F;
    float blue  = rgb[2] * 0.114F;
    float sum   = red + green;
    return sum + blue;
}

/* The grey in units of 2^-24, so that sums do not depend on their order. */
FBY_DEVICE_INLINE uint64_t fby_ops_grey_q24(const float rgb[3])
{
    float scaled = fby_ops_grey(rgb) * 16777216.0F;
    return (uint64_t)fby_f32_to_int(scaled, 0, INT64_C(1) << 25);
}

/* The mean of `pixels` greys in units of 2^-24, whose sum is `sum`. */
FBY_DEVICE_INLINE float fby_ops_mean_grey(uint64_t sum, uint64_t pixels)
{
    return (float)((double)sum / ((double)pixels * 16777216.0));
}

FBY_DEVICE_INLINE float fby_ops_blend(float level, float other, float factor)
{
    float own  = level * factor;
    float rest = other * (1.0F - factor);
    return fby_ops_limit(own + rest);
}

/* The hue of a pixel as a fraction of the colour circle, 0 to 1. */
FBY_DEVICE_INLINE float fby_ops_hue(const float rgb[3], float most, float range)
{
    float red   = (most - rgb[0]) / range;
    float green = (most - rgb[1]) / range;
    float blue  = (most - rgb[2]) / range;
    float hue   = 0.0F;
    if (most == rgb[0]) {
        hue = blue - green;
    } else if (most == rgb[1]) {
        hue = red + 2.0F;
        hue = hue - blue;
    } else {
        hue = green + 4.0F;
        hue = hue - red;
    }
    hue = hue * (1.0F / 6.0F);
    hue = hue + 1.0F;
    return hue >= 1.0F ? hue - 1.0F : hue;
}

struct fby_ops_hsv {
    float value, p, q, t;
};

/* Select a channel's value in a sixth of the circle; `order` has 2 bits per
 * sixth. */
FBY_DEVICE_INLINE float fby_ops_pick(
    const struct fby_ops_hsv *of, uint32_t order, uint32_t sector)
{
    uint32_t which = order >> (2 * sector) & 3;
    float    first = which == 0 ? of->value : of->p;
    float    last  = which == 2 ? of->q : of->t;
    return which < 2 ? first : last;
}

/* The RGB colour of a hue (0 to 1), saturation and value. */
FBY_DEVICE_INLINE void fby_ops_colour(
    float hue, float saturation, float value, float rgb[3])
{
    float              sixths = hue * 6.0F;
    uint32_t           sector = (uint32_t)sixths; /* 0 to 6 */
    float              part   = saturation * (sixths - (float)sector);
    float              grey   = 1.0F - saturation;
    struct fby_ops_hsv of     = {value, fby_ops_limit(grey * value),
            fby_ops_limit((1.0F - part) * value),
            fby_ops_limit((part + grey) * value)};
    sector                    = sector % 6;
    rgb[0] = fby_ops_pick(&of, 0x358, sector); /* v q p p t v */
    rgb[1] = fby_ops_pick(&of, 0x583, sector); /* t v v q p p */
    rgb[2] = fby_ops_pick(&of, 0x835, sector); /* p p t v v q */
}

/* Shift the hue by `turn`, -1/2 to 1/2 of the circle. */
FBY_DEVICE_INLINE void fby_ops_shift_hue(float turn, float rgb[3])
{
    float most  = rgb[0] > rgb[1] ? rgb[0] : rgb[1];
    float least = rgb[0] < rgb[1] ? rgb[0] : rgb[1];
    most        = most > rgb[2] ? most : rgb[2];
    least       = least < rgb[2] ? least : rgb[2];
    float range = most - least;
    float hue   = fby_ops_hue(rgb, most, most == least ? 1.0F : range) + turn;
    hue         = hue < 0.0F ? hue + 1.0F : hue;
    hue         = hue >= 1.0F ? hue - 1.0F : hue;
    fby_ops_colour(hue, range / (most == least ? 1.0F : most), most, rgb);
}

/* Apply one step of colour_jitter. */
FBY_DEVICE_INLINE void fby_ops_jitter_pixel(
    uint8_t kind, float factor, float mean_grey, float rgb[3])
{
    if (kind == FBY_OPS_HUE) {
        fby_ops_shift_hue(factor, rgb);
        return;
    }
    float grey = kind == FBY_OPS_SATURATION ? fby_ops_grey(rgb) : mean_grey;
    for (uint32_t c = 0; c < 3; c++) {
        rgb[c] = kind == FBY_OPS_BRIGHTNESS
                     ? fby_ops_limit(rgb[c] * factor)
                     : fby_ops_blend(rgb[c], grey, factor);
    }
}

FBY_DEVICE_INLINE float fby_ops_normal(float level, float mean, float std)
{
    float centred = level - mean;
    return centred / std;
}

/* Mix a level, or a label's value, with that of the partner. */
FBY_DEVICE_INLINE float fby_ops_mix(
    float own, float other, float share, float rest)
{
    float mine   = own * share;
    float theirs = other * rest;
    return theirs + mine;
}

/* ---- coordinates --------------------------------------------------------- */

FBY_DEVICE_INLINE int fby_ops_is_in(
    const struct fby_ops_box *box, uint32_t x, uint32_t y)
{
    return x >= box->left && x < box->right && y >= box->top && y < box->bottom;
}

/* The number of the raw pixel from which pixel x, y of the result is made. */
FBY_DEVICE_INLINE uint32_t fby_ops_source(const struct fby_ops_plan *plan,
    const struct fby_ops_row *row, uint32_t x, uint32_t y)
{
    uint32_t from_x = row->mirror_x ? plan->width - 1 - x : x;
    uint32_t from_y = row->mirror_y ? plan->height - 1 - y : y;
    return from_y * plan->width + from_x;
}

/* ---- a whole pixel, as a kernel does it ---------------------------------- */

/* Apply colour_jitter. With `to_contrast`, stop before contrast and return
 * 0. */
FBY_DEVICE_INLINE int fby_ops_jitter_all(
    const struct fby_ops_row *row, int to_contrast, float rgb[3])
{
    for (uint32_t k = 0; k < row->n_jitter; k++) {
        if (to_contrast && row->jitter[k] == FBY_OPS_CONTRAST) {
            return 0;
        }
        fby_ops_jitter_pixel(row->jitter[k], row->factor[k], row->grey, rgb);
    }
    return 1;
}

FBY_DEVICE_INLINE void fby_ops_erase_pixel(const struct fby_ops_plan *plan,
    const struct fby_ops_row *row, uint32_t x, uint32_t y, float rgb[3])
{
    int in = fby_ops_is_in(&row->erase, x, y);
    for (uint32_t c = 0; c < 3; c++) {
        rgb[c] = in ? plan->value[c] : rgb[c];
    }
}

FBY_DEVICE_INLINE void fby_ops_normalize_pixel(
    const struct fby_ops_plan *plan, float rgb[3])
{
    for (uint32_t c = 0; c < 3; c++) {
        rgb[c] = fby_ops_normal(rgb[c], plan->mean[c], plan->std[c]);
    }
}

struct fby_ops_at { /* a pixel of the result */
    uint32_t x, y;
};

/* Apply all stages to a pixel of the result, whose levels are in `rgb`. With
 * `to_contrast`, apply only those before contrast, for the mean grey. */
FBY_DEVICE_INLINE void fby_ops_pixel(const struct fby_ops_plan *plan,
    const struct fby_ops_row *row, struct fby_ops_at at, int to_contrast,
    float rgb[3])
{
    int more = 1;
    for (uint32_t s = 0; s < plan->n_stages && more; s++) {
        if (plan->stages[s] == FBY_OPS_ERASE) {
            fby_ops_erase_pixel(plan, row, at.x, at.y, rgb);
        } else if (plan->stages[s] == FBY_OPS_JITTER) {
            more = fby_ops_jitter_all(row, to_contrast, rgb);
        } else {
            fby_ops_normalize_pixel(plan, rgb);
        }
    }
}

#endif
