/* fault.h - named places where a test can make a real process misbehave.
 *
 *     FOREBAY_FAULT="worker.exit:after_chunk=3,worker.slow:ms=20"
 *
 * A point counts the events it is told of. `after_EVENT=N` makes it take effect
 * at the N-th (and, with `times=M`, at the M-1 that follow); `every_EVENT=N` at
 * each N-th. A point named without either is simply on. Every effect is logged
 * as FAULT and counted, so that a test can see that it happened. Without the
 * variable a call costs one load. Any thread. */
#ifndef FBY_COMMON_FAULT_H
#define FBY_COMMON_FAULT_H

#include <stdbool.h>
#include <stdint.h>

/* Tell `point` that `event` happened; true when the fault is due now. */
bool fby_fault(const char *point, const char *event);

/* `exit` and `stop`, points of their own for each kind of process: where they
 * are due this process dies by SIGKILL, or stops until it gets SIGCONT. */
void fby_fault_end(const char *exit, const char *stop, const char *event);

/* The number after `key=` of a point, or `fallback` where there is none. */
int64_t fby_fault_param(const char *point, const char *key, int64_t fallback);

/* How often any point took effect in this process. */
uint64_t fby_fault_count(void);

#endif
