/* cpu_placement.h - which CPUs the threads of a worker run on.
 *
 * The options may name CPUs or a NUMA node. Then every thread stays there, and
 * memory comes from that node, because these threads touch it first. Without
 * them, on a machine of several nodes, only the network threads run on the
 * node of the network card. They are few, so several workers do not crowd that
 * node; the compute threads run on any node. */
#ifndef FBY_WORKER_CPU_PLACEMENT_H
#define FBY_WORKER_CPU_PLACEMENT_H

#include "worker/worker.h"

/* Confine the calling thread, and all threads it creates later, to the CPUs
 * that the options name, if they name any.
 * Errors: FBY_USAGE  this machine has no such CPUs or node
 *         FBY_SYS    the system refuses. */
FBY_CHECKED fby_err fby_cpu_placement_confine(
    const struct fby_worker_options *options, struct fby_why *why);

/* Confine the calling thread, and all threads it creates later, to the node of
 * the network card. Does nothing if the options name CPUs, a node or `off`, or
 * if fby_numa_near finds no node to prefer. */
void fby_cpu_placement_near_card(const struct fby_worker_options *options);

#endif
