/* beta.h - the lambda of mixup and cutmix: Beta(alpha, alpha) in integers.
 *
 * Rejection, with the logarithms and powers of fixed.h; no libm, so that any
 * machine draws the same. proto/PROTOCOL.md, "Pairs", is the definition. */
#ifndef FBY_PIPELINE_PLAN_BETA_H
#define FBY_PIPELINE_PLAN_BETA_H

#include <stdint.h>

#include "pipeline/plan/draw.h"

#define FBY_LAMBDA_ONE (UINT32_C(1) << 24)

/* A share of 2^24, 0 to 2^24: so it and what it lacks of the whole are exact
 * in binary32. `alpha` within 0.01 to 64. */
uint32_t fby_plan_beta(struct fby_draw *draw, double alpha);

#endif
