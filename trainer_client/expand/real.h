/* real.h - convert arrays of any type to reals, scaled or not, on the host.
 *
 * The arithmetic is that of value.h. It is done in blocks of up to 768 values,
 * so that each step is a loop over one type. */
#ifndef FBY_CLIENT_EXPAND_REAL_H
#define FBY_CLIENT_EXPAND_REAL_H

#include <stdbool.h>

#include "trainer_client/expand/expansion.h"

enum { FBY_REALS_BLOCK = 768 }; /* values of a block at most */

/* Values of a block, at least 1: a multiple of the channels, so that each block
 * begins with the first channel. */
uint32_t fby_reals_block(const struct fby_expansion *plan);

/* True if the plan scales values or casts them to f32, f16 or bf16. */
bool fby_expands_to_reals(const struct fby_expansion *plan);

/* Convert `n` values of whole samples. `raw` and `out` need not be aligned. */
void fby_expand_reals(const struct fby_expansion *plan, const uint8_t *raw,
    uint64_t n, uint8_t *out);

#endif
