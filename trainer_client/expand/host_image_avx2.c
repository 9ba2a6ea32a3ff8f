/* SPDX-License-Identifier: Apache-2.0 */
/* host_image_avx2.c - expand images with AVX2, 32 values at a time.
 *
 * Values are computed instead of looked up in the plan's table. Product and sum
 * round once each, as in value.h, so the bits are those of the table. The table
 * is used for integers, images of 2 or 4 channels, and the last pixels. */
#include <immintrin.h>
#include <string.h>

#include "common/rgb_avx2.h"
#include "trainer_client/expand/host.h"

enum { STEP = 32 /* values */, LANES = 8 /* floats of a vector */ };

struct affine_8 { /* scale and offset of eight neighbouring values */
    __m256 scale, offset;
};

static struct affine_8 repeat_8(float scale, float offset)
{
    return (struct affine_8){_mm256_set1_ps(scale), _mm256_set1_ps(offset)};
}

static __m256 scale_8(__m128i bytes, struct affine_8 factors)
{
    __m256 value = _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(bytes));
    return _mm256_add_ps(_mm256_mul_ps(value, factors.scale), factors.offset);
}

/* ---- eight floats to eight values ---------------------------------------- */

/* Round finite numbers to bfloat16, ties to even, in the low half of a u32.
 * The additions of 0x7fff and of the lowest kept bit carry into that half. */
static __m256i to_bf16(__m256 value)
{
    __m256i bits = _mm256_castps_si256(value);
    __m256i odd =
        _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
    bits = _mm256_add_epi32(bits, _mm256_set1_epi32(0x7fff));
    return _mm256_srli_epi32(_mm256_add_epi32(bits, odd), 16);
}

static __m128i pack_bf16(__m256 value)
{
    __m256i wide = to_bf16(value);
    return _mm_packus_epi32(
        _mm256_castsi256_si128(wide), _mm256_extracti128_si256(wide, 1));
}

static void store_16_bytes(uint8_t *out, __m128i value, bool non_temporal)
{
    if (non_temporal) {
        _mm_stream_si128((void *)out, value);
    } else {
        _mm_storeu_si128((void *)out, value);
    }
}

static void store_f32(uint8_t *out, __m256 value, bool non_temporal)
{
    if (non_temporal) {
        _mm256_stream_ps((float *)(void *)out, value);
    } else {
        _mm256_storeu_ps((float *)(void *)out, value);
    }
}

/* Callers pass constants for `to` and `non_temporal`, so no branch remains. */
static inline __attribute__((always_inline)) void store_8(
    uint8_t *out, __m256 value, enum fby_type to, bool non_temporal)
{
    if (to == FBY_F32) {
        store_f32(out, value, non_temporal);
    } else if (to == FBY_BF16) {
        store_16_bytes(out, pack_bf16(value), non_temporal);
    } else {
        store_16_bytes(out, _mm256_cvtps_ph(value, _MM_FROUND_TO_NEAREST_INT),
            non_temporal);
    }
}

/* ---- pixels -------------------------------------------------------------- */

/* Write 32 values of one channel. */
static inline __attribute__((always_inline)) void store_32(uint8_t *out,
    __m256i bytes, struct affine_8 factors, enum fby_type to, bool non_temporal)
{
    size_t  step = (size_t)LANES * (to == FBY_F32 ? 4 : 2);
    __m128i low  = _mm256_castsi256_si128(bytes);
    __m128i high = _mm256_extracti128_si256(bytes, 1);
    store_8(out, scale_8(low, factors), to, non_temporal);
    store_8(out + step, scale_8(_mm_srli_si128(low, LANES), factors), to,
        non_temporal);
    store_8(out + 2 * step, scale_8(high, factors), to, non_temporal);
    store_8(out + 3 * step, scale_8(_mm_srli_si128(high, LANES), factors), to,
        non_temporal);
}

/* Each of the next three functions returns the number of pixels written. */

static inline __attribute__((always_inline)) size_t expand_planar(
    const struct fby_expansion *plan, const uint8_t *raw, uint8_t *out,
    enum fby_type to, bool non_temporal)
{
    size_t          width = to == FBY_F32 ? 4 : 2;
    size_t          plane = plan->plane * width;
    struct affine_8 r     = repeat_8(plan->scale[0], plan->offset[0]);
    struct affine_8 g     = repeat_8(plan->scale[1], plan->offset[1]);
    struct affine_8 b     = repeat_8(plan->scale[2], plan->offset[2]);
    size_t          x     = 0;
    for (; x + STEP <= plan->pixels; x += STEP) {
        struct rgb_32 v = rgb_deinterleave(raw + 3 * x);
        store_32(out + x * width, v.r, r, to, non_temporal);
        store_32(out + plane + x * width, v.g, g, to, non_temporal);
        store_32(out + 2 * plane + x * width, v.b, b, to, non_temporal);
    }
    return x;
}

/* Eight pixels of 1 or 3 channels are as many vectors of eight values.
 * factors[k] has the scale and offset of each value of vector k. */
