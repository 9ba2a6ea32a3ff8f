/* substitute.h - which sample stands in for one that cannot be decoded.
 *
 * Drawn like everything else, so that all workers pick the same one. */
#ifndef FBY_PIPELINE_PLAN_SUBSTITUTE_H
#define FBY_PIPELINE_PLAN_SUBSTITUTE_H

#include <stdint.h>

enum { FBY_MAX_SUBSTITUTES = 8 }; /* tries for one sample, k = 1..8 */

/* The k-th sample to try in place of `sample` in `epoch`; never `sample`
 * itself, unless it is the only one (n_samples = 1). */
uint64_t fby_plan_substitute(uint64_t seed, uint64_t epoch, uint64_t sample,
    uint32_t k, uint64_t n_samples);

#endif
