#include "common/nodes.h"

#include <stdio.h>
#include <stdlib.h>

enum { PATH_SIZE = 1024, LINE_SIZE = 4096 };

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

static bool read_set(const char *path, cpu_set_t *out)
{
    char           line[LINE_SIZE];
    struct fby_why why;
    return read_line(path, line) && fby_cpus_parse(line, out, &why) == FBY_OK;
}

/* The file has the format of a list of CPUs. */
static bool read_nodes(const char *root, cpu_set_t *out)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof(path), "%s/sys/devices/system/node/online", root);
    return read_set(path, out);
}

static bool read_node(const char *root, int number, struct fby_node *out)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof(path), "%s/sys/devices/system/node/node%d/cpulist",
        root, number);
    out->number = number;
    return read_set(path, &out->cpus);
}

fby_err fby_node_find(const char *root, uint32_t number, struct fby_node *out,
    struct fby_why *why)
{
    cpu_set_t nodes;
    if (!read_nodes(root, &nodes)) {
        return fby_because(
            why, FBY_USAGE, "this machine has no readable list of NUMA nodes");
    }
    if (number >= CPU_SETSIZE || !CPU_ISSET(number, &nodes) ||
        !read_node(root, (int)number, out)) {
        return fby_because(why, FBY_USAGE,
            "there is no NUMA node %u with CPUs; this machine has the nodes %s",
            number, fby_cpus_show(&nodes).text);
    }
    return FBY_OK;
}

int fby_node_of(const char *directory, const char *file)
{
    char path[PATH_SIZE];
    char line[LINE_SIZE];
    int  n = snprintf(path, sizeof(path), "%s/%s", directory, file);
    return n < (int)sizeof(path) && read_line(path, line)
               ? (int)strtol(line, NULL, 10)
               : -1;
}

bool fby_node_prefer(const char *root, int number, const cpu_set_t *allowed,
    struct fby_node *out)
{
    cpu_set_t nodes;
    if (number < 0 || !read_nodes(root, &nodes) || CPU_COUNT(&nodes) < 2 ||
        !read_node(root, number, out)) {
        return false;
    }
    CPU_AND(&out->cpus, &out->cpus, allowed);
    int n = CPU_COUNT(&out->cpus);
    return n > 0 && n < CPU_COUNT(allowed);
}
