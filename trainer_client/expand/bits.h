/* bits.h - bits to maps of numbers that are 0 or 1, on the host.
 *
 * A pixel has a bit for each map, the first in the lowest bit of its first
 * byte; bits beyond the last map are not looked at. The plain way looks at one
 * bit at a time and is the definition; the other takes 8 of them at once, and
 * makes the same bytes. */
#ifndef FBY_CLIENT_EXPAND_BITS_H
#define FBY_CLIENT_EXPAND_BITS_H

#include "trainer_client/expand/expansion.h"

/* One sample, `plan` of kind FBY_EXPAND_BITS; `out` need not be aligned. */
typedef void fby_expand_bits_fn(
    const struct fby_expansion *plan, const uint8_t *raw, uint8_t *out);

fby_expand_bits_fn fby_expand_bits_plain;
fby_expand_bits_fn fby_expand_bits;

#endif
