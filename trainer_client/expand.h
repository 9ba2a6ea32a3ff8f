/* expand.h - what becomes of one value on its way to the trainer.
 *
 * Per-element arithmetic and nothing else, inline, so that every device is
 * compiled from the same lines: no libm, no contraction to fused operations,
 * roundings spelled out in integers. Values pass through binary32:
 *     u8 v of channel c  ->  (float)v * scale[c] + offset[c]  ->  the dtype
 * with two roundings before the last. Rounding is to nearest, ties to even;
 * what does not fit an integer type is clamped, NaN becomes 0 there. */
#ifndef FBY_CLIENT_EXPAND_H
#define FBY_CLIENT_EXPAND_H

#include <stdint.h>
#include <string.h>

#ifdef __CUDACC__
#define FBY_DEVICE_INLINE __host__ __device__ static inline
#else
#define FBY_DEVICE_INLINE static inline
#endif

FBY_DEVICE_INLINE uint32_t fby_f32_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

FBY_DEVICE_INLINE float fby_f32_from_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

/* Drop the low `shift` bits (1..31) of `x`, to nearest, ties to even. */
FBY_DEVICE_INLINE uint32_t fby_round_shift(uint32_t x, uint32_t shift)
{
    uint32_t half = UINT32_C(1) << (shift - 1);
    uint32_t rest = x & ((half << 1) - 1);
    uint32_t kept = x >> shift;
    return kept + (rest > half || (rest == half && (kept & 1) != 0) ? 1U : 0U);
}

/* binary32 -> bfloat16. NaN stays NaN (quiet). */
FBY_DEVICE_INLINE uint16_t fby_f32_to_bf16(float value)
{
    uint32_t bits = fby_f32_bits(value);
    if ((bits & 0x7fffffffU) > 0x7f800000U) {
        return (uint16_t)(bits >> 16 | 0x40U);
    }
    return (uint16_t)fby_round_shift(bits, 16);
}

FBY_DEVICE_INLINE float fby_bf16_to_f32(uint16_t value)
{
    return fby_f32_from_bits((uint32_t)value << 16);
}

/* binary32 -> binary16. Beyond 65504 and half a step: infinity. */
FBY_DEVICE_INLINE uint16_t fby_f32_to_f16(float value)
{
    uint32_t bits = fby_f32_bits(value);
    uint32_t sign = bits >> 16 & 0x8000U;
    uint32_t size = bits & 0x7fffffffU;
    if (size > 0x7f800000U) {
        return (uint16_t)(sign | 0x7e00U);
    }
    if (size >= 0x47800000U) { /* 65536 and more */
        return (uint16_t)(sign | 0x7c00U);
    }
    if (size >= 0x38800000U) { /* normal: from 2^-14 */
        return (uint16_t)(sign | fby_round_shift(size - 0x38000000U, 13));
    }
    if (size < 0x33000000U) { /* below half of the smallest, 2^-25 */
        return (uint16_t)sign;
    }
    uint32_t mantissa = (size & 0x7fffffU) | 0x800000U;
    return (uint16_t)(sign | fby_round_shift(mantissa, 126 - (size >> 23)));
}

FBY_DEVICE_INLINE float fby_f16_to_f32(uint16_t value)
{
    uint32_t sign     = (uint32_t)(value & 0x8000U) << 16;
    uint32_t exponent = value >> 10 & 0x1fU;
    uint32_t mantissa = value & 0x3ffU;
    if (exponent == 0x1f) {
        return fby_f32_from_bits(sign | 0x7f800000U | mantissa << 13);
    }
    if (exponent != 0) {
        return fby_f32_from_bits(
            sign | (exponent + 112) << 23 | mantissa << 13);
    }
    float size = (float)mantissa * 0x1p-24F; /* exact */
    return fby_f32_from_bits(sign | fby_f32_bits(size));
}

/* The nearest integer, clamped to lo..hi, which lie within +-2^53. */
FBY_DEVICE_INLINE int64_t fby_f32_to_int(float value, int64_t lo, int64_t hi)
{
    if (!(value > (float)lo)) {
        return value == value ? lo : 0;
    }
    if (value >= (float)hi) {
        return hi;
    }
    int64_t whole = (int64_t)value; /* towards 0 */
    float   rest  = value - (float)whole;
    float   size  = rest < 0 ? -rest : rest;
    int64_t away  = rest < 0 ? -1 : 1;
    int64_t up = size > 0.5F || (size == 0.5F && (whole & 1) != 0) ? away : 0;
    return whole + up;
}

FBY_DEVICE_INLINE int64_t fby_clamp_int(int64_t value, int64_t lo, int64_t hi)
{
    return value < lo ? lo : value > hi ? hi : value;
}

/* Of bits, the first in the lowest: is bit k one? */
FBY_DEVICE_INLINE uint32_t fby_bit(const uint8_t *bits, uint32_t k)
{
    return (uint32_t)bits[k >> 3] >> (k & 7U) & 1U;
}

/* The whole of normalisation. */
FBY_DEVICE_INLINE float fby_affine(float value, float scale, float offset)
{
    float product = value * scale;
    return product + offset;
}

#endif
