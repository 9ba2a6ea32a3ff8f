#include "pipeline/plan/substitute.h"

#include "pipeline/plan/draw.h"

uint64_t fby_plan_substitute(uint64_t seed, uint64_t epoch, uint64_t sample,
    uint32_t k, uint64_t n_samples)
{
    if (n_samples < 2) {
        return sample;
    }
    struct fby_draw draw =
        fby_draw_begin(seed, epoch, sample, "", "substitute", k);
    uint64_t other = fby_draw_below(&draw, n_samples - 1);
    return other < sample ? other : other + 1;
}
