/* text.h - texts for people: are they fit to show, and making them so.
 *
 * Names that are not UTF-8 are refused; what is said to people is mended
 * instead, because a damaged sentence is still better than none.
 * Internal to proto/. */
#ifndef FBY_PROTO_TEXT_H
#define FBY_PROTO_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether `size` bytes are UTF-8 without control characters (C0 and DEL). */
bool text_is_plain(const void *text, size_t size);

/* Write at most `max` bytes of `text`, up to its NUL, to `out`: control
 * characters become blanks, bytes that are no UTF-8 `?`, and no character is
 * cut. Returns the bytes written; no NUL is added. */
size_t text_mend(const char *text, uint8_t *out, size_t max);

#endif
