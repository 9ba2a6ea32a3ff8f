/* cpu_placement.h - choose the CPUs that the threads of a worker run on.
 *
 * If the options name CPUs or a NUMA node, every thread runs only there. Memory
 * then comes from that node, because these threads touch it first. Otherwise,
 * on a machine of several nodes, only the network threads run on the node of
 * the network card. They are few, so several workers do not overload that node;
 * the compute threads run on any node. The parameter `root` is the directory
 * that stands for "/": "" except in tests. */
#ifndef FBY_WORKER_CPU_PLACEMENT_H
#define FBY_WORKER_CPU_PLACEMENT_H

#include <net/if.h>

#include "common/cpus.h"
#include "worker/options.h"

/* Confine the calling thread, and all threads it creates later, to the CPUs or
 * the node that the options name, if any.
 * Errors: FBY_USAGE  this machine has no such CPUs or node
 *         FBY_SYS    the system refuses the change. */
FBY_CHECKED fby_err fby_cpu_placement_confine(
    const struct fby_worker_options *options, struct fby_error_detail *why);

/* Confine the calling thread, and all threads it creates later, to the node of
 * the network card. Does nothing if the options name CPUs, a node or `off`, or
 * if fby_numa_near finds no node to prefer. */
void fby_cpu_placement_near_card(const struct fby_worker_options *options);

/* Find the node of the network card `card` ("eth0"). out->cpus are the CPUs of
 * the node that are also in `allowed`. A bond, VLAN or bridge has the node of
 * its lower cards, if all of them have the same.
 *
 * Returns false when no node is preferable: the machine has one node, the card
 * has no node, or the node has none or all of the allowed CPUs. */
bool fby_numa_near(const char *root, const char *card, const cpu_set_t *allowed,
    struct fby_node *out);

/* Find the network card with the address of `endpoint` ("tcp://ADDRESS:PORT"),
 * where ADDRESS may also be a card's name. Returns false when no card has that
 * address, for example for "*". */
bool fby_numa_card(const char *endpoint, char card[IF_NAMESIZE]);

#endif
