/* SPDX-License-Identifier: Apache-2.0 */
/* read.c - parse files of /proc and /sys. */
#include "cli/doctor/read.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cpus.h"
#include "worker/cpu_placement.h"

enum { PATH_SIZE = 1024, LINE_SIZE = 4096 };

/* Open the file `path` below `root`; NULL: it cannot be opened. */
static FILE *open_file(const char *root, const char *path)
{
    char full[PATH_SIZE];
    int  n = snprintf(full, sizeof(full), "%s%s", root, path);
    return n >= 0 && n < (int)sizeof(full) ? fopen(full, "re") : NULL;
}

static bool read_line(const char *root, const char *path, char line[LINE_SIZE])
{
    FILE *file = open_file(root, path);
    bool  read = file != NULL && fgets(line, LINE_SIZE, file) != NULL;
    if (file != NULL) {
        fclose(file);
    }
    return read;
}

/* The length of a list such as "0-3,8" (here 5); 0: unreadable. */
static uint32_t count_listed(const char *root, const char *path)
{
    char                    line[LINE_SIZE];
    cpu_set_t               set;
    struct fby_error_detail why;
    return read_line(root, path, line) &&
                   fby_cpus_parse(line, &set, &why) == FBY_OK
               ? (uint32_t)CPU_COUNT(&set)
               : 0;
}

uint32_t fby_read_cpus_online(const char *root)
{
    return count_listed(root, "/sys/devices/system/cpu/online");
}

uint32_t fby_read_numa_nodes(const char *root)
{
    return count_listed(root, "/sys/devices/system/node/online");
}

uint64_t fby_read_meminfo(const char *root, const char *name)
{
    char     line[LINE_SIZE];
    uint64_t bytes  = 0;
    size_t   length = strlen(name);
    FILE    *file   = open_file(root, "/proc/meminfo");
    while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
        if (strncmp(line, name, length) == 0 && line[length] == ':') {
            bytes = strtoull(line + length + 1, NULL, 10) * 1024; /* unit: kB */
            break;
        }
    }
    if (file != NULL) {
        fclose(file);
    }
    return bytes;
}

/* Read the limit of one cgroup, in bytes. No limit (UINT64_MAX) is the word
 * "max" in version 2, and a number of about 2^63 in version 1. */
static uint64_t read_limit(const char *root, const char *dir, const char *file)
{
    char path[PATH_SIZE];
    char line[LINE_SIZE];
    int  n = snprintf(path, sizeof(path), "%s/%s", dir, file);
    if (n >= (int)sizeof(path) || !read_line(root, path, line)) {
        return UINT64_MAX;
    }
    char    *end   = line;
    uint64_t bytes = strtoull(line, &end, 10);
    return end == line || bytes >= UINT64_C(1) << 62 ? UINT64_MAX : bytes;
}

/* The smallest limit of `group` and the groups above it, up to the root of the
 * hierarchy, the directory `mount`. In a container, /proc may name a group of
 * the host that does not exist in the container. Then only the root counts. */
static uint64_t smallest_limit(
    const char *root, const char *mount, const char *group, const char *file)
{
    char     dir[PATH_SIZE / 2];
    size_t   mount_length = strlen(mount);
    int      n            = snprintf(dir, sizeof(dir), "%s%s", mount, group);
    bool     within_mount = n > 0 && n < (int)sizeof(dir);
    uint64_t smallest     = UINT64_MAX;
    while (within_mount) {
        uint64_t limit = read_limit(root, dir, file);
        char    *slash = strrchr(dir, '/');
        smallest       = limit < smallest ? limit : smallest;
        within_mount   = slash != NULL && (size_t)(slash - dir) >= mount_length;
        if (within_mount) {
            *slash = '\0'; /* continue with the parent directory */
        }
    }
    return smallest;
}

/* Parse a line "ID:CONTROLLERS:GROUP" of /proc/self/cgroup, and return the
 * limit of GROUP. CONTROLLERS is empty in version 2. */
static uint64_t limit_of_line(const char *root, char *line)
{
    char *controllers = strchr(line, ':');
    char *group = controllers != NULL ? strchr(controllers + 1, ':') : NULL;
    if (group == NULL) {
        return UINT64_MAX;
    }
    *controllers++              = '\0';
    *group++                    = '\0';
    group[strcspn(group, "\n")] = '\0';
    if (controllers[0] == '\0') {
        return smallest_limit(root, "/sys/fs/cgroup", group, "memory.max");
    }
    return strcmp(controllers, "memory") != 0
               ? UINT64_MAX
               : smallest_limit(root, "/sys/fs/cgroup/memory", group,
                     "memory.limit_in_bytes");
}

uint64_t fby_read_memory_limit(const char *root)
{
    char     line[LINE_SIZE];
    uint64_t smallest = UINT64_MAX;
    FILE    *file     = open_file(root, "/proc/self/cgroup");
    while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
        uint64_t limit = limit_of_line(root, line);
        smallest       = limit < smallest ? limit : smallest;
    }
    if (file != NULL) {
        fclose(file);
    }
    return smallest;
}

void fby_read_huge_pages(const char *root, char out[16])
{
    char line[LINE_SIZE];
    out[0] = '\0';
    if (!read_line(root, "/sys/kernel/mm/transparent_hugepage/enabled", line)) {
        return;
    }
    /* The setting is the word in brackets: "always [madvise] never". */
    const char *bracket = strchr(line, '[');
    size_t      length  = bracket != NULL ? strcspn(bracket + 1, "]") : 0;
    if (length > 0 && length < 16) {
        snprintf(out, 16, "%.*s", (int)length, bracket + 1);
    }
}

uint64_t fby_read_l3_bytes(const char *root)
{
    char line[LINE_SIZE];
    if (!read_line(
            root, "/sys/devices/system/cpu/cpu0/cache/index3/size", line)) {
        return 0;
    }
    char    *unit   = line;
    uint64_t number = strtoull(line, &unit, 10);
    return *unit == 'M' ? number << 20 : *unit == 'K' ? number << 10 : number;
}

static bool read_card(
    const char *root, const char *name, struct fby_card_facts *out)
{
    cpu_set_t       allowed;
    struct fby_node node;
    if (fby_cpus_read_allowed(&allowed) != FBY_OK ||
        !fby_numa_node_near_nic(root, name, &allowed, &node)) {
        return false;
    }
    out->node = node.number;
    snprintf(out->card, sizeof(out->card), "%.15s", name);
    snprintf(out->cpus, sizeof(out->cpus), "%.63s",
        fby_cpus_format(&node.cpus).text);
    return true;
}

uint32_t fby_read_network_cards(
    const char *root, struct fby_card_facts *out, uint32_t max)
{
    char     path[PATH_SIZE];
    uint32_t n = 0;
    snprintf(path, sizeof(path), "%s/sys/class/net", root);
    DIR                 *entries = opendir(path);
    const struct dirent *entry;
    while (entries != NULL && n < max && (entry = readdir(entries)) != NULL) {
        if (entry->d_name[0] != '.' &&
            read_card(root, entry->d_name, &out[n])) {
            n++;
        }
    }
    if (entries != NULL) {
        closedir(entries);
    }
    return n;
}
