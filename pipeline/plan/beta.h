/* SPDX-License-Identifier: Apache-2.0 */
/* beta.h - draw the lambda of mixup and cutmix from the Beta(alpha, alpha)
 * distribution. lambda is the share of a row in its mixture.
 *
 * The draw is rejection sampling with the logarithms and powers of fixed.h. It
 * does not use libm, so that every machine draws the same. proto/PROTOCOL.md,
 * "Pairs", is the definition. */
#ifndef FBY_PIPELINE_PLAN_BETA_H
#define FBY_PIPELINE_PLAN_BETA_H

#include <stdint.h>

#include "pipeline/plan/draw.h"

#define FBY_LAMBDA_ONE (UINT32_C(1) << 24) /* 1 in Q24 */

/* Draw lambda in Q24 (times 2^24), so that lambda and 1 - lambda are exact in
 * binary32. `alpha` is 0.01 to 64. */
uint32_t fby_draw_beta(struct fby_draw *draw, double alpha);

#endif
