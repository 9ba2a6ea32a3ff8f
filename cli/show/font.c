/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/show/font.h"

#include <string.h>

#include "common/mem.h"
#include "common/utf8.h"

enum { FIRST_LETTER = ' ', LAST_LETTER = '~', ROWS = 7, COLUMNS = 5 };
enum { RGB = 3 };     /* bytes of a pixel */
enum { DESCENT = 2 }; /* rows that descenders reach below the others */

/* Without its descender a `g` reads as a 9. */
static const char descenders[] = "gpqy";

/* The pixels of the letters in the order of ASCII: 7 rows of 5 bits each. The
 * highest of the 35 bits is the upper left pixel. */
/* clang-format off */
static const uint64_t letters[LAST_LETTER - FIRST_LETTER + 1] = {
    0x000000000, 0x108421004, 0x294a00000, 0x295f57d4a, /*   ! " # */
    0x11f4717c4, 0x632222263, 0x32544564d, 0x108800000, /* $ % & ' */
    0x088842082, 0x208210888, 0x009575480, 0x0084f9080, /* ( ) * + */
    0x000003088, 0x0000f8000, 0x00000018c, 0x002222200, /* , - . / */
    0x3a33ae62e, 0x11842108e, 0x3a211111f, 0x7c441062e, /* 0 1 2 3 */
    0x08ca97c42, 0x7e1e0862e, 0x1910f462e, 0x7c2222108, /* 4 5 6 7 */
    0x3a317462e, 0x3a317844c, 0x018c03180, 0x018c03088, /* 8 9 : ; */
    0x088882082, 0x001f07c00, 0x208208888, 0x3a2111004, /* < = > ? */
    0x3a216d6ae, 0x3a31fc631, 0x7a31f463e, 0x3a308422e, /* @ A B C */
    0x72518c65c, 0x7e10f421f, 0x7e10f4210, 0x3a30bc62f, /* D E F G */
    0x4631fc631, 0x38842108e, 0x1c4210a4c, 0x4654c5251, /* H I J K */
    0x42108421f, 0x4775ac631, 0x4639ace31, 0x3a318c62e, /* L M N O */
    0x7a31f4210, 0x3a318d64d, 0x7a31f5251, 0x3e107043e, /* P Q R S */
    0x7c8421084, 0x46318c62e, 0x46318c544, 0x4631ad6aa, /* T U V W */
    0x462a22a31, 0x463151084, 0x7c222221f, 0x39084210e, /* X Y Z [ */
    0x020820820, 0x38421084e, 0x115100000, 0x00000001f, /* \ ] ^ _ */
    0x208200000, 0x000e0be2f, 0x4216cc63e, 0x000e8422e, /* ` a b c */
    0x042d9c62f, 0x000e8fe0e, 0x1928e2108, 0x3e318bc2e, /* d e f g */
    0x4216cc631, 0x100c2108e, 0x080610a4c, 0x4212a6292, /* h i j k */
    0x30842108e, 0x001aad631, 0x0016cc631, 0x000e8c62e, /* l m n o */
    0x7a318fa10, 0x3e318bc21, 0x0016cc210, 0x000e8383e, /* p q r s */
    0x211c42126, 0x00118c66d, 0x00118c544, 0x00118d6aa, /* t u v w */
    0x001151151, 0x46318bc2e, 0x001f1111f, 0x088441082, /* x y z { */
    0x108421084, 0x208411088, 0x0008a8800, /* | } ~ */
};
/* clang-format on */

/* U+00C0 to U+00FF without their accents. */
static const char latin[] = "AAAAAAACEEEEIIIIDNOOOOOxOUUUUYTs"
                            "aaaaaaaceeeeiiiidnooooo/ouuuuyty";

static const char unknown = '?';

/* The letter for the character of `length` bytes at `text`; 0: one that is drawn
 * over the letter before it, as U+0308 is in a name of macOS. `length` is 0 for a
 * byte of no character. */
static char letter_of(const char *text, size_t length)
{
    unsigned char first  = (unsigned char)text[0];
    unsigned char second = length == 2 ? (unsigned char)text[1] : 0;
    if (length == 1 && first >= FIRST_LETTER && first <= LAST_LETTER) {
        return text[0];
    }
    if (length == 2 && (first == 0xcc || (first == 0xcd && second < 0xb0))) {
        return 0; /* U+0300 to U+036F */
    }
    if (length == 2 && first == 0xc3) {
        return latin[second & 0x3f];
    }
    return unknown;
}

char *fby_font_letters(const char *text)
{
    char  *out = fby_zalloc(strlen(text) + 1);
    size_t n   = 0;
    while (*text != '\0') {
        size_t length = fby_utf8_length(text, strlen(text));
        out[n]        = letter_of(text, length);
        n += out[n] != 0 ? 1 : 0;
        text += length > 0 ? length : 1;
    }
    return out;
}

static void blacken(const struct fby_canvas *canvas, uint32_t x, uint32_t y)
{
    if (x < canvas->width && y < canvas->height) {
        memset(canvas->pixels + RGB * ((size_t)y * canvas->width + x), 0, RGB);
    }
}

static void draw_letter(
    const struct fby_canvas *canvas, uint32_t x, uint32_t y, char letter)
{
    uint64_t pixels = letters[letter - FIRST_LETTER];
    y += strchr(descenders, letter) != NULL ? DESCENT : 0;
    for (uint32_t i = 0; i < ROWS * COLUMNS; i++) {
        if ((pixels >> (ROWS * COLUMNS - 1 - i) & 1) != 0) {
            blacken(canvas, x + i % COLUMNS, y + i / COLUMNS);
        }
    }
}

void fby_font_draw(const struct fby_canvas *canvas, uint32_t x, uint32_t y,
    const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        draw_letter(canvas, x + (uint32_t)i * FBY_FONT_ADVANCE, y, text[i]);
    }
}
