/* SPDX-License-Identifier: Apache-2.0 */
/* step.h - the steps of an op plan (what one op does to one sample).
 *
 * Crops, resizes and mirrors are members of the plan (struct fby_op_plan of
 * op.h). Any other change of a picture is a step: a kind and integers, which
 * are drawn before the picture is decoded. So a plan can be printed and
 * compared. proto/PROTOCOL.md, "Steps", defines the steps;
 * worker/transform/steps/ applies them. */
#ifndef FBY_PIPELINE_STEP_H
#define FBY_PIPELINE_STEP_H

#include <stdbool.h>
#include <stdint.h>

#include "pipeline/plan/geometry.h"

enum fby_step_kind { /* in fingerprints: add numbers, never change one */
    FBY_STEP_VERTICAL_FLIP = 1,
    FBY_STEP_PAD           = 2, /* left, top, right, bottom, fill, mode */
    FBY_STEP_GREY          = 3,
    FBY_STEP_BRIGHTNESS    = 4, /* factor, Q16 (times 65536) */
    FBY_STEP_CONTRAST      = 5, /* factor, Q16 */
    FBY_STEP_SATURATION    = 6, /* factor, Q16 */
    FBY_STEP_HUE           = 7, /* rotation in turns, Q16, -1/2 to 1/2 */
    FBY_STEP_BLUR          = 8, /* width and height of the kernel; sigma, Q16 */
    FBY_STEP_ERASE         = 9, /* x, y, w, h; the red, green, blue to write */
    FBY_STEP_AFFINE        = 10, /* see enum fby_affine_value */
    FBY_STEP_SHARPNESS     = 11, /* factor, Q16 */
    FBY_STEP_POSTERIZE     = 12, /* bits that are kept, 0 to 8 */
    FBY_STEP_SOLARIZE      = 13, /* threshold from which values are inverted */
    FBY_STEP_AUTOCONTRAST  = 14,
    FBY_STEP_EQUALIZE      = 15,
    FBY_STEP_MIXUP         = 16, /* device: lambda, Q24 (times 2^24) */
    FBY_STEP_CUTMIX        = 17, /* device: x, y, w, h; lambda, Q24 */
    FBY_N_STEPS
};

enum { FBY_STEP_VALUES = 8 };

struct fby_step {
    enum fby_step_kind kind;
    int64_t v[FBY_STEP_VALUES]; /* as listed above; unused ones are 0 */
};

/* Indices of the values of an affine step, which rotates, shears, scales and
 * shifts the picture about its centre or its upper left corner. */
enum fby_affine_value {
    FBY_AFFINE_ANGLE  = 0, /* clockwise, degrees, Q16 */
    FBY_AFFINE_RIGHT  = 1, /* shift, pixels */
    FBY_AFFINE_DOWN   = 2, /* shift, pixels */
    FBY_AFFINE_SCALE  = 3, /* Q16, above 0 */
    FBY_AFFINE_TAN_X  = 4, /* tangent of the shear along x, Q16 */
    FBY_AFFINE_TAN_Y  = 5, /* tangent of the shear along y, Q16 */
    FBY_AFFINE_CORNER = 6, /* 1: about the upper left corner; 0: the centre */
    FBY_AFFINE_FILL   = 7  /* level of pixels from outside the picture */
};

/* Indices of the values of a pad step. */
enum { FBY_PAD_LEFT, FBY_PAD_TOP, FBY_PAD_RIGHT, FBY_PAD_BOTTOM };
enum { FBY_PAD_FILL = 4, FBY_PAD_MODE = 5 };
enum fby_pad_mode {        /* how a row abc is padded by 2 pixels: */
    FBY_PAD_CONSTANT  = 0, /* ff|abc|ff, where f is the fill */
    FBY_PAD_EDGE      = 1, /* aa|abc|cc */
    FBY_PAD_REFLECT   = 2, /* cb|abc|ba */
    FBY_PAD_SYMMETRIC = 3  /* ba|abc|cb */
};
extern const char *const fby_pad_modes[]; /* "constant", ..., NULL */

/* The name of a step, such as "pad"; "" for an unknown kind. */
const char *fby_step_name(enum fby_step_kind kind);
/* The name of value `i` of a step, such as "left"; NULL if it has none. */
const char *fby_step_value_name(enum fby_step_kind kind, unsigned i);

/* True if the step moves pixels and must therefore change masks too. */
bool fby_step_is_geometric(enum fby_step_kind kind);

/* The size of a picture of size `in` after the step. Pure. */
struct fby_size fby_step_size(const struct fby_step *step, struct fby_size in);

#endif
