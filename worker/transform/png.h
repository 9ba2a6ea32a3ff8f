/* png.h - decode a PNG in memory, or a part of it, to rows of RGB or of ids.
 *
 * As a picture: 8-bit grey is copied to the three channels, fewer bits are
 * scaled to 8, a palette is expanded, interlacing is undone. As a mask: one
 * byte a pixel, the stored number: a grey value or an index into the palette,
 * neither scaled nor looked up. Gamma, colour profiles and EXIF data are not
 * applied.
 *
 * Files are untrusted. Refused (FBY_BAD_SAMPLE), by name and before memory is
 * allocated for pixels: 16 bits a channel, an alpha channel, a transparent
 * colour or palette (allowed in a mask, whose colours are ignored), a mask in
 * RGB, more pixels than a limit below, and ancillary chunks larger than a
 * limit; then everything that the library refuses. A wrong checksum in a chunk
 * up to the last one with pixels is refused, even if its rows are not wanted;
 * chunks after that one are not read. */
#ifndef FBY_WORKER_TRANSFORM_PNG_H
#define FBY_WORKER_TRANSFORM_PNG_H

#include "worker/transform/picture.h"

enum {
    /* Of an ancillary chunk, and of all that the library keeps. */
    FBY_PNG_MAX_CHUNK_BYTES = 4 << 20,
    /* Deflate packs at most 1032 to 1, and a byte holds up to 8 pixels. */
    FBY_PNG_MAX_PIXELS_PER_BYTE = 8 * 1032
};

/* Does the file begin with the signature of PNG? */
bool fby_png_is(const struct fby_picture_file *file);

/* The decoders as a picture, and as a mask of 1 byte a pixel. The unit of a
 * part must be 1. An interlaced file is decoded whole into scratch[1]. */
extern const struct fby_picture_decoder fby_png_picture;
extern const struct fby_picture_decoder fby_png_mask;

#endif
