/* step.h - what an op does to the pixels, once its parameters are drawn.
 *
 * Crops, sizes and mirrors are boxes (op.h). All else is a list of steps: a
 * kind and whole numbers, decided before a pixel is touched, so that a plan
 * can be printed and compared. proto/PROTOCOL.md, "Steps", is the definition
 * of each; worker/transform/steps.h does them. */
#ifndef FBY_COMMON_PIPELINE_STEP_H
#define FBY_COMMON_PIPELINE_STEP_H

#include <stdbool.h>
#include <stdint.h>

#include "common/plan/geometry.h"

enum fby_step_kind { /* in fingerprints: add, never renumber */
    FBY_STEP_VERTICAL_FLIP = 1,
    FBY_STEP_PAD           = 2, /* left, top, right, bottom, fill, mode */
    FBY_STEP_GREY          = 3,
    FBY_N_STEPS
};

enum { FBY_STEP_VALUES = 8 };

struct fby_step {
    enum fby_step_kind kind;
    int64_t            v[FBY_STEP_VALUES]; /* as the kind says; else 0 */
};

enum fby_pad_mode {
    FBY_PAD_CONSTANT  = 0,
    FBY_PAD_EDGE      = 1, /* aa|abc|cc */
    FBY_PAD_REFLECT   = 2, /* cb|abc|ba */
    FBY_PAD_SYMMETRIC = 3  /* ba|abc|cb */
};

/* "pad"; and the name of value `i`, NULL behind the last one. */
const char *fby_step_name(enum fby_step_kind kind);
const char *fby_step_value_name(enum fby_step_kind kind, unsigned i);

/* Does it move pixels? Then a mask is moved with its image; else the mask
 * stays as it is. */
bool fby_step_is_geometric(enum fby_step_kind kind);

/* The size of a picture after the step. Pure. */
struct fby_size fby_step_size(const struct fby_step *step, struct fby_size in);

#endif
