/* SPDX-License-Identifier: Apache-2.0 */
/* cpus.h - sets of CPUs, and the NUMA nodes of a machine.
 *
 * The text form of a set is a list such as "0-3,8", as taskset accepts it. */
#ifndef FBY_COMMON_CPUS_H
#define FBY_COMMON_CPUS_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"

/* Parse a list; a newline at its end is allowed.
 * Errors: FBY_USAGE  the text is not a list, is empty, or has a CPU of
 *                    CPU_SETSIZE or more. */
FBY_CHECKED fby_err fby_cpus_parse(
    const char *text, cpu_set_t *out, struct fby_error_detail *why);

struct fby_cpus_text {
    char text[256]; /* a longer list ends with "..." */
};

/* Format a set as a list. */
struct fby_cpus_text fby_cpus_format(const cpu_set_t *set);

/* Check that all CPUs of `wanted` are `online`, and `allowed` to this process.
 * Errors: FBY_USAGE  `why` names the first wrong CPU, and the usable CPUs. */
FBY_CHECKED fby_err fby_cpus_check(const cpu_set_t *wanted,
    const cpu_set_t *allowed, const cpu_set_t *online,
    struct fby_error_detail *why);

/* Parse a list and check that this process may use its CPUs.
 * Errors: FBY_USAGE  as for fby_cpus_parse and fby_cpus_check. */
FBY_CHECKED fby_err fby_cpus_parse_usable(
    const char *text, cpu_set_t *out, struct fby_error_detail *why);

/* Read which CPUs the calling thread may run on.
 * Errors: FBY_SYS  the machine has more CPUs than a cpu_set_t holds. */
FBY_CHECKED fby_err fby_cpus_read_allowed(cpu_set_t *out);

/* Bind the calling thread, and the threads that it creates later, to `set`.
 * Errors: FBY_SYS  the system refuses; `why` names the set and the cause. */
FBY_CHECKED fby_err fby_cpus_bind_thread(
    const cpu_set_t *set, struct fby_error_detail *why);

/* Read the first line of the file `path` into `line`, at most `size` - 1 bytes
 * and a NUL; false when there is no such file or line. */
bool fby_read_line(const char *path, char *line, size_t size);

/* ---- NUMA nodes ----------------------------------------------------------
 *
 * All of the following is read from sysfs below `root`, which is "" on a real
 * machine. If the file of a node cannot be read, the node does not exist. */

struct fby_node {     /* a NUMA node */
    int       number; /* N in the node's sysfs directory nodeN */
    cpu_set_t cpus;
};

/* Find node `number` and its CPUs.
 * Errors: FBY_USAGE  no such node; `why` lists the nodes that exist. */
FBY_CHECKED fby_err fby_node_find(const char *root, uint32_t number,
    struct fby_node *out, struct fby_error_detail *why);

/* Read the number of a device's node from `file` in the device's directory in
 * sysfs; -1 if there is none. */
int fby_node_of_device(const char *directory, const char *file);

/* Find the CPUs that a thread should prefer when it works with a device on node
 * `number`. Sets out->cpus to those of the node that are `allowed`.
 *
 * Returns false when there is no preference: the machine has one node, `number`
 * is -1, or none or all of the allowed CPUs belong to that node. */
bool fby_node_find_preferred_cpus(const char *root, int number,
    const cpu_set_t *allowed, struct fby_node *out);

#endif
