/* SPDX-License-Identifier: Apache-2.0 */
/* bits.h - pack values that are 0 or 1, eight to a byte.
 *
 * The layout is that of NumPy's packbits(axis=-1, bitorder="little"): value k
 * of a row is bit k % 8 of byte k / 8. Unused bits of the last byte are 0. */
#ifndef FBY_WORKER_TRANSFORM_BITS_H
#define FBY_WORKER_TRANSFORM_BITS_H

#include <stddef.h>
#include <stdint.h>

#include "worker/npy/npy.h"

/* Pack `n` values of a byte each. Returns the number of values before the first
 * that is neither 0 nor 1, or `n`; `out` is undefined from that value on. */
size_t fby_bits_pack(const uint8_t *values, size_t n, uint8_t *out);

/* Pack the values of a NumPy file of bools or integers. A row is the file's
 * last dimension, and each row begins a new byte. The file must have at least
 * one dimension. Returns the same number as fby_bits_pack. */
uint64_t fby_bits_pack_npy(const struct fby_npy *npy, uint8_t *out);

#endif
