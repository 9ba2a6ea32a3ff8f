/* SPDX-License-Identifier: Apache-2.0 */
/* cgroup.h - limits of the cgroup of this process and of every one above it.
 *
 * Files are read below a folder `root`, which is "" except in tests:
 * ROOT/proc/self/cgroup names the cgroups, and ROOT/sys/fs/cgroup has them, in
 * version 1 with a hierarchy for each controller, in version 2 with one. In a
 * container, /proc often names the cgroup by its path on the host. Inside the
 * container this directory does not exist, and the root of the hierarchy itself
 * is the cgroup of this process. The walk upward ends there. */
#ifndef FBY_COMMON_CGROUP_H
#define FBY_COMMON_CGROUP_H

#include <stdint.h>

/* Read a limit of one cgroup; UINT64_MAX: none. */
typedef uint64_t fby_cgroup_reader(const char *directory);

struct fby_cgroup_limit {
    const char        *controller; /* of version 1, such as "cpu" */
    fby_cgroup_reader *read_v1, *read_v2;
};

/* The smallest limit of all cgroups; UINT64_MAX: none has one. */
uint64_t fby_cgroup_smallest(
    const char *root, const struct fby_cgroup_limit *limit);

/* The number at which the file `name` of `directory` begins; -1: there is no
 * such file, or no number in it, such as "max". */
int64_t fby_cgroup_read_number(const char *directory, const char *name);

/* The smallest limit of memory, in bytes; UINT64_MAX: none. */
uint64_t fby_cgroup_memory(const char *root);

#endif
