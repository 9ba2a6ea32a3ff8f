/* font.h - small letters on a picture: ASCII, 5 x 7 pixels, black.
 *
 * Enough to read what stands under a picture without a font library. Any other
 * byte is drawn as a question mark. */
#ifndef FBY_CLI_SHOW_FONT_H
#define FBY_CLI_SHOW_FONT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    FBY_FONT_ADVANCE = 6, /* pixels from one letter to the next */
    FBY_FONT_LINE    = 9  /* and from one line to the next */
};

struct fby_canvas { /* RGB, 8 bits each, without gaps between rows */
    uint8_t *pixels;
    uint32_t width, height;
};

/* Draw `n` bytes of `text`, the first one's upper left corner at (x, y). What
 * lies outside of the canvas is left out. */
void fby_font_draw(const struct fby_canvas *canvas, uint32_t x, uint32_t y,
    const char *text, size_t n);

#endif
