/* SPDX-License-Identifier: Apache-2.0 */
/* array.h - arrays that grow by one element at a time.
 *
 * The capacity is not stored: it is the count, rounded up to a power of two. */
#ifndef FBY_COMMON_ARRAY_H
#define FBY_COMMON_ARRAY_H

#include <stdint.h>

#include "common/mem.h"

/* Make space for one more element; returns the array, which may have moved. The
 * array has `count` elements, each of which was added after such a call. It is
 * NULL if `count` is 0. */
static inline void *fby_array_grow(
    void *array, uint32_t count, size_t element_bytes)
{
    if ((count & (count - 1)) != 0) { /* not a power of two: there is space */
        return array;
    }
    size_t capacity = count == 0 ? 1 : (size_t)count * 2;
    return fby_realloc(array, capacity * element_bytes);
}

#endif
