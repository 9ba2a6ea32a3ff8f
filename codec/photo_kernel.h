/* photo_kernel.h - encode and decode one tile of photo format 1.
 *
 * A kernel is a table of functions for one vector instruction set; all kernels
 * produce the same bytes. Between the steps a tile is stored as planes of rows
 * with a border of zeros at the left and at the top, so that prediction needs
 * no special case for edges. Internal to codec/. */
#ifndef FBY_CODEC_PHOTO_KERNEL_H
#define FBY_CODEC_PHOTO_KERNEL_H

#include <stddef.h>
#include <stdint.h>

#include "codec/photo.h"
#include "common/simd.h"

enum {
    PHOTO_BORDER     = 32, /* bytes left of a row; only the last one is read */
    PHOTO_STRIDE     = PHOTO_BORDER + FBY_PHOTO_TILE_W,
    PHOTO_MAX_GROUPS = FBY_PHOTO_TILE_W / 8 * (FBY_PHOTO_TILE_H / 2),
    PHOTO_GROUP_MAX  = 16, /* bytes */
    PHOTO_OVERRUN    = 64  /* bytes that kernels may access beyond an end */
};

struct photo_size { /* of one plane of a tile, in values */
    uint32_t width, height;
};

/* Row y begins at at[y + 1][PHOTO_BORDER]; both borders are 0. */
struct photo_plane {
    _Alignas(32) uint8_t at[1 + FBY_PHOTO_TILE_H][PHOTO_STRIDE];
};

static inline uint8_t *photo_row(struct photo_plane *plane, uint32_t y)
{
    return &plane->at[1 + y][PHOTO_BORDER];
}

static inline uint32_t photo_groups_across(struct photo_size size)
{
    return (size.width + 7) / 8;
}

static inline uint32_t photo_groups(struct photo_size size)
{
    return photo_groups_across(size) * ((size.height + 1) / 2);
}

/* Bytes of a plane's widths: a nibble per group, padded to 4 bytes. */
static inline size_t photo_widths_bytes(uint32_t groups)
{
    return ((size_t)groups + 7) / 8 * 4;
}

/* Pack two widths into a byte, the first in the low nibble. `n` is rounded up
 * to a multiple of 8; both arrays have entries up to there. */
static inline void photo_put_nibbles(
    const uint8_t *widths, uint32_t n, uint8_t *out)
{
    for (size_t i = 0; i < photo_widths_bytes(n); i++) {
        out[i] = (uint8_t)(widths[2 * i] | widths[2 * i + 1] << 4);
    }
}

/* The inverse. */
static inline void photo_take_nibbles(
    const uint8_t *in, uint32_t n, uint8_t *widths)
{
    for (size_t i = 0; i < photo_widths_bytes(n); i++) {
        widths[2 * i]     = in[i] & 15;
        widths[2 * i + 1] = in[i] >> 4;
    }
}

struct photo_kernel {
    /* Split `width` RGB pixels into one row each of G, R - G, B - G. The rows
     * may be overwritten up to the next multiple of 64 pixels. */
    void (*split)(const uint8_t *pixels, uint32_t width, uint8_t *const row[3]);

    /* The inverse; exactly `width` pixels are written. */
    void (*join)(uint8_t *const row[3], uint32_t width, uint8_t *pixels);

    /* The same to planes of R, G and B, `plane` bytes apart. Uses streaming
     * stores where it can; call fence() after the last one. */
    void (*join_planar)(
        uint8_t *const row[3], uint32_t width, uint8_t *pixels, size_t plane);

    /* Order earlier streaming stores before all later stores. */
    void (*fence)(void);

    /* Pack a plane. Its rows are padded with their last pixel to a multiple of
     * 32, and an odd number of rows with a copy of the last row. Returns the
     * bytes written; up to PHOTO_OVERRUN more may be overwritten. */
    size_t (*pack)(
        struct photo_size size, struct photo_plane *plane, uint8_t *out);

    /* Unpack a plane that measure() accepted; returns the bytes it has. Up to
     * PHOTO_OVERRUN more may be read. */
    size_t (*unpack)(
        struct photo_size size, const uint8_t *in, struct photo_plane *plane);

    /* The bytes of a plane of `groups` groups, computed from its widths at
     * `in`; SIZE_MAX when a width is above 8. */
    size_t (*measure)(const uint8_t *in, uint32_t groups);
};

extern const struct photo_kernel photo_portable;
extern const struct photo_kernel photo_avx2; /* x86-64 only, as the next */
extern const struct photo_kernel photo_avx512;

/* The best kernel of this build that is not above `level`. */
const struct photo_kernel *photo_kernel_of(enum fby_simd level);

#endif
