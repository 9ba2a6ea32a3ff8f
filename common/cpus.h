/* cpus.h - sets of CPUs, written as the kernel and taskset write them: "0-3,8".
 */
#ifndef FBY_COMMON_CPUS_H
#define FBY_COMMON_CPUS_H

#include <sched.h>

#include "common/err.h"

/* Errors: FBY_USAGE  it is no such list, or is empty, or names a CPU beyond
 *                    CPU_SETSIZE. A newline at its end is fine. */
FBY_CHECKED fby_err fby_cpus_parse(
    const char *text, cpu_set_t *out, struct fby_why *why);

struct fby_cpus_text {
    char text[256]; /* cut with "..." when it is longer */
};
struct fby_cpus_text fby_cpus_show(const cpu_set_t *set);

/* Whether all of `asked` are among those this process is allowed; those that
 * are not are either not there (not in `online`) or kept from it. Pure.
 * Errors: FBY_USAGE  `why` names the first, and what there is. */
FBY_CHECKED fby_err fby_cpus_check(const cpu_set_t *asked,
    const cpu_set_t *allowed, const cpu_set_t *online, struct fby_why *why);

/* A list that somebody asks for on this machine: the two above.
 * Errors: FBY_USAGE. */
FBY_CHECKED fby_err fby_cpus_usable(
    const char *text, cpu_set_t *out, struct fby_why *why);

/* Those the calling thread may run on. Errors: FBY_SYS (more than fit). */
FBY_CHECKED fby_err fby_cpus_allowed(cpu_set_t *out);

/* Keep the calling thread, and those it makes from now on, on `set`.
 * Errors: FBY_SYS  the system refuses; `why` says which. */
FBY_CHECKED fby_err fby_cpus_confine(const cpu_set_t *set, struct fby_why *why);

#endif
