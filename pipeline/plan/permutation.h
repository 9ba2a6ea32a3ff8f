/* SPDX-License-Identifier: Apache-2.0 */
/* permutation.h - a pseudo-random permutation of 0..n-1 in constant memory.
 *
 * The numbers are cells of a table of about sqrt(n) x sqrt(n). A Feistel
 * network on (row, column) permutes the cells: each round adds a hash of one
 * coordinate to the other. The table has some cells too many, so a result of n
 * or more is permuted again (cycle walking). proto/PROTOCOL.md, "Order", is the
 * definition. */
#ifndef FBY_PIPELINE_PLAN_PERMUTATION_H
#define FBY_PIPELINE_PLAN_PERMUTATION_H

#include <stdint.h>

enum {
    FBY_PERMUTATION_ROUNDS       = 8,    /* for 1024 or more elements */
    FBY_PERMUTATION_SMALL        = 1024, /* elements */
    FBY_PERMUTATION_SMALL_ROUNDS = 24    /* for fewer than 1024 elements */
};
#define FBY_PERMUTATION_MAX (UINT64_C(1) << 63) /* elements */

struct fby_permutation_key {
    uint32_t words[2];
};

struct fby_permutation {
    uint64_t n;       /* elements */
    uint64_t rows;    /* rows of the table; even, or 1 if n = 1 */
    uint64_t columns; /* n <= rows * columns < n + rows */
    uint32_t rounds;
    uint64_t keys[FBY_PERMUTATION_SMALL_ROUNDS]; /* one for each round */
};

/* The key of the permutations with one seed, epoch and purpose ("blocks"). */
struct fby_permutation_key fby_permutation_key(
    uint64_t seed, uint64_t epoch, const char *purpose);

/* Set up permutation number `index` of those with `key`, of n elements; 1 <= n
 * <= 2^63. */
struct fby_permutation fby_permutation_of(
    struct fby_permutation_key key, uint64_t index, uint64_t n);

/* The element at `position` of the permuted order; position < n. */
uint64_t fby_permutation_at(const struct fby_permutation *p, uint64_t position);

/* Write the elements at positions first to first + n - 1. This is faster than n
 * calls of fby_permutation_at. first + n <= p->n. */
void fby_permutation_range(const struct fby_permutation *p, uint64_t first,
    uint64_t n, uint64_t *elements);

#endif
