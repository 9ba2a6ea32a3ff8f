/* SPDX-License-Identifier: Apache-2.0 */
/* cores.h - the number of cores that this process may use.
 *
 * In a container or under taskset a process may use only some of the machine's
 * cores. The limits are the affinity mask, and the CPU quotas of the process's
 * cgroup and of every cgroup above it (cgroups version 1 or 2). */
#ifndef FBY_COMMON_CORES_H
#define FBY_COMMON_CORES_H

#include <stdint.h>

/* The number of usable cores, at least 1. Reads files: call at start-up. */
uint32_t fby_usable_cores(void);

/* From now on fby_usable_cores() is at most `most` in this process. A worker
 * whose user gives it fewer threads than there are cores, as in a pod that
 * requests a part of a node, calls it first. Thread: before others start. */
void fby_limit_cores(uint32_t most);

/* The smallest CPU quota of these cgroups, rounded up to whole cores;
 * UINT32_MAX when none is set. It is read from ROOT/proc/self/cgroup and
 * ROOT/sys/fs/cgroup/...; `root` is "" except in tests. */
uint32_t fby_cgroup_cores(const char *root);

#endif
