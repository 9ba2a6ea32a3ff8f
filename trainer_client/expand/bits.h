/* bits.h - expand bits to maps of numbers that are 0 or 1, on the host.
 *
 * A pixel has one bit per map, the first in the lowest bit of its first byte.
 * Bits beyond the last map are ignored. fby_expand_bits_plain reads one bit at
 * a time and is the definition. fby_expand_bits reads 8 at once and makes the
 * same bytes. */
#ifndef FBY_CLIENT_EXPAND_BITS_H
#define FBY_CLIENT_EXPAND_BITS_H

#include "trainer_client/expand/expansion.h"

/* Expand one sample; `plan` is of kind FBY_EXPAND_BITS. `out` need not be
 * aligned. */
typedef void fby_expand_bits_fn(
    const struct fby_expansion *plan, const uint8_t *raw, uint8_t *out);

fby_expand_bits_fn fby_expand_bits_plain;
fby_expand_bits_fn fby_expand_bits;

#endif
