/* UTF-8, one character at a time: how long it must be follows from its first
 * byte, what its second may be follows from the first too, and the others are
 * continuations. Checking and mending share that one step. */
#include "proto/text.h"

#include <string.h>

static size_t sequence_length(uint8_t first)
{
    if (first < 0x80) {
        return 1;
    }
    if (first < 0xc2 || first > 0xf4) {
        return 0;
    }
    return first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

/* The second byte's range depends on the first: no long forms, no
 * surrogates, nothing above U+10FFFF. */
static bool second_fits(uint8_t first, uint8_t second)
{
    uint8_t low  = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
    uint8_t high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
    return second >= low && second <= high;
}

/* Bytes of the character at `p`, or 0 when there is none. */
static size_t character(const uint8_t *p, size_t left)
{
    size_t n = sequence_length(p[0]);
    if (n == 0 || n > left || p[0] == 0) {
        return 0;
    }
    if (n > 1 && !second_fits(p[0], p[1])) {
        return 0;
    }
    for (size_t i = 2; i < n; i++) {
        if ((p[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    return n;
}

static bool is_control(uint8_t byte)
{
    return byte < 0x20 || byte == 0x7f;
}

bool text_is_utf8(const void *text, size_t size)
{
    const uint8_t *p = text;
    while (size > 0) {
        size_t n = character(p, size);
        if (n == 0) {
            return false;
        }
        p += n;
        size -= n;
    }
    return true;
}

bool text_is_plain(const void *text, size_t size)
{
    const uint8_t *p = text;
    for (size_t i = 0; i < size; i++) {
        if (is_control(p[i])) {
            return false;
        }
    }
    return text_is_utf8(text, size);
}

size_t text_mend(const char *text, uint8_t *out, size_t max)
{
    const uint8_t *p       = (const uint8_t *)text;
    size_t         left    = strlen(text);
    size_t         written = 0;
    while (left > 0) {
        size_t n     = character(p, left);
        size_t taken = n > 0 ? n : 1;
        if (written + taken > max) {
            break;
        }
        memcpy(out + written, p, taken);
        if (n == 0) {
            out[written] = '?';
        } else if (is_control(*p)) {
            out[written] = ' ';
        }
        written += taken;
        p += taken;
        left -= taken;
    }
    return written;
}
