/* numa.h - the NUMA node of a network card.
 *
 * `root` is the directory that holds sys/, as in common/nodes.h. */
#ifndef FBY_WORKER_NUMA_H
#define FBY_WORKER_NUMA_H

#include <net/if.h>
#include <stdbool.h>

#include "common/nodes.h"

/* Find the node of the network card `card` ("eth0"), with those of its CPUs
 * that are `allowed`. A bond, VLAN or bridge has the node of the cards below
 * it, if these agree.
 *
 * False: there is nothing to prefer. The machine has one node, the card has no
 * node, or none or all of the allowed CPUs belong to the node. */
bool fby_numa_near(const char *root, const char *card, const cpu_set_t *allowed,
    struct fby_node *out);

/* Find the network card with the address of `endpoint` ("tcp://ADDRESS:PORT"),
 * where ADDRESS may also be a card's name. False: no card has it, as for
 * "*". */
bool fby_numa_card(const char *endpoint, char card[IF_NAMESIZE]);

#endif
