/* SPDX-License-Identifier: Apache-2.0 */
/* ops.h - apply the ops of the device to one pixel.
 *
 * The ops of the device are those that run in the trainer, such as flips,
 * colour_jitter and mixup. C and CUDA compile the same inline arithmetic
 * (value.h). struct fby_ops_row has the random parameters. A level is the value
 * of one channel of a pixel, in binary32, from 0 to 1 until normalize.
 *
 * A pixel of the output depends on one pixel of its picture. If two rows are
 * mixed, it also depends on one pixel of the partner's picture. Only contrast
 * needs more: the mean grey of the picture at that step. A separate pass
 * computes it from integer sums, so the order of summation does not matter.
 *
 * Flips, erasing, mixup, cutmix, brightness and hue have the same bits as in
 * torchvision v2 on float32 pictures. Saturation and contrast differ by at most
 * 3e-7. Normalize has the same bits if another op changes levels. Otherwise it
 * uses the arithmetic of value.h. */
#ifndef FBY_CLIENT_EXPAND_OPS_H
#define FBY_CLIENT_EXPAND_OPS_H

#include "trainer_client/expand/ops_plan.h"
#include "trainer_client/expand/value.h"

/* ---- one level, one pixel ------------------------------------------------ */

/* 1 / 255 as in torchvision. A division by it restores each byte below 255. */
#define FBY_OPS_UNIT 0.00392156862745098F

FBY_DEVICE_INLINE float fby_ops_level_of_byte(uint8_t value)
{
    return (float)value * FBY_OPS_UNIT;
}

/* Scale a level to the range 0 to 255 of tensors without normalize. Below level
 * 1 the division restores the byte. Level 1 is byte 255. */
FBY_DEVICE_INLINE float fby_ops_scale_to_255(float level)
{
    return level < 1.0F ? level / FBY_OPS_UNIT : level * 255.0F;
}

/* Clamp a level to 0 to 1. */
FBY_DEVICE_INLINE float fby_ops_clamp(float level)
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

/* The grey in units of 2^-24, an integer. */
#define FBY_OPS_GREY_ONE 16777216.0F
FBY_DEVICE_INLINE uint64_t fby_ops_grey_q24(const float rgb[3])
{
    float scaled = fby_ops_grey(rgb) * FBY_OPS_GREY_ONE;
    return (uint64_t)fby_f32_to_int(scaled, 0, INT64_C(1) << 25);
}

/* The mean grey of `pixels` pixels; `sum` is in units of 2^-24. */
FBY_DEVICE_INLINE float fby_ops_mean_grey(uint64_t sum, uint64_t pixels)
{
    return (float)((double)sum / ((double)pixels * FBY_OPS_GREY_ONE));
}

/* Blend a level with `other`. A factor of 0 gives `other`, a factor of 1 the
 * level, and a larger factor increases their difference. */
FBY_DEVICE_INLINE float fby_ops_blend(float level, float other, float factor)
{
    float level_part = level * factor;
    float other_part = other * (1.0F - factor);
    return fby_ops_clamp(level_part + other_part);
}

/* The hue of a pixel as a fraction of the colour circle, 0 to 1. `high` is its
 * highest level, `range` that minus its lowest level (1 for a grey pixel). */
FBY_DEVICE_INLINE float fby_ops_hue(const float rgb[3], float high, float range)
{
    float red   = (high - rgb[0]) / range;
    float green = (high - rgb[1]) / range;
    float blue  = (high - rgb[2]) / range;
    float hue   = 0.0F;
    if (high == rgb[0]) {
        hue = blue - green;
    } else if (high == rgb[1]) {
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

/* The levels that a channel can have in the usual conversion of HSV to RGB. */
struct fby_ops_hsv {
    float value, p, q, t;
};

/* The level of a channel in sixth `sector` of the colour circle. `order` has
 * two bits per sixth, the lowest for sixth 0: 0 to 3 select value, p, q, t. */
FBY_DEVICE_INLINE float fby_ops_channel(
    const struct fby_ops_hsv *levels, uint32_t order, uint32_t sector)
{
    uint32_t choice     = order >> (2 * sector) & 3;
    float    value_or_p = choice == 0 ? levels->value : levels->p;
    float    q_or_t     = choice == 2 ? levels->q : levels->t;
    return choice < 2 ? value_or_p : q_or_t;
}

/* Convert hue, saturation and value, each from 0 to 1, to RGB. */
FBY_DEVICE_INLINE void fby_ops_hsv_to_rgb(
    float hue, float saturation, float value, float rgb[3])
{
    float              sixths = hue * 6.0F;
    uint32_t           sector = (uint32_t)sixths; /* 0 to 6 */
    float              slope  = saturation * (sixths - (float)sector);
    float              grey   = 1.0F - saturation;
    struct fby_ops_hsv levels = {value, fby_ops_clamp(grey * value),
        fby_ops_clamp((1.0F - slope) * value),
        fby_ops_clamp((slope + grey) * value)};
    sector                    = sector % 6;
    rgb[0] = fby_ops_channel(&levels, 0x358, sector); /* v q p p t v */
    rgb[1] = fby_ops_channel(&levels, 0x583, sector); /* t v v q p p */
    rgb[2] = fby_ops_channel(&levels, 0x835, sector); /* p p t v v q */
}

/* Shift the hue by `turn`, -1/2 to 1/2 of the colour circle. */
FBY_DEVICE_INLINE void fby_ops_shift_hue(float turn, float rgb[3])
{
    float high  = rgb[0] > rgb[1] ? rgb[0] : rgb[1];
    float low   = rgb[0] < rgb[1] ? rgb[0] : rgb[1];
    high        = high > rgb[2] ? high : rgb[2];
    low         = low < rgb[2] ? low : rgb[2];
    float range = high - low;
    float hue   = fby_ops_hue(rgb, high, high == low ? 1.0F : range) + turn;
    hue         = hue < 0.0F ? hue + 1.0F : hue;
    hue         = hue >= 1.0F ? hue - 1.0F : hue;
    fby_ops_hsv_to_rgb(hue, range / (high == low ? 1.0F : high), high, rgb);
}

/* Apply one step of colour_jitter. For hue, `factor` is the turn. */
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
                     ? fby_ops_clamp(rgb[c] * factor)
                     : fby_ops_blend(rgb[c], grey, factor);
    }
}

