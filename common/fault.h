/* SPDX-License-Identifier: Apache-2.0 */
/* fault.h - named fault injection points, for tests of real processes.
 *
 *     FOREBAY_FAULT="worker.exit:after_chunk=3,worker.slow:ms=20"
 *
 * A point is a place in the code where a fault can be injected ("worker.exit").
 * The code reports named events ("chunk") to it. With `after_EVENT=N` the fault
 * takes effect at the N-th report of EVENT, and with `times=M` at the next
 * M - 1 reports too; with `every_EVENT=N`, at each N-th report of EVENT.
 * Without these parameters, it takes effect at every report.
 * Each effect is logged as FAULT and counted, so that a test can detect it.
 * When the variable is not set, a call costs one load.
 * Thread: any. */
#ifndef FBY_COMMON_FAULT_H
#define FBY_COMMON_FAULT_H

#include <stdbool.h>
#include <stdint.h>

/* Report `event` to `point`; true when its fault takes effect now. */
bool fby_fault_takes_effect(const char *point, const char *event);

/* Report `event` to the points named `exit` and `stop`. When `exit` takes
 * effect, the process kills itself with SIGKILL. When `stop` takes effect, the
 * process stops until SIGCONT. */
void fby_fault_kill_or_stop(
    const char *exit, const char *stop, const char *event);

/* The value of a point's parameter `key`, or `fallback` if it is not set. */
int64_t fby_fault_param(const char *point, const char *key, int64_t fallback);

/* The number of effects of all points in this process. */
uint64_t fby_fault_count(void);

#endif
