/* SPDX-License-Identifier: Apache-2.0 */
/* rgb_avx512.h - deinterleave and interleave RGB, 64 pixels at a time.
 *
 * 64 pixels are three vectors of 64 bytes. One instruction fetches bytes from
 * any positions of two vectors. A second instruction, under a mask, adds bytes
 * from the third vector. Include only in files that are compiled for AVX-512
 * with VBMI. */
#ifndef FBY_CODEC_RGB_AVX512_H
#define FBY_CODEC_RGB_AVX512_H

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

struct rgb_64 { /* 64 values of each channel, in order */
    __m512i r, g, b;
};

/* RGB_64(MACRO, c) is {MACRO(c, 0), MACRO(c, 1), ... MACRO(c, 63)}. */
#define RGB_4(MACRO, c, i) \
    MACRO(c, i), MACRO(c, (i) + 1), MACRO(c, (i) + 2), MACRO(c, (i) + 3)
#define RGB_16(MACRO, c, i)                                                 \
    RGB_4(MACRO, c, i), RGB_4(MACRO, c, (i) + 4), RGB_4(MACRO, c, (i) + 8), \
        RGB_4(MACRO, c, (i) + 12)
#define RGB_64(MACRO, c)                                                 \
    {                                                                    \
        RGB_16(MACRO, c, 0), RGB_16(MACRO, c, 16), RGB_16(MACRO, c, 32), \
            RGB_16(MACRO, c, 48)                                         \
    }

/* Shuffle indices of channel c: pixel i has it in byte 3i + c of the three
 * vectors. Bytes from 128 on, in the third vector, are counted from the start
 * of that vector. */
#define RGB_FROM(c, i) ((3 * (i) + (c)) % 128)

static const _Alignas(64) uint8_t rgb_from[3][64] = {
    RGB_64(RGB_FROM, 0), RGB_64(RGB_FROM, 1), RGB_64(RGB_FROM, 2)};

/* Shuffle indices that make vector v of interleaved pixels from the vectors of
 * red, green and blue. Byte i of vector v is channel (64v + i) mod 3 of pixel
 * (64v + i) div 3. 64 is added for green, the second operand of the shuffle. */
#define RGB_BYTE(v, i) (64 * (v) + (i))
#define RGB_TO(v, i)   ((RGB_BYTE(v, i) % 3 == 1 ? 64 : 0) + RGB_BYTE(v, i) / 3)

static const _Alignas(64) uint8_t rgb_to[3][64] = {
    RGB_64(RGB_TO, 0), RGB_64(RGB_TO, 1), RGB_64(RGB_TO, 2)};

/* A mask of the first `n` bytes. */
static inline __mmask64 rgb_first_bytes(size_t n)
{
    return n < 64 ? (UINT64_C(1) << n) - 1 : ~UINT64_C(0);
}

/* A mask of the bytes of vector `v` that hold the first `n` < 64 pixels. */
static inline __mmask64 rgb_mask_in(size_t n, size_t v)
{
    return 3 * n > 64 * v ? rgb_first_bytes(3 * n - 64 * v) : 0;
}

/* Gather channel `c` from three vectors of interleaved pixels. */
static inline __m512i rgb_channel(const __m512i v[3], uint32_t c)
{
    __m512i from = _mm512_load_si512(rgb_from[c]);
    /* The pixels whose channel c is in the third vector: 3i + c >= 128. */
    __mmask64 third = ~UINT64_C(0) << (c == 2 ? 42 : 43);
    return _mm512_mask_permutexvar_epi8(
        _mm512_permutex2var_epi8(v[0], from, v[1]), third, from, v[2]);
}

/* Deinterleave the 64 pixels (192 bytes) at `pixels`. */
static inline struct rgb_64 rgb_deinterleave_64(const uint8_t *pixels)
{
    __m512i v[3] = {_mm512_loadu_si512(pixels), _mm512_loadu_si512(pixels + 64),
        _mm512_loadu_si512(pixels + 128)};
    return (struct rgb_64){
        rgb_channel(v, 0), rgb_channel(v, 1), rgb_channel(v, 2)};
}

/* Deinterleave `n` < 64 pixels; reads no byte beyond them. */
static inline struct rgb_64 rgb_deinterleave_some(
    const uint8_t *pixels, size_t n)
{
    __m512i v[3] = {_mm512_maskz_loadu_epi8(rgb_mask_in(n, 0), pixels),
        _mm512_maskz_loadu_epi8(rgb_mask_in(n, 1), pixels + 64),
        _mm512_maskz_loadu_epi8(rgb_mask_in(n, 2), pixels + 128)};
    return (struct rgb_64){
        rgb_channel(v, 0), rgb_channel(v, 1), rgb_channel(v, 2)};
}

/* Vector `v` of the three vectors of interleaved pixels. */
static inline __m512i rgb_interleaved(struct rgb_64 p, uint32_t v)
{
    /* Bit i: byte i of the vector is blue. */
    static const uint64_t blue[3] = {UINT64_C(0x4924924924924924),
        UINT64_C(0x2492492492492492), UINT64_C(0x9249249249249249)};
    __m512i               from    = _mm512_load_si512(rgb_to[v]);
    return _mm512_mask_permutexvar_epi8(
        _mm512_permutex2var_epi8(p.r, from, p.g), blue[v], from, p.b);
}

/* Interleave the 64 pixels of `p` to `pixels`. */
static inline void rgb_interleave_64(struct rgb_64 p, uint8_t *pixels)
{
    _mm512_storeu_si512(pixels, rgb_interleaved(p, 0));
    _mm512_storeu_si512(pixels + 64, rgb_interleaved(p, 1));
    _mm512_storeu_si512(pixels + 128, rgb_interleaved(p, 2));
}

/* Interleave the first `n` < 64 pixels of `p`; writes no byte beyond them. */
static inline void rgb_interleave_some(
    struct rgb_64 p, size_t n, uint8_t *pixels)
{
    _mm512_mask_storeu_epi8(pixels, rgb_mask_in(n, 0), rgb_interleaved(p, 0));
    _mm512_mask_storeu_epi8(
        pixels + 64, rgb_mask_in(n, 1), rgb_interleaved(p, 1));
    _mm512_mask_storeu_epi8(
        pixels + 128, rgb_mask_in(n, 2), rgb_interleaved(p, 2));
}

#endif
