/* SPDX-License-Identifier: Apache-2.0 */
#include "common/cgroup.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cpus.h"

enum { DIRECTORY_SIZE = 1024, LINE_SIZE = 4096 };
enum { PATH_SIZE = DIRECTORY_SIZE + 64 }; /* directory and file name */

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

int64_t fby_cgroup_read_number(const char *directory, const char *name)
{
    char path[PATH_SIZE];
    char line[LINE_SIZE];
    snprintf(path, sizeof(path), "%s/%s", directory, name);
    if (!fby_read_line(path, line, sizeof(line))) {
        return -1;
    }
    char   *end    = line;
    int64_t number = strtoll(line, &end, 10);
    return end != line ? number : -1;
}

/* The smallest limit of the directory `group` below `mount` and of those above
 * it, up to `mount`. */
static uint64_t smallest_of_path(
    const char *mount, const char *group, fby_cgroup_reader *read_limit)
{
    char   path[DIRECTORY_SIZE];
    size_t mount_length = strlen(mount);
    int    length       = snprintf(path, sizeof(path), "%s%s", mount, group);
    if (length < 0 || (size_t)length >= sizeof(path)) {
        return UINT64_MAX;
    }
    uint64_t smallest = UINT64_MAX;
    for (;;) {
        smallest    = smaller(smallest, read_limit(path));
        char *slash = strrchr(path, '/'); /* before the last directory */
        if (slash == NULL || (size_t)(slash - path) < mount_length) {
            return smallest;
        }
        *slash = '\0';
    }
}

/* True if `name` is in a list such as "cpu,cpuacct". */
static bool lists_controller(const char *list, const char *name)
{
    while (*list != '\0') {
        size_t length = strcspn(list, ",");
        if (length == strlen(name) && strncmp(list, name, length) == 0) {
            return true;
        }
        list += length + (list[length] == ','); /* the last one has no comma */
    }
    return false;
}

/* The limit for one line of /proc/self/cgroup, "ID:CONTROLLERS:GROUP". In
 * version 2 CONTROLLERS is empty. In version 1 the directory in /sys/fs/cgroup
 * is named after the whole list of controllers, or after one. Both are tried.
 */
static uint64_t limit_of_line(
    const char *root, char *line, const struct fby_cgroup_limit *limit)
{
    char  mount[DIRECTORY_SIZE];
    char *controllers = strchr(line, ':');
    char *group = controllers != NULL ? strchr(controllers + 1, ':') : NULL;
    if (group == NULL) {
        return UINT64_MAX;
    }
    *controllers++              = '\0';
    *group++                    = '\0';
    group[strcspn(group, "\n")] = '\0';
    if (controllers[0] == '\0') {
        snprintf(mount, sizeof(mount), "%s/sys/fs/cgroup", root);
        return smallest_of_path(mount, group, limit->read_v2);
    }
    if (!lists_controller(controllers, limit->controller)) {
        return UINT64_MAX;
    }
    snprintf(mount, sizeof(mount), "%s/sys/fs/cgroup/%s", root, controllers);
    uint64_t of_list = smallest_of_path(mount, group, limit->read_v1);
    snprintf(
        mount, sizeof(mount), "%s/sys/fs/cgroup/%s", root, limit->controller);
    return smaller(of_list, smallest_of_path(mount, group, limit->read_v1));
}

uint64_t fby_cgroup_smallest(
    const char *root, const struct fby_cgroup_limit *limit)
{
    char path[DIRECTORY_SIZE];
    char line[LINE_SIZE];
    snprintf(path, sizeof(path), "%s/proc/self/cgroup", root);
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return UINT64_MAX;
    }
    uint64_t smallest = UINT64_MAX;
    while (fgets(line, sizeof(line), file) != NULL) {
        smallest = smaller(smallest, limit_of_line(root, line, limit));
    }
    fclose(file);
    return smallest;
}

/* ---- Memory -------------------------------------------------------------- */

/* In version 1, a number of about 2^63 means no limit. */
static uint64_t read_bytes(const char *directory, const char *name)
{
    int64_t bytes = fby_cgroup_read_number(directory, name);
    return bytes < 0 || bytes >= INT64_C(1) << 62 ? UINT64_MAX
                                                  : (uint64_t)bytes;
}

static uint64_t read_memory_v1(const char *directory)
{
    return read_bytes(directory, "memory.limit_in_bytes");
}

static uint64_t read_memory_v2(const char *directory)
{
    return read_bytes(directory, "memory.max");
}

uint64_t fby_cgroup_memory(const char *root)
{
    static const struct fby_cgroup_limit memory = {
        "memory", read_memory_v1, read_memory_v2};
    return fby_cgroup_smallest(root, &memory);
}
