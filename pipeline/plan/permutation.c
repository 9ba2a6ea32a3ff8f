/* permutation.c - see permutation.h.
 *
 * The table is nearly square and has fewer than `rows` cells too many, so that
 * an index is sent through 1 + 1 / sqrt(n) times on average, and at most 1.6
 * times for tiny n (five in eight cells); a network on bits takes up to twice.
 *
 * Many rounds and even rows are for tiny n: with 8 rounds the orders of five
 * things are visibly uneven, and a table of 3 x 3 turned by thirds has only
 * even orders. With 24 rounds 4,000,000 draws of all orders of up to 7 things,
 * and with 8 those of all pairs in 128 things, look uniform. */
#include "pipeline/plan/permutation.h"

#include "pipeline/plan/draw.h"
#include "pipeline/plan/fixed.h"
#include "pipeline/plan/key.h"

enum { ABREAST = 4 /* cells that pass side by side */ };

struct fby_permutation_key fby_permutation_key(
    uint64_t seed, uint64_t epoch, const char *purpose)
{
    struct fby_digest_state    state;
    struct fby_permutation_key key;
    fby_digest_begin(&state);
    fby_key_add(&state, seed, 8);
    fby_key_add(&state, epoch, 8);
    fby_key_add_name(&state, purpose);
    fby_key_end(&state, key.words);
    return key;
}

/* Two round keys a Philox block. */
static void expand(
    struct fby_permutation *p, struct fby_permutation_key key, uint64_t index)
{
    uint32_t counter[4] = {0, 0, (uint32_t)index, (uint32_t)(index >> 32)};
    for (uint32_t i = 0; i < p->rounds; i += 2) {
        uint32_t words[4];
        fby_philox(counter, key.words, words);
        p->keys[i]     = words[0] | (uint64_t)words[1] << 32;
        p->keys[i + 1] = words[2] | (uint64_t)words[3] << 32;
        counter[0]++;
    }
}

/* The root of n, rounded up to an even number. */
static uint64_t rows_of(uint64_t n)
{
    if (n == 1) {
        return 1;
    }
    uint64_t root = fby_isqrt(n - 1) + 1;
    return root + root % 2;
}

struct fby_permutation fby_permutation_of(
    struct fby_permutation_key key, uint64_t index, uint64_t n)
{
    struct fby_permutation p = {.n = n, .rows = rows_of(n)};
    p.columns                = (n - 1) / p.rows + 1;
    p.rounds = n < FBY_PERMUTATION_SMALL ? FBY_PERMUTATION_SMALL_ROUNDS
                                         : FBY_PERMUTATION_ROUNDS;
    expand(&p, key, index);
    return p;
}

/* A hash of `half` onto 0..size-1: SplitMix64's finaliser (Steele et al.,
 * OOPSLA 2014), then its high part. */
static inline uint64_t turn(uint64_t key, uint64_t half, uint64_t size)
{
    uint64_t z = key + half;
    z          = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z          = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return fby_mul_high(z ^ (z >> 31), size);
}

static inline uint64_t add_mod(uint64_t a, uint64_t b, uint64_t size)
{
    uint64_t sum = a + b;
    return sum >= size ? sum - size : sum;
}

/* One pass of `n` cells, side by side: what one round waits for, another cell
 * has meanwhile. */
static inline void forth(
    const struct fby_permutation *p, uint64_t *cells, uint32_t n)
{
    uint64_t row[ABREAST];
    uint64_t column[ABREAST];
    for (uint32_t k = 0; k < n; k++) {
        row[k]    = cells[k] / p->columns;
        column[k] = cells[k] % p->columns;
    }
    for (uint32_t i = 0; i < p->rounds; i += 2) {
        for (uint32_t k = 0; k < n; k++) {
            row[k] =
                add_mod(row[k], turn(p->keys[i], column[k], p->rows), p->rows);
            column[k] = add_mod(column[k],
                turn(p->keys[i + 1], row[k], p->columns), p->columns);
        }
    }
    for (uint32_t k = 0; k < n; k++) {
        cells[k] = row[k] * p->columns + column[k];
    }
}

uint64_t fby_permutation_at(const struct fby_permutation *p, uint64_t position)
{
    do {
        forth(p, &position, 1);
    } while (position >= p->n);
    return position;
}

/* What stands at ABREAST positions from `first` on. */
static void at_abreast(
    const struct fby_permutation *p, uint64_t first, uint64_t *elements)
{
    for (uint64_t k = 0; k < ABREAST; k++) {
        elements[k] = first + k;
    }
    forth(p, elements, ABREAST);
    for (uint64_t k = 0; k < ABREAST; k++) {
        if (elements[k] >= p->n) {
            elements[k] = fby_permutation_at(p, elements[k]);
        }
    }
}

void fby_permutation_run(const struct fby_permutation *p, uint64_t first,
    uint64_t n, uint64_t *elements)
{
    uint64_t done = 0;
    for (; n - done >= ABREAST; done += ABREAST) {
        at_abreast(p, first + done, elements + done);
    }
    for (; done < n; done++) {
        elements[done] = fby_permutation_at(p, first + done);
    }
}
