/* SPDX-License-Identifier: Apache-2.0 */
/* rgb_avx2.h - deinterleave and interleave RGB, 32 pixels at a time.
 *
 * 16 pixels are 48 bytes, three vectors of 16. Channel c (0 red, 1 green, 2
 * blue) of pixel i is byte 3i + c of these 48: position (3i + c) mod 16 of
 * vector (3i + c) / 16. At position p, channel c is in vector (c - p) mod 3. So
 * two blends gather its values in one vector, and a shuffle puts them in order
 * of the pixels. Each half of a 256-bit vector does this for 16 pixels. Include
 * only in files that are compiled for AVX2. */
#ifndef FBY_COMMON_RGB_AVX2_H
#define FBY_COMMON_RGB_AVX2_H

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

struct rgb_32 { /* 32 values of each channel, in order of the pixels */
    __m256i r, g, b;
};

/* Blend masks. Row c selects (255) the positions p with p mod 3 == c. */
static const uint8_t rgb_third_masks[3][16] = {
    {255, 0, 0, 255, 0, 0, 255, 0, 0, 255, 0, 0, 255, 0, 0, 255},
    {0, 255, 0, 0, 255, 0, 0, 255, 0, 0, 255, 0, 0, 255, 0, 0},
    {0, 0, 255, 0, 0, 255, 0, 0, 255, 0, 0, 255, 0, 0, 255, 0},
};

/* Shuffles to pixel order. Row c, byte i: the position of pixel i, which is
 * (3i + c) mod 16. */
static const uint8_t rgb_order_shuffle[3][16] = {
    {0, 3, 6, 9, 12, 15, 2, 5, 8, 11, 14, 1, 4, 7, 10, 13},
    {1, 4, 7, 10, 13, 0, 3, 6, 9, 12, 15, 2, 5, 8, 11, 14},
    {2, 5, 8, 11, 14, 1, 4, 7, 10, 13, 0, 3, 6, 9, 12, 15},
};

/* Shuffles from pixel order. Row c, byte p: the pixel at position p, the i with
 * (3i + c) mod 16 == p. */
static const uint8_t rgb_scatter_shuffle[3][16] = {
    {0, 11, 6, 1, 12, 7, 2, 13, 8, 3, 14, 9, 4, 15, 10, 5},
    {5, 0, 11, 6, 1, 12, 7, 2, 13, 8, 3, 14, 9, 4, 15, 10},
    {10, 5, 0, 11, 6, 1, 12, 7, 2, 13, 8, 3, 14, 9, 4, 15},
};

/* The same 16 bytes in both halves of a vector. */
static inline __m256i rgb_broadcast(const uint8_t bytes[16])
{
    return _mm256_broadcastsi128_si256(_mm_loadu_si128((const void *)bytes));
}

/* A vector of 16 bytes from each of two addresses. */
static inline __m256i rgb_load_halves(const uint8_t *low, const uint8_t *high)
{
    __m256i value = _mm256_castsi128_si256(_mm_loadu_si128((const void *)low));
    return _mm256_inserti128_si256(
        value, _mm_loadu_si128((const void *)high), 1);
}

/* The bytes of `a` at positions 0, 3, ..., of `b` at 1, 4, ..., and of `c` at
 * 2, 5, ... of each half. */
static inline __m256i rgb_blend(__m256i a, __m256i b, __m256i c)
{
    a = _mm256_blendv_epi8(a, b, rgb_broadcast(rgb_third_masks[1]));
    return _mm256_blendv_epi8(a, c, rgb_broadcast(rgb_third_masks[2]));
}

/* Deinterleave the 32 pixels (96 bytes) at `pixels`. v0, v1 and v2 are the
 * three vectors of pixels 0-15, and in their high halves those of pixels 16-31.
 * At positions 0, 1, 2, ... red is in v0, v2, v1, ..., as the head says. */
static inline struct rgb_32 rgb_deinterleave(const uint8_t *pixels)
{
    __m256i v0 = rgb_load_halves(pixels, pixels + 48);
    __m256i v1 = rgb_load_halves(pixels + 16, pixels + 64);
    __m256i v2 = rgb_load_halves(pixels + 32, pixels + 80);
    return (struct rgb_32){
        _mm256_shuffle_epi8(
            rgb_blend(v0, v2, v1), rgb_broadcast(rgb_order_shuffle[0])),
        _mm256_shuffle_epi8(
            rgb_blend(v1, v0, v2), rgb_broadcast(rgb_order_shuffle[1])),
        _mm256_shuffle_epi8(
            rgb_blend(v2, v1, v0), rgb_broadcast(rgb_order_shuffle[2])),
    };
}

static inline void rgb_save_half(uint8_t *out, __m128i value)
{
    _mm_storeu_si128((void *)out, value);
}

struct rgb_96_bytes {  /* 32 interleaved pixels */
    __m256i halves[3]; /* the three low halves, then the three high halves */
};

static inline struct rgb_96_bytes rgb_interleaved_halves(struct rgb_32 v)
{
    __m256i r = _mm256_shuffle_epi8(v.r, rgb_broadcast(rgb_scatter_shuffle[0]));
    __m256i g = _mm256_shuffle_epi8(v.g, rgb_broadcast(rgb_scatter_shuffle[1]));
    __m256i b = _mm256_shuffle_epi8(v.b, rgb_broadcast(rgb_scatter_shuffle[2]));
    return (struct rgb_96_bytes){
        {rgb_blend(r, g, b), rgb_blend(g, b, r), rgb_blend(b, r, g)}};
}

/* Write 32 pixels (96 bytes) to `pixels`: the inverse of rgb_deinterleave. */
static inline void rgb_interleave(struct rgb_32 v, uint8_t *pixels)
{
    struct rgb_96_bytes out = rgb_interleaved_halves(v);
    for (size_t i = 0; i < 3; i++) {
        __m256i both = out.halves[i];
        rgb_save_half(pixels + 16 * i, _mm256_castsi256_si128(both));
        rgb_save_half(pixels + 48 + 16 * i, _mm256_extracti128_si256(both, 1));
    }
}

/* The same with streaming stores. `pixels` must be 32-byte aligned. */
static inline void rgb_interleave_streaming(struct rgb_32 v, uint8_t *pixels)
{
    struct rgb_96_bytes out = rgb_interleaved_halves(v);
    _mm256_stream_si256((void *)pixels,
        _mm256_permute2x128_si256(out.halves[0], out.halves[1], 0x20));
    _mm256_stream_si256((void *)(pixels + 32),
        _mm256_blend_epi32(out.halves[2], out.halves[0], 0xf0));
    _mm256_stream_si256((void *)(pixels + 64),
        _mm256_permute2x128_si256(out.halves[1], out.halves[2], 0x31));
}

#endif
