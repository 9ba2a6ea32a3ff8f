/* cores.h - how many cores this process may use.
 *
 * The machine's number is the wrong one in a container or under taskset: the
 * affinity mask and the CPU quota of the cgroup (version 1 or 2, of the group
 * and of every group above it) both bound it. Threads beyond that number only
 * take turns. */
#ifndef FBY_COMMON_CORES_H
#define FBY_COMMON_CORES_H

#include <stdint.h>

/* At least 1. Reads files: for start-up. */
uint32_t fby_cores(void);

/* The quota alone, rounded up to whole cores, as told by files below `root`
 * ("" on a real machine: `root`/proc/self/cgroup, `root`/sys/fs/cgroup/...).
 * UINT32_MAX when there is none. */
uint32_t fby_cores_quota(const char *root);

#endif
