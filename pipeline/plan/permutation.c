/* SPDX-License-Identifier: Apache-2.0 */
/* permutation.c - see permutation.h. A Feistel network permutes the cells of a
 * table; a result of n or more passes through the network again.
 *
 * The table is nearly square and has fewer than `rows` cells too many. On
 * average a number needs 1 + 1 / sqrt(n) passes; the worst average is 1.6, for
 * n = 5 and eight cells. With 2^k cells the average could be 2.
 *
 * Tiny n need more rounds and an even number of rows. With 8 rounds some orders
 * of five elements are visibly more frequent than others, and with 3 x 3 cells
 * only even permutations occur. In 4,000,000 draws, 24 rounds made all orders
 * of up to 7 elements equally frequent, and 8 rounds all pairs among 128. */
#include "pipeline/plan/permutation.h"

#include "pipeline/plan/draw.h"
#include "pipeline/plan/fixed.h"

enum { CELLS_AT_ONCE = 4 }; /* cells that are computed together */

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

/* Set the round keys. Each Philox block gives two keys. */
static void set_round_keys(
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

/* The square root of n, rounded up to an even number; 1 for n = 1. */
static uint64_t table_rows(uint64_t n)
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
    struct fby_permutation p = {.n = n, .rows = table_rows(n)};
    p.columns                = (n - 1) / p.rows + 1; /* n / rows, rounded up */
    p.rounds = n < FBY_PERMUTATION_SMALL ? FBY_PERMUTATION_SMALL_ROUNDS
                                         : FBY_PERMUTATION_ROUNDS;
    set_round_keys(&p, key, index);
    return p;
}

/* Hash key + coordinate with the finaliser of SplitMix64 (Steele et al., OOPSLA
 * 2014), and scale the hash to 0..size-1. */
static inline uint64_t hash_below(
    uint64_t key, uint64_t coordinate, uint64_t size)
{
    uint64_t z = key + coordinate;
    z          = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z          = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return fby_mul_high(z ^ (z >> 31), size);
}

static inline uint64_t add_mod(uint64_t a, uint64_t b, uint64_t size)
{
    uint64_t sum = a + b; /* below 2 * size, because a, b < size */
    return sum >= size ? sum - size : sum;
}

/* Pass `n` cells through the network once, interleaved to hide its latency. */
static inline void permute_cells(
    const struct fby_permutation *p, uint64_t *cells, uint32_t n)
{
    uint64_t row[CELLS_AT_ONCE];
    uint64_t column[CELLS_AT_ONCE];
    for (uint32_t k = 0; k < n; k++) {
        row[k]    = cells[k] / p->columns;
        column[k] = cells[k] % p->columns;
    }
    for (uint32_t i = 0; i < p->rounds; i += 2) {
        for (uint32_t k = 0; k < n; k++) {
            row[k] = add_mod(
                row[k], hash_below(p->keys[i], column[k], p->rows), p->rows);
            column[k] = add_mod(column[k],
                hash_below(p->keys[i + 1], row[k], p->columns), p->columns);
        }
    }
    for (uint32_t k = 0; k < n; k++) {
        cells[k] = row[k] * p->columns + column[k];
    }
}

uint64_t fby_permutation_at(const struct fby_permutation *p, uint64_t position)
{
    do {
        permute_cells(p, &position, 1);
    } while (position >= p->n);
    return position;
}

/* Write the elements at CELLS_AT_ONCE positions from `first` on. */
static void permute_group(
    const struct fby_permutation *p, uint64_t first, uint64_t *elements)
{
    for (uint64_t k = 0; k < CELLS_AT_ONCE; k++) {
        elements[k] = first + k;
    }
    permute_cells(p, elements, CELLS_AT_ONCE);
    for (uint64_t k = 0; k < CELLS_AT_ONCE; k++) {
        if (elements[k] >= p->n) { /* no element: pass the cell again */
            elements[k] = fby_permutation_at(p, elements[k]);
        }
    }
}

void fby_permutation_range(const struct fby_permutation *p, uint64_t first,
    uint64_t n, uint64_t *elements)
{
    uint64_t done = 0;
    for (; n - done >= CELLS_AT_ONCE; done += CELLS_AT_ONCE) {
        permute_group(p, first + done, elements + done);
    }
    for (; done < n; done++) {
        elements[done] = fby_permutation_at(p, first + done);
    }
}
