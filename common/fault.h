/* fault.h - named fault injection points, for tests of real processes.
 *
 *     FOREBAY_FAULT="worker.exit:after_chunk=3,worker.slow:ms=20"
 *
 * A point counts the events that are reported to it. With `after_EVENT=N` it
 * takes effect at the N-th (with `times=M` also at the M-1 that follow), with
 * `every_EVENT=N` at each N-th, and with neither always. Every effect is logged
 * as FAULT and counted, so that a test can see that it happened. A call costs
 * one load when the variable is not set. Any thread. */
#ifndef FBY_COMMON_FAULT_H
#define FBY_COMMON_FAULT_H

#include <stdbool.h>
#include <stdint.h>

/* Report `event` to `point`; true when the fault takes effect now. */
bool fby_fault(const char *point, const char *event);

/* Report `event` to the points `exit` and `stop`. When `exit` takes effect this
 * process kills itself with SIGKILL; when `stop` does, it stops until SIGCONT.
 */
void fby_fault_end(const char *exit, const char *stop, const char *event);

/* The value of the parameter `key` of a point, or `fallback` if not set. */
int64_t fby_fault_param(const char *point, const char *key, int64_t fallback);

/* The number of effects of all points in this process. */
uint64_t fby_fault_count(void);

#endif
