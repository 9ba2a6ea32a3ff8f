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
#include "common/plan/permutation.h"

#include "common/plan/draw.h"
#include "common/plan/fixed.h"
#include "common/plan/key.h"

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

static inline uint64_t subtract_mod(uint64_t a, uint64_t b, uint64_t size)
{
    return a >= b ? a - b : a + size - b;
}

static uint64_t forth(const struct fby_permutation *p, uint64_t cell)
{
    uint64_t row    = cell / p->columns;
    uint64_t column = cell % p->columns;
    for (uint32_t i = 0; i < p->rounds; i += 2) {
        row = add_mod(row, turn(p->keys[i], column, p->rows), p->rows);
        column =
            add_mod(column, turn(p->keys[i + 1], row, p->columns), p->columns);
    }
    return row * p->columns + column;
}

static uint64_t back(const struct fby_permutation *p, uint64_t cell)
{
    uint64_t row    = cell / p->columns;
    uint64_t column = cell % p->columns;
    for (uint32_t i = p->rounds; i > 0; i -= 2) {
        column = subtract_mod(
            column, turn(p->keys[i - 1], row, p->columns), p->columns);
        row = subtract_mod(row, turn(p->keys[i - 2], column, p->rows), p->rows);
    }
    return row * p->columns + column;
}

uint64_t fby_permutation_at(const struct fby_permutation *p, uint64_t position)
{
    do {
        position = forth(p, position);
    } while (position >= p->n);
    return position;
}

uint64_t fby_permutation_find(const struct fby_permutation *p, uint64_t element)
{
    do {
        element = back(p, element);
    } while (element >= p->n);
    return element;
}
