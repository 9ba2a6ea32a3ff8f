/* angle.h - sine and cosine of degrees, in whole numbers.
 *
 * Angles are degrees times 2^16, results times 2^30, within 4 of the true
 * value. The series is that of proto/PROTOCOL.md, "Steps": any language gets
 * the same bits. */
#ifndef FBY_PIPELINE_PLAN_ANGLE_H
#define FBY_PIPELINE_PLAN_ANGLE_H

#include <stdint.h>

/* |angle| < 2^31. */
int64_t fby_sin_q30(int64_t angle);
int64_t fby_cos_q30(int64_t angle);

/* The tangent, Q16, rounded towards 0, of an angle within -80..80 degrees. */
int64_t fby_tan_q16(int64_t angle);

#endif
