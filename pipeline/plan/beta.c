#include "pipeline/plan/beta.h"

#include <stdbool.h>

#include "pipeline/plan/augment.h"
#include "pipeline/plan/fixed.h"

enum { TRIES = 256, Q16_ONE = 1 << 16 };

/* log2 of a number uniform on 1/2^32 to 1, Q32. */
static int64_t draw_log(struct fby_draw *draw)
{
    return fby_log2_q32((uint64_t)fby_draw_u32(draw) + 1);
}

/* alpha >= 1: a share x passes with the chance (4 x (1 - x))^(alpha - 1). */
static bool try_inner(struct fby_draw *draw, int64_t alpha, uint32_t *out)
{
    uint64_t x      = fby_draw_below(draw, FBY_LAMBDA_ONE - 1) + 1;
    int64_t  chance = fby_log2_q32(x * (FBY_LAMBDA_ONE - x) >> 14);
    *out            = (uint32_t)x;
    return draw_log(draw) * Q16_ONE <= chance * (alpha - Q16_ONE);
}

/* alpha < 1: X = U^(1/alpha) and Y likewise pass when X + Y <= 1, and X / (X +
 * Y) is the share (Joehnk, Metrika 8, 1964). Only logarithms are kept, so that
 * nothing vanishes. */
static bool try_outer(struct fby_draw *draw, int64_t alpha, uint32_t *out)
{
    int64_t  x     = draw_log(draw) * Q16_ONE / alpha;
    int64_t  y     = draw_log(draw) * Q16_ONE / alpha;
    uint64_t less  = fby_exp2_q32(x < y ? x - y : y - x);
    uint32_t share = (uint32_t)((less << 24) / (FBY_Q32_ONE + less));
    *out           = x < y ? share : FBY_LAMBDA_ONE - share;
    return fby_exp2_q32(x) + fby_exp2_q32(y) <= FBY_Q32_ONE;
}

uint32_t fby_plan_beta(struct fby_draw *draw, double alpha)
{
    int64_t  q16 = fby_q16(alpha);
    uint32_t share;
    for (int i = 0; i < TRIES; i++) {
        if (q16 >= Q16_ONE ? try_inner(draw, q16, &share)
                           : try_outer(draw, q16, &share)) {
            return share;
        }
    }
    return FBY_LAMBDA_ONE / 2;
}
