/* steps.h - the steps of common/pipeline/step.h on pixels.
 *
 * Each is torchvision's op of that name for the same numbers, to within one
 * level, in whole numbers only. */
#ifndef FBY_WORKER_TRANSFORM_STEPS_H
#define FBY_WORKER_TRANSFORM_STEPS_H

#include "common/pipeline/step.h"
#include "worker/transform/image.h"

struct fby_step_work {
    const struct fby_step *step;
    struct fby_image       in, out;  /* the same, unless the step moves */
    uint32_t               channels; /* 3, or 1 of a mask */
    void                  *memory;   /* fby_step_bytes of it */
};

/* Does it need another picture to write to than the one it reads? */
bool fby_step_moves(enum fby_step_kind kind);
/* Bytes of memory it takes for a picture of that size. */
uint64_t fby_step_bytes(const struct fby_step *step, struct fby_size in);

/* Is there code for it? */
bool fby_step_is_known(enum fby_step_kind kind);
void fby_step_do(const struct fby_step_work *work);

/* One function a kind. */
typedef void fby_step_fn(const struct fby_step_work *work);
fby_step_fn  fby_do_vertical_flip, fby_do_pad;
fby_step_fn  fby_do_grey;

#endif
