/* array.h - arrays that grow by one element at a time.
 *
 * An array grows when its count reaches a power of two, so the capacity need
 * not be stored. */
#ifndef FBY_COMMON_ARRAY_H
#define FBY_COMMON_ARRAY_H

#include <stdint.h>

#include "common/mem.h"

/* Make room in `array` for one more element; returns the array. It has `n`
 * elements, which were all added this way. It is NULL when `n` is 0. */
static inline void *fby_array_grow(
    void *array, uint32_t n, size_t element_bytes)
{
    if ((n & (n - 1)) != 0) { /* not a power of two: there is room */
        return array;
    }
    return fby_realloc(array, (n == 0 ? 1 : (size_t)n * 2) * element_bytes);
}

#endif
