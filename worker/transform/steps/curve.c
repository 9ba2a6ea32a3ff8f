/* SPDX-License-Identifier: Apache-2.0 */
/* curve.c - steps that map each level of a channel by a curve: a table of 256
 * levels. Some curves depend on the levels of the whole picture. All these
 * steps work in place: work->in is also the result. */
#include <string.h>

#include "pipeline/plan/fixed.h"
#include "worker/transform/steps/steps.h"

enum { LEVELS = 256 };

struct curves {
    uint8_t channel[FBY_RGB][LEVELS];
};

static void apply_curves(
    const struct fby_image *picture, const struct curves *curves)
{
    for (uint32_t y = 0; y < picture->height; y++) {
        uint8_t *row = fby_image_row(picture, y);
        for (size_t i = 0; i < (size_t)picture->width * FBY_RGB; i += FBY_RGB) {
            row[i]     = curves->channel[0][row[i]];
            row[i + 1] = curves->channel[1][row[i + 1]];
            row[i + 2] = curves->channel[2][row[i + 2]];
        }
    }
}

/* Copy the curve of channel 0 to the other channels, and apply it to all. */
static void apply_to_all_channels(
    const struct fby_image *picture, struct curves *curves)
{
    memcpy(curves->channel[1], curves->channel[0], LEVELS);
    memcpy(curves->channel[2], curves->channel[0], LEVELS);
    apply_curves(picture, curves);
}

/* Map each level to level * factor + offset, both in Q16. */
static void scale_levels(
    const struct fby_image *picture, int64_t factor, int64_t offset)
{
    struct curves curves;
    for (int64_t level = 0; level < LEVELS; level++) {
        curves.channel[0][level] = fby_level_from_q16(level * factor + offset);
    }
    apply_to_all_channels(picture, &curves);
}

void fby_apply_brightness(const struct fby_step_work *work)
{
    int64_t factor = work->step->v[0]; /* Q16 */
    scale_levels(&work->in, factor, 0);
}

/* Mean of the grey values, Q16. */
static int64_t mean_grey(const struct fby_image *picture)
{
    uint64_t sum = 0;
    for (uint32_t y = 0; y < picture->height; y++) {
        const uint8_t *row = fby_image_row(picture, y);
        for (uint32_t x = 0; x < picture->width; x++) {
            sum += fby_grey_from_rgb(row + (size_t)x * FBY_RGB);
        }
    }
    uint64_t pixels = (uint64_t)picture->width * picture->height;
    return pixels > 0 ? (int64_t)((sum << 16) / pixels) : 0;
}

void fby_apply_contrast(const struct fby_step_work *work)
{
    int64_t factor = work->step->v[0];     /* Q16 */
    int64_t mean   = mean_grey(&work->in); /* Q16 */
    int64_t offset = mean * (FBY_Q16_ONE - factor) / FBY_Q16_ONE;
    scale_levels(&work->in, factor, offset);
}

/* Keep only the highest bits of each level. */
void fby_apply_posterize(const struct fby_step_work *work)
{
    struct curves curves;
    int64_t       n_bits = work->step->v[0];  /* 0 to 8 */
    unsigned kept_bits   = 0xff00U >> n_bits; /* in the low byte: n_bits ones */
    for (unsigned level = 0; level < LEVELS; level++) {
        curves.channel[0][level] = (uint8_t)(level & kept_bits);
    }
    apply_to_all_channels(&work->in, &curves);
}

/* Invert the levels from a threshold on. */
void fby_apply_solarize(const struct fby_step_work *work)
{
    int64_t       threshold = work->step->v[0];
    struct curves curves;
    for (int level = 0; level < LEVELS; level++) {
        curves.channel[0][level] =
            (uint8_t)(level >= threshold ? 255 - level : level);
    }
    apply_to_all_channels(&work->in, &curves);
}

/* ---- curves from a histogram of levels ---- */

struct histogram {
    uint64_t channel[FBY_RGB][LEVELS]; /* number of pixels of each level */
};

static void count_levels(const struct fby_image *picture, struct histogram *out)
{
    memset(out, 0, sizeof(*out));
    for (uint32_t y = 0; y < picture->height; y++) {
        const uint8_t *row = fby_image_row(picture, y);
        for (size_t i = 0; i < (size_t)picture->width * FBY_RGB; i += FBY_RGB) {
            out->channel[0][row[i]]++;
            out->channel[1][row[i + 1]]++;
            out->channel[2][row[i + 2]]++;
        }
    }
}

static int lowest_level(const uint64_t counts[LEVELS])
{
    int level = 0;
    while (level < LEVELS - 1 && counts[level] == 0) {
        level++;
    }
    return level;
}

static int highest_level(const uint64_t counts[LEVELS])
{
    int level = LEVELS - 1;
    while (level > 0 && counts[level] == 0) {
        level--;
    }
    return level;
}

/* Compute the curve of a channel from its counts of levels. */
typedef void curve_fn(
    const uint64_t counts[LEVELS], uint64_t pixels, uint8_t curve[LEVELS]);

static void apply_from_histogram(
    const struct fby_image *picture, curve_fn *compute_curve)
{
    struct histogram histogram;
    struct curves    curves;
    uint64_t         pixels = (uint64_t)picture->width * picture->height;
    count_levels(picture, &histogram);
    for (int c = 0; c < FBY_RGB; c++) {
        compute_curve(histogram.channel[c], pixels, curves.channel[c]);
    }
    apply_curves(picture, &curves);
}

/* Stretch the levels of the channel to 0..255. */
static void stretch_curve(
    const uint64_t counts[LEVELS], uint64_t pixels, uint8_t curve[LEVELS])
{
    (void)pixels;
    int low  = lowest_level(counts);
    int high = highest_level(counts);
    for (int level = 0; level < LEVELS; level++) {
        int at_most_high = level < high ? level : high;
        int clamped      = at_most_high > low ? at_most_high : low;
        /* A channel with only one level does not change. */
        curve[level] =
            (uint8_t)(high == low ? level
                                  : (clamped - low) * 255 / (high - low));
    }
}

void fby_apply_autocontrast(const struct fby_step_work *work)
{
    apply_from_histogram(&work->in, stretch_curve);
}

/* Pillow's rule. Let step = (pixels - pixels of the highest level) / 255. Each
 * level becomes (number of pixels below the level) / step, rounded. If step is
 * 0, levels do not change. */
static void equalize_curve(
    const uint64_t counts[LEVELS], uint64_t pixels, uint8_t curve[LEVELS])
{
    uint64_t step  = (pixels - counts[highest_level(counts)]) / 255;
    uint64_t below = 0;
    for (int level = 0; level < LEVELS; level++) {
        uint64_t new_level =
            step > 0 ? (below + step / 2) / step : (uint64_t)level;
        curve[level] = (uint8_t)(new_level > 255 ? 255 : new_level);
        below += counts[level];
    }
}

void fby_apply_equalize(const struct fby_step_work *work)
{
    apply_from_histogram(&work->in, equalize_curve);
}
