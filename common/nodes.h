/* nodes.h - the NUMA nodes of a machine, and the node of a device.
 *
 * Everything is read from sysfs below `root`, which is "" on a real machine. A
 * file that cannot be read means that there is no such node or preference. */
#ifndef FBY_COMMON_NODES_H
#define FBY_COMMON_NODES_H

#include <stdbool.h>
#include <stdint.h>

#include "common/cpus.h"

struct fby_node {
    int       number;
    cpu_set_t cpus;
};

/* Node `number` and its CPUs.
 * Errors: FBY_USAGE  no such node; `why` lists the nodes that exist. */
FBY_CHECKED fby_err fby_node_find(const char *root, uint32_t number,
    struct fby_node *out, struct fby_why *why);

/* The node number in `file` of a device's `directory` in sysfs; -1: none. */
int fby_node_of(const char *directory, const char *file);

/* Node `number`, with those of its CPUs that are `allowed`, for threads that
 * work with a device on that node.
 *
 * Returns false when no CPUs are preferable: the machine has one node, `number`
 * is -1, or none or all of the allowed CPUs belong to that node. */
bool fby_node_prefer(const char *root, int number, const cpu_set_t *allowed,
    struct fby_node *out);

#endif
