/* SPDX-License-Identifier: Apache-2.0 */
/* tokens.h - convert the tokens (integers that stand for words) of a file to
 * their wire type, u16 or u32. */
#ifndef FBY_WORKER_TRANSFORM_TOKENS_H
#define FBY_WORKER_TRANSFORM_TOKENS_H

#include "common/err.h"
#include "worker/npy/convert.h"

/* Describe `n` tokens of `width` bytes as an array, without copying. The type
 * is FBY_NPY_TYPES (invalid) if no integer type has that width. */
struct fby_npy fby_tokens_as_npy(
    const uint8_t *tokens, uint32_t width, uint64_t n);

/* Write the tokens to `dst` as u16 or u32. Returns the number of tokens before
 * the first that is refused; `dst` is undefined from that token on. */
uint64_t fby_tokens_convert(
    const struct fby_npy *in, enum fby_type to, uint8_t *dst);

/* Refuse token i of `in`, which the message calls token `number`.
 * Returns FBY_BAD_SAMPLE. */
fby_err fby_tokens_refuse(const struct fby_npy *in, uint64_t i, uint64_t number,
    enum fby_type to, struct fby_error_detail *why);

#endif
