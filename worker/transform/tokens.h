/* tokens.h - tokens where they lie in a file, in the type they travel in. */
#ifndef FBY_WORKER_TRANSFORM_TOKENS_H
#define FBY_WORKER_TRANSFORM_TOKENS_H

#include "common/err.h"
#include "worker/npy/convert.h"

/* `n` tokens of `width` bytes; the type is FBY_NPY_TYPES for a width that none
 * has. */
struct fby_npy fby_tokens_npy(
    const uint8_t *tokens, uint32_t width, uint64_t n);

/* Write them to `dst` as u16 or u32. Returns how many come before one that is
 * refused; behind that `dst` may hold anything. */
uint64_t fby_tokens_convert(
    const struct fby_npy *in, enum fby_type to, uint8_t *dst);

/* Why token i of them, which is number `number` of its sequence, is refused.
 * Returns FBY_BAD_SAMPLE. */
fby_err fby_tokens_refuse(const struct fby_npy *in, uint64_t i, uint64_t number,
    enum fby_type to, struct fby_why *why);

#endif
