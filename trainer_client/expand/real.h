/* real.h - arrays of any type to reals on the host, scaled or not.
 *
 * The arithmetic is that of value.h; here it is only done block by block, so
 * that each step is a loop over one type. */
#ifndef FBY_CLIENT_EXPAND_REAL_H
#define FBY_CLIENT_EXPAND_REAL_H

#include <stdbool.h>

#include "trainer_client/expand/expansion.h"

enum { FBY_REALS_BLOCK = 768 }; /* values at most */

/* Values of a block, at least one: whole groups of channels, so that each block
 * begins with the first. */
uint32_t fby_reals_block(const struct fby_expansion *plan);

/* Is it a cast to f32, f16 or bf16, or a scaled one? */
bool fby_expands_to_reals(const struct fby_expansion *plan);

/* `n` values: whole samples. `raw` and `out` need not be aligned. */
void fby_expand_reals(const struct fby_expansion *plan, const uint8_t *raw,
    uint64_t n, uint8_t *out);

#endif
