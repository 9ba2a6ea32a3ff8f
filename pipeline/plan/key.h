/* key.h - 64-bit Philox keys out of names and numbers, by BLAKE2b-256.
 *
 * Add the parts, then take the first eight bytes as two little-endian words.
 * A name goes in after its length, so that no two lists of parts are alike. */
#ifndef FBY_PIPELINE_PLAN_KEY_H
#define FBY_PIPELINE_PLAN_KEY_H

#include "common/hash.h"

/* The low `width` bytes (2, 4 or 8) of `value`, little-endian. */
void fby_key_add(struct fby_digest_state *state, uint64_t value, size_t width);

/* Length as u16, then the bytes; at most 65,535 of them. */
void fby_key_add_name(struct fby_digest_state *state, const char *name);

void fby_key_end(struct fby_digest_state *state, uint32_t key[2]);

#endif
