/* fixed.h - the fixed-point arithmetic that decides crops.
 *
 * Q32 is a number times 2^32 in an integer. Everything here is integers and
 * one table, with every rounding fixed, so that any compiler and any language
 * gets the same bits. proto/PROTOCOL.md, "Draws", is the definition. */
#ifndef FBY_PIPELINE_PLAN_FIXED_H
#define FBY_PIPELINE_PLAN_FIXED_H

#include <stdint.h>

#define FBY_Q32_ONE (UINT64_C(1) << 32)

/* floor(x * 2^32), exact; 0 for NaN and below 0, 2^63 from 2^31 on. */
uint64_t fby_q32(double x);

/* floor(a * b / 2^64). */
static inline uint64_t fby_mul_high(uint64_t a, uint64_t b)
{
    return (uint64_t)(((unsigned __int128)a * b) >> 64);
}

/* floor(sqrt(x)). */
uint64_t fby_isqrt(uint64_t x);

/* floor(x / y + 1/2), halves up; y >= 1, x + y / 2 < 2^64. */
static inline uint64_t fby_div_round(uint64_t x, uint64_t y)
{
    return (x + y / 2) / y;
}

/* log2 of the Q32 number `x`, in Q32; `x` of 0 counts as 1 (2^-32). Found bit
 * by bit through squaring; within 2^-28 of the true value. */
int64_t fby_log2_q32(uint64_t x);

/* 2^x of the Q32 number `x`, in Q32: a table of 257 values and a straight line
 * between two; within 1e-6 of its size. Below 2^-32 it is 0; `x` of 31
 * and more counts as the largest below. */
uint64_t fby_exp2_q32(int64_t x);

#endif
