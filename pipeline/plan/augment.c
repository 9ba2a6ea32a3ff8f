#include "pipeline/plan/augment.h"

#include "pipeline/plan/fixed.h"

int64_t fby_q16(double x)
{
    return x < 0 ? -(int64_t)(fby_q32(-x) >> 16) : (int64_t)(fby_q32(x) >> 16);
}

int64_t fby_plan_uniform_q16(struct fby_draw *draw, double low, double high)
{
    return fby_draw_between(draw, fby_q16(low), fby_q16(high));
}

void fby_plan_order_of_four(struct fby_draw *draw, uint32_t order[4])
{
    for (uint32_t i = 0; i < 4; i++) {
        order[i] = i;
    }
    for (uint32_t i = 3; i > 0; i--) {
        uint64_t k    = fby_draw_below(draw, i + UINT64_C(1));
        uint32_t last = order[i];
        order[i]      = order[k];
        order[k]      = last;
    }
}
