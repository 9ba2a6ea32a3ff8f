/* SPDX-License-Identifier: Apache-2.0 */
/* font.h - draw black ASCII letters of 5 x 7 pixels on a picture, without a
 * font library. The letters g, p, q and y reach 2 pixels lower. */
#ifndef FBY_CLI_SHOW_FONT_H
#define FBY_CLI_SHOW_FONT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    FBY_FONT_ADVANCE = 6, /* pixels from one letter to the next */
    FBY_FONT_LINE    = 11 /* pixels from one line to the next */
};

struct fby_canvas { /* RGB, 8 bits each, without gaps between rows */
    uint8_t *pixels;
    uint32_t width, height;
};

/* Copy `text`, which is UTF-8, with one letter of the font for each character:
 * a letter of Latin-1 without its accent, and '?' for a character that is not
 * known. Ownership: the caller frees the copy. */
char *fby_font_letters(const char *text);

/* Draw `n` letters of the font. (x, y) is the upper left corner of the first
 * letter. Pixels outside the canvas are clipped. */
void fby_font_draw(const struct fby_canvas *canvas, uint32_t x, uint32_t y,
    const char *text, size_t n);

#endif