/* True if the row's colour_jitter changes contrast. */
FBY_DEVICE_INLINE bool fby_ops_needs_grey(const struct fby_ops_row *row)
{
    bool needed = false;
    for (uint32_t i = 0; i < row->n_jitter; i++) {
        needed = needed || row->jitter[i] == FBY_OPS_CONTRAST;
    }
    return needed;
}

FBY_DEVICE_INLINE float fby_ops_normalize_level(
    float level, float mean, float std)
{
    float centred = level - mean;
    return centred / std;
}

/* The weighted sum of a level (or label value) and that of the partner. */
FBY_DEVICE_INLINE float fby_ops_mix(
    float own, float other, float own_share, float other_share)
{
    float own_part   = own * own_share;
    float other_part = other * other_share;
    return other_part + own_part;
}

/* ---- coordinates --------------------------------------------------------- */

FBY_DEVICE_INLINE int fby_ops_box_contains(
    const struct fby_ops_box *box, uint32_t x, uint32_t y)
{
    return x >= box->left && x < box->right && y >= box->top && y < box->bottom;
}

/* The index in the raw picture of the pixel that becomes pixel x, y. */
FBY_DEVICE_INLINE uint32_t fby_ops_source_pixel(const struct fby_ops_plan *plan,
    const struct fby_ops_row *row, uint32_t x, uint32_t y)
{
    uint32_t from_x = row->mirror_x ? plan->width - 1 - x : x;
    uint32_t from_y = row->mirror_y ? plan->height - 1 - y : y;
    return from_y * plan->width + from_x;
}

/* ---- all stages of a pixel ----------------------------------------------- */

/* Apply colour_jitter. With `before_contrast`, stop before contrast and return
 * 0; else return 1. */
FBY_DEVICE_INLINE int fby_ops_jitter_all(
    const struct fby_ops_row *row, int before_contrast, float rgb[3])
{
    for (uint32_t k = 0; k < row->n_jitter; k++) {
        if (before_contrast && row->jitter[k] == FBY_OPS_CONTRAST) {
            return 0;
        }
        fby_ops_jitter_pixel(row->jitter[k], row->factor[k], row->grey, rgb);
    }
    return 1;
}

FBY_DEVICE_INLINE void fby_ops_erase_pixel(const struct fby_ops_plan *plan,
    const struct fby_ops_row *row, uint32_t x, uint32_t y, float rgb[3])
{
    int erased = fby_ops_box_contains(&row->erase, x, y);
    for (uint32_t c = 0; c < 3; c++) {
        rgb[c] = erased ? plan->erase_value[c] : rgb[c];
    }
}

FBY_DEVICE_INLINE void fby_ops_normalize_pixel(
    const struct fby_ops_plan *plan, float rgb[3])
{
    for (uint32_t c = 0; c < 3; c++) {
        rgb[c] = fby_ops_normalize_level(rgb[c], plan->mean[c], plan->std[c]);
    }
}

enum { FBY_OPS_ALL_STAGES = 0, FBY_OPS_BEFORE_CONTRAST = 1 };
struct fby_ops_position { /* of a pixel of the output */
    uint32_t x, y;
};

/* Apply all stages to the levels `rgb` of output pixel `pos`. With
 * `before_contrast`, apply only the stages before contrast. */
FBY_DEVICE_INLINE void fby_ops_apply_stages(const struct fby_ops_plan *plan,
    const struct fby_ops_row *row, struct fby_ops_position pos,
    int before_contrast, float rgb[3])
{
    int continues = 1;
    for (uint32_t s = 0; s < plan->n_stages && continues; s++) {
        if (plan->stages[s] == FBY_OPS_ERASE) {
            fby_ops_erase_pixel(plan, row, pos.x, pos.y, rgb);
        } else if (plan->stages[s] == FBY_OPS_JITTER) {
            continues = fby_ops_jitter_all(row, before_contrast, rgb);
        } else {
            fby_ops_normalize_pixel(plan, rgb);
        }
    }
}

#endif
