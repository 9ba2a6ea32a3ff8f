/* SPDX-License-Identifier: Apache-2.0 */
/* text.h - check and sanitize the texts of messages that users read.
 *
 * Such a text is one line of UTF-8. The sender replaces bytes that are not
 * allowed, because a damaged text is better than none. Internal to proto/. */
#ifndef FBY_PROTO_TEXT_H
#define FBY_PROTO_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* True if `text` is UTF-8 without control characters (bytes 0 to 31, 127). */
bool text_is_plain(const void *text, size_t size);

/* Copy `text` to `out`, at most `max` bytes and only whole characters. Control
 * characters become blanks, and bytes that are not UTF-8 become `?`. Adds no
 * NUL. Returns the number of bytes written. */
size_t text_sanitize(const char *text, uint8_t *out, size_t max);

#endif
