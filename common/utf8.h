/* utf8.h - validate UTF-8.
 *
 * RFC 3629: the shortest form only, no surrogates, nothing above U+10FFFF. NUL
 * is refused too, because it ends a C string. Any thread. */
#ifndef FBY_COMMON_UTF8_H
#define FBY_COMMON_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* The length in bytes of the character at `text`, which has `left` > 0 bytes; 0
 * when it is not valid, is cut, or is NUL. */
size_t fby_utf8_length(const void *text, size_t left);

/* Whether `size` bytes are valid characters only. */
bool fby_is_utf8(const void *text, size_t size);

#endif
