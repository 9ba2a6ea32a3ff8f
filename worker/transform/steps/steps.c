/* steps.c - the table of step functions, and the colours that steps paint. */
#include "worker/transform/steps/steps.h"

#include "worker/transform/yuv.h"

struct step_impl {
    fby_step_fn *apply;
    bool         needs_output;
    uint64_t (*memory_bytes)(const struct fby_step *step, struct fby_size in);
};

static const struct step_impl impls[FBY_N_STEPS] = {
    [FBY_STEP_VERTICAL_FLIP] = {fby_apply_vertical_flip, false, NULL},
    [FBY_STEP_PAD]           = {fby_apply_pad, true, NULL},
    [FBY_STEP_GREY]          = {fby_apply_grey, false, NULL},
    [FBY_STEP_BRIGHTNESS]    = {fby_apply_brightness, false, NULL},
    [FBY_STEP_CONTRAST]      = {fby_apply_contrast, false, NULL},
    [FBY_STEP_SATURATION]    = {fby_apply_saturation, false, NULL},
    [FBY_STEP_HUE]           = {fby_apply_hue, false, NULL},
    [FBY_STEP_BLUR]          = {fby_apply_blur, true, fby_blur_memory_bytes},
    [FBY_STEP_ERASE]         = {fby_apply_erase, false, NULL},
    [FBY_STEP_AFFINE]        = {fby_apply_affine, true, NULL},
    [FBY_STEP_SHARPNESS]     = {fby_apply_sharpness, true, NULL},
    [FBY_STEP_POSTERIZE]     = {fby_apply_posterize, false, NULL},
    [FBY_STEP_SOLARIZE]      = {fby_apply_solarize, false, NULL},
    [FBY_STEP_AUTOCONTRAST]  = {fby_apply_autocontrast, false, NULL},
    [FBY_STEP_EQUALIZE]      = {fby_apply_equalize, false, NULL},
};

bool fby_step_is_known(enum fby_step_kind kind)
{
    return (unsigned)kind < FBY_N_STEPS && impls[kind].apply != NULL;
}

bool fby_step_needs_output(enum fby_step_kind kind)
{
    return impls[kind].needs_output;
}

uint64_t fby_step_memory_bytes(const struct fby_step *step, struct fby_size in)
{
    const struct step_impl *impl = &impls[step->kind];
    return impl->memory_bytes != NULL ? impl->memory_bytes(step, in) : 0;
}

void fby_step_apply(const struct fby_step_work *work)
{
    impls[work->step->kind].apply(work);
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
