/* SPDX-License-Identifier: Apache-2.0 */
/* timer.h - for tests: a divisor that shortens all timeouts and periods.
 *
 * Without it, tests that pause processes for longer than a lease would take
 * minutes. With FOREBAY_TIME_DIVISOR=10 all these times are ten times
 * shorter, in every process that inherits the variable. Event loops scale their
 * times once, at start, and pass the results to pure state machines. */
#ifndef FBY_COMMON_TIMER_H
#define FBY_COMMON_TIMER_H

#include <stdint.h>

/* `normal_ns` divided by FOREBAY_TIME_DIVISOR: 1 to 1000, default 1. Any other
 * value is ignored and logged once. Any thread. */
int64_t fby_scaled_timeout_ns(int64_t normal_ns);

#endif
