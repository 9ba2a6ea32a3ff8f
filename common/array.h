/* array.h - arrays that grow by one element at a time.
 *
 * An array grows when its count reaches a power of two, so the capacity need
 * not be stored. */
#ifndef FBY_COMMON_ARRAY_H
#define FBY_COMMON_ARRAY_H

#include <stdint.h>

#include "common/mem.h"

/* `array` (NULL when `n` is 0) with room for element `n`, counted from 0;
 * element n - 1 was added the same way. */
static inline void *fby_array_grow(
    void *array, uint32_t n, size_t element_bytes)
{
    if ((n & (n - 1)) != 0) {
        return array;
    }
    return fby_regrow(array, (n == 0 ? 1 : (size_t)n * 2) * element_bytes);
}

#endif
