/* utf8.h - is this UTF-8?
 *
 * RFC 3629: the shortest form only, no surrogates, nothing above U+10FFFF; and
 * no NUL, because texts end with one. Any thread. */
#ifndef FBY_COMMON_UTF8_H
#define FBY_COMMON_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes of the character at `text`, of which `left` > 0 are there; 0 when it
 * is none, is cut, or is NUL. */
size_t fby_utf8_length(const void *text, size_t left);

/* Whether `size` bytes are characters, one after another. */
bool fby_is_utf8(const void *text, size_t size);

#endif
