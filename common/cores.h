/* cores.h - how many cores this process may use.
 *
 * The number of the machine's cores is wrong in a container or under taskset.
 * Two limits apply: the affinity mask, and the CPU quota of the cgroup and of
 * every cgroup above it (version 1 or 2). More threads than that only compete
 * for the same cores. */
#ifndef FBY_COMMON_CORES_H
#define FBY_COMMON_CORES_H

#include <stdint.h>

/* The number of usable cores, at least 1. Reads files: call at start-up. */
uint32_t fby_cores(void);

/* The quota alone, rounded up to whole cores; UINT32_MAX when none is set. It
 * is read from `root`/proc/self/cgroup and `root`/sys/fs/cgroup/...; `root` is
 * "" on a real machine. */
uint32_t fby_cores_quota(const char *root);

#endif
