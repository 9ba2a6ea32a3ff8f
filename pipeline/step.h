/* step.h - what an op does to the pixels, once its parameters are drawn.
 *
 * Crops, sizes and mirrors are boxes (op.h). All else is a list of steps: a
 * kind and whole numbers, decided before a pixel is touched, so that a plan
 * can be printed and compared. proto/PROTOCOL.md, "Steps", is the definition
 * of each; worker/transform/steps/steps.h does them. */
#ifndef FBY_PIPELINE_STEP_H
#define FBY_PIPELINE_STEP_H

#include <stdbool.h>
#include <stdint.h>

#include "pipeline/plan/geometry.h"

enum fby_step_kind { /* in fingerprints: add, never renumber */
    FBY_STEP_VERTICAL_FLIP = 1,
    FBY_STEP_PAD           = 2, /* left, top, right, bottom, fill, mode */
    FBY_STEP_GREY          = 3,
    FBY_STEP_BRIGHTNESS    = 4,  /* factor, Q16: so many 65536ths */
    FBY_STEP_CONTRAST      = 5,  /* factor, Q16 */
    FBY_STEP_SATURATION    = 6,  /* factor, Q16 */
    FBY_STEP_HUE           = 7,  /* turn, Q16, -1/2 to 1/2 of the circle */
    FBY_STEP_BLUR          = 8,  /* width, height of the kernel; sigma, Q16 */
    FBY_STEP_ERASE         = 9,  /* x, y, w, h; the value, of each channel */
    FBY_STEP_AFFINE        = 10, /* see enum fby_affine_value */
    FBY_STEP_SHARPNESS     = 11, /* factor, Q16 */
    FBY_STEP_POSTERIZE     = 12, /* bits that stay, 0 to 8 */
    FBY_STEP_SOLARIZE      = 13, /* values from there on are inverted */
    FBY_STEP_AUTOCONTRAST  = 14,
    FBY_STEP_EQUALIZE      = 15,
    FBY_STEP_MIXUP         = 16, /* device: lambda, Q24 */
    FBY_STEP_CUTMIX        = 17, /* device: x, y, w, h; lambda, Q24 */
    FBY_N_STEPS
};

enum { FBY_STEP_VALUES = 8 };

struct fby_step {
    enum fby_step_kind kind;
    int64_t            v[FBY_STEP_VALUES]; /* as the kind says; else 0 */
};

/* The picture is turned clockwise, sheared, scaled and moved, about its middle
 * or its upper left corner; pixels from outside are `fill`. */
enum fby_affine_value {
    FBY_AFFINE_ANGLE  = 0, /* degrees, Q16 */
    FBY_AFFINE_RIGHT  = 1, /* pixels */
    FBY_AFFINE_DOWN   = 2, /* pixels */
    FBY_AFFINE_SCALE  = 3, /* Q16, above 0 */
    FBY_AFFINE_TAN_X  = 4, /* tangents of the shears, Q16 */
    FBY_AFFINE_TAN_Y  = 5,
    FBY_AFFINE_CORNER = 6, /* 1: about the corner */
    FBY_AFFINE_FILL   = 7
};

enum { FBY_PAD_MODE = 5 }; /* the value of a pad that is one of these */
enum fby_pad_mode {
    FBY_PAD_CONSTANT  = 0,
    FBY_PAD_EDGE      = 1, /* aa|abc|cc */
    FBY_PAD_REFLECT   = 2, /* cb|abc|ba */
    FBY_PAD_SYMMETRIC = 3  /* ba|abc|cb */
};
extern const char *const fby_pad_modes[]; /* "constant", ..., NULL */

/* "pad"; and the name of value `i`, NULL behind the last one. */
const char *fby_step_name(enum fby_step_kind kind);
const char *fby_step_value_name(enum fby_step_kind kind, unsigned i);

/* Does it move pixels? Then a mask is moved with its image; else the mask
 * stays as it is. */
bool fby_step_is_geometric(enum fby_step_kind kind);

/* The size of a picture after the step. Pure. */
struct fby_size fby_step_size(const struct fby_step *step, struct fby_size in);

#endif
