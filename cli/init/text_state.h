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

struct fby_init_name {
    char text[2 * FBY_NAME_SIZE + 2]; /* also of a key in an object */
};

/* A name as YAML, in quotes if readers of YAML take it for another value, such
 * as null or 012. `name` is one of a field, extension, column or split, so it
 * has no special character. */
struct fby_init_name fby_init_write_name(const char *name);

/* Append a key of JSON, in quotes if it is not plain. */
void fby_init_append_key(struct fby_buffer *out, const char *key);

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

enum { FBY_INIT_COORDINATES = 128 }; /* bytes of the names of coordinates */

/* Append the names of the columns and keys of coordinates, as "a, b", to `out`,
 * a text. Returns true if there are any. */
bool fby_init_list_coordinates(
    const struct fby_init_summary *data, char *out, size_t size);

/* The same for columns and keys whose values a horizontal flip changes: angles, as
 * steering, and classes such as left and right. */
bool fby_init_list_flipped(
    const struct fby_init_summary *data, char *out, size_t size);

/* The same for arrays with a value for each pixel of the picture, as depths. */
bool fby_init_list_maps(
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

/* Write the name of a member's field: its stem, as "mask" of mask.png, else
 * `fallback`. */
void fby_init_name_field(const struct fby_init_member *member,
    const char *fallback, char out[FBY_NAME_SIZE]);

/* True if `out` has a field of that name. */
bool fby_init_has_field(const struct fby_buffer *out, const char *name);

/* The member with valid labels, as in WebDataset: extension "cls"; NULL: none. */
const struct fby_init_member *fby_init_find_label(
    const struct fby_init_summary *data);

/* True for the image and its other formats, such as "png" beside "jpg". */
bool fby_init_is_same_image(const struct fby_init_summary *data,
    const struct fby_init_member *image, const struct fby_init_member *member);

/* True for a mask of the image. */
bool fby_init_is_mask(const struct fby_init_summary *data,
    const struct fby_init_member *image, const struct fby_init_member *member);

/* Append `fit: stretch` if a mask among the first samples has another size than
 * its picture (text_fit.c). */
void fby_init_append_fit(struct fby_buffer *out,
    const struct fby_init_summary *data, const struct fby_init_member *image,
    const struct fby_init_member *mask);

/* Append the note of this to `out`, one line. */
void fby_init_append_fit_note(struct fby_buffer *out,
    const struct fby_init_summary *data, const struct fby_init_member *image,
    const struct fby_init_member *mask);

/* Append a note on a picture that is turned upright, whose mask may lie as it is
 * stored: sizes do not tell. */
void fby_init_append_orientation_note(struct fby_buffer *out,
    const struct fby_init_summary *data, const struct fby_init_member *image,
    const struct fby_init_member *mask);

/* Refuse a mask of another aspect ratio than its picture, unless data->allow_stretch.
 * Errors: FBY_CONFIG  the two files, their sizes, and what to do. */
FBY_CHECKED fby_err fby_init_refuse_sizes(
    const struct fby_init_summary *data, struct fby_error_detail *why);

/* True for the image, its other formats, its masks, and pictures that are left
 * out: a field or comment has the member. */
bool fby_init_is_picture_of(const struct fby_init_summary *data,
    const struct fby_init_member *image, const struct fby_init_member *member);

/* True if tar samples have texts, arrays or keys of JSON. */
bool fby_init_has_other_fields(const struct fby_init_summary *data);

enum { FBY_INIT_MAX_TEXT = 4096 /* bytes of a text in tars that are read */ };

/* Append the fields of texts and arrays in tar shards, and a comment for each
 * other member. `image` may be NULL. Returns the number of fields. */
size_t fby_init_append_other_members(struct fby_buffer *out,
    const struct fby_init_summary *data, const struct fby_init_member *image);

/* Refuse tar samples of which no field was appended, if a member says why.
 * Errors: FBY_CONFIG  the member, and what to do. */
FBY_CHECKED fby_err fby_init_refuse_other_members(
    const struct fby_init_summary *data, struct fby_error_detail *why);

/* Say where the max_length of the next field is from, if it is a guess. */
void fby_init_append_limit_note(
    struct fby_buffer *out, const struct fby_init_member *member);

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
