/* timer.h - the protocol's timers, and one divisor for all of them.
 *
 * Tests that stop processes for longer than a lease would take minutes; with
 * FOREBAY_TIME_DIVISOR=10 every timer of the protocol is a tenth of itself, in
 * every process that inherits it. Pure machines get their timers in a config
 * struct; only shells call this, once, at start. */
#ifndef FBY_COMMON_TIMER_H
#define FBY_COMMON_TIMER_H

#include <stdint.h>

/* `normal_ns` divided by FOREBAY_TIME_DIVISOR (1 to 1000, default 1; anything
 * else is warned of, once). Any thread. */
int64_t fby_timer_ns(int64_t normal_ns);

#endif
