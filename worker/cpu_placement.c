/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_placement.c - chooses the CPUs that the threads of a worker run on. */
#include "worker/cpu_placement.h"

#include <dirent.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "common/log.h"
#include "common/socket.h"

enum {
    PATH_SIZE  = 1024, /* bytes */
    MAX_LAYERS = 4     /* enough for a bridge on a VLAN on a bond of cards */
};

/* ---- Network cards ------------------------------------------------------- */

static int node_of_nic(const char *directory, unsigned layers);

/* The node of the cards below this one that have a node; -1 if none has one, or
 * their nodes differ. sysfs names the entry of a card below "lower_NAME". */
static int node_of_lower_nics(
    const char *directory, DIR *entries, unsigned layers)
{
    const struct dirent *entry;
    int                  node = -1;
    while ((entry = readdir(entries)) != NULL) {
        char path[PATH_SIZE];
        int  length =
            snprintf(path, sizeof(path), "%s/%s", directory, entry->d_name);
        if (strncmp(entry->d_name, "lower_", strlen("lower_")) != 0 ||
            length >= (int)sizeof(path)) {
            continue;
        }
        int lower_node = node_of_nic(path, layers - 1);
        if (lower_node >= 0 && node >= 0 && lower_node != node) {
            return -1;
        }
        node = lower_node >= 0 ? lower_node : node;
    }
    return node;
}

/* The node of the card with this sysfs directory, or -1. If the card itself has
 * none, search up to `layers` layers of cards below it. The device of a virtio
 * card has no node, but its parent, a PCI device, has one. */
static int node_of_nic(const char *directory, unsigned layers)
{
    int node = fby_node_of_device(directory, "device/numa_node");
    if (node < 0) {
        node = fby_node_of_device(directory, "device/../numa_node");
    }
    DIR *entries = node < 0 && layers > 0 ? opendir(directory) : NULL;
    if (entries != NULL) {
        node = node_of_lower_nics(directory, entries, layers);
        closedir(entries);
    }
    return node;
}

bool fby_numa_node_near_nic(const char *root, const char *nic,
    const cpu_set_t *allowed, struct fby_node *out)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof(path), "%s/sys/class/net/%s", root, nic);
    return fby_node_find_preferred_cpus(
        root, node_of_nic(path, MAX_LAYERS), allowed, out);
}

/* ---- Addresses ----------------------------------------------------------- */

static bool has_address(const struct ifaddrs *nic, const char *host)
{
    char        nic_host[NI_MAXHOST];
    sa_family_t family =
        nic->ifa_addr != NULL ? nic->ifa_addr->sa_family : AF_UNSPEC;
    if (family != AF_INET && family != AF_INET6) {
        return false;
    }
    socklen_t size = family == AF_INET ? sizeof(struct sockaddr_in)
                                       : sizeof(struct sockaddr_in6);
    return getnameinfo(nic->ifa_addr, size, nic_host, sizeof(nic_host), NULL, 0,
               NI_NUMERICHOST) == 0 &&
           strcmp(nic_host, host) == 0;
}

bool fby_numa_find_nic(const char *endpoint, char nic[IF_NAMESIZE])
{
    struct fby_host_port address;
    struct ifaddrs      *nics  = NULL;
    bool                 found = false;
    if (!fby_endpoint_split(endpoint, &address) || getifaddrs(&nics) != 0) {
        return false;
    }
    for (const struct ifaddrs *entry = nics; !found && entry != NULL;
         entry                       = entry->ifa_next) {
        found = strcmp(entry->ifa_name, address.host) == 0 ||
                has_address(entry, address.host);
        if (found) {
            snprintf(nic, IF_NAMESIZE, "%s", entry->ifa_name);
        }
    }
    freeifaddrs(nics);
    return found;
}

/* ---- Placement ----------------------------------------------------------- */

static fby_err confine_to_node(uint32_t number, struct fby_error_detail *why)
{
    struct fby_node node;
    cpu_set_t       allowed;
    fby_err         err = fby_node_find("", number, &node, why);
    if (err != FBY_OK) {
        return fby_error_prefix(why, err, "--numa %u", number);
    }
    if (fby_cpus_read_allowed(&allowed) == FBY_OK) {
        CPU_AND(&node.cpus, &node.cpus, &allowed);
    }
    if (CPU_COUNT(&node.cpus) == 0) {
        return fby_error_set(why, FBY_USAGE,
            "--numa %u: none of its CPUs is allowed here; a cpuset or taskset "
            "leaves %s",
            number, fby_cpus_format(&allowed).text);
    }
    return fby_cpus_bind_thread(&node.cpus, why);
}

fby_err fby_cpu_placement_confine(
    const struct fby_worker_options *options, struct fby_error_detail *why)
{
    if (options->cpus != NULL) {
        cpu_set_t cpus;
        fby_err   err = fby_cpus_parse_usable(options->cpus, &cpus, why);
        return err == FBY_OK
                   ? fby_cpus_bind_thread(&cpus, why)
                   : fby_error_prefix(why, err, "--cpus %s", options->cpus);
    }
    return options->numa >= 0 ? confine_to_node((uint32_t)options->numa, why)
                              : FBY_OK;
}

void fby_cpu_placement_near_nic(const struct fby_worker_options *options)
{
    const char *address =
        options->advertise != NULL ? options->advertise : options->listen;
    char                    nic[IF_NAMESIZE];
    struct fby_node         node;
    struct fby_error_detail why;
    cpu_set_t               allowed;
    if (options->cpus != NULL || options->numa != FBY_NUMA_AUTO ||
        !fby_numa_find_nic(address, nic) ||
        fby_cpus_read_allowed(&allowed) != FBY_OK ||
        !fby_numa_node_near_nic("", nic, &allowed, &node)) {
        return;
    }
    if (fby_cpus_bind_thread(&node.cpus, &why) == FBY_OK) {
        fby_info("NUMA-NODE",
            "%s is at node %d: the network threads run on its CPUs %s; "
            "--numa %d keeps the whole worker there",
            nic, node.number, fby_cpus_format(&node.cpus).text, node.number);
    }
}
