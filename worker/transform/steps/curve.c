/* curve.c - steps that map each level of a channel by a curve. Some curves
 * depend on the whole picture. */
#include <string.h>

#include "worker/transform/steps/steps.h"

enum { LEVELS = 256 };

struct curves {
    uint8_t of[FBY_RGB][LEVELS];
};

static void apply(const struct fby_image *image, const struct curves *curves)
{
    for (uint32_t y = 0; y < image->height; y++) {
        uint8_t *row = fby_image_row(image, y);
        for (size_t i = 0; i < (size_t)image->width * FBY_RGB; i += FBY_RGB) {
            row[i]     = curves->of[0][row[i]];
            row[i + 1] = curves->of[1][row[i + 1]];
            row[i + 2] = curves->of[2][row[i + 2]];
        }
    }
}

/* The same curve for all channels. */
static void apply_one(const struct fby_image *image, struct curves *curves)
{
    memcpy(curves->of[1], curves->of[0], LEVELS);
    memcpy(curves->of[2], curves->of[0], LEVELS);
    apply(image, curves);
}

void fby_do_brightness(const struct fby_step_work *work)
{
    struct curves curves;
    for (int64_t v = 0; v < LEVELS; v++) {
        curves.of[0][v] = fby_level_of_q16(v * work->step->v[0]);
    }
    apply_one(&work->in, &curves);
}

/* Mean of the grey values, Q16. */
static int64_t mean_of(const struct fby_image *image)
{
    uint64_t sum = 0;
    for (uint32_t y = 0; y < image->height; y++) {
        const uint8_t *row = fby_image_row(image, y);
        for (uint32_t x = 0; x < image->width; x++) {
            sum += fby_grey_of(row + (size_t)x * FBY_RGB);
        }
    }
    uint64_t pixels = (uint64_t)image->width * image->height;
    return pixels > 0 ? (int64_t)((sum << 16) / pixels) : 0;
}

void fby_do_contrast(const struct fby_step_work *work)
{
    struct curves curves;
    int64_t       factor = work->step->v[0];
    int64_t       mean   = mean_of(&work->in);
    int64_t       grey   = mean * (65536 - factor) / 65536;
    for (int64_t v = 0; v < LEVELS; v++) {
        curves.of[0][v] = fby_level_of_q16(v * factor + grey);
    }
    apply_one(&work->in, &curves);
}

void fby_do_posterize(const struct fby_step_work *work)
{
    struct curves curves;
    unsigned      kept = 0xff00U >> work->step->v[0];
    for (unsigned v = 0; v < LEVELS; v++) {
        curves.of[0][v] = (uint8_t)(v & kept);
    }
    apply_one(&work->in, &curves);
}

void fby_do_solarize(const struct fby_step_work *work)
{
    struct curves curves;
    for (int v = 0; v < LEVELS; v++) {
        curves.of[0][v] = (uint8_t)(v >= work->step->v[0] ? 255 - v : v);
    }
    apply_one(&work->in, &curves);
}

/* ---- curves from counts of levels ---- */

struct counts {
    uint64_t of[FBY_RGB][LEVELS];
};

static void count_levels(const struct fby_image *image, struct counts *out)
{
    memset(out, 0, sizeof(*out));
    for (uint32_t y = 0; y < image->height; y++) {
        const uint8_t *row = fby_image_row(image, y);
        for (size_t i = 0; i < (size_t)image->width * FBY_RGB; i += FBY_RGB) {
            out->of[0][row[i]]++;
            out->of[1][row[i + 1]]++;
            out->of[2][row[i + 2]]++;
        }
    }
}

static int first_of(const uint64_t counts[LEVELS])
{
    int v = 0;
    while (v < LEVELS - 1 && counts[v] == 0) {
        v++;
    }
    return v;
}

static int last_of(const uint64_t counts[LEVELS])
{
    int v = LEVELS - 1;
    while (v > 0 && counts[v] == 0) {
        v--;
    }
    return v;
}

static void stretch(const uint64_t counts[LEVELS], uint8_t curve[LEVELS])
{
    int low  = first_of(counts);
    int high = last_of(counts);
    for (int v = 0; v < LEVELS; v++) {
        int within = v < low ? low : v > high ? high : v;
        curve[v] =
            (uint8_t)(high == low ? v : (within - low) * 255 / (high - low));
    }
}

void fby_do_autocontrast(const struct fby_step_work *work)
{
    struct counts counts;
    struct curves curves;
    count_levels(&work->in, &counts);
    for (int c = 0; c < FBY_RGB; c++) {
        stretch(counts.of[c], curves.of[c]);
    }
    apply(&work->in, &curves);
}

/* Pillow's rule: a level becomes the number of pixels below it, in units of a
 * 255th of all pixels except those of the highest level. */
static void equalize(
    const uint64_t counts[LEVELS], uint64_t pixels, uint8_t curve[LEVELS])
{
    uint64_t step  = (pixels - counts[last_of(counts)]) / 255;
    uint64_t below = 0;
    for (int v = 0; v < LEVELS; v++) {
        uint64_t level = step > 0 ? (below + step / 2) / step : (uint64_t)v;
        curve[v]       = (uint8_t)(level > 255 ? 255 : level);
        below += counts[v];
    }
}

void fby_do_equalize(const struct fby_step_work *work)
{
    struct counts counts;
    struct curves curves;
    uint64_t      pixels = (uint64_t)work->in.width * work->in.height;
    count_levels(&work->in, &counts);
    for (int c = 0; c < FBY_RGB; c++) {
        equalize(counts.of[c], pixels, curves.of[c]);
    }
    apply(&work->in, &curves);
}
