/* pixels.h - one thread expands four pixels to any dtype and layout.
 *
 * Compiled into the CUDA kernels and, for tests, into host code. Loads and
 * stores are as wide as the alignment allows. */
#ifndef FBY_CLIENT_EXPAND_PIXELS_H
#define FBY_CLIENT_EXPAND_PIXELS_H

#include "trainer_client/expand/segment.h"
#include "trainer_client/expand/value.h"

#ifdef __CUDACC__
#define FBY_BLOCK_INLINE __device__ static __forceinline__
#define FBY_UNROLL       _Pragma("unroll")
#define FBY_NO_UNROLL    _Pragma("unroll 1")
#else
#define FBY_BLOCK_INLINE static inline
#define FBY_UNROLL
#define FBY_NO_UNROLL
#endif

/* Copy 16 bytes; both addresses are multiples of 16. */
FBY_BLOCK_INLINE void fby_copy_16(const uint8_t *from, uint8_t *to)
{
#ifdef __CUDACC__
    *reinterpret_cast<uint4 *>(to) = *reinterpret_cast<const uint4 *>(from);
#else
    memcpy(to, from, 16);
#endif
}

/* Store four values of 4, 2 or 1 bytes; the address is a multiple of their
 * common size. */
FBY_BLOCK_INLINE void fby_store_4x4(const uint32_t bits[4], uint8_t *to)
{
#ifdef __CUDACC__
    *reinterpret_cast<uint4 *>(to) =
        make_uint4(bits[0], bits[1], bits[2], bits[3]);
#else
    memcpy(to, bits, 16);
#endif
}

FBY_BLOCK_INLINE void fby_store_4x2(const uint32_t bits[4], uint8_t *to)
{
#ifdef __CUDACC__
    *reinterpret_cast<uint2 *>(to) =
        make_uint2(bits[0] | bits[1] << 16, bits[2] | bits[3] << 16);
#else
    const uint16_t values[4] = {(uint16_t)bits[0], (uint16_t)bits[1],
        (uint16_t)bits[2], (uint16_t)bits[3]};
    memcpy(to, values, sizeof(values));
#endif
}

FBY_BLOCK_INLINE void fby_store_4x1(const uint32_t bits[4], uint8_t *to)
{
    *(uint32_t *)(void *)to =
        bits[0] | bits[1] << 8 | bits[2] << 16 | bits[3] << 24;
}

