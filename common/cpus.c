/* SPDX-License-Identifier: Apache-2.0 */
/* Parse, format and check sets of CPUs, and read NUMA nodes from sysfs. */
#include "common/cpus.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_SIZE = 1024, LINE_SIZE = 4096 };

/* ---- Lists --------------------------------------------------------------- */

/* Parse the CPU number at *cursor and move *cursor past it. */
static bool parse_cpu(const char **cursor, unsigned long *out)
{
    char *end = NULL;
    if (!isdigit((unsigned char)**cursor)) {
        return false;
    }
    *out    = strtoul(*cursor, &end, 10);
    *cursor = end;
    return *out < CPU_SETSIZE;
}

/* Parse "N" or "N-M", and add these CPUs to the set. */
static bool parse_range(const char **cursor, cpu_set_t *out)
{
    unsigned long first = 0;
    if (!parse_cpu(cursor, &first)) {
        return false;
    }
    unsigned long last = first;
    if (**cursor == '-') {
        ++*cursor;
        if (!parse_cpu(cursor, &last) || last < first) {
            return false;
        }
    }
    for (unsigned long cpu = first; cpu <= last; cpu++) {
        CPU_SET(cpu, out);
    }
    return true;
}

fby_err fby_cpus_parse(
    const char *text, cpu_set_t *out, struct fby_error_detail *why)
{
    const char *cursor = text;
    CPU_ZERO(out);
    bool parsed = parse_range(&cursor, out);
    while (parsed && *cursor == ',') {
        cursor++;
        parsed = parse_range(&cursor, out);
    }
    cursor += *cursor == '\n'; /* files of sysfs end with a newline */
    if (parsed && *cursor == '\0') {
        return FBY_OK;
    }
    return fby_error_set(why, FBY_USAGE,
        "'%.100s' is not a list of CPUs; write for example 0-3,8", text);
}

/* The last CPU of the range in `set` that begins at CPU `first`. */
static size_t last_of_range(const cpu_set_t *set, size_t first)
{
    size_t last = first;
    while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, set)) {
        last++;
    }
    return last;
}

struct fby_cpus_text fby_cpus_format(const cpu_set_t *set)
{
    struct fby_cpus_text out  = {{0}};
    size_t               used = 0;
    for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET(cpu, set)) {
            continue;
        }
        /* The longest range, and the dots after it, must fit. */
        if (sizeof(out.text) - used < sizeof(",1023-1023,...")) {
            snprintf(out.text + used, sizeof(out.text) - used, ",...");
            break;
        }
        size_t last = last_of_range(set, cpu);
        used += (size_t)snprintf(out.text + used, sizeof(out.text) - used,
            last > cpu ? "%s%zu-%zu" : "%s%zu" /* ignores `last` */,
            used > 0 ? "," : "", cpu, last);
        cpu = last; /* continue after the range */
    }
    return out;
}

bool fby_read_line(const char *path, char *line, size_t size)
{
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return false;
    }
    bool was_read = fgets(line, (int)size, file) != NULL;
    fclose(file);
    return was_read;
}

static bool read_cpu_list(const char *path, cpu_set_t *out)
{
    char                    line[LINE_SIZE];
    struct fby_error_detail why;
    return fby_read_line(path, line, sizeof(line)) &&
           fby_cpus_parse(line, out, &why) == FBY_OK;
}

/* ---- This machine -------------------------------------------------------- */

/* The first CPU of `wanted` that is not in `available`; CPU_SETSIZE: none. */
static size_t first_missing(const cpu_set_t *wanted, const cpu_set_t *available)
{
    for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (CPU_ISSET(cpu, wanted) && !CPU_ISSET(cpu, available)) {
            return cpu;
        }
    }
    return CPU_SETSIZE;
}

