/* SPDX-License-Identifier: Apache-2.0 */
/* yuv_avx2.c - split two lines of pixels into planes, 32 pixels a step. */
#include <immintrin.h>

#include "common/rgb_avx2.h"
#include "worker/transform/yuv.h"

enum { STEP_PIXELS = 32 };

/* The rounded means of 16 blocks of 2 x 2 bytes, from left to right. */
static __m128i means_2x2(__m256i upper, __m256i lower)
{
    const __m256i one = _mm256_set1_epi8(1);

    /* maddubs with factors of 1 adds the two bytes of each pair */
    __m256i sum = _mm256_add_epi16(
        _mm256_maddubs_epi16(upper, one), _mm256_maddubs_epi16(lower, one));
    sum = _mm256_srli_epi16(_mm256_add_epi16(sum, _mm256_set1_epi16(2)), 2);
    return _mm_packus_epi16(
        _mm256_castsi256_si128(sum), _mm256_extracti128_si256(sum, 1));
}

uint32_t yuv_split_avx2(
    const uint8_t *const in[2], uint32_t width, const struct yuv_lines *out)
{
    uint32_t x = 0;
    for (; x + STEP_PIXELS <= width; x += STEP_PIXELS) {
        struct rgb_32 upper = rgb_deinterleave(in[0] + (size_t)x * FBY_RGB);
        struct rgb_32 lower = rgb_deinterleave(in[1] + (size_t)x * FBY_RGB);
        /* the members r, g, b are Y, Cb and Cr here */
        _mm256_storeu_si256((void *)(out->y[0] + x), upper.r);
        _mm256_storeu_si256((void *)(out->y[1] + x), lower.r);
        rgb_save_half(out->cb + x / 2, means_2x2(upper.g, lower.g));
        rgb_save_half(out->cr + x / 2, means_2x2(upper.b, lower.b));
    }
    return x;
}
