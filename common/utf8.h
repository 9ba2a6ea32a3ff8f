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

/* True if `c` is a control character of one byte: a newline, an escape, DEL,
 * ... */
static inline bool fby_is_control(char c)
{
    return (unsigned char)c < 0x20 || c == 0x7f;
}

/* True if `text` has a control character, also one of U+0080 to U+009F, which
 * have two bytes. Some terminals run these as escape sequences, and libyaml
 * reads U+0085 as the end of a line. */
bool fby_utf8_has_control(const void *text, size_t size);

/* True if `text` has a control character, or one of those that end a line or
 * change the order in which others are shown: U+200E, U+200F, U+2028 to U+202E
 * and U+2066 to U+2069. A text with these is valid, but does not show what it
 * is. */
bool fby_utf8_has_hidden(const void *text, size_t size);

/* Replace every such character of `text` by '?', and every byte that is not
 * part of a valid character. The text may become shorter. */
void fby_make_one_line(char *text);

#endif
