/* SPDX-License-Identifier: Apache-2.0 */
/* read.h - read facts about the machine from /proc and /sys.
 *
 * `root` is a prefix of all paths: "" except in tests. If a file cannot be
 * read, a function returns its value for "unknown" or "no limit". */
#ifndef FBY_CLI_DOCTOR_READ_H
#define FBY_CLI_DOCTOR_READ_H

#include <stdint.h>

#include "cli/doctor/judge.h"

/* The number of online CPUs; 0: unknown. */
uint32_t fby_read_cpus_online(const char *root);

/* The number of online NUMA nodes; 0: unknown. */
uint32_t fby_read_numa_nodes(const char *root);

/* A value of /proc/meminfo ("MemTotal"), in bytes; 0: unknown. */
uint64_t fby_read_meminfo(const char *root, const char *name);

/* Write the setting of transparent huge pages: "always", "madvise" or "never".
 * "": unknown. */
void fby_read_huge_pages(const char *root, char out[16]);

/* The size of the level 3 cache of CPU 0 in bytes; 0: unknown. */
uint64_t fby_read_l3_bytes(const char *root);

/* List the network cards that are nearer to some of the usable CPUs than to
 * others. Returns the number of entries written, at most `max`. */
uint32_t fby_read_network_cards(
    const char *root, struct fby_card_facts *out, uint32_t max);

#endif
