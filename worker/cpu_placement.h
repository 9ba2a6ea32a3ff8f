/* SPDX-License-Identifier: Apache-2.0 */
/* cpu_placement.h - choose the CPUs that the threads of a worker run on.
 *
 * If the options name CPUs or a NUMA node, every thread runs only there. Memory
 * then comes from that node, because these threads touch it first. If the
 * options name neither, and the machine has several nodes, the network threads
 * run on the node of the network card. They are few, so several workers do not
 * overload that node. The compute threads then run on any node. The parameter
 * `root` replaces "/" in tests, and is "" otherwise. */
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
 * the network card. Does nothing if the options name CPUs or a node, if they
 * switch this off (FBY_NUMA_OFF), or if fby_numa_node_near_nic finds none. */
void fby_cpu_placement_near_nic(const struct fby_worker_options *options);

/* Find the NUMA node of the network card `nic` ("eth0"). A bond, VLAN or bridge
 * counts as a card: it is at the node of the cards below it, if all of them
 * have the same one. out->cpus are the CPUs of the node that are in `allowed`.
 *
 * Returns false when no node is preferable: the machine has one node, the node
 * is unknown, or it has none or all of the allowed CPUs. */
bool fby_numa_node_near_nic(const char *root, const char *nic,
    const cpu_set_t *allowed, struct fby_node *out);

/* Store the name of the network card that has the address of `endpoint`
 * ("tcp://ADDRESS:PORT"). ADDRESS may also be the name of the card. Returns
 * false when no card has that address, for example for "*". */
bool fby_numa_find_nic(const char *endpoint, char nic[IF_NAMESIZE]);

#endif
