/* SPDX-License-Identifier: Apache-2.0 */
/* steps.h - apply the steps of pipeline/step.h to pixels.
 *
 * The result of a step differs by at most one level (of 256) from torchvision's
 * op of that name with the same numbers. All arithmetic is on integers; a Q16
 * number has 16 bits of fraction. */
#ifndef FBY_WORKER_TRANSFORM_STEPS_H
#define FBY_WORKER_TRANSFORM_STEPS_H

#include "pipeline/step.h"
#include "worker/transform/image.h"

/* The arguments of one step. */
struct fby_step_work {
    const struct fby_step *step;
    struct fby_image       in, out;  /* the same picture, unless
                                        fby_step_needs_output */
    uint32_t               channels; /* 3; or 1 in a mask, which gets only
                                        geometric steps */
    bool ycbcr; /* the channels are Y, Cb, Cr, and the step is no colour step */
    void *memory; /* of fby_step_memory_bytes bytes, aligned to 4 bytes */
};

/* The colour that a step paints, in the channels of the picture. */
struct fby_paint {
    uint8_t level[FBY_RGB]; /* 0 to 255 for each channel */
};

/* Convert an RGB colour to the channels of the picture. */
struct fby_paint fby_paint_from_rgb(
    const struct fby_step_work *work, const int64_t rgb[FBY_RGB]);

/* Convert a grey to the channels of the picture. */
struct fby_paint fby_paint_from_grey(
    const struct fby_step_work *work, int64_t level);

/* True if the step writes its result to another picture; false: in place. */
bool fby_step_needs_output(enum fby_step_kind kind);

/* Bytes of working memory that the step needs for a picture of size `in`. */
uint64_t fby_step_memory_bytes(const struct fby_step *step, struct fby_size in);

/* True if the step is implemented here. */
bool fby_step_is_known(enum fby_step_kind kind);

/* Apply a step. `out` has the size of fby_step_size. The step's numbers must
 * fit the picture, as those of an op's plan do: boxes are inside it, and a
 * reflection (pad, blur) does not go past its other side. Any thread. */
void fby_step_apply(const struct fby_step_work *work);

/* The function of each kind of step. */
typedef void fby_step_fn(const struct fby_step_work *work);
fby_step_fn  fby_apply_vertical_flip, fby_apply_pad, fby_apply_erase;
fby_step_fn  fby_apply_grey, fby_apply_saturation, fby_apply_hue;
fby_step_fn  fby_apply_brightness, fby_apply_contrast, fby_apply_posterize;
fby_step_fn  fby_apply_solarize, fby_apply_autocontrast, fby_apply_equalize;
fby_step_fn  fby_apply_blur, fby_apply_sharpness, fby_apply_affine;

/* Bytes of working memory of a blur. */
uint64_t fby_blur_memory_bytes(const struct fby_step *step, struct fby_size in);

static inline uint8_t *fby_image_row(const struct fby_image *image, uint32_t y)
{
    return image->pixels + y * image->stride;
}

/* Round a Q16 number down to a level, and limit it to 0..255. */
static inline uint8_t fby_level_from_q16(int64_t number)
{
    int64_t level = number < 0 ? 0 : number >> 16;
    return (uint8_t)(level > 255 ? 255 : level);
}

/* The grey level as in torchvision, rounded down. Its weights sum to 0.9999. */
static inline uint32_t fby_grey_from_rgb(const uint8_t *rgb)
{
    return (2989U * rgb[0] + 5870U * rgb[1] + 1140U * rgb[2]) / 10000U;
}

#endif