fby_err fby_cpus_check(const cpu_set_t *wanted, const cpu_set_t *allowed,
    const cpu_set_t *online, struct fby_error_detail *why)
{
    size_t cpu = first_missing(wanted, online);
    if (cpu < CPU_SETSIZE) {
        return fby_error_set(why, FBY_USAGE,
            "CPU %zu is not online; this machine has %s", cpu,
            fby_cpus_format(online).text);
    }
    cpu = first_missing(wanted, allowed);
    if (cpu < CPU_SETSIZE) {
        return fby_error_set(why, FBY_USAGE,
            "CPU %zu is not allowed; a cpuset or taskset limits this process "
            "to %s",
            cpu, fby_cpus_format(allowed).text);
    }
    return FBY_OK;
}

fby_err fby_cpus_parse_usable(
    const char *text, cpu_set_t *out, struct fby_error_detail *why)
{
    cpu_set_t allowed;
    cpu_set_t online;
    FBY_TRY(fby_cpus_parse(text, out, why));
    if (fby_cpus_read_allowed(&allowed) != FBY_OK) {
        return FBY_OK; /* sched_setaffinity will check the CPUs instead */
    }
    if (!read_cpu_list("/sys/devices/system/cpu/online", &online)) {
        online = allowed; /* allowed CPUs are online */
    }
    return fby_cpus_check(out, &allowed, &online, why);
}

fby_err fby_cpus_read_allowed(cpu_set_t *out)
{
    return sched_getaffinity(0, sizeof(*out), out) == 0 ? FBY_OK : FBY_SYS;
}

fby_err fby_cpus_bind_thread(const cpu_set_t *set, struct fby_error_detail *why)
{
    if (sched_setaffinity(0, sizeof(*set), set) == 0) {
        return FBY_OK;
    }
    return fby_error_set(why, FBY_SYS, "cannot run on the CPUs %s: %s",
        fby_cpus_format(set).text, strerror(errno));
}

/* ---- NUMA nodes ---------------------------------------------------------- */

/* Read the set of all node numbers. The file has the format of a CPU list. */
static bool read_nodes(const char *root, cpu_set_t *out)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof(path), "%s/sys/devices/system/node/online", root);
    return read_cpu_list(path, out);
}

static bool read_node(const char *root, int number, struct fby_node *out)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof(path), "%s/sys/devices/system/node/node%d/cpulist",
        root, number);
    out->number = number;
    return read_cpu_list(path, &out->cpus);
}

fby_err fby_node_find(const char *root, uint32_t number, struct fby_node *out,
    struct fby_error_detail *why)
{
    cpu_set_t nodes;
    if (!read_nodes(root, &nodes)) {
        return fby_error_set(
            why, FBY_USAGE, "this machine has no readable list of NUMA nodes");
    }
    if (number >= CPU_SETSIZE || !CPU_ISSET(number, &nodes) ||
        !read_node(root, (int)number, out)) {
        return fby_error_set(why, FBY_USAGE,
            "there is no NUMA node %u with CPUs; this machine has the nodes %s",
            number, fby_cpus_format(&nodes).text);
    }
    return FBY_OK;
}

int fby_node_of_device(const char *directory, const char *file)
{
    char path[PATH_SIZE];
    char line[LINE_SIZE];
    int  length = snprintf(path, sizeof(path), "%s/%s", directory, file);
    return length < (int)sizeof(path) && fby_read_line(path, line, sizeof(line))
               ? (int)strtol(line, NULL, 10)
               : -1;
}

bool fby_node_find_preferred_cpus(const char *root, int number,
    const cpu_set_t *allowed, struct fby_node *out)
{
    cpu_set_t nodes;
    if (number < 0 || !read_nodes(root, &nodes) || CPU_COUNT(&nodes) < 2 ||
        !read_node(root, number, out)) {
        return false; /* an unknown node, or a machine with one node */
    }
    CPU_AND(&out->cpus, &out->cpus, allowed);
    int n_preferred = CPU_COUNT(&out->cpus);
    return n_preferred > 0 && n_preferred < CPU_COUNT(allowed);
}
