/* cpu_placement.h - which CPUs the threads of a worker run on.
 *
 * Whoever runs it may name CPUs or a node: then every thread stays there, and
 * memory, which is first touched by them, is that node's. Else, on a machine
 * of several nodes, only those who talk to the network prefer the card's node:
 * they are few, so that several workers on a machine are not crowded there,
 * while those who compute go where there is room. */
#ifndef FBY_WORKER_CPU_PLACEMENT_H
#define FBY_WORKER_CPU_PLACEMENT_H

#include "worker/worker.h"

/* Keep the calling thread, and all it makes, on the CPUs that the options name,
 * if they name any.
 * Errors: FBY_USAGE  no such CPUs or node here; FBY_SYS  the system refuses. */
FBY_CHECKED fby_err fby_cpu_placement_confine(
    const struct fby_worker_options *options, struct fby_why *why);

/* Move the calling thread, and those it makes from now on, to the node of the
 * network card, if that is to be preferred. */
void fby_cpu_placement_near_card(const struct fby_worker_options *options);

#endif
