/* bits.h - pack values that are 0 or 1, eight to a byte.
 *
 * The layout is that of NumPy's packbits(axis=-1, bitorder="little"): value k
 * of a row is bit k % 8 of byte k / 8. Unused bits of the last byte are 0. */
#ifndef FBY_WORKER_TRANSFORM_BITS_H
#define FBY_WORKER_TRANSFORM_BITS_H

#include <stddef.h>
#include <stdint.h>

#include "worker/npy/npy.h"

/* Pack `n` bytes. Returns the number of bytes before the first that is neither
 * 0 nor 1 (n if all are); `out` after those is undefined. */
size_t fby_bits_pack(const uint8_t *values, size_t n, uint8_t *out);

/* Pack the values of a file of bools or integers, row by row of its last
 * dimension (at least one dimension is needed). Returns as fby_bits_pack. */
uint64_t fby_bits_of_npy(const struct fby_npy *npy, uint8_t *out);

#endif
