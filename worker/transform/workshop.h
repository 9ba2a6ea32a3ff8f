/* workshop.h - what a fby_transform consists of; for this folder alone. */
#ifndef FBY_WORKER_TRANSFORM_WORKSHOP_H
#define FBY_WORKER_TRANSFORM_WORKSHOP_H

#include "worker/transform/apply.h"
#include "worker/transform/resize.h"

enum { FBY_COST_DECODE = 0, FBY_N_COSTS = 64 };

struct fby_transform {
    struct fby_scratch decoded[2]; /* as stored, and upright */
    struct fby_scratch made[2];    /* by ops, in turn */
    struct fby_resizer resizer;
    struct fby_cost    costs[FBY_N_COSTS]; /* by op id; 0: decoding */
};

/* Note `cpu_ns` more for decoding (0) or an op. */
void fby_transform_charge(
    struct fby_transform *self, uint32_t op_id, int64_t cpu_ns);

/* Between samples: give back what goes beyond FBY_TRANSFORM_KEEP_BYTES. */
void fby_transform_rest(struct fby_transform *self);

#endif
