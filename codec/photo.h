/* SPDX-License-Identifier: Apache-2.0 */
/* photo.h - photo format 1: fast lossless compression of 8-bit pictures.
 *
 * A picture is cut into independent tiles of 256 x 32 pixels. A tile has one
 * plane (grey) or three: G, R - G and B - G, or the Y, Cb and Cr of yuv420,
 * where Cb and Cr have 128 x 16 values. Each value is predicted from its
 * neighbours to the left, above and above left. The differences from the
 * predictions, the residues, are zigzag-encoded to small numbers. The numbers
 * are packed in groups of 8 x 2. All numbers of a group have the same number of
 * bits, its bit width, which is what the largest one needs. Tiles can be
 * decoded in parallel, also on a GPU. All SIMD levels produce the same bytes.
 * PROTOCOL.md, "Photo format 1", has the byte tables. */
#ifndef FBY_CODEC_PHOTO_H
#define FBY_CODEC_PHOTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    FBY_PHOTO_TILE_W = 256, /* pixels */
    FBY_PHOTO_TILE_H = 32,  /* pixels */
    FBY_PHOTO_ALIGN  = 16   /* bytes: alignment of a tile in its payload */
};

/* Pictures of one size, one after another without gaps. Their pixels are
 * interleaved, except for yuv420. A strip of a larger picture counts as a
 * picture. */
struct fby_pictures {
    uint32_t images; /* number of pictures, >= 1 */
    uint32_t width;  /* pixels, >= 1 */
    uint32_t height; /* pixels, >= 1 */
    uint32_t planes; /* 1 (grey) or 3 (colour) */
    bool     yuv420; /* 3 planes in the layout of common/yuv420.h */
};

/* Bytes of the parameter `scratch` below. It is working memory of one thread,
 * 64-byte aligned. */
enum { FBY_PHOTO_SCRATCH_BYTES = 64 << 10 };

/* The output capacity in bytes that encoding needs. It is more than the largest
 * payload, because encoding writes whole vectors beyond the payload's end. */
size_t fby_photo_encode_capacity(const struct fby_pictures *pictures);

/* Encode the pictures at `raw` to `out`, which has fby_photo_encode_capacity
 * bytes. Returns the size of the payload. The buffers must not overlap. */
size_t fby_photo_encode(const struct fby_pictures *pictures, const uint8_t *raw,
    uint8_t *out, void *scratch);

/* True if the `size` bytes at `payload` are a valid payload of `pictures`. Only
 * the table of tiles and the bit widths of the groups are read. */
bool fby_photo_is_valid(
    const struct fby_pictures *pictures, const uint8_t *payload, size_t size);

/* Decode the `size` bytes at `payload` to `raw`. Returns false and writes
 * nothing when the payload is not valid. */
bool fby_photo_decode(const struct fby_pictures *pictures,
    const uint8_t *payload, size_t size, uint8_t *raw, void *scratch);

/* The same for a payload that fby_photo_is_valid has accepted. */
void fby_photo_decode_valid(const struct fby_pictures *pictures,
    const uint8_t *payload, size_t size, uint8_t *raw, void *scratch);

/* Like fby_photo_decode_valid, with streaming stores (past the cache) where
 * possible: for pixels that this thread does not read soon. */
void fby_photo_stream_valid(const struct fby_pictures *pictures,
    const uint8_t *payload, size_t size, uint8_t *raw, void *scratch);

/* Like fby_photo_decode, but each picture becomes three planes: all of R, then
 * G, then B, with streaming stores where possible. Not for yuv420. */
bool fby_photo_decode_planar(const struct fby_pictures *pictures,
    const uint8_t *payload, size_t size, uint8_t *raw, void *scratch);

#endif
