/* permutation.h - a shuffle of 0..n-1 in constant memory.
 *
 * The numbers are laid out as a table of about sqrt(n) x sqrt(n) and mixed by
 * a Feistel network on (row, column): each round turns the one by a hash of
 * the other. What falls on the few cells beyond n is sent through again
 * (cycle walking), so the result is a bijection of 0..n-1.
 * proto/PROTOCOL.md, "Order", is the definition. */
#ifndef FBY_PIPELINE_PLAN_PERMUTATION_H
#define FBY_PIPELINE_PLAN_PERMUTATION_H

#include <stdint.h>

enum {
    FBY_PERMUTATION_ROUNDS       = 8,
    FBY_PERMUTATION_SMALL        = 1024, /* below so many elements, ... */
    FBY_PERMUTATION_SMALL_ROUNDS = 24    /* ... so many rounds */
};
#define FBY_PERMUTATION_MAX (UINT64_C(1) << 63) /* elements */

struct fby_permutation_key {
    uint32_t words[2];
};

struct fby_permutation {
    uint64_t n;       /* elements */
    uint64_t rows;    /* of the table; even, but for n = 1 */
    uint64_t columns; /* rows * columns >= n, by less than `rows` */
    uint32_t rounds;
    uint64_t keys[FBY_PERMUTATION_SMALL_ROUNDS]; /* `rounds` of them */
};

/* The key of all permutations of one purpose in one epoch of one seed. */
struct fby_permutation_key fby_permutation_key(
    uint64_t seed, uint64_t epoch, const char *purpose);

/* Permutation number `index` under `key`, of n elements, 1 <= n <= 2^63. */
struct fby_permutation fby_permutation_of(
    struct fby_permutation_key key, uint64_t index, uint64_t n);

/* What stands at `position` < n. */
uint64_t fby_permutation_at(const struct fby_permutation *p, uint64_t position);

/* What stands at the `n` positions from `first` on; the same as one by one, in
 * a fraction of the time. first + n <= p->n. */
void fby_permutation_run(const struct fby_permutation *p, uint64_t first,
    uint64_t n, uint64_t *elements);

#endif
