/* SPDX-License-Identifier: Apache-2.0 */
/* host_image_avx2.c - expand images with AVX2, 16 or 32 pixels at a time.
 *
 * Values are computed instead of looked up in the plan's table. Product and sum
 * round once each, as in value.h, so the bits are those of the table. The table
 * is used for integers, images of 2 or 4 channels, and the last pixels. */
#include <immintrin.h>
#include <string.h>

#include "common/rgb_avx2.h"
#include "trainer_client/expand/host.h"

enum {
    STEP       = 32, /* bytes of a vector */
    LANES      = 8,  /* floats of a vector */
    CACHE_LINE = 64
};

struct affine_8 { /* scale and offset of eight neighbouring values */
    __m256 scale, offset;
};

static struct affine_8 repeat_8(float scale, float offset)
{
    return (struct affine_8){_mm256_set1_ps(scale), _mm256_set1_ps(offset)};
}

static __m256 scale_8(__m256i values, struct affine_8 factors)
{
    return _mm256_add_ps(
        _mm256_mul_ps(_mm256_cvtepi32_ps(values), factors.scale),
        factors.offset);
}

/* ---- sixteen floats to sixteen values ------------------------------------ */

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

/* The same for numbers that are not halfway between two bfloat16. */
static __m256i nearest_bf16(__m256 value)
{
    return _mm256_srli_epi32(
        _mm256_add_epi32(_mm256_castps_si256(value), _mm256_set1_epi32(0x8000)),
        16);
}

/* Packing puts the first four of `low` and of `high` in the lower half. */
static __m256i pack_u16(__m256i low, __m256i high)
{
    return _mm256_permute4x64_epi64(
        _mm256_packus_epi32(low, high), _MM_SHUFFLE(3, 1, 2, 0));
}

static __m256i pack_f16(__m256 low, __m256 high)
{
    return _mm256_inserti128_si256(
        _mm256_castsi128_si256(_mm256_cvtps_ph(low, _MM_FROUND_TO_NEAREST_INT)),
        _mm256_cvtps_ph(high, _MM_FROUND_TO_NEAREST_INT), 1);
}

static void store_32_bytes(uint8_t *out, __m256i value, bool non_temporal)
{
    if (non_temporal) {
        _mm256_stream_si256((void *)out, value);
    } else {
        _mm256_storeu_si256((void *)out, value);
    }
}

enum output { TO_F32, TO_F16, TO_BF16, TO_BF16_WITHOUT_TIES };

/* The output of a plan whose type is f32, f16 or bf16. */
static enum output output_of(const struct fby_expansion *plan)
{
    if (plan->to == FBY_BF16) {
        return plan->has_ties ? TO_BF16 : TO_BF16_WITHOUT_TIES;
    }
    return plan->to == FBY_F32 ? TO_F32 : TO_F16;
}

/* The bytes of a value. */
static inline size_t width_of(enum output to)
{
    return to == TO_F32 ? 4 : 2;
}

/* Callers pass constants for `to` and `non_temporal`, so no branch remains. */
static inline __attribute__((always_inline)) void store_16(
    uint8_t *out, __m256 low, __m256 high, enum output to, bool non_temporal)
{
    if (to == TO_F32) {
        store_32_bytes(out, _mm256_castps_si256(low), non_temporal);
        store_32_bytes(out + STEP, _mm256_castps_si256(high), non_temporal);
    } else if (to == TO_BF16) {
        store_32_bytes(
            out, pack_u16(to_bf16(low), to_bf16(high)), non_temporal);
    } else if (to == TO_BF16_WITHOUT_TIES) {
        store_32_bytes(
            out, pack_u16(nearest_bf16(low), nearest_bf16(high)), non_temporal);
    } else {
        store_32_bytes(out, pack_f16(low, high), non_temporal);
    }
}

/* ---- pixels -------------------------------------------------------------- */

/* Bytes 0 to 15 and 8 to 23 of eight pixels, which are 24 bytes. */
static __m256i load_8_pixels(const uint8_t *pixels)
{
    return rgb_load_halves(pixels, pixels + LANES);
}

/* Channel `c` of eight pixels as u32. Pixel 4 begins at byte 12, which is byte 4
 * of the upper half. An index with its highest bit set selects 0. */
static __m256i select_channel(__m256i pixels, uint32_t c)
{
    const __m256i thirds =
        _mm256_or_si256(_mm256_setr_epi32(0, 3, 6, 9, 4, 7, 10, 13),
            _mm256_set1_epi32((int)0x80808000));
    return _mm256_shuffle_epi8(
        pixels, _mm256_add_epi32(thirds, _mm256_set1_epi32((int)c)));
}

