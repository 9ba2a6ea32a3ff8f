/* SPDX-License-Identifier: Apache-2.0 */
/* text.h - rules for names, and functions that quote user text in messages. */
#ifndef FBY_PIPELINE_TEXT_H
#define FBY_PIPELINE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* True for the names of splits that no model is trained on: val, valid,
 * validation, test, and these with `_` or `-` and more after it. */
bool fby_text_is_evaluation_split(const char *name);

/* True for the usual names of coordinates in a picture: boxes, keypoints, xmin
 * and so on, in any case. One part of a name with dots is enough (boxes.npy),
 * and so is the last word of a part (gt_boxes). */
bool fby_text_is_coordinates(const char *name);

/* True if `text` can name a field, split or group: a letter or `_`, then
 * letters, digits, `_` and `-`; at most 63 bytes. ASCII only. */
bool fby_text_is_name(const char *text);

/* True if `text` can be a member's extension: lower-case letters, digits, `_`,
 * `-` and inner dots; at most 63 bytes. */
bool fby_text_is_extension(const char *text);

enum { FBY_SHOWN_SIZE = 64 };
struct fby_shown {
    char text[FBY_SHOWN_SIZE];
};

/* A copy of `text` that is safe to print in a message: control characters
 * and bytes that are not UTF-8 become `?`, and a text of more than 60 bytes is
 * cut and ends with "...". */
struct fby_shown fby_text_show(const char *text);

/* The same, but cut to at most `max` bytes of whole characters, without "...". */
struct fby_shown fby_text_show_begin(const char *text, size_t max);

/* True if `text` ends with `end` and is longer than it. */
bool fby_text_ends_with(const char *text, const char *end);

/* Append `name` to the text "a, b, c" in `list`, which has `capacity` bytes. A
 * text that does not fit is cut. */
void fby_text_append_name(char *list, size_t capacity, const char *name);

/* True if `text` is in `list`, which ends with NULL. A NULL list is empty. */
bool fby_text_is_one_of(const char *text, const char *const *list);

#endif
