/* position.h - which batch: a step of an epoch, under a seed.
 *
 * For commands that look at one batch (`plan`, `show`). */
#ifndef FBY_CLI_POSITION_H
#define FBY_CLI_POSITION_H

#include "cli/local.h"
#include "pipeline/plan/order.h"

struct fby_position {
    uint64_t epoch, step, seed;
    bool     has_seed; /* else it is the pipeline's */
};

/* --epoch, --step, --seed; a child of a command's own argp, its input is a
 * struct fby_position. */
extern const struct argp fby_position_argp;

/* Settle the seed and make the epoch's order; the caller destroys it.
 * Errors: FBY_USAGE when the epoch has no such step; those of the order. */
FBY_CHECKED fby_err fby_place_find(struct fby_position *place,
    const struct fby_local *local, struct fby_order **out, struct fby_why *why);

#endif
