/* photo.h - photo format 1: fast lossless compression of 8-bit pictures.
 *
 * A picture is cut into independent tiles of 256 x 32 pixels. The planes of a
 * tile are G, R - G and B - G, or grey, or Y, Cb and Cr of yuv420 (the last two
 * of 128 x 16). Each value is predicted from those to its left, up and up-left.
 * The residues are zigzag-encoded to small numbers, and packed in groups of
 * 8 x 2 with as many bits as the largest one needs. Tiles can be decoded in
 * parallel, also on a GPU. All SIMD levels produce the same bytes. PROTOCOL.md,
 * "Photo format 1", has the byte tables. */
#ifndef FBY_CODEC_PHOTO_H
#define FBY_CODEC_PHOTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    FBY_PHOTO_TILE_W = 256, /* pixels */
    FBY_PHOTO_TILE_H = 32,
    FBY_PHOTO_ALIGN  = 16 /* bytes, of tiles in a payload */
};

/* Pictures of one size, one after another without gaps; pixels interleaved,
 * except yuv420. A strip of a larger picture counts as a picture. */
struct fby_pictures {
    uint32_t images; /* all four >= 1 */
    uint32_t width;  /* pixels */
    uint32_t height; /* rows */
    uint32_t planes; /* 1 or 3, one for each byte of a pixel */
    bool     yuv420; /* 3 planes in the layout of common/yuv420.h */
};

/* Working memory of one thread, 64-byte aligned. */
enum { FBY_PHOTO_SCRATCH_BYTES = 64 << 10 };

/* The capacity that encoding needs, more than any payload has. */
size_t fby_photo_bound(const struct fby_pictures *photo);

/* Encode the pictures at `raw` to `out`, which has fby_photo_bound bytes;
 * returns the size of the payload. Buffers do not overlap. */
size_t fby_photo_encode(const struct fby_pictures *photo, const uint8_t *raw,
    uint8_t *out, void *scratch);

/* Whether `size` bytes are a valid payload of `photo`. Its table and widths
 * decide that alone. */
bool fby_photo_check(
    const struct fby_pictures *photo, const uint8_t *payload, size_t size);

/* Decode `size` bytes of payload to `raw`. They are checked first: false, with
 * nothing written, when they are not a valid payload of `photo`. */
bool fby_photo_decode(const struct fby_pictures *photo, const uint8_t *payload,
    size_t size, uint8_t *raw, void *scratch);

/* The same to planes: of each image all of R, then G, then B; not for yuv420.
 * Uses streaming stores where it can, because this thread does not read the
 * planes again. */
bool fby_photo_decode_planar(const struct fby_pictures *photo,
    const uint8_t *payload, size_t size, uint8_t *raw, void *scratch);

#endif
