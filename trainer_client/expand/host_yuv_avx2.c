/* SPDX-License-Identifier: Apache-2.0 */
/* host_yuv_avx2.c - convert lines of a YUV tile with AVX2, 32 pixels at a time.
 *
 * Even and odd pixels are in separate vectors of 16-bit values. A factor that
 * needs more than 16 bits is the sum of a multiple of 65536, which becomes an
 * addition, and a smaller factor. The kernel computes (a * b + 2^15) >> 16 as
 * (((2a * b) >> 16) + 1) >> 1, so the bytes are those of yuv.h. */
#include <immintrin.h>
#include <string.h>

#include "common/rgb_avx2.h"
#include "trainer_client/expand/host.h"
#include "trainer_client/expand/yuv.h"

enum { STEP = 32 /* pixels */, MAX_CHROMA = FBY_YUV_COLUMNS / 2 };

/* A line of Cb or Cr: 3 times its values plus those of the line above or below.
 * Value i of the line is value[1 + i]. Its first and last value are repeated as
 * neighbours outside of it. Later elements are read, but change no result. */
struct mixed {
    int16_t value[1 + MAX_CHROMA + STEP];
};

static void mix_lines(
    const uint8_t *near, const uint8_t *adjacent, uint32_t n, struct mixed *out)
{
    for (uint32_t i = 0; i < n; i++) {
        out->value[1 + i] = (int16_t)(3 * near[i] + adjacent[i]);
    }
    out->value[0] = (int16_t)(3 * near[0] + adjacent[0]);
    memset(out->value + 1 + n, 0, STEP * sizeof(out->value[0]));
    out->value[1 + n] = out->value[n];
}

static __m256i load_32_bytes(const void *from)
{
    return _mm256_loadu_si256(from);
}

/* Levels of Cb or Cr, minus 128, of 16 even and of 16 odd pixels. */
struct even_odd {
    __m256i even, odd;
};

/* Upsample 16 mixed values, from value `i` on, to 32 pixels: each pixel is
 * (3 * nearest + neighbour + 8) / 16, with 7 in place of 8 for odd pixels. */
static struct even_odd upsample(const struct mixed *mixed, uint32_t i)
{
    __m256i near = load_32_bytes(mixed->value + 1 + i);
    __m256i sum  = _mm256_add_epi16(near, _mm256_slli_epi16(near, 1));
    __m256i even = _mm256_add_epi16(sum, load_32_bytes(mixed->value + i));
    __m256i odd  = _mm256_add_epi16(sum, load_32_bytes(mixed->value + i + 2));
    even = _mm256_srli_epi16(_mm256_add_epi16(even, _mm256_set1_epi16(8)), 4);
    odd  = _mm256_srli_epi16(_mm256_add_epi16(odd, _mm256_set1_epi16(7)), 4);
    const __m256i middle = _mm256_set1_epi16(128);
    return (struct even_odd){
        _mm256_sub_epi16(even, middle), _mm256_sub_epi16(odd, middle)};
}

/* value * factor / 65536, rounded: (value * factor + 2^15) >> 16 */
static __m256i multiply_fraction(__m256i value, int16_t factor)
{
    __m256i twice = _mm256_mulhi_epi16(
        _mm256_slli_epi16(value, 1), _mm256_set1_epi16(factor));
    return _mm256_srai_epi16(_mm256_add_epi16(twice, _mm256_set1_epi16(1)), 1);
}

/* -0.34414 u - 0.71414 v, rounded as in yuv.h. The factor of v is computed as
 * 18734 / 65536 - 1, because -46802 needs more than 16 bits. In `factors`, the
 * low half of each element is for u, the high half for v. */
static __m256i green_of(__m256i u, __m256i v)
{
    const __m256i factors =
        _mm256_set1_epi32(18734 * 65536 + (-22554 & 0xffff));
    const __m256i half = _mm256_set1_epi32(1 << 15);
    __m256i       low = _mm256_madd_epi16(_mm256_unpacklo_epi16(u, v), factors);
    __m256i high      = _mm256_madd_epi16(_mm256_unpackhi_epi16(u, v), factors);
    low               = _mm256_srai_epi32(_mm256_add_epi32(low, half), 16);
    high              = _mm256_srai_epi32(_mm256_add_epi32(high, half), 16);
    return _mm256_sub_epi16(_mm256_packs_epi32(low, high), v);
}

static __m256i clamp_to_byte(__m256i value)
{
    value = _mm256_max_epi16(value, _mm256_setzero_si256());
    return _mm256_min_epi16(value, _mm256_set1_epi16(255));
}

/* 32 levels of a channel: Y plus the difference for even and for odd pixels. */
static __m256i add_to_y(__m256i y, __m256i even, __m256i odd)
{
    __m256i even_y = _mm256_and_si256(y, _mm256_set1_epi16(255));
    even           = clamp_to_byte(_mm256_add_epi16(even_y, even));
    odd = clamp_to_byte(_mm256_add_epi16(_mm256_srli_epi16(y, 8), odd));
    return _mm256_or_si256(even, _mm256_slli_epi16(odd, 8));
}

/* 1.402 v, as v + 0.402 v */
static __m256i red_of(__m256i v)
{
    return _mm256_add_epi16(v, multiply_fraction(v, 26345));
}

/* 1.772 u, as 2 u - 0.228 u */
static __m256i blue_of(__m256i u)
{
    return _mm256_add_epi16(
        _mm256_slli_epi16(u, 1), multiply_fraction(u, -14942));
}

static struct rgb_32 convert_32(__m256i y, struct even_odd u, struct even_odd v)
{
    return (struct rgb_32){
        .r = add_to_y(y, red_of(v.even), red_of(v.odd)),
        .g = add_to_y(y, green_of(u.even, v.even), green_of(u.odd, v.odd)),
        .b = add_to_y(y, blue_of(u.even), blue_of(u.odd)),
    };
}

void fby_yuv_line_avx2(const struct fby_yuv_line *line, uint8_t *rgb)
{
    struct mixed cb;
    struct mixed cr;
    uint32_t     x = 0;
    mix_lines(
        line->near[0], line->adjacent[0], fby_yuv_chroma_dim(line->width), &cb);
    mix_lines(
        line->near[1], line->adjacent[1], fby_yuv_chroma_dim(line->width), &cr);
    for (; x + STEP <= line->width; x += STEP) {
        rgb_interleave(convert_32(load_32_bytes(line->y + x),
                           upsample(&cb, x / 2), upsample(&cr, x / 2)),
            rgb + 3 * (size_t)x);
    }
    if (x < line->width) {
        uint8_t last_y[STEP] = {0};
        uint8_t last_rgb[3 * STEP];
        memcpy(last_y, line->y + x, line->width - x);
        rgb_interleave(convert_32(load_32_bytes(last_y), upsample(&cb, x / 2),
                           upsample(&cr, x / 2)),
            last_rgb);
        memcpy(rgb + 3 * (size_t)x, last_rgb, 3 * (size_t)(line->width - x));
    }
}
