/* photo_kernel.h - the work on one tile of photo format 1.
 *
 * A kernel is a table of functions, one table for each vector instruction set;
 * all make the same bytes. Between its steps a tile lies as planes of rows with
 * a border of zeros at the left and at the top, so that prediction knows no
 * edge. Internal to the codecs. */
#ifndef FBY_CODEC_PHOTO_KERNEL_H
#define FBY_CODEC_PHOTO_KERNEL_H

#include <stddef.h>
#include <stdint.h>

#include "codec/photo.h"
#include "common/simd.h"

enum {
    PHOTO_BORDER     = 32, /* bytes left of a row; the last of them is read */
    PHOTO_STRIDE     = PHOTO_BORDER + FBY_PHOTO_TILE_W,
    PHOTO_MAX_GROUPS = FBY_PHOTO_TILE_W / 8 * (FBY_PHOTO_TILE_H / 2),
    PHOTO_GROUP_MAX  = 16, /* bytes */
    PHOTO_OVERRUN    = 64  /* bytes beyond a plane's end that kernels touch */
};

struct photo_size {         /* of a plane of a tile */
    uint32_t width, height; /* values */
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

/* Bytes of a plane's widths: a nibble a group, padded to 4 bytes. */
static inline size_t photo_widths_bytes(uint32_t groups)
{
    return ((size_t)groups + 7) / 8 * 4;
}

/* Two widths to a byte, the first one low. `n` is rounded up to whole u32. */
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
    /* `width` RGB pixels to one row each of G, R - G, B - G. What lies up to
     * the next multiple of 64 pixels may be overwritten. */
    void (*split)(const uint8_t *pixels, uint32_t width, uint8_t *const row[3]);

    /* The inverse; exactly `width` pixels are written. */
    void (*join)(uint8_t *const row[3], uint32_t width, uint8_t *pixels);

    /* The same to R, G and B, `plane` bytes apart. They are written past the
     * cache where that can be, and settled by settle(). */
    void (*part)(
        uint8_t *const row[3], uint32_t width, uint8_t *pixels, size_t plane);

    /* What was written past the cache comes before what is written next. */
    void (*settle)(void);

    /* Pack a plane, whose rows were padded with their last pixel to a multiple
     * of 32 and whose odd number of rows with its last row. Returns the bytes
     * written; up to PHOTO_OVERRUN more are touched. */
    size_t (*pack)(
        struct photo_size size, struct photo_plane *plane, uint8_t *out);

    /* Unpack a plane that was measured; returns the bytes it took. Up to
     * PHOTO_OVERRUN more are read. */
    size_t (*unpack)(
        struct photo_size size, const uint8_t *in, struct photo_plane *plane);

    /* Bytes of a plane of `groups` groups, from its widths at `in`; SIZE_MAX
     * when one of them is above 8. */
    size_t (*measure)(const uint8_t *in, uint32_t groups);
};

extern const struct photo_kernel photo_portable;
extern const struct photo_kernel photo_avx2; /* where the build has them */
extern const struct photo_kernel photo_avx512;

/* The kernel of a level: the best that this build has and is not above it. */
const struct photo_kernel *photo_kernel_of(enum fby_simd level);

#endif
