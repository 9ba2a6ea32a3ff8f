/* SPDX-License-Identifier: Apache-2.0 */
/* pixels.h - one thread expands four pixels (a quad) to any type and layout.
 *
 * The CUDA kernels and, for tests, host code compile the same lines. Loads and
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

/* On the host, end the program if an address is not a multiple of `bytes`, as a
 * GPU does. (UBSan finds it only where a pointer has the type of the words.) */
FBY_BLOCK_INLINE void fby_require_aligned(const void *address, uint32_t bytes)
{
#ifdef __CUDACC__
    (void)address;
    (void)bytes;
#else
    if ((uintptr_t)address % bytes != 0) {
        __builtin_trap();
    }
#endif
}

/* Copy 16 bytes; both addresses are multiples of 16. */
FBY_BLOCK_INLINE void fby_copy_16(const uint8_t *from, uint8_t *to)
{
#ifdef __CUDACC__
    *reinterpret_cast<uint4 *>(to) = *reinterpret_cast<const uint4 *>(from);
#else
    fby_require_aligned(from, 16);
    fby_require_aligned(to, 16);
    memcpy(to, from, 16);
#endif
}

FBY_BLOCK_INLINE uint32_t fby_min(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* 64 bits as two words, since a GPU computes with 32 bits. */
struct fby_bits_64 {
    uint32_t low, high;
};

/* The lower word of `bits` shifted right by `shift`, 0 to 32. */
FBY_BLOCK_INLINE uint32_t fby_shift_right(
    struct fby_bits_64 bits, uint32_t shift)
{
#ifdef __CUDACC__
    return __funnelshift_rc(bits.low, bits.high, shift);
#else
    return (uint32_t)((bits.low | (uint64_t)bits.high << 32) >> shift);
#endif
}

/* Four of the eight bytes of `low` and `high`: byte i of the result is the one
 * of number (selector >> 4 i) & 7. */
FBY_BLOCK_INLINE uint32_t fby_select_bytes(
    uint32_t low, uint32_t high, uint32_t selector)
{
#ifdef __CUDACC__
    return __byte_perm(low, high, selector);
#else
    uint64_t both   = low | (uint64_t)high << 32;
    uint32_t result = 0;
    for (uint32_t i = 0; i < 4; i++) {
        result |= (uint32_t)(both >> (8 * (selector >> (4 * i) & 7)) & 0xff)
                  << (8 * i);
    }
    return result;
#endif
}

/* Load a value of `width` bytes (1, 2, 4 or 8), aligned to its size. */
FBY_BLOCK_INLINE uint64_t fby_load_value(const uint8_t *from, uint32_t width)
{
    fby_require_aligned(from, width);
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

FBY_BLOCK_INLINE void fby_store_value(
    uint64_t bits, uint32_t width, uint8_t *to)
{
    fby_require_aligned(to, width);
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

/* The bytes of a value of `type` (enum fby_type). */
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

/* Convert the bits of a value of type s->from to those of type s->to. */
FBY_BLOCK_INLINE uint64_t fby_cast_value(
    const struct fby_segment *s, uint64_t bits)
{
    return s->from == s->to
               ? bits
               : fby_number_to_bits(fby_number_from_bits(s->from, bits), s->to);
}

/* Store `n` words, which is 1, 2 or 4; `to` is a multiple of their size. */
FBY_BLOCK_INLINE void fby_store_words(
    const uint32_t words[4], uint32_t n, uint8_t *to)
{
#ifdef __CUDACC__
    if (n == 4) {
        *reinterpret_cast<uint4 *>(to) =
            make_uint4(words[0], words[1], words[2], words[3]);
    } else if (n == 2) {
        *reinterpret_cast<uint2 *>(to) = make_uint2(words[0], words[1]);
    } else {
        *reinterpret_cast<uint32_t *>(to) = words[0];
    }
#else
    fby_require_aligned(to, 4 * n);
    memcpy(to, words, (size_t)n * 4);
#endif
}

/* The u8 levels of four pixels, with one word for each channel. The lowest byte
 * of each word is the level of the first pixel. */
struct fby_quad {
    uint32_t channel[4];
};

/* The bits of a u8 level in type `to`. Only floating-point types are scaled. */
FBY_BLOCK_INLINE uint32_t fby_byte_level_bits(
    uint32_t to, uint32_t level, float scale, float offset)
{
    float scaled = fby_affine((float)level, scale, offset);
    if (to == FBY_F32) {
        return fby_f32_bits(scaled);
    }
    if (to == FBY_BF16) {
        return fby_finite_to_bf16(scaled);
    }
    return to == FBY_F16 ? fby_finite_to_f16(scaled) : level;
}

/* Four u8 levels: the levels themselves, one in each byte, and scaled. */
struct fby_levels {
    uint32_t bytes;
    float    scaled[4];
};

FBY_BLOCK_INLINE struct fby_levels fby_scale_levels(
    uint32_t bytes, float scale, float offset)
{
    struct fby_levels levels = {bytes, {0, 0, 0, 0}};
    FBY_UNROLL
    for (uint32_t i = 0; i < 4; i++) {
        levels.scaled[i] =
            fby_affine((float)(bytes >> (8 * i) & 0xff), scale, offset);
    }
    return levels;
}

/* Store four levels as type `type` of up to 4 bytes. `to` is a multiple of the
 * size of the four values. */
FBY_BLOCK_INLINE void fby_store_levels(
    uint32_t type, const struct fby_levels *levels, uint8_t *to)
{
    const float *v        = levels->scaled;
    uint32_t     bytes    = levels->bytes;
    uint32_t     words[4] = {bytes, 0, 0, 0};
    uint32_t     width    = fby_width_of(type);
    if (type == FBY_F32) {
        FBY_UNROLL
        for (uint32_t i = 0; i < 4; i++) {
            words[i] = fby_f32_bits(v[i]);
        }
    } else if (type == FBY_BF16) {
        words[0] = fby_finite_to_bf16_pair(v[0], v[1]);
        words[1] = fby_finite_to_bf16_pair(v[2], v[3]);
    } else if (type == FBY_F16) {
        words[0] = fby_finite_to_f16_pair(v[0], v[1]);
        words[1] = fby_finite_to_f16_pair(v[2], v[3]);
    } else if (width == 2) {
        words[0] = (bytes & 0xff) | (bytes & 0xff00) << 8;
        words[1] = (bytes >> 16 & 0xff) | (bytes >> 24) << 16;
    } else if (width == 4) {
        FBY_UNROLL
        for (uint32_t i = 0; i < 4; i++) {
            words[i] = bytes >> (8 * i) & 0xff;
        }
    }
    fby_store_words(words, width == 8 ? 4 : width, to);
}

/* Store four pixels of three interleaved channels, which are 12 values. Value k
 * is channel k % 3 of pixel k / 3. */
FBY_BLOCK_INLINE void fby_store_interleaved(const struct fby_segment *s,
    uint32_t type, const struct fby_quad *quad, uint8_t *to)
{
    FBY_UNROLL
    for (uint32_t k = 0; k < 12; k += 4) {
        struct fby_levels four = {0, {0, 0, 0, 0}};
        FBY_UNROLL
        for (uint32_t i = 0; i < 4; i++) {
            uint32_t c     = (k + i) % 3;
            uint32_t level = quad->channel[c] >> (8 * ((k + i) / 3)) & 0xff;
            four.bytes |= level << (8 * i);
            four.scaled[i] =
                fby_affine((float)level, s->scale[c], s->offset[c]);
        }
        fby_store_levels(type, &four, to + (size_t)k * fby_width_of(type));
    }
}

/* Store four pixels of three or one channels as planes. `channels` is
 * s->channels: as a constant, the compiler needs no tests. */
FBY_BLOCK_INLINE void fby_store_planar(const struct fby_segment *s,
    uint32_t channels, uint32_t type, const struct fby_quad *quad, uint8_t *to)
{
    uint64_t plane = (uint64_t)s->plane * fby_width_of(type);
    FBY_UNROLL
    for (uint32_t c = 0; c < 3; c++) {
        if (c < channels) {
            struct fby_levels levels =
                fby_scale_levels(quad->channel[c], s->scale[c], s->offset[c]);
            fby_store_levels(type, &levels, to + c * plane);
        }
    }
}

/* Store pixels `first` to first + n - 1 of an image value by value, for edges
 * and rare layouts. Words are not indexed, so the quad stays in registers. */
FBY_BLOCK_INLINE void fby_store_quad_by_value(const struct fby_segment *s,
    const struct fby_quad *quad, uint32_t first, uint32_t n, uint8_t *image)
{
    uint32_t width = fby_width_of(s->to);
    FBY_NO_UNROLL
    for (uint32_t k = 0; k < s->channels * n; k++) {
        uint32_t c       = k % s->channels;
        uint32_t i       = k / s->channels;
        uint32_t word_01 = c == 0 ? quad->channel[0] : quad->channel[1];
        uint32_t word_23 = c == 2 ? quad->channel[2] : quad->channel[3];
        uint64_t index   = s->planar != 0 ? (uint64_t)c * s->plane + first + i
                                          : (uint64_t)first * s->channels + k;
        fby_store_value(fby_byte_level_bits(s->to,
                            (c < 2 ? word_01 : word_23) >> (8 * i) & 0xff,
                            s->scale[c], s->offset[c]),
            width, image + index * width);
    }
}

/* Store pixels `first` to first + n - 1 of an image; n is 1 to 4. */
FBY_BLOCK_INLINE void fby_store_quad(const struct fby_segment *s,
    const struct fby_quad *quad, uint32_t first, uint32_t n, uint8_t *image)
{
    uint32_t width       = fby_width_of(s->to);
    bool     interleaved = s->planar == 0 && s->channels == 3;
    uint8_t *to    = image + (uint64_t)first * width * (interleaved ? 3 : 1);
    uint64_t plane = (uint64_t)s->plane * width;
    /* Storing four values at once needs an aligned address in each plane. */
    if (n < 4 || width == 8 || (s->channels != 3 && s->channels != 1) ||
        ((uintptr_t)to | (interleaved ? 0 : plane)) % ((size_t)4 * width) !=
            0) {
        fby_store_quad_by_value(s, quad, first, n, image);
    } else if (interleaved) {
        fby_store_interleaved(s, s->to, quad, to);
    } else {
        fby_store_planar(s, s->channels, s->to, quad, to);
    }
}

/* Separate four interleaved pixels of three channels. The bytes of the words,
 * the lowest first, are a: rgbr, b: gbrg, c: brgb. */
FBY_BLOCK_INLINE struct fby_quad fby_deinterleave_3(
    uint32_t a, uint32_t b, uint32_t c)
{
    struct fby_quad quad;
    quad.channel[0] = (a & 0xff) | (a >> 24) << 8 | (b >> 16 & 0xff) << 16 |
                      (c >> 8 & 0xff) << 24;
    quad.channel[1] = (a >> 8 & 0xff) | (b & 0xff) << 8 | (b >> 24) << 16 |
                      (c >> 16 & 0xff) << 24;
    quad.channel[2] = (a >> 16 & 0xff) | (b >> 8 & 0xff) << 8 |
                      (c & 0xff) << 16 | (c >> 24) << 24;
    quad.channel[3] = 0;
    return quad;
}

/* ---- mirrors ------------------------------------------------------------- */

/* The bits FBY_MIRROR_X and FBY_MIRROR_Y of an image of the segment. */
FBY_BLOCK_INLINE uint32_t fby_mirror_bits(
    const struct fby_segment *s, const uint8_t *arena, uint32_t image)
{
    return s->params != 0 ? arena[s->params + image] : 0;
}

/* The index in the output image of the first pixel that the segment writes. */
FBY_BLOCK_INLINE uint32_t fby_first_out_pixel(
    const struct fby_segment *s, uint32_t mirror)
{
    return (mirror & FBY_MIRROR_Y) != 0 ? s->plane - s->first_pixel - s->pixels
                                        : s->first_pixel;
}

/* Reverse the order of the lowest `n` of four bytes, and drop the others. */
FBY_BLOCK_INLINE uint32_t fby_reverse_4(uint32_t bytes, uint32_t n)
{
    uint32_t reversed = fby_select_bytes(bytes, 0, 0x0123);
    return reversed >> (8 * (4 - n));
}

FBY_BLOCK_INLINE struct fby_quad fby_reverse_quad(
    struct fby_quad quad, uint32_t n)
{
    FBY_UNROLL
    for (uint32_t c = 0; c < 4; c++) {
        quad.channel[c] = fby_reverse_4(quad.channel[c], n);
    }
    return quad;
}

/* ---- load ---------------------------------------------------------------- */

/* Load four pixels of three channels from any address. The words that are
 * loaded each have a byte of these pixels. */
FBY_BLOCK_INLINE struct fby_quad fby_load_quad_3(const uint8_t *from)
{
    uint32_t        past  = (uint32_t)((uintptr_t)from % 4);
    const uint32_t *words = (const uint32_t *)(const void *)(from - past);
    const struct fby_bits_64 first  = {words[0], words[1]};
    const struct fby_bits_64 second = {words[1], words[2]};
    const struct fby_bits_64 third  = {words[2], past > 0 ? words[3] : 0};
    return fby_deinterleave_3(fby_shift_right(first, 8 * past),
        fby_shift_right(second, 8 * past), fby_shift_right(third, 8 * past));
}

/* Load `n` interleaved pixels, 1 to 4, from `from`. */
FBY_BLOCK_INLINE struct fby_quad fby_load_quad(
    const uint8_t *from, uint32_t channels, uint32_t n)
{
    struct fby_quad quad = {{0, 0, 0, 0}};
    if (n == 4 && channels == 3) {
        return fby_load_quad_3(from);
    }
    if (n == 4 && channels == 1 && (uintptr_t)from % 4 == 0) {
        quad.channel[0] = *(const uint32_t *)(const void *)from;
        return quad;
    }
    FBY_NO_UNROLL
    for (uint32_t k = 0; k < channels * n; k++) {
        uint32_t byte = (uint32_t)from[k] << (k / channels * 8);
        uint32_t c    = k % channels;
        quad.channel[0] |= c == 0 ? byte : 0;
        quad.channel[1] |= c == 1 ? byte : 0;
        quad.channel[2] |= c == 2 ? byte : 0;
        quad.channel[3] |= c == 3 ? byte : 0;
    }
    return quad;
}

/* Load the raw pixels of output pixels `first` to first + n - 1, counted from
 * the first output pixel of the segment. */
FBY_BLOCK_INLINE struct fby_quad fby_load_mirrored(const struct fby_segment *s,
    const uint8_t *image, uint32_t mirror, uint32_t first, uint32_t n)
{
    struct fby_quad quad  = {{0, 0, 0, 0}};
    uint32_t        lines = s->pixels / s->width;
    uint32_t        line  = first / s->width;
    uint32_t        start = first - line * s->width;
    if (n == 4 && start + 4 <= s->width) { /* in one line */
        bool mirrored = (mirror & FBY_MIRROR_X) != 0;
        line          = (mirror & FBY_MIRROR_Y) != 0 ? lines - 1 - line : line;
        start         = mirrored ? s->width - 4 - start : start;
        quad          = fby_load_quad(
                     image + ((uint64_t)line * s->width + start) * s->channels,
                     s->channels, 4);
        return mirrored ? fby_reverse_quad(quad, 4) : quad;
    }
    FBY_NO_UNROLL
    for (uint32_t i = 0; i < n; i++) {
        uint32_t y = (first + i) / s->width;
        uint32_t x = (first + i) % s->width;
        y          = (mirror & FBY_MIRROR_Y) != 0 ? lines - 1 - y : y;
        x          = (mirror & FBY_MIRROR_X) != 0 ? s->width - 1 - x : x;
        struct fby_quad pixel = fby_load_quad(
            image + ((uint64_t)y * s->width + x) * s->channels, s->channels, 1);
        FBY_UNROLL
        for (uint32_t c = 0; c < 4; c++) {
            quad.channel[c] |= pixel.channel[c] << (8 * i);
        }
    }
    return quad;
}

/* ---- whole quads --------------------------------------------------------- */

/* True if every quad of the segment has four pixels at addresses that allow to
 * load and store them at once, mirrored or not. `out` is the address of the
 * output of the first image. */
FBY_BLOCK_INLINE bool fby_quads_are_whole(
    const struct fby_segment *s, const uint8_t *out)
{
    uint32_t width = fby_width_of(s->to);
    uint64_t first = (uint64_t)s->first_pixel * width;
    return (s->channels == 3 || s->channels == 1) && width < 8 &&
           s->pixels % 4 == 0 && (s->params == 0 || s->width % 4 == 0) &&
           ((uint64_t)s->plane * width | first | s->image_bytes |
               (uintptr_t)out) %
                   ((uint64_t)4 * width) ==
               0;
}

/* Four pixels of a raw image. */
struct fby_raw_quad {
    uint32_t image;
    uint32_t start;    /* the first pixel in the output image, counted from the
                          first one of the segment */
    uint32_t mirror;   /* FBY_MIRROR_X and _Y */
    uint32_t words[3]; /* as loaded; of one channel [0] only */
};

/* The first of the four pixels in the raw image. */
FBY_BLOCK_INLINE uint32_t fby_raw_quad_pixel(
    const struct fby_segment *s, const struct fby_raw_quad *raw)
{
    if (raw->mirror == 0) {
        return raw->start;
    }
    uint32_t y = raw->start / s->width;
    uint32_t x = raw->start - y * s->width;
    y = (raw->mirror & FBY_MIRROR_Y) != 0 ? s->pixels / s->width - 1 - y : y;
    x = (raw->mirror & FBY_MIRROR_X) != 0 ? s->width - 4 - x : x;
    return y * s->width + x;
}

FBY_BLOCK_INLINE void fby_raw_quad_load(
    const struct fby_segment *s, const uint8_t *arena, struct fby_raw_quad *raw)
{
    uint64_t index =
        (uint64_t)raw->image * s->pixels + fby_raw_quad_pixel(s, raw);
    const uint32_t *words =
        (const uint32_t *)(const void *)(arena + s->in + index * s->channels);
    bool three    = s->channels == 3;
    raw->words[0] = words[0];
    raw->words[1] = three ? words[1] : 0;
    raw->words[2] = three ? words[2] : 0;
}

/* Reverse the order of four pixels of three channels, as loaded. */
FBY_BLOCK_INLINE void fby_reverse_words_3(uint32_t words[3])
{
    uint32_t first  = fby_select_bytes(words[1], words[2], 0x2765);
    uint32_t second = fby_select_bytes(
        fby_select_bytes(words[0], words[1], 0x4307), words[2], 0x3240);
    words[2] = fby_select_bytes(words[0], words[1], 0x2105);
    words[1] = second;
    words[0] = first;
}

/* The levels of a quad of `channels` that is loaded. It is mirrored before its
 * channels are separated, so that the compiler can take them from the words. */
FBY_BLOCK_INLINE struct fby_quad fby_raw_quad_levels(
    const struct fby_raw_quad *raw, uint32_t channels)
{
    uint32_t        words[3] = {raw->words[0], raw->words[1], raw->words[2]};
    bool            mirrored = (raw->mirror & FBY_MIRROR_X) != 0;
    struct fby_quad quad     = {{0, 0, 0, 0}};
    if (channels == 3) {
        if (mirrored) {
            fby_reverse_words_3(words);
        }
        return fby_deinterleave_3(words[0], words[1], words[2]);
    }
    quad.channel[0] = mirrored ? fby_reverse_4(words[0], 4) : words[0];
    return quad;
}

/* Store four pixels from pixel `first` of an image of the output. `channels`
 * and `type` are s->channels and s->to. */
FBY_BLOCK_INLINE void fby_store_whole_quad(const struct fby_segment *s,
    uint32_t channels, uint32_t type, const struct fby_quad *quad,
    uint32_t first, uint8_t *image)
{
    uint32_t width = fby_width_of(type);
    if (s->planar == 0 && channels == 3) {
        fby_store_interleaved(
            s, type, quad, image + (uint64_t)first * width * 3);
    } else {
        fby_store_planar(
            s, channels, type, quad, image + (uint64_t)first * width);
    }
}

#endif
