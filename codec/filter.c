/* SPDX-License-Identifier: Apache-2.0 */
/* The filters, which rearrange the bytes of a block so that it compresses
 * better. Each has a function that filters, and its inverse, in portable C.
 * Compilers can unroll the loops over elements. The result does not depend on
 * the byte order of the machine. */
#include "codec/filter.h"

#include <string.h>

/* Delta: each element minus the element `distance` before it, modulo 2^bits.
 * The caller copies the first `distance` elements. There is a function for each
 * element width, so that the compiler can optimise it. Elements are
 * little-endian. Here and below, `w` is the number of bytes of an element. */
#define DELTA(bits)                                                           \
    static uint##bits##_t load##bits(const uint8_t *p)                        \
    {                                                                         \
        uint##bits##_t v = 0;                                                 \
        for (unsigned i = 0; i < (bits) / 8; i++) {                           \
            v = (uint##bits##_t)(v | (uint##bits##_t)p[i] << (8 * i));        \
        }                                                                     \
        return v;                                                             \
    }                                                                         \
                                                                              \
    static void save##bits(uint8_t *p, uint##bits##_t v)                      \
    {                                                                         \
        for (unsigned i = 0; i < (bits) / 8; i++) {                           \
            p[i] = (uint8_t)(v >> (8 * i));                                   \
        }                                                                     \
    }                                                                         \
                                                                              \
    static void delta##bits(                                                  \
        const uint8_t *raw, size_t n_elements, size_t distance, uint8_t *out) \
    {                                                                         \
        const size_t w = (bits) / 8;                                          \
        for (size_t i = distance; i < n_elements; i++) {                      \
            save##bits(out + i * w,                                           \
                (uint##bits##_t)(load##bits(raw + i * w) -                    \
                                 load##bits(raw + (i - distance) * w)));      \
        }                                                                     \
    }                                                                         \
                                                                              \
    static void undelta##bits(                                                \
        const uint8_t *in, size_t n_elements, size_t distance, uint8_t *raw)  \
    {                                                                         \
        const size_t w = (bits) / 8;                                          \
        for (size_t i = distance; i < n_elements; i++) {                      \
            save##bits(raw + i * w,                                           \
                (uint##bits##_t)(load##bits(in + i * w) +                     \
                                 load##bits(raw + (i - distance) * w)));      \
        }                                                                     \
    }

DELTA(8)
DELTA(16)
DELTA(32)
DELTA(64)

typedef void delta_fn(
    const uint8_t *in, size_t n_elements, size_t distance, uint8_t *out);

/* Copy the bytes from `offset` on unchanged. */
static void copy_rest(struct fby_bytes_in in, size_t offset, uint8_t *out)
{
    memcpy(out + offset, in.data + offset, in.size - offset);
}

/* Call the function for the element width, and copy the bytes that this
 * function does not write. `by_width` is for widths of 1, 2, 4 and 8 bytes. */
static void apply_delta(delta_fn *const by_width[4],
    struct fby_codec_params params, struct fby_bytes_in in, uint8_t *out)
{
    size_t w          = params.element_bytes;
    size_t n_elements = in.size / w;
    size_t distance =
        params.distance < n_elements ? params.distance : n_elements;
    memcpy(out, in.data, distance * w);
    copy_rest(in, n_elements * w, out);
    by_width[__builtin_ctz(params.element_bytes) /* log2 */](
        in.data, n_elements, distance, out);
}

static void delta(
    struct fby_codec_params params, struct fby_bytes_in in, uint8_t *out)
{
    static delta_fn *const by_width[] = {delta8, delta16, delta32, delta64};
    apply_delta(by_width, params, in, out);
}

static void undelta(
    struct fby_codec_params params, struct fby_bytes_in in, uint8_t *out)
{
    static delta_fn *const by_width[] = {
        undelta8, undelta16, undelta32, undelta64};
    apply_delta(by_width, params, in, out);
}

/* Byte shuffle: the first bytes of all elements, then the second bytes of all
 * elements, and so on. */
static void byte_shuffle(
    struct fby_codec_params params, struct fby_bytes_in in, uint8_t *out)
{
    size_t w          = params.element_bytes;
    size_t n_elements = in.size / w;
    for (size_t k = 0; k < w; k++) {
        for (size_t i = 0; i < n_elements; i++) {
            out[k * n_elements + i] = in.data[i * w + k];
        }
    }
    copy_rest(in, n_elements * w, out);
}

static void byte_unshuffle(
    struct fby_codec_params params, struct fby_bytes_in in, uint8_t *out)
{
    size_t w          = params.element_bytes;
    size_t n_elements = in.size / w;
    for (size_t k = 0; k < w; k++) {
        for (size_t i = 0; i < n_elements; i++) {
            out[i * w + k] = in.data[k * n_elements + i];
        }
    }
    copy_rest(in, n_elements * w, out);
}

/* Bit shuffle: a plane has one bit of every element. Plane 8k + b has bit b of
 * byte k. In a plane, the bit of element i is bit i mod 8 of byte i / 8.
 * Elements are shuffled in groups of eight, each of which fills one byte of a
 * plane. */

/* Transpose 8 x 8 bits: bit j of byte i becomes bit i of byte j. The steps swap
 * single bits, blocks of 2 x 2, then of 4 x 4 bits across the diagonal
 * (Hacker's Delight, 7-3, in little-endian order). */
static uint64_t transpose8(uint64_t x)
{
    uint64_t t = (x ^ (x >> 7)) & UINT64_C(0x00aa00aa00aa00aa);
    x ^= t ^ (t << 7);
    t = (x ^ (x >> 14)) & UINT64_C(0x0000cccc0000cccc);
    x ^= t ^ (t << 14);
    t = (x ^ (x >> 28)) & UINT64_C(0x00000000f0f0f0f0);
    return x ^ t ^ (t << 28);
}

/* Read eight bytes at intervals of `step` bytes as one number. */
static uint64_t load_strided(const uint8_t *p, size_t step)
{
    uint64_t x = 0;
    for (unsigned i = 0; i < 8; i++) {
        x |= (uint64_t)p[i * step] << (8 * i);
    }
    return x;
}

/* The inverse of load_strided. */
static void store_strided(uint64_t x, uint8_t *p, size_t step)
{
    for (unsigned i = 0; i < 8; i++) {
        p[i * step] = (uint8_t)(x >> (8 * i));
    }
}

static void bit_shuffle(
    struct fby_codec_params params, struct fby_bytes_in in, uint8_t *out)
{
    size_t w             = params.element_bytes;
    size_t n_groups      = in.size / w / 8;
    size_t grouped_bytes = n_groups * 8 * w;
    for (size_t k = 0; k < w; k++) {
        for (size_t j = 0; j < n_groups; j++) {
            /* byte k of eight elements, to byte j of the eight planes of k */
            uint64_t x = load_strided(in.data + j * 8 * w + k, w);
            store_strided(transpose8(x), out + k * 8 * n_groups + j, n_groups);
        }
    }
    copy_rest(in, grouped_bytes, out);
}

static void bit_unshuffle(
    struct fby_codec_params params, struct fby_bytes_in in, uint8_t *out)
{
    size_t w             = params.element_bytes;
    size_t n_groups      = in.size / w / 8;
    size_t grouped_bytes = n_groups * 8 * w;
    for (size_t k = 0; k < w; k++) {
        for (size_t j = 0; j < n_groups; j++) {
            uint64_t x = load_strided(in.data + k * 8 * n_groups + j, n_groups);
            store_strided(transpose8(x), out + j * 8 * w + k, w);
        }
    }
    copy_rest(in, grouped_bytes, out);
}

typedef void filter_fn(
    struct fby_codec_params params, struct fby_bytes_in in, uint8_t *out);

static void copy_block(
    struct fby_codec_params params, struct fby_bytes_in in, uint8_t *out)
{
    (void)params;
    memcpy(out, in.data, in.size);
}

static const struct {
    filter_fn *apply, *undo;
} filters[] = {
    [FBY_FILTER_NONE]         = {copy_block, copy_block},
    [FBY_FILTER_DELTA]        = {delta, undelta},
    [FBY_FILTER_BYTE_SHUFFLE] = {byte_shuffle, byte_unshuffle},
    [FBY_FILTER_BIT_SHUFFLE]  = {bit_shuffle, bit_unshuffle},
};

void filter_apply(uint8_t filter, struct fby_codec_params params,
    const uint8_t *raw, size_t size, uint8_t *out)
{
    struct fby_bytes_in in = {.data = raw, .size = size};
    filters[filter].apply(params, in, out);
}

void filter_undo(uint8_t filter, struct fby_codec_params params,
    const uint8_t *filtered, size_t size, uint8_t *raw)
{
    struct fby_bytes_in in = {.data = filtered, .size = size};
    filters[filter].undo(params, in, raw);
}
