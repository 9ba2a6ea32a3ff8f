/* SPDX-License-Identifier: Apache-2.0 */
/* steps.c - the table of step functions, and the colours that steps paint. */
#include "worker/transform/steps/steps.h"

#include "worker/transform/yuv.h"

struct step_functions {
    fby_step_fn *apply;
    bool         needs_output;
    uint64_t (*memory_bytes)(const struct fby_step *step, struct fby_size in);
};

static const struct step_functions step_table[FBY_N_STEPS] = {
    [FBY_STEP_VERTICAL_FLIP] = {.apply = fby_apply_vertical_flip},
    [FBY_STEP_PAD]           = {.apply = fby_apply_pad, .needs_output = true},
    [FBY_STEP_GREY]          = {.apply = fby_apply_grey},
    [FBY_STEP_BRIGHTNESS]    = {.apply = fby_apply_brightness},
    [FBY_STEP_CONTRAST]      = {.apply = fby_apply_contrast},
    [FBY_STEP_SATURATION]    = {.apply = fby_apply_saturation},
    [FBY_STEP_HUE]           = {.apply = fby_apply_hue},
    [FBY_STEP_BLUR]          = {.apply = fby_apply_blur,
                 .needs_output         = true,
                 .memory_bytes         = fby_blur_memory_bytes},
    [FBY_STEP_ERASE]         = {.apply = fby_apply_erase},
    [FBY_STEP_AFFINE]    = {.apply = fby_apply_affine, .needs_output = true},
    [FBY_STEP_SHARPNESS] = {.apply = fby_apply_sharpness, .needs_output = true},
    [FBY_STEP_POSTERIZE] = {.apply = fby_apply_posterize},
    [FBY_STEP_SOLARIZE]  = {.apply = fby_apply_solarize},
    [FBY_STEP_AUTOCONTRAST] = {.apply = fby_apply_autocontrast},
    [FBY_STEP_EQUALIZE]     = {.apply = fby_apply_equalize},
};

bool fby_step_is_known(enum fby_step_kind kind)
{
    return (unsigned)kind < FBY_N_STEPS && step_table[kind].apply != NULL;
}

bool fby_step_needs_output(enum fby_step_kind kind)
{
    return step_table[kind].needs_output;
}

uint64_t fby_step_memory_bytes(const struct fby_step *step, struct fby_size in)
{
    const struct step_functions *functions = &step_table[step->kind];
    return functions->memory_bytes != NULL ? functions->memory_bytes(step, in)
                                           : 0;
}

void fby_step_apply(const struct fby_step_work *work)
{
    step_table[work->step->kind].apply(work);
}

struct fby_paint fby_paint_from_rgb(
    const struct fby_step_work *work, const int64_t rgb[FBY_RGB])
{
    struct fby_paint paint = {
        {(uint8_t)rgb[0], (uint8_t)rgb[1], (uint8_t)rgb[2]}};
    if (work->ycbcr) {
        fby_yuv_from_rgb(paint.level, 1);
    }
    return paint;
}

struct fby_paint fby_paint_from_grey(
    const struct fby_step_work *work, int64_t level)
{
    const int64_t rgb[FBY_RGB] = {level, level, level};
    return fby_paint_from_rgb(work, rgb);
}
