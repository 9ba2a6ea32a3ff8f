/* SPDX-License-Identifier: Apache-2.0 */
/* beta.c - see beta.h. alpha is in Q16: an integer, the number times 2^16. */
#include "pipeline/plan/beta.h"

#include <stdbool.h>

#include "pipeline/plan/draw.h"
#include "pipeline/plan/fixed.h"

enum { MAX_TRIES = 256 };

/* Draw a number U, uniform on 2^-32 to 1; return log2(U) in Q32. */
static int64_t draw_log2(struct fby_draw *draw)
{
    return fby_log2_q32((uint64_t)fby_draw_u32(draw) + 1);
}

/* For alpha >= 1: draw lambda = x, and return true to accept it, with the
 * probability P = (4 x (1 - x))^(alpha - 1). That is, if log2(U) <= log2(P). */
static bool try_large_alpha(struct fby_draw *draw, int64_t alpha, uint32_t *out)
{
    uint64_t x = fby_draw_below(draw, FBY_LAMBDA_ONE - 1) + 1;
    /* x (1 - x) is in Q48; >> 16 makes it Q32, and << 2 multiplies it by 4. */
    int64_t log_base = fby_log2_q32(x * (FBY_LAMBDA_ONE - x) >> 14);
    *out             = (uint32_t)x;
    return draw_log2(draw) * FBY_Q16_ONE <= log_base * (alpha - FBY_Q16_ONE);
}

/* For alpha < 1: draw X = U^(1/alpha), and Y in the same way. Return true to
 * accept them if X + Y <= 1; lambda is X / (X + Y) (Joehnk, Metrika 8, 1964). X
 * and Y may be too small for Q32, so x and y are their log2. */
static bool try_small_alpha(struct fby_draw *draw, int64_t alpha, uint32_t *out)
{
    int64_t  x     = draw_log2(draw) * FBY_Q16_ONE / alpha;
    int64_t  y     = draw_log2(draw) * FBY_Q16_ONE / alpha;
    uint64_t ratio = fby_exp2_q32(x < y ? x - y : y - x); /* smaller / larger */
    uint32_t smaller_share = (uint32_t)((ratio << 24) / (FBY_Q32_ONE + ratio));
    *out = x < y ? smaller_share : FBY_LAMBDA_ONE - smaller_share;
    return fby_exp2_q32(x) + fby_exp2_q32(y) <= FBY_Q32_ONE;
}

uint32_t fby_draw_beta(struct fby_draw *draw, double alpha)
{
    int64_t  alpha_q16 = fby_q16(alpha);
    uint32_t lambda;
    for (int i = 0; i < MAX_TRIES; i++) {
        if (alpha_q16 >= FBY_Q16_ONE
                ? try_large_alpha(draw, alpha_q16, &lambda)
                : try_small_alpha(draw, alpha_q16, &lambda)) {
            return lambda;
        }
    }
    return FBY_LAMBDA_ONE / 2; /* extremely improbable after MAX_TRIES */
}