static inline __attribute__((always_inline)) size_t expand_interleaved(
    const struct fby_expansion *plan, const uint8_t *raw, uint8_t *out,
    enum fby_type to, bool non_temporal)
{
    size_t          vector_bytes = (size_t)LANES * (to == FBY_F32 ? 4 : 2);
    uint32_t        channels     = plan->channels;
    struct affine_8 factors[3];
    for (uint32_t k = 0; k < channels; k++) {
        float scale[LANES];
        float offset[LANES];
        for (uint32_t i = 0; i < LANES; i++) {
            scale[i]  = plan->scale[(LANES * k + i) % channels];
            offset[i] = plan->offset[(LANES * k + i) % channels];
        }
        factors[k] =
            (struct affine_8){_mm256_loadu_ps(scale), _mm256_loadu_ps(offset)};
    }
    size_t x = 0;
    for (; x + LANES <= plan->pixels; x += LANES) {
        for (uint32_t k = 0; k < channels; k++) {
            __m128i bytes = _mm_loadl_epi64((const void *)raw);
            store_8(out, scale_8(bytes, factors[k]), to, non_temporal);
            raw += LANES;
            out += vector_bytes;
        }
    }
    return x;
}

static size_t copy_to_planes(
    const struct fby_expansion *plan, const uint8_t *raw, uint8_t *out)
{
    size_t plane = plan->plane;
    size_t x     = 0;
    for (; x + STEP <= plan->pixels; x += STEP) {
        struct rgb_32 v = rgb_deinterleave(raw + 3 * x);
        _mm256_storeu_si256((void *)(out + x), v.r);
        _mm256_storeu_si256((void *)(out + plane + x), v.g);
        _mm256_storeu_si256((void *)(out + 2 * plane + x), v.b);
    }
    return x;
}

/* ---- choice of the loop -------------------------------------------------- */

/* Define a function that calls `loop` with constants, so that each type and
 * each kind of store gets its own loop. For integers it writes no pixels. */
#define DEFINE_LOOP_TO(loop)                                             \
    static size_t loop##_to(const struct fby_expansion *plan,            \
        const uint8_t *raw, uint8_t *out, bool non_temporal)             \
    {                                                                    \
        if (plan->to == FBY_F32) {                                       \
            return non_temporal ? loop(plan, raw, out, FBY_F32, true)    \
                                : loop(plan, raw, out, FBY_F32, false);  \
        }                                                                \
        if (plan->to == FBY_BF16) {                                      \
            return non_temporal ? loop(plan, raw, out, FBY_BF16, true)   \
                                : loop(plan, raw, out, FBY_BF16, false); \
        }                                                                \
        if (plan->to == FBY_F16) {                                       \
            return non_temporal ? loop(plan, raw, out, FBY_F16, true)    \
                                : loop(plan, raw, out, FBY_F16, false);  \
        }                                                                \
        return 0;                                                        \
    }

DEFINE_LOOP_TO(expand_planar)
DEFINE_LOOP_TO(expand_interleaved)

/* Non-temporal stores need each plane at a multiple of the vector size. */
static bool is_aligned(const struct fby_expansion *plan, const uint8_t *out)
{
    size_t plane = (size_t)plan->plane * fby_type_bytes(plan->to);
    return ((uintptr_t)out | plane) % STEP == 0;
}

/* Expand the first pixels with a vector loop. Returns their number. */
static size_t expand_vectors(const struct fby_expansion *plan,
    const uint8_t *raw, bool non_temporal, uint8_t *out)
{
    bool planar  = plan->layout == FBY_LAYOUT_CHW && plan->channels > 1;
    non_temporal = non_temporal && is_aligned(plan, out);
    if (plan->channels != 3 && plan->channels != 1) {
        return 0;
    }
    if (!planar) {
        return expand_interleaved_to(plan, raw, out, non_temporal);
    }
    if (plan->to == FBY_U8) {
        return fby_levels_are_unchanged(plan) ? copy_to_planes(plan, raw, out)
                                              : 0;
    }
    return expand_planar_to(plan, raw, out, non_temporal);
}

void fby_expand_image_avx2(const struct fby_expansion *plan, const uint8_t *raw,
    bool non_temporal, uint8_t *out)
{
    fby_expand_pixels(
        plan, raw, expand_vectors(plan, raw, non_temporal, out), out);
    if (non_temporal) {
        _mm_sfence();
    }
}

/* Read 16 bytes at a time: five pixels and a spare byte. Write the spare byte
 * before the five pixels, where a later pixel overwrites it. So the last pixels
 * are copied one by one. Reads ascend, as the prefetcher expects. */
void fby_reverse_avx2(const uint8_t *raw, uint32_t n, uint8_t *out)
{
    enum { PIXEL = 3, AT_ONCE = 5, SPARE = 15 };
    const __m128i order =
        _mm_setr_epi8(SPARE, 12, 13, 14, 9, 10, 11, 6, 7, 8, 3, 4, 5, 0, 1, 2);
    size_t k = 0; /* pixels done */
    for (; k + AT_ONCE + 1 <= n; k += AT_ONCE) {
        __m128i pixels = _mm_loadu_si128((const void *)(raw + k * PIXEL));
        _mm_storeu_si128((void *)(out + (n - k - AT_ONCE) * PIXEL - 1),
            _mm_shuffle_epi8(pixels, order));
    }
    for (; k < n; k++) {
        memcpy(out + (n - k - 1) * PIXEL, raw + k * PIXEL, PIXEL);
    }
}
