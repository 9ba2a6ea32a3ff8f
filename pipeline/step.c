/* SPDX-License-Identifier: Apache-2.0 */
/* step.c - names of steps and of their values; picture sizes after steps. */
#include "pipeline/step.h"

#include <stddef.h>

struct step_traits {
    const char *name;
    bool        is_geometric;
    const char *values[FBY_STEP_VALUES]; /* names of the values */
};

static const struct step_traits step_traits[FBY_N_STEPS] = {
    [FBY_STEP_VERTICAL_FLIP] = {"vertical_flip", true, {0}},
    [FBY_STEP_PAD]           = {"pad", true,
                  {"left", "top", "right", "bottom", "fill", "mode"}},
    [FBY_STEP_GREY]          = {"grey", false, {0}},
    [FBY_STEP_BRIGHTNESS]    = {"brightness", false, {"factor_q16"}},
    [FBY_STEP_CONTRAST]      = {"contrast", false, {"factor_q16"}},
    [FBY_STEP_SATURATION]    = {"saturation", false, {"factor_q16"}},
    [FBY_STEP_HUE]           = {"hue", false, {"turn_q16"}},
    [FBY_STEP_BLUR]         = {"blur", false, {"width", "height", "sigma_q16"}},
    [FBY_STEP_ERASE]        = {"erase", false,
               {"x", "y", "w", "h", "red", "green", "blue"}},
    [FBY_STEP_AFFINE]       = {"affine", true,
              {"angle_q16", "right", "down", "scale_q16", /* fby_affine_value */
                  "tan_x_q16", "tan_y_q16", "corner", "fill"}},
    [FBY_STEP_SHARPNESS]    = {"sharpness", false, {"factor_q16"}},
    [FBY_STEP_POSTERIZE]    = {"posterize", false, {"bits"}},
    [FBY_STEP_SOLARIZE]     = {"solarize", false, {"threshold"}},
    [FBY_STEP_AUTOCONTRAST] = {"autocontrast", false, {0}},
    [FBY_STEP_EQUALIZE]     = {"equalize", false, {0}},
    [FBY_STEP_MIXUP]        = {"mixup", false, {"lambda_q24"}},
    [FBY_STEP_CUTMIX] = {"cutmix", false, {"x", "y", "w", "h", "lambda_q24"}},
};

const char *const fby_pad_modes[] = {[FBY_PAD_CONSTANT] = "constant",
    [FBY_PAD_EDGE]                                      = "edge",
    [FBY_PAD_REFLECT]                                   = "reflect",
    [FBY_PAD_SYMMETRIC]                                 = "symmetric",
    NULL};

static const struct step_traits *traits_of(enum fby_step_kind kind)
{
    static const struct step_traits none = {.name = ""};
    return (unsigned)kind < FBY_N_STEPS && step_traits[kind].name != NULL
               ? &step_traits[kind]
               : &none;
}

const char *fby_step_name(enum fby_step_kind kind)
{
    return traits_of(kind)->name;
}

const char *fby_step_value_name(enum fby_step_kind kind, unsigned i)
{
    return i < FBY_STEP_VALUES ? traits_of(kind)->values[i] : NULL;
}

bool fby_step_is_geometric(enum fby_step_kind kind)
{
    return traits_of(kind)->is_geometric;
}

struct fby_size fby_step_size(const struct fby_step *step, struct fby_size in)
{
    if (step->kind == FBY_STEP_PAD) {
        in.w += (uint32_t)(step->v[FBY_PAD_LEFT] + step->v[FBY_PAD_RIGHT]);
        in.h += (uint32_t)(step->v[FBY_PAD_TOP] + step->v[FBY_PAD_BOTTOM]);
    }
    return in;
}
