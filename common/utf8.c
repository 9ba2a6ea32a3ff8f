/* SPDX-License-Identifier: Apache-2.0 */
/* The first byte of a character determines its length and the range of its
 * second byte. All further bytes are in the range 0x80 to 0xbf. */
#include "common/utf8.h"

#include <stdint.h>
#include <string.h>

/* The number of bytes of a character with this first byte; 0: it is invalid.
 * 0xc0 and 0xc1 begin overlong forms; 0xf5 and above, no code point. */
static size_t sequence_length(uint8_t first)
{
    if (first < 0x80) {
        return first != 0 ? 1 : 0;
    }
    if (first < 0xc2 || first > 0xf4) {
        return 0;
    }
    return first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

/* True if `second` may follow `first`. The low limit excludes overlong forms
 * (0xe0, 0xf0). The high limit excludes surrogates (0xed) and code points above
 * U+10FFFF (0xf4). */
static bool is_second_byte(uint8_t first, uint8_t second)
{
    uint8_t low  = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
    uint8_t high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
    return second >= low && second <= high;
}

size_t fby_utf8_length(const void *text, size_t left)
{
    const uint8_t *bytes  = text;
    size_t         length = sequence_length(bytes[0]);
    if (length == 0 || length > left ||
        (length > 1 && !is_second_byte(bytes[0], bytes[1]))) {
        return 0;
    }
    for (size_t i = 2; i < length; i++) {
        if (bytes[i] < 0x80 || bytes[i] > 0xbf) {
            return 0;
        }
    }
    return length;
}

bool fby_is_utf8(const void *text, size_t size)
{
    const uint8_t *bytes  = text;
    size_t         offset = 0;
    size_t         length = 1; /* length of a character; 0: invalid */
    while (length > 0 && offset < size) {
        length = fby_utf8_length(bytes + offset, size - offset);
        offset += length;
    }
    return length > 0;
}

/* True if the character of `length` bytes at `text` is a control character. */
static bool is_control_character(const uint8_t *text, size_t length)
{
    return length == 2 ? text[0] == 0xc2 && text[1] < 0xa0 /* U+0080-U+009F */
                       : length == 1 && fby_is_control((char)text[0]);
}

/* True for U+200E, U+200F, U+2028 to U+202E and U+2066 to U+2069: they end a
 * line, or change the order in which other characters are shown. */
static bool is_layout_character(const uint8_t *text, size_t length)
{
    if (length != 3 || text[0] != 0xe2) {
        return false;
    }
    bool is_mark = text[2] == 0x8e || text[2] == 0x8f;
    return text[1] == 0x80
               ? is_mark || (text[2] >= 0xa8 && text[2] <= 0xae)
               : text[1] == 0x81 && text[2] >= 0xa6 && text[2] <= 0xa9;
}

bool fby_utf8_has_control(const void *text, size_t size)
{
    const uint8_t *bytes = text;
    for (size_t i = 0; i < size; i++) {
        size_t length = fby_utf8_length(bytes + i, size - i);
        if (bytes[i] == 0 || is_control_character(bytes + i, length)) {
            return true;
        }
    }
    return false;
}

bool fby_utf8_has_hidden(const void *text, size_t size)
{
    const uint8_t *bytes = text;
    bool           found = fby_utf8_has_control(text, size);
    for (size_t i = 0; i < size && !found; i++) {
        found = is_layout_character(
            bytes + i, fby_utf8_length(bytes + i, size - i));
    }
    return found;
}

void fby_make_one_line(char *text)
{
    size_t left = strlen(text);
    char  *out  = text;
    while (left > 0) {
        size_t length = fby_utf8_length(text, left);
        size_t taken  = length > 0 ? length : 1;
        if (length == 0 || fby_utf8_has_hidden(text, length)) {
            *out++ = '?';
        } else {
            memmove(out, text, length);
            out += length;
        }
        text += taken;
        left -= taken;
    }
    *out = '\0';
}
