/* Both functions process a text one character at a time. */
#include "proto/text.h"

#include <string.h>

#include "common/utf8.h"

bool text_is_plain(const void *text, size_t size)
{
    const char *p = text;
    for (size_t i = 0; i < size; i++) {
        if (fby_is_control(p[i])) {
            return false;
        }
    }
    return fby_is_utf8(text, size);
}

size_t text_sanitize(const char *text, uint8_t *out, size_t max)
{
    const uint8_t *p       = (const uint8_t *)text;
    size_t         left    = strlen(text);
    size_t         written = 0;
    while (left > 0) {
        size_t valid = fby_utf8_length(p, left); /* 0: an invalid byte */
        size_t taken = valid > 0 ? valid : 1;
        if (written + taken > max) {
            break;
        }
        memcpy(out + written, p, taken);
        if (valid == 0) {
            out[written] = '?';
        } else if (fby_is_control((char)*p)) {
            out[written] = ' ';
        }
        written += taken;
        p += taken;
        left -= taken;
    }
    return written;
}
