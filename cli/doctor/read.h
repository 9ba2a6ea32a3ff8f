/* read.h - what a machine tells of itself in files.
 *
 * All are read below `root`, "" on a real machine. What cannot be read is
 * answered as not told. */
#ifndef FBY_CLI_DOCTOR_READ_H
#define FBY_CLI_DOCTOR_READ_H

#include <stdint.h>

#include "cli/doctor/judge.h"

/* CPUs and NUMA nodes that are online; 0: not told. */
uint32_t fby_read_cpus_online(const char *root);
uint32_t fby_read_nodes(const char *root);

/* A line of /proc/meminfo ("MemTotal"), in bytes; 0: not told. */
uint64_t fby_read_meminfo(const char *root, const char *name);

/* The smallest memory limit of our cgroup and of those above it, version 1 or
 * 2, in bytes; UINT64_MAX: none. */
uint64_t fby_read_memory_limit(const char *root);

/* The word in brackets of "always [madvise] never"; "": not told. */
void fby_read_huge_pages(const char *root, char out[16]);

/* Bytes of the last cache of the first CPU; 0: not told. */
uint64_t fby_read_last_cache(const char *root);

/* Network cards that are nearer to some of the CPUs we may use than to others;
 * returns how many of them, at most `max`, were written. */
uint32_t fby_read_cards(
    const char *root, struct fby_card_facts *out, uint32_t max);

#endif
