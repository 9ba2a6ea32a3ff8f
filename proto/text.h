/* text.h - check and sanitize texts for users.
 *
 * Names that are not UTF-8 are refused. Texts for users are sanitized instead,
 * because a damaged text is better than none. Internal to proto/. */
#ifndef FBY_PROTO_TEXT_H
#define FBY_PROTO_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether `size` bytes are UTF-8 without control characters (C0 and DEL). */
bool text_is_plain(const void *text, size_t size);

/* Write at most `max` bytes of `text`, up to its NUL, to `out`. Control
 * characters become blanks, invalid bytes `?`, and no character is cut. Returns
 * the number of bytes written; adds no NUL. */
size_t text_sanitize(const char *text, uint8_t *out, size_t max);

#endif
