/* Any cgroup from ours up to the root may set a quota, so all of them are read
 * and the smallest quota counts. In a container the path in /proc is often the
 * host's and does not exist below our mount. The mount's root is then our own
 * group, and the walk upward reaches it as well. */
#include "common/cores.h"

#include <inttypes.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_SIZE = 1024, LINE_SIZE = 512 };

static bool read_line(const char *path, char line[LINE_SIZE])
{
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return false;
    }
    bool got = fgets(line, LINE_SIZE, file) != NULL;
    fclose(file);
    return got;
}

/* UINT32_MAX: no quota. */
static uint32_t cores_of(int64_t quota_us, int64_t period_us)
{
    if (quota_us <= 0 || period_us <= 0) {
        return UINT32_MAX;
    }
    int64_t cores = quota_us / period_us + (quota_us % period_us != 0);
    return cores < UINT32_MAX ? (uint32_t)cores : UINT32_MAX;
}

/* Version 2: "MAX PERIOD", where MAX is a number or the word max. */
static uint32_t quota_v2(const char *directory)
{
    char path[PATH_SIZE + 32];
    char line[LINE_SIZE];
    snprintf(path, sizeof(path), "%s/cpu.max", directory);
    if (!read_line(path, line) || strncmp(line, "max", 3) == 0) {
        return UINT32_MAX;
    }
    char   *rest     = NULL;
    int64_t quota_us = strtoll(line, &rest, 10);
    return cores_of(quota_us, strtoll(rest, NULL, 10));
}

static int64_t read_number(const char *directory, const char *name)
{
    char path[PATH_SIZE + 32];
    char line[LINE_SIZE];
    snprintf(path, sizeof(path), "%s/%s", directory, name);
    return read_line(path, line) ? strtoll(line, NULL, 10) : -1;
}

/* Version 1: two files; a quota of -1 means none. */
static uint32_t quota_v1(const char *directory)
{
    return cores_of(read_number(directory, "cpu.cfs_quota_us"),
        read_number(directory, "cpu.cfs_period_us"));
}

/* The smallest quota from `mount``group` up to `mount`. */
static uint32_t smallest_quota(const char *mount, const char *group,
    uint32_t (*quota)(const char *directory))
{
    char   path[PATH_SIZE];
    size_t keep = strlen(mount);
    int    n    = snprintf(path, sizeof(path), "%s%s", mount, group);
    if (n < 0 || (size_t)n >= sizeof(path)) {
        return UINT32_MAX;
    }
    uint32_t least = UINT32_MAX;
    for (;;) {
        uint32_t here = quota(path);
        least         = here < least ? here : least;
        char *slash   = strrchr(path, '/');
        if (slash == NULL || (size_t)(slash - path) < keep) {
            return least;
        }
        *slash = '\0';
    }
}

static bool lists_cpu(const char *controllers)
{
    const char *at = controllers;
    while (*at != '\0') {
        size_t n = strcspn(at, ",");
        if (n == 3 && strncmp(at, "cpu", 3) == 0) {
            return true;
        }
        at += n + (at[n] == ',');
    }
    return false;
}

/* One line of /proc/self/cgroup: "ID:CONTROLLERS:GROUP"; no controllers in
 * version 2. */
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

uint32_t fby_cores_quota(const char *root)
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
        uint32_t here = quota_of_line(root, line);
        least         = here < least ? here : least;
    }
    fclose(file);
    return least;
}

/* More CPUs than the fixed set holds (1,024) make the call fail; such a
 * machine is then bounded by its quota and this constant alone. */
static uint32_t affinity(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof(set), &set) != 0) {
        return CPU_SETSIZE;
    }
    return (uint32_t)CPU_COUNT(&set);
}

uint32_t fby_cores(void)
{
    uint32_t allowed = affinity();
    uint32_t quota   = fby_cores_quota("");
    uint32_t cores   = allowed < quota ? allowed : quota;
    return cores > 0 ? cores : 1;
}
