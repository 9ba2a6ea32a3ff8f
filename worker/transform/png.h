/* png.h - one PNG in memory, or a part of it, to rows of RGB or of ids.
 *
 * As a picture: 8-bit grey is spread over the three channels, fewer bits are
 * scaled to 8, a palette is expanded, interlacing is undone. As a mask: one
 * byte a pixel, the number that stands in the file: a grey value or an index
 * into the palette, not scaled and not looked up. Gamma, colour profiles and
 * EXIF data are not applied.
 *
 * A file is trusted in nothing. Refused (FBY_BAD_SAMPLE), by name and before
 * memory is taken for pixels: 16 bits a channel, an alpha channel, a
 * transparent colour or palette (which a mask may have, since its colours are
 * not looked at), a mask in RGB, more pixels than a limit below, and chunks
 * beside the picture that are larger than a limit; then whatever the library
 * refuses. A wrong checksum of any chunk up to the last one with pixels is
 * refused whichever rows are wanted; what follows that chunk is not looked at.
 */
#ifndef FBY_WORKER_TRANSFORM_PNG_H
#define FBY_WORKER_TRANSFORM_PNG_H

#include "worker/transform/picture.h"

enum {
    /* Of a chunk beside the picture, and of all that are held. */
    FBY_PNG_MAX_CHUNK_BYTES = 4 << 20,
    /* Deflate packs at most 1032 to 1, and 8 pixels fit a byte. */
    FBY_PNG_MAX_PIXELS_PER_BYTE = 8 * 1032
};

/* Does it begin as a PNG does? */
bool fby_png_is(const struct fby_picture_file *file);

/* As a picture, and as a mask: rows of 1 byte a pixel. A part's unit is 1. An
 * interlaced file is decoded whole into scratch[1]. */
extern const struct fby_picture_decoder fby_png_picture;
extern const struct fby_picture_decoder fby_png_mask;

#endif
