/* chance.h - is a table of counts what equal chances would give?
 *
 * Pearson's chi-square of the counts against their mean. The tests draw from
 * fixed seeds, so a bound of five standard deviations is either met for ever
 * or never. */
#ifndef FBY_TESTS_PIPELINE_PLAN_CHANCE_H
#define FBY_TESTS_PIPELINE_PLAN_CHANCE_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether `counts` look like equal chances with `freedom` degrees of freedom
 * (one less than the cells, fewer if sums along the way are fixed). */
static inline bool looks_even(
    const uint32_t *counts, size_t cells, double freedom)
{
    double total = 0;
    for (size_t i = 0; i < cells; i++) {
        total += counts[i];
    }
    double mean = total / (double)cells;
    double sum  = 0;
    for (size_t i = 0; i < cells; i++) {
        sum += (counts[i] - mean) * (counts[i] - mean) / mean;
    }
    return sum < freedom + 5 * sqrt(2 * freedom) + 10;
}

/* Numbers to test with: SplitMix64. */
static inline uint64_t scramble(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z          = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z          = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

#endif
