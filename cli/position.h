/* position.h - the options that choose one batch: epoch, step and seed.
 *
 * Used by the commands for one batch (`plan`, `show`). */
#ifndef FBY_CLI_POSITION_H
#define FBY_CLI_POSITION_H

#include "cli/local.h"
#include "pipeline/plan/order.h"

struct fby_position {
    uint64_t epoch, step, seed;
    bool     has_seed; /* false: take the pipeline's seed */
};

/* Parser of --epoch, --step and --seed. It is a child of a command's argp, with
 * a struct fby_position as input. */
extern const struct argp fby_position_argp;

/* Set the seed if none was given, and create the order of the epoch.
 * Ownership: the caller destroys *out.
 * Errors: FBY_USAGE when the epoch has no such step; those of the order. */
FBY_CHECKED fby_err fby_position_find(struct fby_position *position,
    const struct fby_local *local, struct fby_order **out, struct fby_why *why);

#endif
