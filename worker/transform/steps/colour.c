/* SPDX-License-Identifier: Apache-2.0 */
/* colour.c - steps that change each pixel alone: grey, saturation and hue. */
#include <string.h>

#include "pipeline/plan/fixed.h"
#include "worker/transform/steps/steps.h"

/* Call `change` for every pixel, with the step's first parameter. */
static inline void change_pixels(const struct fby_step_work *work,
    void (*change)(uint8_t *rgb, int64_t parameter))
{
    for (uint32_t y = 0; y < work->in.height; y++) {
        uint8_t *rgb = fby_image_row(&work->in, y);
        uint8_t *end = rgb + (size_t)work->in.width * FBY_RGB;
        for (; rgb < end; rgb += FBY_RGB) {
            change(rgb, work->step->v[0]);
        }
    }
}

static inline void make_grey(uint8_t *rgb, int64_t unused)
{
    (void)unused;
    memset(rgb, (int)fby_grey_from_rgb(rgb), FBY_RGB);
}

void fby_apply_grey(const struct fby_step_work *work)
{
    change_pixels(work, make_grey);
}

/* Scale the distance of each channel from grey by `factor`, Q16. */
static inline void saturate(uint8_t *rgb, int64_t factor)
{
    int64_t grey = fby_grey_from_rgb(rgb) * (FBY_Q16_ONE - factor);
    for (int c = 0; c < FBY_RGB; c++) {
        rgb[c] = fby_level_from_q16(rgb[c] * factor + grey);
    }
}

void fby_apply_saturation(const struct fby_step_work *work)
{
    change_pixels(work, saturate);
}

enum { CIRCLE = 6 * FBY_Q16_ONE }; /* all hues, in sixths of a circle, Q16 */

static int32_t largest_channel(const uint8_t *rgb)
{
    uint8_t larger = rgb[0] > rgb[1] ? rgb[0] : rgb[1];
    return larger > rgb[2] ? larger : rgb[2];
}

static int32_t smallest_channel(const uint8_t *rgb)
{
    uint8_t smaller = rgb[0] < rgb[1] ? rgb[0] : rgb[1];
    return smaller < rgb[2] ? smaller : rgb[2];
}

/* The hue in sixths of the circle, Q16; 0 for a grey; may be negative. `max` is
 * the largest channel, and `range` is `max` minus the smallest channel. */
static int32_t hue_of(const uint8_t *rgb, int32_t max, int32_t range)
{
    if (range == 0) {
        return 0;
    }
    if (max == rgb[0]) {
        return (rgb[1] - rgb[2]) * FBY_Q16_ONE / range;
    }
    return max == rgb[1]
               ? 2 * FBY_Q16_ONE + (rgb[2] - rgb[0]) * FBY_Q16_ONE / range
               : 4 * FBY_Q16_ONE + (rgb[0] - rgb[1]) * FBY_Q16_ONE / range;
}

/* Round a Q16 level, 0 to 255, like torchvision, which multiplies a
 * floating-point number of 0..1 by 255.999 and rounds it down. */
static uint8_t round_level(int64_t level)
{
    return (uint8_t)(level * 255999 / 255000 >> 16);
}

/* In each sixth of the circle of hues, one channel has the largest level, one
 * the smallest, and the level of the third rises or falls with the hue. */
enum { LARGEST, SMALLEST, FALLING, RISING };
static const uint8_t level_of[6][FBY_RGB] = {/* [sixth][channel] */
    {LARGEST, RISING, SMALLEST}, {FALLING, LARGEST, SMALLEST},
    {SMALLEST, LARGEST, RISING}, {SMALLEST, FALLING, LARGEST},
    {RISING, SMALLEST, LARGEST}, {LARGEST, SMALLEST, FALLING}};

/* Add `turn`, a fraction of the circle in Q16, to the hue. */
static inline void turn_hue(uint8_t *rgb, int64_t turn)
{
    int32_t max      = largest_channel(rgb);
    int32_t range    = max - smallest_channel(rgb);
    int32_t hue      = hue_of(rgb, max, range) + (int32_t)turn * 6;
    hue              = (hue + CIRCLE) % CIRCLE; /* not negative */
    int64_t fraction = hue & (FBY_Q16_ONE - 1); /* of the sixth, Q16 */
    int64_t max_q16  = (int64_t)max * FBY_Q16_ONE;
    uint8_t levels[] = {
        [LARGEST]  = (uint8_t)max,
        [SMALLEST] = (uint8_t)(max - range),
        [FALLING]  = round_level(max_q16 - range * fraction),
        [RISING]   = round_level(max_q16 - range * (FBY_Q16_ONE - fraction)),
    };
    for (int c = 0; c < FBY_RGB; c++) {
        rgb[c] = levels[level_of[hue >> 16][c]];
    }
}

void fby_apply_hue(const struct fby_step_work *work)
{
    change_pixels(work, turn_hue);
}
