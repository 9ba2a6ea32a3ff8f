/* Any cgroup from that of this process up to the root may set a quota, so all
 * of them are read and the smallest quota applies. In a container the path in
 * /proc is often that of the host, which does not exist below /sys/fs/cgroup of
 * the container. Then /sys/fs/cgroup itself is the group of this process, and
 * the walk upward ends there. */
#include "common/cores.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cpus.h"

enum { PATH_SIZE = 1024, LINE_SIZE = 512 };

/* The quota in cores, rounded up; UINT32_MAX: no quota. */
static uint32_t quota_to_cores(int64_t quota_us, int64_t period_us)
{
    if (quota_us <= 0 || period_us <= 0) {
        return UINT32_MAX;
    }
    int64_t cores = quota_us / period_us + (quota_us % period_us != 0);
    return cores < UINT32_MAX ? (uint32_t)cores : UINT32_MAX;
}

/* Version 2: the file cpu.max has "QUOTA PERIOD" in us, or "max PERIOD". */
static uint32_t quota_v2(const char *directory)
{
    char path[PATH_SIZE + 32];
    char line[LINE_SIZE];
    snprintf(path, sizeof(path), "%s/cpu.max", directory);
    if (!fby_read_line(path, line, sizeof(line)) ||
        strncmp(line, "max", 3) == 0) {
        return UINT32_MAX;
    }
    char   *rest     = NULL;
    int64_t quota_us = strtoll(line, &rest, 10);
    return quota_to_cores(quota_us, strtoll(rest, NULL, 10));
}

/* The number in a file; -1: no such file. */
static int64_t read_number(const char *directory, const char *name)
{
    char path[PATH_SIZE + 32];
    char line[LINE_SIZE];
    snprintf(path, sizeof(path), "%s/%s", directory, name);
    return fby_read_line(path, line, sizeof(line)) ? strtoll(line, NULL, 10)
                                                   : -1;
}

/* Version 1: two files, in us. A quota of -1 means that there is none. */
static uint32_t quota_v1(const char *directory)
{
    return quota_to_cores(read_number(directory, "cpu.cfs_quota_us"),
        read_number(directory, "cpu.cfs_period_us"));
}

/* The smallest quota of `group`, a directory below `mount`, and of all groups
 * above it; `quota` reads the quota of a directory. */
static uint32_t smallest_quota(const char *mount, const char *group,
    uint32_t (*quota)(const char *directory))
{
    char   path[PATH_SIZE];
    size_t mount_length = strlen(mount);
    int    n            = snprintf(path, sizeof(path), "%s%s", mount, group);
    if (n < 0 || (size_t)n >= sizeof(path)) {
        return UINT32_MAX;
    }
    uint32_t least = UINT32_MAX;
    for (;;) {
        uint32_t cores = quota(path);
        least          = cores < least ? cores : least;
        char *slash    = strrchr(path, '/');
        if (slash == NULL || (size_t)(slash - path) < mount_length) {
            return least;
        }
        *slash = '\0';
    }
}

/* True if "cpu" is in a list such as "cpu,cpuacct". */
static bool lists_cpu(const char *controllers)
{
    const char *name = controllers;
    while (*name != '\0') {
        size_t n = strcspn(name, ",");
        if (n == 3 && strncmp(name, "cpu", 3) == 0) {
            return true;
        }
        name += n + (name[n] == ',');
    }
    return false;
}

/* The quota for one line of /proc/self/cgroup: "ID:CONTROLLERS:GROUP". In
 * version 2 CONTROLLERS is empty. In version 1 the mount has the name of the
 * list of controllers, or of one controller. */
static uint32_t quota_of_line(const char *root, char *line)
{
    char  mount[PATH_SIZE];
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
        return smallest_quota(mount, group, quota_v2);
    }
    if (!lists_cpu(controllers)) {
        return UINT32_MAX;
    }
    snprintf(mount, sizeof(mount), "%s/sys/fs/cgroup/%s", root, controllers);
    uint32_t by_list = smallest_quota(mount, group, quota_v1);
    snprintf(mount, sizeof(mount), "%s/sys/fs/cgroup/cpu", root);
    uint32_t by_name = smallest_quota(mount, group, quota_v1);
    return by_list < by_name ? by_list : by_name;
}

uint32_t fby_cgroup_cores(const char *root)
{
    char path[PATH_SIZE];
    char line[LINE_SIZE];
    snprintf(path, sizeof(path), "%s/proc/self/cgroup", root);
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return UINT32_MAX;
    }
    uint32_t least = UINT32_MAX;
    while (fgets(line, sizeof(line), file) != NULL) {
        uint32_t cores = quota_of_line(root, line);
        least          = cores < least ? cores : least;
    }
    fclose(file);
    return least;
}

/* On a machine with more CPUs than a cpu_set_t holds (1,024) the affinity mask
 * cannot be read, so 1,024 takes its place. */
uint32_t fby_usable_cores(void)
{
    cpu_set_t set;
    uint32_t  allowed = fby_cpus_allowed(&set) == FBY_OK
                            ? (uint32_t)CPU_COUNT(&set)
                            : CPU_SETSIZE;
    uint32_t  quota   = fby_cgroup_cores("");
    uint32_t  cores   = allowed < quota ? allowed : quota;
    return cores > 0 ? cores : 1;
}
