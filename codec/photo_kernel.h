/* SPDX-License-Identifier: Apache-2.0 */
/* photo_kernel.h - encode and decode one tile of photo format 1.
 *
 * A kernel is a table of functions for one vector instruction set. All kernels
 * produce the same bytes. Between splitting into planes and packing, each plane
 * is a struct photo_plane: rows with a border of zeros at the left and at the
 * top, so that prediction needs no special case for edges.
 *
 * A packed plane is the bit widths of its groups, then the groups. A group is 8
 * values wide and 2 rows high. Its bit width, 0 to 8, is the number of bits of
 * each packed value (photo.h). Internal to codec/. */
#ifndef FBY_CODEC_PHOTO_KERNEL_H
#define FBY_CODEC_PHOTO_KERNEL_H

#include <stddef.h>
#include <stdint.h>

#include "codec/photo.h"
#include "common/simd.h"

enum {
    PHOTO_BORDER       = 32, /* bytes before each row, which align it; kernels
                                read only the last of them */
    PHOTO_STRIDE       = PHOTO_BORDER + FBY_PHOTO_TILE_W,
    PHOTO_MAX_GROUPS   = FBY_PHOTO_TILE_W / 8 * (FBY_PHOTO_TILE_H / 2),
    PHOTO_GROUP_MAX    = 16, /* most bytes of a packed group */
    PHOTO_STREAM_ALIGN = 32, /* see join_streaming */
    PHOTO_CACHE_LINE   = 64, /* bytes */
    PHOTO_OVERRUN      = 64  /* most bytes accessed beyond a packed plane */
};

struct photo_size { /* size of one plane of a tile, in values */
    uint32_t width, height;
};

/* Row y begins at bytes[y + 1][PHOTO_BORDER]. Top and left borders are 0. */
struct photo_plane {
    _Alignas(32) uint8_t bytes[1 + FBY_PHOTO_TILE_H][PHOTO_STRIDE];
};

static inline uint8_t *photo_row(struct photo_plane *plane, uint32_t y)
{
    return &plane->bytes[1 + y][PHOTO_BORDER];
}

/* The number of groups side by side in each pair of rows of a plane. */
static inline uint32_t photo_groups_per_row(struct photo_size size)
{
    return (size.width + 7) / 8;
}

/* The number of groups of a plane. */
static inline uint32_t photo_groups(struct photo_size size)
{
    return photo_groups_per_row(size) * ((size.height + 1) / 2);
}

/* The bytes of the bit widths of `groups` groups: half a byte for each group,
 * rounded up to a multiple of 4. */
static inline size_t photo_bit_widths_bytes(uint32_t groups)
{
    return ((size_t)groups + 7) / 8 * 4;
}

/* Write the bit widths of `groups` groups to a packed plane, two in a byte, the
 * first one in the low 4 bits. `bit_widths` must have entries up to the next
 * multiple of 8 groups. */
static inline void photo_pack_bit_widths(
    const uint8_t *bit_widths, uint32_t groups, uint8_t *out)
{
    for (size_t i = 0; i < photo_bit_widths_bytes(groups); i++) {
        out[i] = (uint8_t)(bit_widths[2 * i] | bit_widths[2 * i + 1] << 4);
    }
}

/* The inverse of photo_pack_bit_widths. */
static inline void photo_unpack_bit_widths(
    const uint8_t *in, uint32_t groups, uint8_t *bit_widths)
{
    for (size_t i = 0; i < photo_bit_widths_bytes(groups); i++) {
        bit_widths[2 * i]     = in[i] & 15;
        bit_widths[2 * i + 1] = in[i] >> 4;
    }
}

/* The packed bytes from `begin` to `end` have been read: prefetch as many that
 * come PREFETCH_AHEAD bytes later. Distances of 1 to 8 KiB are equally fast.
 * The bytes may be beyond the payload: a prefetch never faults. */
static inline void photo_prefetch_ahead(
    const uint8_t *begin, const uint8_t *end)
{
    enum { PREFETCH_AHEAD = 3072 };
    for (; begin < end; begin += PHOTO_CACHE_LINE) {
        __builtin_prefetch(begin + PREFETCH_AHEAD);
    }
}

struct photo_kernel {
    /* Split `width` RGB pixels into a row of G, a row of R - G and a row of
     * B - G. The rows may be overwritten up to the next multiple of 64. */
    void (*split)(const uint8_t *pixels, uint32_t width, uint8_t *const row[3]);

    /* The inverse of split; writes exactly `width` pixels. */
    void (*join)(uint8_t *const row[3], uint32_t width, uint8_t *pixels);

    /* Like join, but with streaming stores, so the caller must call fence() at
     * the end. `width` and the address of `pixels` are multiples of
     * PHOTO_STREAM_ALIGN. */
    void (*join_streaming)(
        uint8_t *const row[3], uint32_t width, uint8_t *pixels);

    /* Like join, but to planes of R, G and B. The values of R go to `red`,
     * those of G plane_bytes after it, and those of B plane_bytes after these.
     * May use streaming stores, so the caller must call fence() at the end. */
    void (*join_planar)(uint8_t *const row[3], uint32_t width, uint8_t *red,
        size_t plane_bytes);

    /* Order earlier streaming stores before all later stores. */
    void (*fence)(void);

    /* Pack a plane. The caller has padded each row with its last value to a
     * multiple of 32, and an odd number of rows with a copy of the last row.
     * Returns the size of the packed plane in bytes; up to PHOTO_OVERRUN bytes
     * after it may be overwritten. */
    size_t (*pack)(
        struct photo_size size, struct photo_plane *plane, uint8_t *out);

    /* Unpack the plane at `in`, which measure() accepted. Returns the size of
     * the packed plane in bytes; up to PHOTO_OVERRUN bytes after it may be
     * read. Each row, and with an odd height the row after the last one, may be
     * overwritten up to the next multiple of 64 values. */
    size_t (*unpack)(
        struct photo_size size, const uint8_t *in, struct photo_plane *plane);

    /* Returns the size in bytes of the packed plane of `groups` groups at `in`,
     * found from the bit widths; SIZE_MAX if a bit width is above 8. */
    size_t (*measure)(const uint8_t *in, uint32_t groups);
};

extern const struct photo_kernel photo_portable;
extern const struct photo_kernel photo_avx2;   /* x86-64 only */
extern const struct photo_kernel photo_avx512; /* x86-64 only */

/* The functions of photo_avx2 that photo_avx512 uses unchanged. */
void photo_avx2_join_planar(
    uint8_t *const row[3], uint32_t width, uint8_t *red, size_t plane_bytes);
void   photo_avx2_fence(void);
size_t photo_avx2_measure(const uint8_t *in, uint32_t groups);

/* The kernel of this build for `level`, or for the highest level below it. */
const struct photo_kernel *photo_kernel_of(enum fby_simd level);

#endif
