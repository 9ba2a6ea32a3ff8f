/* interval.h - find the interval that holds a number. */
#ifndef FBY_COMMON_INTERVAL_H
#define FBY_COMMON_INTERVAL_H

#include <stdint.h>

/* The index of the last of `n` ascending numbers that is at most `number`; 0
 * when all are greater. Of equal numbers the last is found, so an empty
 * interval never is. */
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
