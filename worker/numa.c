#include "worker/numa.h"

#include <dirent.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum { PATH_SIZE = 1024, LINE_SIZE = 4096, MAX_LAYERS = 4 };

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

/* ---- Nodes --------------------------------------------------------------- */

/* Written like a list of CPUs. */
static bool read_nodes(const char *root, cpu_set_t *out)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof(path), "%s/sys/devices/system/node/online", root);
    return read_set(path, out);
}

static bool read_node(const char *root, int number, struct fby_numa_node *out)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof(path), "%s/sys/devices/system/node/node%d/cpulist",
        root, number);
    out->number = number;
    return read_set(path, &out->cpus);
}

fby_err fby_numa_node(const char *root, uint32_t number,
    struct fby_numa_node *out, struct fby_why *why)
{
    cpu_set_t nodes;
    if (!read_nodes(root, &nodes)) {
        return fby_because(why, FBY_USAGE, "this machine tells of no nodes");
    }
    if (number >= CPU_SETSIZE || !CPU_ISSET(number, &nodes) ||
        !read_node(root, (int)number, out)) {
        return fby_because(why, FBY_USAGE,
            "there is no node %u with CPUs; this machine has the nodes %s",
            number, fby_cpus_show(&nodes).text);
    }
    return FBY_OK;
}

/* ---- Cards --------------------------------------------------------------- */

/* -1: it tells of none. */
static int read_number(const char *directory, const char *file)
{
    char path[PATH_SIZE];
    char line[LINE_SIZE];
    int  n = snprintf(path, sizeof(path), "%s/%s", directory, file);
    return n < (int)sizeof(path) && read_line(path, line)
               ? (int)strtol(line, NULL, 10)
               : -1;
}

static int node_below(const char *directory, unsigned layers);

/* The node that all who are known agree on. */
static int node_of_lower(const char *directory, DIR *entries, unsigned layers)
{
    const struct dirent *entry;
    int                  node = -1;
    while ((entry = readdir(entries)) != NULL) {
        char path[PATH_SIZE];
        if (strncmp(entry->d_name, "lower_", 6) != 0 ||
            snprintf(path, sizeof(path), "%s/%s", directory, entry->d_name) >=
                (int)sizeof(path)) {
            continue;
        }
        int here = node_below(path, layers - 1);
        if (here >= 0 && node >= 0 && here != node) {
            return -1;
        }
        node = here >= 0 ? here : node;
    }
    return node;
}

/* A virtio card tells of no node, but the PCI device it is on does. */
static int node_below(const char *directory, unsigned layers)
{
    int node = read_number(directory, "device/numa_node");
    if (node < 0) {
        node = read_number(directory, "device/../numa_node");
    }
    DIR *entries = node < 0 && layers > 0 ? opendir(directory) : NULL;
    if (entries != NULL) {
        node = node_of_lower(directory, entries, layers);
        closedir(entries);
    }
    return node;
}

bool fby_numa_near(const char *root, const char *card, const cpu_set_t *allowed,
    struct fby_numa_node *out)
{
    char      path[PATH_SIZE];
    cpu_set_t nodes;
    if (!read_nodes(root, &nodes) || CPU_COUNT(&nodes) < 2) {
        return false;
    }
    snprintf(path, sizeof(path), "%s/sys/class/net/%s", root, card);
    int node = node_below(path, MAX_LAYERS);
    if (node < 0 || !read_node(root, node, out)) {
        return false;
    }
    CPU_AND(&out->cpus, &out->cpus, allowed);
    int n = CPU_COUNT(&out->cpus);
    return n > 0 && n < CPU_COUNT(allowed);
}

/* ---- Addresses ----------------------------------------------------------- */

static bool cut_host(const char *endpoint, char host[NI_MAXHOST])
{
    static const char scheme[] = "tcp://";
    const char       *colon    = strrchr(endpoint, ':');
    size_t            skip     = sizeof(scheme) - 1;
    if (strncmp(endpoint, scheme, skip) != 0 || colon < endpoint + skip) {
        return false;
    }
    const char *begin = endpoint + skip;
    size_t      n     = (size_t)(colon - begin);
    if (n >= 2 && begin[0] == '[' && begin[n - 1] == ']') {
        begin++;
        n -= 2;
    }
    if (n == 0 || n >= NI_MAXHOST) {
        return false;
    }
    memcpy(host, begin, n);
    host[n] = '\0';
    return true;
}

static bool has_address(const struct ifaddrs *card, const char *host)
{
    char        own[NI_MAXHOST];
    sa_family_t family =
        card->ifa_addr != NULL ? card->ifa_addr->sa_family : AF_UNSPEC;
    if (family != AF_INET && family != AF_INET6) {
        return false;
    }
    socklen_t size = family == AF_INET ? sizeof(struct sockaddr_in)
                                       : sizeof(struct sockaddr_in6);
    return getnameinfo(card->ifa_addr, size, own, sizeof(own), NULL, 0,
               NI_NUMERICHOST) == 0 &&
           strcmp(own, host) == 0;
}

bool fby_numa_card(const char *endpoint, char card[IF_NAMESIZE])
{
    char            host[NI_MAXHOST];
    struct ifaddrs *all   = NULL;
    bool            found = false;
    if (!cut_host(endpoint, host) || getifaddrs(&all) != 0) {
        return false;
    }
    for (const struct ifaddrs *at = all; !found && at != NULL;
         at                       = at->ifa_next) {
        found = strcmp(at->ifa_name, host) == 0 || has_address(at, host);
        if (found) {
            snprintf(card, IF_NAMESIZE, "%s", at->ifa_name);
        }
    }
    freeifaddrs(all);
    return found;
}
