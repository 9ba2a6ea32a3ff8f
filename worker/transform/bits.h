/* bits.h - values that are 0 or 1, eight to a byte.
 *
 * As NumPy's packbits(axis=-1, bitorder="little"): value k of a row is bit
 * k % 8 of byte k / 8, and the bits that are left over in the last byte are
 * 0. */
#ifndef FBY_WORKER_TRANSFORM_BITS_H
#define FBY_WORKER_TRANSFORM_BITS_H

#include <stddef.h>
#include <stdint.h>

#include "worker/npy/npy.h"

/* Pack `n` bytes. Returns how many of them came before one that is neither 0
 * nor 1: n when none is; behind that `out` may hold anything. */
size_t fby_bits_pack(const uint8_t *values, size_t n, uint8_t *out);

/* Pack the values of a file of bools or whole numbers, row by row of its last
 * dimension, of which it has one at least. Returns as fby_bits_pack does. */
uint64_t fby_bits_of_npy(const struct fby_npy *npy, uint8_t *out);

#endif
