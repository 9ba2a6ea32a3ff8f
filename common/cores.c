/* SPDX-License-Identifier: Apache-2.0 */
/* Read the CPU quotas of cgroups. The cgroup of this process and every cgroup
 * above it may set a quota, so all of them are read and the smallest applies.
 * In a container, /proc often names the cgroup by its path on the host. Inside
 * the container this directory does not exist, and /sys/fs/cgroup itself is the
 * cgroup of this process. The walk upward ends there and finds its quota. */
#include "common/cores.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cpus.h"

enum { DIRECTORY_SIZE = 1024, LINE_SIZE = 512 };
enum { PATH_SIZE = DIRECTORY_SIZE + 32 }; /* directory and file name */

/* The cores that `quota_us` of CPU time in each `period_us` allow, rounded up;
 * UINT32_MAX: no limit. */
static uint32_t quota_to_cores(int64_t quota_us, int64_t period_us)
{
    if (quota_us <= 0 || period_us <= 0) {
        return UINT32_MAX;
    }
    int64_t cores = quota_us / period_us + (quota_us % period_us != 0);
    return cores < UINT32_MAX ? (uint32_t)cores : UINT32_MAX;
}

/* The quota of one cgroup in cores; UINT32_MAX: no limit. In cgroups 2 the file
 * cpu.max has "QUOTA PERIOD" in us, or "max PERIOD". */
static uint32_t read_quota_v2(const char *directory)
{
    char path[PATH_SIZE];
    char line[LINE_SIZE];
    snprintf(path, sizeof(path), "%s/cpu.max", directory);
    if (!fby_read_line(path, line, sizeof(line)) ||
        strncmp(line, "max", 3) == 0) {
        return UINT32_MAX;
    }
    char   *period   = NULL;
    int64_t quota_us = strtoll(line, &period, 10);
    return quota_to_cores(quota_us, strtoll(period, NULL, 10));
}

/* Read the number in the file `name` of `directory`; -1: no such file. */
static int64_t read_number(const char *directory, const char *name)
{
    char path[PATH_SIZE];
    char line[LINE_SIZE];
    snprintf(path, sizeof(path), "%s/%s", directory, name);
    return fby_read_line(path, line, sizeof(line)) ? strtoll(line, NULL, 10)
                                                   : -1;
}

/* The quota of one cgroup in cgroups 1, in cores. Two files have the quota (-1:
 * no limit) and the period, in us. */
static uint32_t read_quota_v1(const char *directory)
{
    return quota_to_cores(read_number(directory, "cpu.cfs_quota_us"),
        read_number(directory, "cpu.cfs_period_us"));
}

/* The smallest quota, in cores, of the directory `group` below `mount` and of
 * those above it, up to `mount`. */
static uint32_t smallest_quota(const char *mount, const char *group,
    uint32_t (*read_quota)(const char *directory))
{
    char   path[DIRECTORY_SIZE];
    size_t mount_length = strlen(mount);
    int    length       = snprintf(path, sizeof(path), "%s%s", mount, group);
    if (length < 0 || (size_t)length >= sizeof(path)) {
        return UINT32_MAX;
    }
    uint32_t smallest = UINT32_MAX;
    for (;;) {
        uint32_t cores = read_quota(path);
        smallest       = cores < smallest ? cores : smallest;
        char *slash    = strrchr(path, '/'); /* before the last directory */
        if (slash == NULL || (size_t)(slash - path) < mount_length) {
            return smallest;
        }
        *slash = '\0';
    }
}

/* True if "cpu" is in a list such as "cpu,cpuacct". */
static bool lists_cpu(const char *controllers)
{
    const char *name = controllers;
    while (*name != '\0') {
        size_t length = strcspn(name, ",");
        if (length == strlen("cpu") && strncmp(name, "cpu", length) == 0) {
            return true;
        }
        name += length + (name[length] == ','); /* the last one has no comma */
    }
    return false;
}

/* The quota, in cores, for one line of /proc/self/cgroup, which is
 * "ID:CONTROLLERS:GROUP". In version 2 CONTROLLERS is empty. In version 1 the
 * directory in /sys/fs/cgroup is named after the whole list of controllers, or
 * "cpu". Both are tried. */
static uint32_t quota_of_line(const char *root, char *line)
{
    char  mount[DIRECTORY_SIZE];
    char *controllers = strchr(line, ':');
    char *group = controllers != NULL ? strchr(controllers + 1, ':') : NULL;
    if (group == NULL) {
        return UINT32_MAX;
    }
    *controllers++              = '\0';
    *group++                    = '\0';
    group[strcspn(group, "\n")] = '\0';
    if (controllers[0] == '\0') {
        snprintf(mount, sizeof(mount), "%s/sys/fs/cgroup", root);
        return smallest_quota(mount, group, read_quota_v2);
    }
    if (!lists_cpu(controllers)) {
        return UINT32_MAX;
    }
    snprintf(mount, sizeof(mount), "%s/sys/fs/cgroup/%s", root, controllers);
    uint32_t of_list = smallest_quota(mount, group, read_quota_v1);
    snprintf(mount, sizeof(mount), "%s/sys/fs/cgroup/cpu", root);
    uint32_t of_cpu = smallest_quota(mount, group, read_quota_v1);
    return of_list < of_cpu ? of_list : of_cpu;
}

uint32_t fby_cgroup_cores(const char *root)
{
    char path[DIRECTORY_SIZE];
    char line[LINE_SIZE];
    snprintf(path, sizeof(path), "%s/proc/self/cgroup", root);
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return UINT32_MAX;
    }
    uint32_t smallest = UINT32_MAX;
    while (fgets(line, sizeof(line), file) != NULL) {
        uint32_t cores = quota_of_line(root, line);
        smallest       = cores < smallest ? cores : smallest;
    }
    fclose(file);
    return smallest;
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
    return cores > 0 ? cores : 1;
}
