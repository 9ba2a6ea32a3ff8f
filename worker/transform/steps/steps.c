/* steps.c - the table of step functions. */
#include "worker/transform/steps/steps.h"

#include "worker/transform/yuv.h"

struct step_impl {
    fby_step_fn *apply;
    bool         moves;
    uint64_t (*bytes)(const struct fby_step *step, struct fby_size in);
};

static const struct step_impl impls[FBY_N_STEPS] = {
    [FBY_STEP_VERTICAL_FLIP] = {fby_do_vertical_flip, false, NULL},
    [FBY_STEP_PAD]           = {fby_do_pad, true, NULL},
    [FBY_STEP_GREY]          = {fby_do_grey, false, NULL},
    [FBY_STEP_BRIGHTNESS]    = {fby_do_brightness, false, NULL},
    [FBY_STEP_CONTRAST]      = {fby_do_contrast, false, NULL},
    [FBY_STEP_SATURATION]    = {fby_do_saturation, false, NULL},
    [FBY_STEP_HUE]           = {fby_do_hue, false, NULL},
    [FBY_STEP_BLUR]          = {fby_do_blur, true, fby_blur_bytes},
    [FBY_STEP_ERASE]         = {fby_do_erase, false, NULL},
    [FBY_STEP_AFFINE]        = {fby_do_affine, true, NULL},
    [FBY_STEP_SHARPNESS]     = {fby_do_sharpness, true, NULL},
    [FBY_STEP_POSTERIZE]     = {fby_do_posterize, false, NULL},
    [FBY_STEP_SOLARIZE]      = {fby_do_solarize, false, NULL},
    [FBY_STEP_AUTOCONTRAST]  = {fby_do_autocontrast, false, NULL},
    [FBY_STEP_EQUALIZE]      = {fby_do_equalize, false, NULL},
};

bool fby_step_is_known(enum fby_step_kind kind)
{
    return (unsigned)kind < FBY_N_STEPS && impls[kind].apply != NULL;
}

bool fby_step_moves(enum fby_step_kind kind)
{
    return impls[kind].moves;
}

uint64_t fby_step_bytes(const struct fby_step *step, struct fby_size in)
{
    const struct step_impl *impl = &impls[step->kind];
    return impl->bytes != NULL ? impl->bytes(step, in) : 0;
}

void fby_step_do(const struct fby_step_work *work)
{
    impls[work->step->kind].apply(work);
}

struct fby_paint fby_step_paint(
    const struct fby_step_work *work, const int64_t rgb[FBY_RGB])
{
    struct fby_paint paint = {
        {(uint8_t)rgb[0], (uint8_t)rgb[1], (uint8_t)rgb[2]}};
    if (work->ycbcr) {
        fby_yuv_of_rgb(paint.level, 1);
    }
    return paint;
}

struct fby_paint fby_step_fill(const struct fby_step_work *work, int64_t level)
{
    const int64_t rgb[FBY_RGB] = {level, level, level};
    return fby_step_paint(work, rgb);
}
