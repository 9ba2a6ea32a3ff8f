/* workshop.h - what a fby_transform consists of; for this folder alone.
 *
 * All its memory is scratch memory that stays for the next picture, as long as
 * it is within the thread's own share. What one picture takes beyond the share
 * comes out of the allowance that the threads have in common: all of it before
 * the picture is decoded, and it goes back when the picture is done. */
#ifndef FBY_WORKER_TRANSFORM_WORKSHOP_H
#define FBY_WORKER_TRANSFORM_WORKSHOP_H

#include "worker/transform/apply.h"
#include "worker/transform/resize.h"

enum { FBY_COST_DECODE = 0, FBY_N_COSTS = 64 };

struct fby_transform {
    struct fby_transform_limits limits;
    uint64_t                    borrowed;   /* bytes of the allowance */
    struct fby_scratch          decoded[2]; /* upright; rows to be turned */
    struct fby_scratch          made[2];    /* by ops, in turn */
    struct fby_resizer          resizer;
    struct fby_cost             costs[FBY_N_COSTS]; /* by op id; 0: decoding */
};

/* Bytes that one sample needs, each scratch memory by itself. */
struct fby_need {
    uint64_t               decoded[2], made[2];
    struct fby_resize_need resize;
    uint64_t               libraries; /* takes and gives back by itself */
};

/* Add what the ops of `run` need, whose result is as large as `out`. */
void fby_transform_need(const struct fby_op_run *run,
    const struct fby_image *out, struct fby_need *need);

/* See to it that `need` may be taken until fby_transform_rest.
 *
 * Blocks: while others use the allowance.
 * Errors: FBY_FULL  more than there can ever be; FBY_GONE  it was closed. */
FBY_CHECKED fby_err fby_transform_reserve(struct fby_transform *self,
    const struct fby_need *need, struct fby_why *why);

/* Between samples: give back what goes beyond the thread's own share. */
void fby_transform_rest(struct fby_transform *self);

/* Note `cpu_ns` more for decoding (0) or an op. */
void fby_transform_charge(
    struct fby_transform *self, uint32_t op_id, int64_t cpu_ns);

#endif
