/* numa.h - on which node of a machine with several a network card sits.
 *
 * Read from sysfs, below a `root` that is "" on a real machine; nothing here
 * changes anything. What cannot be read is not there: then nothing is
 * preferred. */
#ifndef FBY_WORKER_NUMA_H
#define FBY_WORKER_NUMA_H

#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/cpus.h"

struct fby_numa_node {
    int       number;
    cpu_set_t cpus;
};

/* Errors: FBY_USAGE  no such node; `why` says which there are. */
FBY_CHECKED fby_err fby_numa_node(const char *root, uint32_t number,
    struct fby_numa_node *out, struct fby_why *why);

/* The node of the network card `card` ("eth0"; a bond, VLAN or bridge: that of
 * the cards below it, if they agree), with those of its CPUs that are `allowed`.
 *
 * False: there is nothing to prefer. There is one node, the card has none, or
 * none or all of the allowed CPUs are that node's. */
bool fby_numa_near(const char *root, const char *card, const cpu_set_t *allowed,
    struct fby_numa_node *out);

/* The card of this machine that has the address of "tcp://ADDRESS:PORT", or is
 * named so. False: none has, as with "*". */
bool fby_numa_card(const char *endpoint, char card[IF_NAMESIZE]);

#endif
