/* SPDX-License-Identifier: Apache-2.0 */
/* host_image_avx512.c - expand images of three channels to planes of f16 or
 * bf16 with AVX-512, 32 pixels at a time.
 *
 * One instruction selects every third of 48 bytes and widens it to u32. The
 * arithmetic is that of host_image_avx2.c, which expands all other images. For
 * f32 AVX-512 would not be faster, because memory is the limit. */
#include <immintrin.h>

#include "trainer_client/expand/host.h"

enum { STEP = 32 /* pixels */, CACHE_LINE = 64 /* bytes */ };

struct affine_16 { /* scale and offset of a channel, sixteen times */
    __m512 scale, offset;
};

/* Element i is byte 3 i + c as u32. The mask clears its three upper bytes. */
static __m512i select_channel(__m512i pixels, uint32_t c)
{
    const __m512i thirds = _mm512_setr_epi32(
        0, 3, 6, 9, 12, 15, 18, 21, 24, 27, 30, 33, 36, 39, 42, 45);
    __m512i indices = _mm512_add_epi32(thirds, _mm512_set1_epi32((int)c));
    return _mm512_maskz_permutexvar_epi8(0x1111111111111111, indices, pixels);
}

static __m512 scale_16(__m512i bytes, struct affine_16 factors)
{
    return _mm512_add_ps(
        _mm512_mul_ps(_mm512_cvtepi32_ps(bytes), factors.scale),
        factors.offset);
}

/* Round finite numbers to bfloat16, ties to even, in upper halves of u32. The
 * additions of 0x7fff and of the lowest kept bit carry into the upper half. */
static __m512i round_bf16(__m512 value)
{
    __m512i bits = _mm512_castps_si512(value);
    __m512i odd =
        _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
    bits = _mm512_add_epi32(bits, _mm512_set1_epi32(0x7fff));
    return _mm512_add_epi32(bits, odd);
}

static __m512i to_bf16(__m512 low, __m512 high)
{
    /* Indices 1, 3, 5, ... select the upper half of each u32. */
    const __m512i upper = _mm512_add_epi32(_mm512_set1_epi32(0x00030001),
        _mm512_mullo_epi32(_mm512_set1_epi32(0x00040004),
            _mm512_setr_epi32(
                0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)));
    return _mm512_permutex2var_epi16(round_bf16(low), upper, round_bf16(high));
}

static __m512i to_f16(__m512 low, __m512 high)
{
    return _mm512_inserti64x4(
        _mm512_castsi256_si512(_mm512_cvtps_ph(low, _MM_FROUND_TO_NEAREST_INT)),
        _mm512_cvtps_ph(high, _MM_FROUND_TO_NEAREST_INT), 1);
}

/* Callers pass constants for `to` and `non_temporal`, so no branch remains. */
static inline __attribute__((always_inline)) void store_32(
    uint8_t *out, __m512 low, __m512 high, enum fby_type to, bool non_temporal)
{
    __m512i line = to == FBY_BF16 ? to_bf16(low, high) : to_f16(low, high);
    if (non_temporal) {
        _mm512_stream_si512((void *)out, line);
    } else {
        _mm512_storeu_si512(out, line);
    }
}

/* Expand all whole steps of 32 pixels. Returns the number of pixels written. */
static inline __attribute__((always_inline)) size_t expand_planar(
    const struct fby_expansion *plan, const uint8_t *raw, uint8_t *out,
    enum fby_type to, bool non_temporal)
{
    const __mmask64  mask_48_bytes = (UINT64_C(1) << 48) - 1; /* 16 pixels */
    struct affine_16 factors[3];
    for (uint32_t c = 0; c < 3; c++) {
        factors[c] = (struct affine_16){
            _mm512_set1_ps(plan->scale[c]), _mm512_set1_ps(plan->offset[c])};
    }
    size_t x = 0;
    for (; x + STEP <= plan->pixels; x += STEP) {
        __m512i low  = _mm512_maskz_loadu_epi8(mask_48_bytes, raw + 3 * x);
        __m512i high = _mm512_maskz_loadu_epi8(mask_48_bytes, raw + 3 * x + 48);
        for (uint32_t c = 0; c < 3; c++) {
            store_32(out + 2 * (c * (size_t)plan->plane + x),
                scale_16(select_channel(low, c), factors[c]),
                scale_16(select_channel(high, c), factors[c]), to,
                non_temporal);
        }
    }
    return x;
}

/* Non-temporal stores need whole cache lines in each plane of 2-byte values. */
static bool is_aligned(const struct fby_expansion *plan, const uint8_t *out)
{
    return ((uintptr_t)out | 2 * (size_t)plan->plane) % CACHE_LINE == 0;
}

static size_t expand_to_type(const struct fby_expansion *plan,
    const uint8_t *raw, bool non_temporal, uint8_t *out)
{
    if (plan->to == FBY_BF16) {
        return non_temporal ? expand_planar(plan, raw, out, FBY_BF16, true)
                            : expand_planar(plan, raw, out, FBY_BF16, false);
    }
    return non_temporal ? expand_planar(plan, raw, out, FBY_F16, true)
                        : expand_planar(plan, raw, out, FBY_F16, false);
}

static bool is_supported(const struct fby_expansion *plan)
{
    return plan->layout == FBY_LAYOUT_CHW && plan->channels == 3 &&
           (plan->to == FBY_BF16 || plan->to == FBY_F16);
}

void fby_expand_image_avx512(const struct fby_expansion *plan,
    const uint8_t *raw, bool non_temporal, uint8_t *out)
{
    if (!is_supported(plan)) {
        fby_expand_image_avx2(plan, raw, non_temporal, out);
        return;
    }
    non_temporal = non_temporal && is_aligned(plan, out);
    fby_expand_pixels(
        plan, raw, expand_to_type(plan, raw, non_temporal, out), out);
    if (non_temporal) {
        _mm_sfence();
    }
}
