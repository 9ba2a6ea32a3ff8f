/* nodes.h - the NUMA nodes of a machine, and the one that a device is near.
 *
 * Read from sysfs, below a `root` that is "" on a real machine; nothing here
 * changes anything. What cannot be read is not there: then nothing is
 * preferred. */
#ifndef FBY_COMMON_NODES_H
#define FBY_COMMON_NODES_H

#include <stdbool.h>
#include <stdint.h>

#include "common/cpus.h"

struct fby_node {
    int       number;
    cpu_set_t cpus;
};

/* Errors: FBY_USAGE  no such node; `why` says which there are. */
FBY_CHECKED fby_err fby_node_find(const char *root, uint32_t number,
    struct fby_node *out, struct fby_why *why);

/* The number in a `file` of a device's `directory` in sysfs; -1: it tells of
 * none. */
int fby_node_of(const char *directory, const char *file);

/* Node `number`, with those of its CPUs that are `allowed`, for threads that
 * work with a device there.
 *
 * False: there is nothing to prefer. There is one node, the number is -1, or
 * none or all of the allowed CPUs are that node's. */
bool fby_node_prefer(const char *root, int number, const cpu_set_t *allowed,
    struct fby_node *out);

#endif
