/* SPDX-License-Identifier: Apache-2.0 */
/* photos.h - photo-like JPEG pictures whose pixels encode number and label.
 *
 * The demo and the tests use them, because the project contains no photographs.
 * Picture n is a function of n and the label: gradients, edges, texture and
 * noise, in one of several sizes. Its pixels contain:
 *   - the number, as light and dark cells along the top, readable in a picture
 *     that was decoded as a whole;
 *   - the label, as the hue of the whole picture, readable also in a scaled or
 *     mirrored crop. */
#ifndef FBY_CLI_PHOTOS_H
#define FBY_CLI_PHOTOS_H

#include <stdbool.h>

#include "common/bytes.h"
#include "worker/transform/image.h"

enum {
    FBY_PHOTO_LABELS    = 12,      /* labels are 0 to 11 */
    FBY_PHOTO_NUMBERS   = 1 << 24, /* numbers are 0 to 16,777,215 */
    FBY_PHOTO_MAX_SIDE  = 8192,    /* pixels */
    FBY_PHOTO_READ_SIDE = 96 /* least width to read a number from, in pixels */
};

enum fby_photo_sampling { /* size of chroma relative to luma */
    FBY_PHOTO_420,        /* half the width and height, as in cameras */
    FBY_PHOTO_444,        /* the same size */
    FBY_PHOTO_422,        /* half the width */
    FBY_PHOTO_440,        /* half the height */
    FBY_PHOTO_GREY        /* no chroma: the label cannot be read */
};

struct fby_photo {
    uint32_t number;
    uint32_t label;
    /* Upright, in pixels. Both 0: the number decides, 160 to 640. */
    uint32_t width, height;
    uint32_t quality; /* 1 to 100; 0: the number decides, 75 to 95 */
    enum fby_photo_sampling sampling;
    bool                    progressive;
    uint32_t                restart; /* rows of blocks; 0: no restart markers */
    uint32_t                orientation; /* EXIF, 1 to 8; 0: no EXIF */
};

/* Append the JPEG file to `out`. Aborts when memory is short.
 * Errors: FBY_USAGE when a member of `photo` is out of range. */
FBY_CHECKED fby_err fby_photo_write(
    const struct fby_photo *photo, struct fby_buffer *out);

/* Read the number of a whole decoded picture; false if it has none. */
bool fby_photo_read_number(const struct fby_image *image, uint32_t *out);

/* Read the label from any part of a picture; false if no hue dominates. */
bool fby_photo_read_label(const struct fby_image *image, uint32_t *out);

#endif
