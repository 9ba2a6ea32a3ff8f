/* SPDX-License-Identifier: Apache-2.0 */
/* Check and sanitize texts of messages, one UTF-8 character at a time. */
#include "proto/text.h"

#include <string.h>

#include "common/utf8.h"

bool text_is_plain(const void *text, size_t size)
{
    const char *bytes = text;
    for (size_t i = 0; i < size; i++) {
        if (fby_is_control(bytes[i])) {
            return false;
        }
    }
    return fby_is_utf8(text, size);
}

size_t text_sanitize(const char *text, uint8_t *out, size_t max)
{
    const uint8_t *in      = (const uint8_t *)text;
    size_t         left    = strlen(text);
    size_t         written = 0;
    while (left > 0) {
        size_t valid  = fby_utf8_length(in, left); /* 0: not a character */
        size_t length = valid > 0 ? valid : 1;
        if (written + length > max) {
            break;
        }
        memcpy(out + written, in, length);
        if (valid == 0) {
            out[written] = '?';
        } else if (fby_is_control((char)*in)) {
            out[written] = ' ';
        }
        written += length;
        in += length;
        left -= length;
    }
    return written;
}
