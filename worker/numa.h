/* numa.h - on which node of a machine with several a network card sits.
 *
 * `root` is that of common/nodes.h. */
#ifndef FBY_WORKER_NUMA_H
#define FBY_WORKER_NUMA_H

#include <net/if.h>
#include <stdbool.h>

#include "common/nodes.h"

/* The node of the network card `card` ("eth0"; a bond, VLAN or bridge: that of
 * the cards below it, if they agree), with those of its CPUs that are
 * `allowed`.
 *
 * False: there is nothing to prefer. There is one node, the card has none, or
 * none or all of the allowed CPUs are that node's. */
bool fby_numa_near(const char *root, const char *card, const cpu_set_t *allowed,
    struct fby_node *out);

/* The card of this machine that has the address of "tcp://ADDRESS:PORT", or is
 * named so. False: none has, as with "*". */
bool fby_numa_card(const char *endpoint, char card[IF_NAMESIZE]);

#endif