FBY_BLOCK_INLINE uint32_t fby_min(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* Load one value of 1, 2, 4 or 8 bytes at a multiple of its size. */
FBY_BLOCK_INLINE uint64_t fby_load_1(const uint8_t *from, uint32_t width)
{
    if (width == 1) {
        return *from;
    }
    if (width == 2) {
        return *(const uint16_t *)(const void *)from;
    }
    if (width == 4) {
        return *(const uint32_t *)(const void *)from;
    }
    return *(const uint64_t *)(const void *)from;
}

FBY_BLOCK_INLINE void fby_store_1(uint64_t bits, uint32_t width, uint8_t *to)
{
    if (width == 1) {
        *to = (uint8_t)bits;
    } else if (width == 2) {
        *(uint16_t *)(void *)to = (uint16_t)bits;
    } else if (width == 4) {
        *(uint32_t *)(void *)to = (uint32_t)bits;
    } else {
        *(uint64_t *)(void *)to = bits;
    }
}

FBY_BLOCK_INLINE uint32_t fby_width_of(uint32_t type)
{
    if (type == FBY_U8 || type == FBY_BOOL) {
        return 1;
    }
    if (type == FBY_U16 || type == FBY_F16 || type == FBY_BF16) {
        return 2;
    }
    return type == FBY_I64 ? 8 : 4;
}

/* Convert the bits of type s->from to s->to. */
FBY_BLOCK_INLINE uint64_t fby_cast_1(const struct fby_segment *s, uint64_t bits)
{
    return s->from == s->to
               ? bits
               : fby_number_bits(fby_number_of(s->from, bits), s->to);
}

/* Store four values at a multiple of four times their width. */
FBY_BLOCK_INLINE void fby_store_four(
    const uint32_t bits[4], uint32_t width, uint8_t *to)
{
    if (width == 4) {
        fby_store_4x4(bits, to);
    } else if (width == 2) {
        fby_store_4x2(bits, to);
    } else {
        fby_store_4x1(bits, to);
    }
}

/* Four pixels: per channel their bytes, the first pixel's lowest. */
struct fby_quad {
    uint32_t of[4];
};

/* The bits of a u8 level in the tensor. Only real types are scaled. */
FBY_BLOCK_INLINE uint32_t fby_pixel_bits(
    uint32_t to, uint32_t value, float scale, float offset)
{
    float real = fby_affine((float)value, scale, offset);
    if (to == FBY_F32) {
        return fby_f32_bits(real);
    }
    if (to == FBY_BF16) {
        return fby_f32_to_bf16(real);
    }
    return to == FBY_F16 ? fby_f32_to_f16(real) : value;
}

/* The same for four levels of channel `c`. */
FBY_BLOCK_INLINE void fby_quad_bits(
    const struct fby_segment *s, uint32_t c, uint32_t bytes, uint32_t bits[4])
{
    FBY_UNROLL
    for (uint32_t i = 0; i < 4; i++) {
        bits[i] = fby_pixel_bits(
            s->to, bytes >> (8 * i) & 0xff, s->scale[c], s->offset[c]);
    }
}

/* Store all four pixels, three channels interleaved. */
FBY_BLOCK_INLINE void fby_put_interleaved(const struct fby_segment *s,
    const struct fby_quad *quad, uint32_t width, uint8_t *to)
{
    uint32_t bits[3][4];
    FBY_UNROLL
    for (uint32_t c = 0; c < 3; c++) {
        fby_quad_bits(s, c, quad->of[c], bits[c]);
    }
    FBY_UNROLL
    for (uint32_t k = 0; k < 12; k += 4) {
        const uint32_t four[4] = {bits[k % 3][k / 3],
            bits[(k + 1) % 3][(k + 1) / 3], bits[(k + 2) % 3][(k + 2) / 3],
            bits[(k + 3) % 3][(k + 3) / 3]};
        fby_store_four(four, width, to + (size_t)k * width);
    }
}

/* Store all four pixels of one plane. */
FBY_BLOCK_INLINE void fby_put_plane(const struct fby_segment *s, uint32_t c,
    uint32_t bytes, uint32_t width, uint8_t *to)
{
    uint32_t bits[4];
    fby_quad_bits(s, c, bytes, bits);
    fby_store_four(bits, width, to);
}

/* Store `n` pixels value by value, for edges and rare layouts. */
FBY_BLOCK_INLINE void fby_put_values(const struct fby_segment *s,
    const struct fby_quad *quad, uint32_t at, uint32_t n, uint8_t *image)
{
    uint32_t width = fby_width_of(s->to);
    FBY_NO_UNROLL
    for (uint32_t k = 0; k < s->channels * n; k++) {
        uint32_t c    = k % s->channels;
        uint32_t i    = k / s->channels;
        uint32_t low  = c == 0 ? quad->of[0] : quad->of[1];
        uint32_t high = c == 2 ? quad->of[2] : quad->of[3];
        uint64_t to   = s->planar != 0 ? (uint64_t)c * s->plane + at + i
                                       : (uint64_t)at * s->channels + k;
        fby_store_1(
            fby_pixel_bits(s->to, (c < 2 ? low : high) >> (8 * i) & 0xff,
                s->scale[c], s->offset[c]),
            width, image + to * width);
    }
}

/* Store pixels `at` to at + n - 1 of an image; n is 1 to 4. */
FBY_BLOCK_INLINE void fby_put_quad(const struct fby_segment *s,
    const struct fby_quad *quad, uint32_t at, uint32_t n, uint8_t *image)
{
    uint32_t width       = fby_width_of(s->to);
    bool     interleaved = s->planar == 0 && s->channels == 3;
    uint8_t *to          = image + (uint64_t)at * width * (interleaved ? 3 : 1);
    uint64_t plane       = (uint64_t)s->plane * width;
    if (n < 4 || width == 8 || (s->channels != 3 && s->channels != 1) ||
        ((uintptr_t)to | (interleaved ? 0 : plane)) % ((size_t)4 * width) !=
            0) {
        fby_put_values(s, quad, at, n, image);
    } else if (interleaved) {
        fby_put_interleaved(s, quad, width, to);
    } else {
        FBY_UNROLL
        for (uint32_t c = 0; c < 3; c++) {
            if (c < s->channels) {
                fby_put_plane(s, c, quad->of[c], width, to + c * plane);
            }
        }
    }
}

/* Separate four interleaved pixels of three channels, given as three words. */
FBY_BLOCK_INLINE struct fby_quad fby_deinterleave_3(
    uint32_t a, uint32_t b, uint32_t c)
{
    struct fby_quad quad;
    quad.of[0] = (a & 0xff) | (a >> 24) << 8 | (b >> 16 & 0xff) << 16 |
                 (c >> 8 & 0xff) << 24;
    quad.of[1] = (a >> 8 & 0xff) | (b & 0xff) << 8 | (b >> 24) << 16 |
                 (c >> 16 & 0xff) << 24;
    quad.of[2] = (a >> 16 & 0xff) | (b >> 8 & 0xff) << 8 | (c & 0xff) << 16 |
                 (c >> 24) << 24;
    quad.of[3] = 0;
    return quad;
}

/* ---- mirrors ------------------------------------------------------------- */

/* The mirror bits of an image, FBY_MIRROR_X and _Y. */
FBY_BLOCK_INLINE uint32_t fby_mirror(
    const struct fby_segment *s, const uint8_t *arena, uint32_t image)
{
    return s->draws != 0 ? arena[s->draws + image] : 0;
}

/* The first pixel of this segment's lines in the result. */
FBY_BLOCK_INLINE uint32_t fby_mirror_first(
    const struct fby_segment *s, uint32_t mirror)
{
    return (mirror & FBY_MIRROR_Y) != 0 ? s->plane - s->first_pixel - s->pixels
                                        : s->first_pixel;
}

/* Reverse the lowest `n` of four bytes. */
FBY_BLOCK_INLINE uint32_t fby_reverse_4(uint32_t bytes, uint32_t n)
{
    uint32_t turned = bytes >> 24 | (bytes >> 8 & 0xff00U) |
                      (bytes & 0xff00U) << 8 | bytes << 24;
    return turned >> (8 * (4 - n));
}

FBY_BLOCK_INLINE struct fby_quad fby_reverse_quad(
    struct fby_quad quad, uint32_t n)
{
    FBY_UNROLL
    for (uint32_t c = 0; c < 4; c++) {
        quad.of[c] = fby_reverse_4(quad.of[c], n);
    }
    return quad;
}

/* ---- load ---------------------------------------------------------------- */

/* Load `n` pixels, 1 to 4, at `from`. */
FBY_BLOCK_INLINE struct fby_quad fby_load_quad(
    const uint8_t *from, uint32_t channels, uint32_t n)
{
    struct fby_quad quad = {{0, 0, 0, 0}};
    if (n == 4 && channels == 3 && (uintptr_t)from % 4 == 0) {
        const uint32_t *words = (const uint32_t *)(const void *)from;
        return fby_deinterleave_3(words[0], words[1], words[2]);
    }
    if (n == 4 && channels == 1 && (uintptr_t)from % 4 == 0) {
        quad.of[0] = *(const uint32_t *)(const void *)from;
        return quad;
    }
    FBY_NO_UNROLL
    for (uint32_t k = 0; k < channels * n; k++) {
        uint32_t byte = (uint32_t)from[k] << (k / channels * 8);
        uint32_t c    = k % channels;
        quad.of[0] |= c == 0 ? byte : 0;
        quad.of[1] |= c == 1 ? byte : 0;
        quad.of[2] |= c == 2 ? byte : 0;
        quad.of[3] |= c == 3 ? byte : 0;
    }
    return quad;
}

/* Load the `n` pixels of a mirrored image that become pixels `at` and following
 * of the result. */
FBY_BLOCK_INLINE struct fby_quad fby_load_mirrored(const struct fby_segment *s,
    const uint8_t *image, uint32_t mirror, uint32_t at, uint32_t n)
{
    struct fby_quad quad  = {{0, 0, 0, 0}};
    uint32_t        lines = s->pixels / s->width;
    FBY_NO_UNROLL
    for (uint32_t i = 0; i < n; i++) {
        uint32_t y = (at + i) / s->width;
        uint32_t x = (at + i) % s->width;
        y          = (mirror & FBY_MIRROR_Y) != 0 ? lines - 1 - y : y;
        x          = (mirror & FBY_MIRROR_X) != 0 ? s->width - 1 - x : x;
        struct fby_quad one = fby_load_quad(
            image + ((uint64_t)y * s->width + x) * s->channels, s->channels, 1);
        FBY_UNROLL
        for (uint32_t c = 0; c < 4; c++) {
            quad.of[c] |= one.of[c] << (8 * i);
        }
    }
    return quad;
}

#endif
