/* SPDX-License-Identifier: Apache-2.0 */
/* draw.c - random numbers from a Philox generator; see draw.h. */
#include "pipeline/plan/draw.h"

#include <string.h>

#include "common/bytes.h"
#include "pipeline/plan/fixed.h"

/* ---- keys ---- */

void fby_key_add(struct fby_digest_state *state, uint64_t value, size_t width)
{
    uint8_t bytes[8];
    fby_store_le(bytes, value, width);
    fby_digest_add(state, bytes, width);
}

void fby_key_add_name(struct fby_digest_state *state, const char *name)
{
    size_t length = strlen(name);
    fby_key_add(state, length, 2);
    fby_digest_add(state, name, length);
}

void fby_key_end(struct fby_digest_state *state, uint32_t key[2])
{
    struct fby_digest digest = fby_digest_end(state);
    struct fby_reader bytes  = fby_reader(digest.bytes, sizeof(digest.bytes));
    key[0]                   = fby_read_u32(&bytes);
    key[1]                   = fby_read_u32(&bytes);
}

/* ---- words ---- */

enum { PHILOX_ROUNDS = 10, PHILOX_WORDS = 4 };

/* The constants here and in fby_philox are those of the paper (draw.h). */
static void philox_round(uint32_t x[4], const uint32_t key[2])
{
    uint64_t a = (uint64_t)x[0] * 0xD2511F53U;
    uint64_t b = (uint64_t)x[2] * 0xCD9E8D57U;
    x[0]       = (uint32_t)(b >> 32) ^ x[1] ^ key[0];
    x[1]       = (uint32_t)b;
    x[2]       = (uint32_t)(a >> 32) ^ x[3] ^ key[1];
    x[3]       = (uint32_t)a;
}

void fby_philox(
    const uint32_t counter[4], const uint32_t key[2], uint32_t out[4])
{
    uint32_t block[4]     = {counter[0], counter[1], counter[2], counter[3]};
    uint32_t round_key[2] = {key[0], key[1]};
    for (int i = 0; i < PHILOX_ROUNDS; i++) {
        philox_round(block, round_key);
        round_key[0] += 0x9E3779B9U;
        round_key[1] += 0xBB67AE85U;
    }
    memcpy(out, block, sizeof(block));
}

/* NOLINTNEXTLINE(readability-function-size): a stream's name has six parts */
struct fby_draw fby_draw_begin(uint64_t seed, uint64_t epoch, uint64_t sample,
    const char *group, const char *op, uint32_t occurrence)
{
    struct fby_digest_state state;
    struct fby_draw         draw = {.used = PHILOX_WORDS}; /* no block yet */
    fby_digest_begin(&state);
    fby_key_add(&state, seed, 8);
    fby_key_add_name(&state, group);
    fby_key_add_name(&state, op);
    fby_key_add(&state, occurrence, 4);
    fby_key_end(&state, draw.key);
    draw.counter[1] = (uint32_t)epoch;
    draw.counter[2] = (uint32_t)sample;
    draw.counter[3] = (uint32_t)(sample >> 32);
    return draw;
}

uint32_t fby_draw_u32(struct fby_draw *draw)
{
    if (draw->used == PHILOX_WORDS) {
        fby_philox(draw->counter, draw->key, draw->words);
        draw->counter[0]++;
        draw->used = 0;
    }
    return draw->words[draw->used++];
}

/* Multiply and reject (Lemire, ACM TOMACS 29:3, 2019): the value is the high
 * half of word * n. A product whose low half is below 2^32 mod n is rejected,
 * because it would make some values more probable than others. */
static uint64_t below_32(struct fby_draw *draw, uint64_t n)
{
    uint64_t rejected = FBY_Q32_ONE % n;
    uint64_t product;
    do {
        product = fby_draw_u32(draw) * n;
    } while ((uint32_t)product < rejected);
    return product >> 32;
}

/* The same with a word of 64 bits. word * n is the low half of the product. */
static uint64_t below_64(struct fby_draw *draw, uint64_t n)
{
    uint64_t rejected = (0 - n) % n; /* 2^64 mod n */
    uint64_t word;
    do {
        word = fby_draw_u32(draw);
        word |= (uint64_t)fby_draw_u32(draw) << 32;
    } while (word * n < rejected);
    return fby_mul_high(word, n);
}

uint64_t fby_draw_below(struct fby_draw *draw, uint64_t n)
{
    return n <= FBY_Q32_ONE ? below_32(draw, n) : below_64(draw, n);
}

int64_t fby_draw_between(struct fby_draw *draw, int64_t low, int64_t high)
{
    uint64_t distance = high > low ? (uint64_t)high - (uint64_t)low : 0;
    return (int64_t)((uint64_t)low + fby_draw_below(draw, distance + 1));
}

int64_t fby_draw_uniform_q16(struct fby_draw *draw, double low, double high)
{
    return fby_draw_between(draw, fby_q16(low), fby_q16(high));
}

void fby_draw_order_of_four(struct fby_draw *draw, uint32_t order[4])
{
    for (uint32_t i = 0; i < 4; i++) {
        order[i] = i;
    }
    for (uint32_t i = 3; i > 0; i--) { /* Fisher-Yates shuffle */
        uint64_t k       = fby_draw_below(draw, i + UINT64_C(1));
        uint32_t swapped = order[i];
        order[i]         = order[k];
        order[k]         = swapped;
    }
}

uint64_t fby_plan_substitute(uint64_t seed, uint64_t epoch, uint64_t sample,
    uint32_t k, uint64_t n_samples)
{
    if (n_samples < 2) {
        return sample;
    }
    struct fby_draw draw =
        fby_draw_begin(seed, epoch, sample, "", "substitute", k);
    /* Draw one of the other samples, which are counted without `sample`. */
    uint64_t drawn = fby_draw_below(&draw, n_samples - 1);
    return drawn < sample ? drawn : drawn + 1;
}
