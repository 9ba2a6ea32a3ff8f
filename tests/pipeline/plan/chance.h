/* SPDX-License-Identifier: Apache-2.0 */
/* chance.h - tests whether counts are what equal chances would give.
 *
 * Compares Pearson's chi-square of the counts with a bound of five standard
 * deviations. The seeds are fixed, so a test always passes or always fails. */
#ifndef FBY_TESTS_PIPELINE_PLAN_CHANCE_H
#define FBY_TESTS_PIPELINE_PLAN_CHANCE_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* True if `counts` look like equal chances with `freedom` degrees of freedom:
 * one less than the cells, and fewer if sums of cells are fixed. */
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

/* The next number of a random sequence (SplitMix64). */
static inline uint64_t scramble(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z          = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z          = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

#endif
