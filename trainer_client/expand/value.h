/* SPDX-License-Identifier: Apache-2.0 */
/* value.h - convert one value from the wire's type to the tensor's type.
 *
 * C and CUDA compile the same inline arithmetic, so all devices compute the
 * same bits. It calls no libm, fuses no operations, and rounds in integers. A
 * scaled value v of channel c passes through binary32:
 *     (float)v * scale[c] + offset[c]  ->  the tensor's type
 * The product, the sum and the conversion round once each, to nearest, ties to
 * even. A value outside the range of an integer type is clamped, and NaN
 * becomes 0. Subnormal numbers count. The last section has the arithmetic of indices and documents. */
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

/* Divide `x` by 2^shift (shift 1 to 31). Round to nearest, ties to even. */
FBY_DEVICE_INLINE uint32_t fby_round_shift(uint32_t x, uint32_t shift)
{
    uint32_t half = UINT32_C(1) << (shift - 1);
    uint32_t lost = x & ((half << 1) - 1);
    uint32_t kept = x >> shift;
    return kept + (lost > half || (lost == half && (kept & 1) != 0) ? 1U : 0U);
}

/* Convert binary32 to bfloat16; the value is not NaN. */
FBY_DEVICE_INLINE uint16_t fby_finite_to_bf16(float value)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    uint16_t nearest;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(nearest) : "f"(value));
    return nearest;
#else
    uint32_t bits = fby_f32_bits(value); /* a tie rounds up if bit 16 is 1 */
    return (uint16_t)((bits + 0x7fffU + (bits >> 16 & 1)) >> 16);
#endif
}

/* The same for any value. NaN becomes a quiet NaN. */
FBY_DEVICE_INLINE uint16_t fby_f32_to_bf16(float value)
{
    return value == value ? fby_finite_to_bf16(value)
                          : (uint16_t)(fby_f32_bits(value) >> 16 | 0x40U);
}

/* Convert two finite values. The first is in the lower half of the result. */
FBY_DEVICE_INLINE uint32_t fby_finite_to_bf16_pair(float low, float high)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    uint32_t pair;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
    return pair;
#else
    return fby_finite_to_bf16(low) | (uint32_t)fby_finite_to_bf16(high) << 16;
#endif
}

FBY_DEVICE_INLINE float fby_bf16_to_f32(uint16_t value)
{
    return fby_f32_from_bits((uint32_t)value << 16);
}

/* Convert binary32 to binary16; the value is not NaN. Values that round to 65536
 * or more become infinity. The exponents' biases differ by 112, which is
 * 0x38000000 >> 23. */
FBY_DEVICE_INLINE uint16_t fby_finite_to_f16(float value)
{
#ifdef __CUDA_ARCH__
    uint16_t nearest;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(nearest) : "f"(value));
    return nearest;
#else
    uint32_t bits = fby_f32_bits(value);
    uint32_t sign = bits >> 16 & 0x8000U;
    uint32_t mag  = bits & 0x7fffffffU; /* magnitude: without the sign */
    if (mag >= 0x47800000U) {           /* 65536 and more */
        return (uint16_t)(sign | 0x7c00U);
    }
    if (mag >= 0x38800000U) { /* normal: from 2^-14 */
        return (uint16_t)(sign | fby_round_shift(mag - 0x38000000U, 13));
    }
    if (mag < 0x33000000U) { /* below 2^-25, half of the smallest result */
        return (uint16_t)sign;
    }
    /* Subnormal: the mantissa with its implicit 1, in units of 2^-24. */
    uint32_t mantissa = (mag & 0x7fffffU) | 0x800000U;
    return (uint16_t)(sign | fby_round_shift(mantissa, 126 - (mag >> 23)));
#endif
}

/* The same for any value. NaN becomes a quiet NaN. */
FBY_DEVICE_INLINE uint16_t fby_f32_to_f16(float value)
{
    return value == value
               ? fby_finite_to_f16(value)
               : (uint16_t)((fby_f32_bits(value) >> 16 & 0x8000U) | 0x7e00U);
}

/* Convert two finite values. The first is in the lower half of the result. */
FBY_DEVICE_INLINE uint32_t fby_finite_to_f16_pair(float low, float high)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    uint32_t pair;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
    return pair;
#else
    return fby_finite_to_f16(low) | (uint32_t)fby_finite_to_f16(high) << 16;
#endif
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
    float mag = (float)mantissa * 0x1p-24F; /* subnormal or 0; exact */
    return fby_f32_from_bits(sign | fby_f32_bits(mag));
}

