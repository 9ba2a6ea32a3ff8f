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
