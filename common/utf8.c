/* The first byte of a character determines its length and the range of its
 * second byte; all further bytes may be any continuation bytes. */
#include "common/utf8.h"

#include <stdint.h>

/* The bytes of a character whose first byte is `first`; 0: not a first byte. */
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

/* The range of the second byte excludes overlong forms, surrogates and code
 * points above U+10FFFF. */
static bool second_fits(uint8_t first, uint8_t second)
{
    uint8_t low  = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
    uint8_t high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
    return second >= low && second <= high;
}

size_t fby_utf8_length(const void *text, size_t left)
{
    const uint8_t *p = text;
    size_t         n = sequence_length(p[0]);
    if (n == 0 || n > left || (n > 1 && !second_fits(p[0], p[1]))) {
        return 0;
    }
    for (size_t i = 2; i < n; i++) {
        if ((p[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    return n;
}

bool fby_is_utf8(const void *text, size_t size)
{
    const uint8_t *p = text;
    size_t         n = 1;
    for (size_t at = 0; n > 0 && at < size; at += n) {
        n = fby_utf8_length(p + at, size - at);
    }
    return n > 0;
}
