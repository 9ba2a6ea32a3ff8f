#include "worker/numa.h"

#include <dirent.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

enum { PATH_SIZE = 1024, MAX_LAYERS = 4 };

/* ---- Cards --------------------------------------------------------------- */

static int node_below(const char *directory, unsigned layers);

/* The node of all lower cards that have one; -1: none has, or they differ. */
static int common_node_of_lower(
    const char *directory, DIR *entries, unsigned layers)
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

/* sysfs has no node for a virtio card, but has one for its PCI device. */
static int node_below(const char *directory, unsigned layers)
{
    int node = fby_node_of(directory, "device/numa_node");
    if (node < 0) {
        node = fby_node_of(directory, "device/../numa_node");
    }
    DIR *entries = node < 0 && layers > 0 ? opendir(directory) : NULL;
    if (entries != NULL) {
        node = common_node_of_lower(directory, entries, layers);
        closedir(entries);
    }
    return node;
}

bool fby_numa_near(const char *root, const char *card, const cpu_set_t *allowed,
    struct fby_node *out)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof(path), "%s/sys/class/net/%s", root, card);
    return fby_node_prefer(root, node_below(path, MAX_LAYERS), allowed, out);
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
