/* text.h - rules for names, and strangers' texts made fit to show. */
#ifndef FBY_PIPELINE_TEXT_H
#define FBY_PIPELINE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* A name of a field, split or group: a letter or `_`, then letters, digits,
 * `_` and `-`; at most 63 bytes. ASCII only. */
bool fby_text_is_name(const char *text);

/* A member's extension: lower-case letters, digits, `_`, `-` and inner dots;
 * at most 63 bytes. */
bool fby_text_is_extension(const char *text);

enum { FBY_SHOWN_SIZE = 64 };
struct fby_shown {
    char text[FBY_SHOWN_SIZE];
};

/* `text` on one line and cut to a bearable length, for messages. */
struct fby_shown fby_text_show(const char *text);

/* Does `text` end with `end`, and have something before it? */
bool fby_text_ends_with(const char *text, const char *end);

/* Append `name` to a list "a, b, c" in `list`, which has `capacity` bytes; what
 * does not fit is cut. */
void fby_text_list(char *list, size_t capacity, const char *name);

/* Is it in the list, which ends with NULL? A list that is NULL is empty. */
bool fby_text_is_one_of(const char *text, const char *const *list);

#endif
