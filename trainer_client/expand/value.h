/* value.h - the conversion of one value from the wire's type to the trainer's.
 *
 * Inline arithmetic per element, so that every device is compiled from the same
 * lines: no libm, no contraction to fused operations, roundings spelled out in
 * integers. Values pass through binary32:
 *     u8 v of channel c  ->  (float)v * scale[c] + offset[c]  ->  the dtype
 * with two roundings before the last. Rounding is to nearest, ties to even.
 * Values that do not fit an integer type are clamped; NaN becomes 0 there. */
#ifndef FBY_CLIENT_EXPAND_VALUE_H
#define FBY_CLIENT_EXPAND_VALUE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "common/device_inline.h"
#include "pipeline/types.h"

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

/* binary32 -> bfloat16. NaN stays NaN (quiet). GPUs have an instruction with
 * the same result for numbers. */
FBY_DEVICE_INLINE uint16_t fby_f32_to_bf16(float value)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    if (value == value) {
        uint16_t nearest;
        asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(nearest) : "f"(value));
        return nearest;
    }
#endif
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
#ifdef __CUDA_ARCH__
    if (value == value) {
        uint16_t nearest;
        asm("cvt.rn.f16.f32 %0, %1;" : "=h"(nearest) : "f"(value));
        return nearest;
    }
#endif
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

/* The nearest integer, clamped to lo..hi, which are within +-2^53. */
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

/* Bit k of an array of bits; the first is the lowest of the first byte. */
FBY_DEVICE_INLINE uint32_t fby_bit(const uint8_t *bits, uint32_t k)
{
    return (uint32_t)bits[k >> 3] >> (k & 7U) & 1U;
}

/* A value of any type, without rounding. */
struct fby_number {
    bool    real;
    int64_t i;
    float   f;
};

/* The number with the low bits of `bits`, of type `type` (enum fby_type). */
FBY_DEVICE_INLINE struct fby_number fby_number_of(uint32_t type, uint64_t bits)
{
    struct fby_number x = {false, (int64_t)bits, 0};
    if (type == FBY_I32) {
        x.i = (int32_t)(uint32_t)bits;
    } else if (type == FBY_F32) {
        x.real = true;
        x.f    = fby_f32_from_bits((uint32_t)bits);
    } else if (type == FBY_F16) {
        x.real = true;
        x.f    = fby_f16_to_f32((uint16_t)bits);
    } else if (type == FBY_BF16) {
        x.real = true;
        x.f    = fby_bf16_to_f32((uint16_t)bits);
    }
    return x;
}

FBY_DEVICE_INLINE float fby_number_real(struct fby_number x)
{
    return x.real ? x.f : (float)x.i;
}

FBY_DEVICE_INLINE uint64_t fby_number_clamped(
    struct fby_number x, int64_t lo, int64_t hi)
{
    return (uint64_t)(x.real ? fby_f32_to_int(x.f, lo, hi)
                             : fby_clamp_int(x.i, lo, hi));
}

/* The bits of `x` in another type, rounded and clamped. */
FBY_DEVICE_INLINE uint64_t fby_number_bits(struct fby_number x, uint32_t to)
{
    switch (to) {
    case FBY_F16:
        return fby_f32_to_f16(fby_number_real(x));
    case FBY_BF16:
        return fby_f32_to_bf16(fby_number_real(x));
    case FBY_F32:
        return fby_f32_bits(fby_number_real(x));
    case FBY_U8:
        return fby_number_clamped(x, 0, UINT8_MAX);
    case FBY_U16:
        return fby_number_clamped(x, 0, UINT16_MAX);
    case FBY_U32:
        return fby_number_clamped(x, 0, UINT32_MAX);
    case FBY_I32:
        return fby_number_clamped(x, INT32_MIN, INT32_MAX);
    case FBY_BOOL:
        return fby_number_clamped(x, 0, 1);
    default:
        return fby_number_clamped(x, INT64_MIN, INT64_MAX);
    }
}

/* Scale and offset, also for normalisation; rounds twice. */
FBY_DEVICE_INLINE float fby_affine(float value, float scale, float offset)
{
    float product = value * scale;
    return product + offset;
}

#endif