/* The nearest integer, ties to even, clamped to lo and hi. NaN becomes 0. */
FBY_DEVICE_INLINE int64_t fby_f32_to_int(float value, int64_t lo, int64_t hi)
{
    if (!(value > (float)lo)) { /* at most lo, or NaN */
        return value == value ? lo : 0;
    }
    if (value >= (float)hi) {
        return hi;
    }
    int64_t whole    = (int64_t)value; /* towards 0 */
    float   fraction = value - (float)whole;
    float   dist     = fraction < 0 ? -fraction : fraction;
    int64_t away     = fraction < 0 ? -1 : 1;
    int64_t step = dist > 0.5F || (dist == 0.5F && (whole & 1) != 0) ? away : 0;
    return whole + step;
}

FBY_DEVICE_INLINE int64_t fby_clamp_int(int64_t value, int64_t lo, int64_t hi)
{
    return value < lo ? lo : value > hi ? hi : value;
}

/* Bit `k` of an array of bits. Bit 0 is the lowest bit of the first byte. */
FBY_DEVICE_INLINE uint32_t fby_bit(const uint8_t *bits, uint32_t k)
{
    return (uint32_t)bits[k >> 3] >> (k & 7U) & 1U;
}

/* ---- values of any type -------------------------------------------------- */

/* A value of any type, not yet rounded to the tensor's type. */
struct fby_number {
    bool    is_float; /* true: the value is `f`, else `i` */
    int64_t i;
    float   f;
};

/* The value that `bits` encodes in `type` (enum fby_type). */
FBY_DEVICE_INLINE struct fby_number fby_number_from_bits(
    uint32_t type, uint64_t bits)
{
    struct fby_number x = {false, (int64_t)bits, 0};
    if (type == FBY_I32) {
        x.i = (int32_t)(uint32_t)bits;
    } else if (type == FBY_F32) {
        x.is_float = true;
        x.f        = fby_f32_from_bits((uint32_t)bits);
    } else if (type == FBY_F16) {
        x.is_float = true;
        x.f        = fby_f16_to_f32((uint16_t)bits);
    } else if (type == FBY_BF16) {
        x.is_float = true;
        x.f        = fby_bf16_to_f32((uint16_t)bits);
    }
    return x;
}

FBY_DEVICE_INLINE float fby_number_to_f32(struct fby_number x)
{
    return x.is_float ? x.f : (float)x.i;
}

FBY_DEVICE_INLINE uint64_t fby_number_clamped(
    struct fby_number x, int64_t lo, int64_t hi)
{
    return (uint64_t)(x.is_float ? fby_f32_to_int(x.f, lo, hi)
                                 : fby_clamp_int(x.i, lo, hi));
}

/* The bits of `x` in another type, rounded and clamped. */
FBY_DEVICE_INLINE uint64_t fby_number_to_bits(struct fby_number x, uint32_t to)
{
    switch (to) {
    case FBY_F16:
        return fby_f32_to_f16(fby_number_to_f32(x));
    case FBY_BF16:
        return fby_f32_to_bf16(fby_number_to_f32(x));
    case FBY_F32:
        return fby_f32_bits(fby_number_to_f32(x));
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

/* Apply scale and offset to a finite value. Round the product, then the sum. */
FBY_DEVICE_INLINE float fby_affine(float value, float scale, float offset)
{
    float product = value * scale;
    return product + offset;
}

/* The same for any value. A NaN becomes the one without sign and payload, since
 * processors differ in the NaN that their arithmetic makes. */
FBY_DEVICE_INLINE float fby_affine_any(float value, float scale, float offset)
{
    float result = fby_affine(value, scale, offset);
    return result == result ? result : fby_f32_from_bits(0x7fc00000U);
}

/* ---- indices and documents ----------------------------------------------- */

/* Load element `i` of an array of little-endian integers of `width` bytes. */
FBY_DEVICE_INLINE uint64_t fby_element_le(
    const uint8_t *array, uint32_t width, uint64_t i)
{
    uint64_t bits = 0;
    for (uint32_t b = 0; b < width; b++) {
        bits |= (uint64_t)array[i * width + b] << (8 * b);
    }
    return bits;
}

/* Coordinate `d` of the value with this row-major index in a shape dims[]. */
FBY_DEVICE_INLINE uint32_t fby_coordinate(
    uint32_t index, const uint32_t *dims, uint32_t n_dims, uint32_t d)
{
    for (uint32_t k = n_dims; k-- > d + 1;) {
        index /= dims[k];
    }
    return index % dims[d];
}

/* True if token `token` counts in the loss. Its document ends before token
 * `end`. With `shift` 1 the last token of a document has no target, so it does
 * not count. For padding `end` is 0, so no token counts. */
FBY_DEVICE_INLINE bool fby_document_counts(
    uint64_t token, uint64_t end, uint64_t shift)
{
    return token + shift < end;
}

#endif
