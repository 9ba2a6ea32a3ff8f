/* SPDX-License-Identifier: Apache-2.0 */
/* text_state.h - functions shared by text.c and text_members.c. */
#ifndef FBY_CLI_INIT_TEXT_STATE_H
#define FBY_CLI_INIT_TEXT_STATE_H

#include "cli/init/text.h"

void fby_init_append(struct fby_buffer *out, const char *text);

/* Append text as printf does; it is cut after 511 bytes. */
__attribute__((format(printf, 2, 3))) void fby_init_printf(
    struct fby_buffer *out, const char *format, ...);

/* Append a double-quoted YAML string. */
void fby_init_append_quoted(struct fby_buffer *out, const char *text);

/* Append the comment `left out: WHAT "NAME": REASON`. `init` prints these
 * comments, too, so the reason says what to do. */
void fby_init_append_left_out(struct fby_buffer *out, const char *what,
    const char *name, const char *reason);

/* The member that is the picture of the first field; NULL: none. */
const struct fby_init_member *fby_init_find_image(
    const struct fby_init_summary *data);

/* True for a picture beside the image that is no mask, so no field reads it. */
bool fby_init_is_left_out(const struct fby_init_summary *data,
    const struct fby_init_member *image, const struct fby_init_member *member);

/* True for a column or key of coordinates in the picture, by its name. */
bool fby_init_is_coordinates(const struct fby_init_member *member);

/* Append the names of the columns and keys of coordinates, as "a, b", to `out`,
 * a text. Returns true if there are any. */
bool fby_init_list_coordinates(
    const struct fby_init_summary *data, char *out, size_t size);

/* Append the fields of a source with members: pictures, masks, labels and
 * values. Returns the number of fields. */
size_t fby_init_append_members(
    struct fby_buffer *out, const struct fby_init_summary *data);

/* Append a label with the words of the member as names, in byte order. They must
 * be the names of classes (words.h). */
void fby_init_append_class_field(struct fby_buffer *out,
    const struct fby_init_member *member, const char *name);

/* Append a comment if the words of a member are text although they could be
 * expected to be classes. */
void fby_init_append_no_classes(
    struct fby_buffer *out, const struct fby_init_member *member);

/* Append a field for each value: a column of a list, or a key of JSON members.
 * `out` has the fields before them. Returns the number of fields. */
size_t fby_init_append_values(
    struct fby_buffer *out, const struct fby_init_summary *data);

/* The smallest power of two that is at least `number`, and at least 1. */
uint32_t fby_init_round_up(uint32_t number);

/* The most bytes of a text, of which the longest that was read has `longest`: a
 * power of two, and if not all texts were read, a margin. */
uint32_t fby_init_text_limit(
    const struct fby_init_member *member, uint32_t longest);

/* Write the valid extensions of the members, as "a, b": at most FBY_MAX_FROM,
 * and as many as fit. Returns the number of extensions written. */
size_t fby_init_list_extensions(
    const struct fby_init_summary *data, char *out, size_t capacity);

#endif
