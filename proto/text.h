/* text.h - check and sanitize texts for users.
 *
 * Names that are not UTF-8 are refused. Texts for users are sanitized instead,
 * because a damaged text is better than none. Internal to proto/. */
#ifndef FBY_PROTO_TEXT_H
#define FBY_PROTO_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* True if `size` bytes are UTF-8 without control characters (C0 and DEL). */
bool text_is_plain(const void *text, size_t size);

/* Copy `text` to `out`, at most `max` bytes and only whole characters. Control
 * characters become blanks, and invalid bytes become `?`. Adds no NUL; returns
 * the number of bytes written. */
size_t text_sanitize(const char *text, uint8_t *out, size_t max);

#endif
