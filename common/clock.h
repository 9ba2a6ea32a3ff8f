/* SPDX-License-Identifier: Apache-2.0 */
/* clock.h - monotonic time, in nanoseconds.
 *
 * State machines never read the clock. An event loop reads it once per
 * iteration and passes the time to them as `now_ns`. */
#ifndef FBY_COMMON_CLOCK_H
#define FBY_COMMON_CLOCK_H

#include <stdint.h>
#include <time.h>

#define FBY_NS_PER_US INT64_C(1000)
#define FBY_NS_PER_MS INT64_C(1000000)
#define FBY_NS_PER_S  INT64_C(1000000000)

/* CLOCK_MONOTONIC; any thread. */
static inline int64_t fby_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * FBY_NS_PER_S + t.tv_nsec;
}

/* The earlier of two times. */
static inline int64_t fby_earlier_ns(int64_t a_ns, int64_t b_ns)
{
    return a_ns < b_ns ? a_ns : b_ns;
}

/* CPU time of the calling thread. */
static inline int64_t fby_thread_cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * FBY_NS_PER_S + t.tv_nsec;
}

#endif
