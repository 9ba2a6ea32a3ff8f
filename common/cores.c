/* SPDX-License-Identifier: Apache-2.0 */
#include "common/cores.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cgroup.h"
#include "common/cpus.h"

enum { LINE_SIZE = 512, PATH_SIZE = 1088 };

static uint32_t most_cores = UINT32_MAX; /* set before other threads start */

/* The cores that `quota_us` of CPU time in each `period_us` allow, rounded up;
 * UINT64_MAX: no limit. */
static uint64_t quota_to_cores(int64_t quota_us, int64_t period_us)
{
    if (quota_us <= 0 || period_us <= 0) {
        return UINT64_MAX;
    }
    return (uint64_t)(quota_us / period_us + (quota_us % period_us != 0));
}

/* The file cpu.max has "QUOTA PERIOD" in us, or "max PERIOD". */
static uint64_t read_quota_v2(const char *directory)
{
    char path[PATH_SIZE];
    char line[LINE_SIZE];
    snprintf(path, sizeof(path), "%s/cpu.max", directory);
    if (!fby_read_line(path, line, sizeof(line)) ||
        strncmp(line, "max", 3) == 0) {
        return UINT64_MAX;
    }
    char   *period   = NULL;
    int64_t quota_us = strtoll(line, &period, 10);
    return quota_to_cores(quota_us, strtoll(period, NULL, 10));
}

/* Two files have the quota (-1: no limit) and the period, in us. */
static uint64_t read_quota_v1(const char *directory)
{
    return quota_to_cores(fby_cgroup_read_number(directory, "cpu.cfs_quota_us"),
        fby_cgroup_read_number(directory, "cpu.cfs_period_us"));
}

uint32_t fby_cgroup_cores(const char *root)
{
    static const struct fby_cgroup_limit cpu = {
        "cpu", read_quota_v1, read_quota_v2};
    uint64_t cores = fby_cgroup_smallest(root, &cpu);
    return cores < UINT32_MAX ? (uint32_t)cores : UINT32_MAX;
}

/* The affinity mask cannot be read on a machine with more CPUs than a cpu_set_t
 * holds (CPU_SETSIZE = 1,024). Then 1,024 CPUs count as allowed. */
uint32_t fby_usable_cores(void)
{
    cpu_set_t set;
    uint32_t  allowed = fby_cpus_read_allowed(&set) == FBY_OK
                            ? (uint32_t)CPU_COUNT(&set)
                            : CPU_SETSIZE;
    uint32_t  quota   = fby_cgroup_cores("");
    uint32_t  cores   = allowed < quota ? allowed : quota;
    cores             = cores < most_cores ? cores : most_cores;
    return cores > 0 ? cores : 1;
}

void fby_limit_cores(uint32_t most)
{
    most_cores = most;
}
