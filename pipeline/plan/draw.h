/* draw.h - counter-based random numbers: a draw is named, not taken in turn.
 *
 * Philox4x32-10 keyed by (seed, epoch, sample, group, op, occurrence); the
 * words of one key are numbered, so no draw depends on who drew before. See
 * proto/PROTOCOL.md, "Draws". */
#ifndef FBY_PIPELINE_PLAN_DRAW_H
#define FBY_PIPELINE_PLAN_DRAW_H

#include <stdint.h>

struct fby_draw {
    uint32_t key[2];
    uint32_t counter[4]; /* next block, epoch, sample low, sample high */
    uint32_t words[4];   /* of the block before */
    uint32_t used;       /* of these words, taken */
};

/* The stream of one (seed, epoch, sample, group, op, occurrence). `op` is the
 * op's name; "substitute" is reserved for substitutes. */
struct fby_draw fby_draw_begin(uint64_t seed, uint64_t epoch, uint64_t sample,
    const char *group, const char *op, uint32_t occurrence);

/* The next 32-bit word. */
uint32_t fby_draw_u32(struct fby_draw *draw);

/* Uniform on 0..n-1 (n >= 1), by multiply and reject; exact. Takes one word
 * (n <= 2^32) or two, and as many again for each value it rejects. */
uint64_t fby_draw_below(struct fby_draw *draw, uint64_t n);

/* Uniform on low..high, both included; high - low < 2^63. `high` below `low`
 * counts as `low`. */
int64_t fby_draw_between(struct fby_draw *draw, int64_t low, int64_t high);

/* One Philox4x32-10 block (Salmon et al., SC 2011). */
void fby_philox(
    const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]);

#endif