struct planes {
    uint8_t        *out[3]; /* next values of each channel */
    struct affine_8 factors[3];
};

/* Write a cache line of each plane from the vectors of eight pixels. */
static inline __attribute__((always_inline)) void store_lines(
    struct planes *planes, const __m256i *pixels, enum output to,
    bool non_temporal)
{
    size_t bytes = (size_t)2 * LANES * width_of(to); /* of each store_16 */
    for (uint32_t c = 0; c < 3; c++) {
        struct affine_8 factors = planes->factors[c];
        for (size_t i = 0; i < CACHE_LINE / bytes; i++) {
            store_16(planes->out[c],
                scale_8(select_channel(pixels[2 * i], c), factors),
                scale_8(select_channel(pixels[2 * i + 1], c), factors), to,
                non_temporal);
            planes->out[c] += bytes;
        }
    }
}

/* Each of the next three functions returns the number of pixels written. */

static inline __attribute__((always_inline)) size_t expand_planar(
    const struct fby_expansion *plan, const uint8_t *raw, uint8_t *out,
    enum output to, bool non_temporal)
{
    size_t        step = CACHE_LINE / width_of(to);
    size_t        x    = 0;
    struct planes planes;
    for (uint32_t c = 0; c < 3; c++) {
        planes.out[c]     = out + c * (size_t)plan->plane * width_of(to);
        planes.factors[c] = repeat_8(plan->scale[c], plan->offset[c]);
    }
    for (; x + step <= plan->pixels; x += step) {
        __m256i pixels[CACHE_LINE / 2 / LANES];
        for (size_t i = 0; i < step / LANES; i++) {
            pixels[i] = load_8_pixels(raw + 3 * (x + LANES * i));
        }
        store_lines(&planes, pixels, to, non_temporal);
    }
    return x;
}

/* The factors of eight values of interleaved pixels, from value `first` on. */
static struct affine_8 interleave_8(
    const struct fby_expansion *plan, uint32_t first)
{
    float scale[LANES];
    float offset[LANES];
    for (uint32_t i = 0; i < LANES; i++) {
        scale[i]  = plan->scale[(first + i) % plan->channels];
        offset[i] = plan->offset[(first + i) % plan->channels];
    }
    return (struct affine_8){_mm256_loadu_ps(scale), _mm256_loadu_ps(offset)};
}

static __m256i load_8_values(const uint8_t *raw)
{
    return _mm256_cvtepu8_epi32(_mm_loadl_epi64((const void *)raw));
}

/* Sixteen pixels of 1 or 3 channels are as many times sixteen values. */
static inline __attribute__((always_inline)) size_t expand_interleaved(
    const struct fby_expansion *plan, const uint8_t *raw, uint8_t *out,
    enum output to, bool non_temporal)
{
    enum { AT_ONCE = 2 * LANES };
    struct affine_8 low[3]; /* factors of the first eight of sixteen values */
    struct affine_8 high[3];
    for (uint32_t k = 0; k < plan->channels; k++) {
        low[k]  = interleave_8(plan, AT_ONCE * k);
        high[k] = interleave_8(plan, AT_ONCE * k + LANES);
    }
    size_t x = 0;
    for (; x + AT_ONCE <= plan->pixels; x += AT_ONCE) {
        for (uint32_t k = 0; k < plan->channels; k++) {
            store_16(out, scale_8(load_8_values(raw), low[k]),
                scale_8(load_8_values(raw + LANES), high[k]), to, non_temporal);
            raw += AT_ONCE;
            out += AT_ONCE * width_of(to);
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

/* Define a function that calls `loop` with constants, so that each output and
 * each kind of store gets its own loop. */
#define DEFINE_LOOP_TO(loop)                                  \
    static size_t loop##_to(const struct fby_expansion *plan, \
        const uint8_t *raw, uint8_t *out, bool non_temporal)  \
    {                                                         \
        switch (output_of(plan)) {                            \
            CASE(loop, TO_F32)                                \
            CASE(loop, TO_F16)                                \
            CASE(loop, TO_BF16)                               \
            CASE(loop, TO_BF16_WITHOUT_TIES)                  \
        }                                                     \
        return 0;                                             \
    }
#define CASE(loop, to)                                       \
    case to:                                                 \
        return non_temporal ? loop(plan, raw, out, to, true) \
                            : loop(plan, raw, out, to, false);

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
    if (planar && plan->to == FBY_U8 && fby_levels_are_unchanged(plan)) {
        return copy_to_planes(plan, raw, out);
    }
    if (!fby_type_is_float(plan->to)) {
        return 0;
    }
    return planar ? expand_planar_to(plan, raw, out, non_temporal)
                  : expand_interleaved_to(plan, raw, out, non_temporal);
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
