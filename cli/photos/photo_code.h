/* photo_code.h - what command.c paints and photo_read.c looks for.
 *
 * A number is 32 bits: 24 of its own, 8 of a check; they stand in two rows of
 * 16 cells, the highest bit first, light for 1, over the picture's width. A
 * label is one of twelve directions of (Cb, Cr). */
#ifndef FBY_CLI_PHOTOS_PHOTO_CODE_H
#define FBY_CLI_PHOTOS_PHOTO_CODE_H

#include <stdint.h>

#include "cli/photos/photos.h"

enum {
    FBY_CELL_ROWS    = 2,
    FBY_CELL_COLUMNS = 16,
    FBY_CELL_HEIGHT  = 8, /* pixels: one row of blocks */
    FBY_LUMA_DARK    = 80,
    FBY_LUMA_LIGHT   = 176
};

struct fby_hue { /* cosine and sine, in 1/256 */
    int32_t cb, cr;
};

extern const struct fby_hue fby_hues[FBY_PHOTO_LABELS];

static inline uint32_t fby_photo_code(uint32_t number)
{
    uint32_t check = (number * UINT32_C(0x9e3779b1)) >> 24;
    return number << 8 | check;
}

#endif
