/* SPDX-License-Identifier: Apache-2.0 */
/* interval.h - find the interval that holds a number. */
#ifndef FBY_COMMON_INTERVAL_H
#define FBY_COMMON_INTERVAL_H

#include <stdint.h>

/* There are `n` intervals. Interval i begins at begins[i] and ends before the
 * next one begins. Returns the index of the interval that holds `number`; 0 if
 * `number` is before all. Intervals of length 0 are never found. */
static inline uint32_t fby_interval_find(
    const uint64_t *begins, uint32_t n, uint64_t number)
{
    uint32_t low  = 0;
    uint32_t high = n;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (begins[middle] <= number) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

#endif
