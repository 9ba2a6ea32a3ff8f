/* SPDX-License-Identifier: Apache-2.0 */
/* utf8.h - validate UTF-8 from outside, and remove control characters.
 *
 * As in RFC 3629, a character must have its shortest form, be at most U+10FFFF
 * and not be a surrogate. NUL is invalid too, because it ends a C string. Any
 * thread. */
#ifndef FBY_COMMON_UTF8_H
#define FBY_COMMON_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* The length in bytes of the first character of `text`, which has `left` > 0
 * bytes; 0 when the character is invalid, incomplete, or NUL. */
size_t fby_utf8_length(const void *text, size_t left);

/* True if the `size` bytes of `text` are valid characters only. */
bool fby_is_utf8(const void *text, size_t size);

/* True if `c` is a control character: a newline, an escape, DEL, ... */
static inline bool fby_is_control(char c)
{
    return (unsigned char)c < 0x20 || c == 0x7f;
}

/* Replace every control character of `text` by '?'. */
static inline void fby_make_one_line(char *text)
{
    for (; *text != '\0'; text++) {
        if (fby_is_control(*text)) {
            *text = '?';
        }
    }
}

#endif
