/* SPDX-License-Identifier: Apache-2.0 */
/* draw.h - counter-based random numbers.
 *
 * Each (seed, epoch, sample, group, op, occurrence) names a stream of random
 * words. The name gives the key and counter of a Philox4x32-10 generator, so no
 * draw depends on draws for other samples or ops. proto/PROTOCOL.md, "Draws",
 * is the definition. A Q16 value is a number times 65536. */
#ifndef FBY_PIPELINE_PLAN_DRAW_H
#define FBY_PIPELINE_PLAN_DRAW_H

#include <stdint.h>

#include "common/hash.h"

struct fby_draw { /* the state of one stream */
    uint32_t key[2];
    uint32_t counter[4]; /* next block, epoch, sample (low, high half) */
    uint32_t words[4];   /* the current block */
    uint32_t used;       /* the number of `words` already drawn */
};

/* A Philox key is the first eight bytes of a BLAKE2b-256 hash, as two
 * little-endian words. Add values and names to the hash, then end it. */
/* Add the low `width` bytes (1, 2, 4 or 8) of `value`. */
void fby_key_add(struct fby_digest_state *state, uint64_t value, size_t width);
/* Add the length of `name` as u16, then its bytes (at most 65,535). */
void fby_key_add_name(struct fby_digest_state *state, const char *name);
/* End the hash and set `key`. */
void fby_key_end(struct fby_digest_state *state, uint32_t key[2]);

/* Start the stream of one (seed, epoch, sample, group, op, occurrence). `op` is
 * the op's name; the name "substitute" is reserved for fby_plan_substitute. */
struct fby_draw fby_draw_begin(uint64_t seed, uint64_t epoch, uint64_t sample,
    const char *group, const char *op, uint32_t occurrence);

/* Draw the next 32-bit word. */
uint32_t fby_draw_u32(struct fby_draw *draw);

/* Draw a number from 0..n-1 (n >= 1); all have exactly equal probability. Each
 * try uses one word if n <= 2^32, else two. A rejected value is tried again. */
uint64_t fby_draw_below(struct fby_draw *draw, uint64_t n);

/* Draw an integer from low to high, both included, with equal probabilities;
 * high - low < 2^63. If `high` is below `low`, the result is `low`. */
int64_t fby_draw_between(struct fby_draw *draw, int64_t low, int64_t high);

/* Draw a Q16 number from low to high, both included, with fby_draw_between. */
int64_t fby_draw_uniform_q16(struct fby_draw *draw, double low, double high);

/* Set `order` to a random permutation of 0..3, with three draws. */
void fby_draw_order_of_four(struct fby_draw *draw, uint32_t order[4]);

enum { FBY_MAX_SUBSTITUTES = 8 }; /* substitutes to try for one bad sample */

/* The k-th substitute (k = 1..8) to try in `epoch` for the bad `sample`; never
 * `sample` itself, unless n_samples is 1. All workers draw the same one. */
uint64_t fby_plan_substitute(uint64_t seed, uint64_t epoch, uint64_t sample,
    uint32_t k, uint64_t n_samples);

/* Compute one Philox4x32-10 block (Salmon et al., SC 2011). */
void fby_philox(
    const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]);

#endif
