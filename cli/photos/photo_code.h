/* SPDX-License-Identifier: Apache-2.0 */
/* photo_code.h - the code that photos.c paints and photo_read.c reads.
 *
 * The code of a number is its 24 bits and 8 check bits. The bits are painted as
 * two rows of 16 cells over the picture's width, the highest bit first; a light
 * cell is 1. A label is the hue: one of twelve directions of (Cb, Cr). */
#ifndef FBY_CLI_PHOTOS_PHOTO_CODE_H
#define FBY_CLI_PHOTOS_PHOTO_CODE_H

#include <stdint.h>

enum {
    FBY_CELL_ROWS    = 2,
    FBY_CELL_COLUMNS = 16,
    FBY_CELL_HEIGHT  = 8,  /* pixels: one row of JPEG blocks */
    FBY_LUMA_DARK    = 80, /* luma of a cell for 0, of 0 to 255 */
    FBY_LUMA_LIGHT   = 176 /* luma of a cell for 1 */
};

struct fby_hue { /* a direction: its cosine and sine, in 1/256 */
    int32_t cb, cr;
};

extern const struct fby_hue fby_hues[]; /* by label */

/* The code of a number: its 24 bits, then the check bits (a hash). */
static inline uint32_t fby_photo_code(uint32_t number)
{
    uint32_t check = (number * UINT32_C(0x9e3779b1)) >> 24;
    return number << 8 | check;
}

#endif
