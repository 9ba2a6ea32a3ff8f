/* SPDX-License-Identifier: Apache-2.0 */
/* fixed.h - fixed-point arithmetic for the draws of ops.
 *
 * A number x in Qn is the integer x * 2^n. Angles are degrees in Q16. The
 * functions use integers and one table, and every rounding is defined, so that
 * all compilers and languages compute the same bits. proto/PROTOCOL.md, "Draws"
 * and "Steps", is the definition. */
#ifndef FBY_PIPELINE_PLAN_FIXED_H
#define FBY_PIPELINE_PLAN_FIXED_H

#include <stdint.h>

enum { FBY_Q16_ONE = 1 << 16 };
#define FBY_Q32_ONE (UINT64_C(1) << 32)

/* floor(x * 2^32), exact; 0 if x is NaN or negative, 2^63 if x >= 2^31. */
uint64_t fby_q32(double x);

/* x in Q16, rounded towards 0. */
int64_t fby_q16(double x);

/* floor(a * b / 2^64). */
static inline uint64_t fby_mul_high(uint64_t a, uint64_t b)
{
    return (uint64_t)(((unsigned __int128)a * b) >> 64);
}

/* floor(sqrt(x)). */
uint64_t fby_isqrt(uint64_t x);

/* x / y rounded to the nearest integer, halves up; y >= 1, x + y / 2 < 2^64. */
static inline uint64_t fby_div_round(uint64_t x, uint64_t y)
{
    return (x + y / 2) / y;
}

/* log2 of the Q32 number `x`, in Q32, within 2^-28 of the true value. For 0 the
 * result is that of the smallest positive Q32 number, 2^-32. */
int64_t fby_log2_q32(uint64_t x);

/* 2^x of the Q32 number `x`, in Q32, with a relative error of at most 1e-6. A
 * result below 2^-32 is 0. If x >= 31, the result is that for the largest Q32
 * number below 31. */
uint64_t fby_exp2_q32(int64_t x);

/* Sine and cosine in Q30 of |angle| < 2^31, with an error of at most 4 *
 * 2^-30. */
int64_t fby_sin_q30(int64_t angle);
int64_t fby_cos_q30(int64_t angle);

/* The tangent of an angle of -80 to 80 degrees, in Q16, rounded towards 0. */
int64_t fby_tan_q16(int64_t angle);

#endif
