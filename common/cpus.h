/* cpus.h - sets of CPUs, written as the kernel and taskset write them: "0-3,8".
 */
#ifndef FBY_COMMON_CPUS_H
#define FBY_COMMON_CPUS_H

#include <sched.h>

#include "common/err.h"

/* Parse such a list; a newline at its end is allowed.
 * Errors: FBY_USAGE  not a list, empty, or with a CPU beyond CPU_SETSIZE. */
FBY_CHECKED fby_err fby_cpus_parse(
    const char *text, cpu_set_t *out, struct fby_why *why);

struct fby_cpus_text {
    char text[256]; /* a longer list ends with "..." */
};

/* Write a set as such a list. */
struct fby_cpus_text fby_cpus_show(const cpu_set_t *set);

/* Check that all of `asked` are `online` and that this process is `allowed` to
 * run on them. Pure.
 * Errors: FBY_USAGE  `why` names the first that is not, and those that are. */
FBY_CHECKED fby_err fby_cpus_check(const cpu_set_t *asked,
    const cpu_set_t *allowed, const cpu_set_t *online, struct fby_why *why);

/* Parse a list and check it against this machine and process.
 * Errors: FBY_USAGE. */
FBY_CHECKED fby_err fby_cpus_usable(
    const char *text, cpu_set_t *out, struct fby_why *why);

/* The CPUs that the calling thread may run on.
 * Errors: FBY_SYS  the machine has more CPUs than a cpu_set_t holds. */
FBY_CHECKED fby_err fby_cpus_allowed(cpu_set_t *out);

/* Bind the calling thread, and the threads that it creates later, to `set`.
 * Errors: FBY_SYS  the system refuses; `why` names the set and the cause. */
FBY_CHECKED fby_err fby_cpus_confine(const cpu_set_t *set, struct fby_why *why);

#endif
