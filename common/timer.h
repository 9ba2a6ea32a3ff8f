/* timer.h - one divisor for all timers of the protocol, for tests.
 *
 * Tests that stop processes for longer than a lease would take minutes. With
 * FOREBAY_TIME_DIVISOR=10 every timer of the protocol is ten times shorter, in
 * every process that inherits the variable. Pure state machines get their
 * timers in a config struct; only event loops call this, once, at start. */
#ifndef FBY_COMMON_TIMER_H
#define FBY_COMMON_TIMER_H

#include <stdint.h>

/* `normal_ns` divided by FOREBAY_TIME_DIVISOR: 1 to 1000, default 1. Any other
 * value is ignored and logged once. Any thread. */
int64_t fby_timer_ns(int64_t normal_ns);

#endif
