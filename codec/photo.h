/* photo.h - photo format 1: small payloads out of 8-bit pictures, fast.
 *
 * A picture is cut into tiles of 256 x 32 pixels that know nothing of each
 * other. In a tile the planes G, R - G, B - G (or the one of grey, or Y, Cb and
 * Cr of yuv420, the last two of 128 x 16) are predicted from left, up and
 * up-left, the residues folded to small numbers, and those packed in groups of
 * 8 x 2 with as many bits as the largest needs. Unpacking is as parallel as
 * tiles are, also on a GPU. PROTOCOL.md, "Photo format 1", has the byte tables.
 * All SIMD levels make the same bytes. */
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

/* Pictures of one size, one after another without gaps; pixels interleaved.
 * A strip of a larger picture is a picture too. */
struct fby_pictures {
    uint32_t images; /* all four >= 1 */
    uint32_t width;  /* pixels */
    uint32_t height; /* rows */
    uint32_t planes; /* bytes of a pixel: 1 or 3 */
    bool     yuv420; /* 3 planes that lie as common/yuv420.h says */
};

/* Memory for the work in between: a thread's own, 64-byte aligned. */
enum { FBY_PHOTO_SCRATCH_BYTES = 64 << 10 };

/* Bytes that encoding can never exceed. */
size_t fby_photo_bound(const struct fby_pictures *photo);

/* Encode the pictures at `raw` to `out`, which has room for fby_photo_bound;
 * returns the payload's size. Nothing overlaps. */
size_t fby_photo_encode(const struct fby_pictures *photo, const uint8_t *raw,
    uint8_t *out, void *scratch);

/* Whether `size` bytes are a payload of `photo`, known from its table and
 * widths alone. */
bool fby_photo_check(
    const struct fby_pictures *photo, const uint8_t *payload, size_t size);

/* Decode `size` bytes of payload to `raw`; false, with nothing written, when
 * they are no payload of `photo`: all of it is checked first. */
bool fby_photo_decode(const struct fby_pictures *photo, const uint8_t *payload,
    size_t size, uint8_t *raw, void *scratch);

/* The same to planes: of each image all of R, then G, then B (no yuv420). They
 * are for somebody else to read, later: written past the cache where that can
 * be. */
bool fby_photo_decode_planar(const struct fby_pictures *photo,
    const uint8_t *payload, size_t size, uint8_t *raw, void *scratch);

#endif
