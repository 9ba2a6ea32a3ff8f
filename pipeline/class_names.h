/* SPDX-License-Identifier: Apache-2.0 */
/* class_names.h - the names of classes: the key `names` of a label.
 *
 * The id of a class is the position of its name in the list. A content has the
 * names of all its labels in one struct fby_class_names, and each label the
 * range of its own. Names are added in the order of ids and are valid, so that
 * they need no further check: not empty, UTF-8, at most FBY_MAX_CLASS_NAME
 * bytes, no control characters, no blanks at the ends, no name twice. */
#ifndef FBY_PIPELINE_CLASS_NAMES_H
#define FBY_PIPELINE_CLASS_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "common/err.h"
#include "pipeline/types.h"

/* Append a name to `range`, to which the last name of `self` belongs, unless
 * the range is empty: {.first = self->n}. `name` is borrowed for the call.
 * Errors: FBY_CONFIG  the name is not valid, is in the range already, or is one
 *                     too many. */
FBY_CHECKED fby_err fby_class_names_add(struct fby_class_names *self,
    struct fby_name_range *range, const void *name, size_t size,
    struct fby_error_detail *why);

/* Append the names in a text, one a line. Blanks around a name are removed; a
 * byte order mark, and empty lines at the end, are skipped. `path` is for
 * messages.
 * Errors: FBY_CONFIG  with "PATH, line N: ...". */
FBY_CHECKED fby_err fby_class_names_parse(const char *text, size_t size,
    const char *path, struct fby_class_names *self,
    struct fby_name_range *range, struct fby_error_detail *why);

/* The name of class `id`, borrowed; NULL if the range has no such id. */
const char *fby_class_name(const struct fby_class_names *self,
    struct fby_name_range range, uint32_t id);

/* Find the id of a name in O(log n), and set *out. `name` need not end with
 * NUL. Returns false if no class has this name. */
bool fby_class_names_find(const struct fby_class_names *self,
    struct fby_name_range range, const void *name, size_t size, uint32_t *out);

/* Remove the blanks (space, tab, CR, LF) at both ends of a text. */
void fby_class_name_strip(const char **text, size_t *size);

/* Skip a byte order mark at the start of a text, and the blanks after it.
 * Returns true if there is one. */
bool fby_class_name_skip_mark(const char **text, size_t *size);

/* Set `why` to "class 'NAME' is not in names of field FIELD (nearest: OTHER):
 * add it to names or correct the data", or say that the value has a NUL in it.
 * Returns `err`. */
fby_err fby_class_names_refuse(const struct fby_class_names *self,
    const struct fby_field_content *field, const void *name, size_t size,
    fby_err err, struct fby_error_detail *why);

/* The label of a content whose names are those of the dataset's classes: the
 * first field with names. NULL if no field has names. */
const struct fby_field_content *fby_class_names_field(
    const struct fby_content *content);

/* The names of a field of any kind; empty if it has none. */
struct fby_name_range fby_field_names(const struct fby_field_content *field);

/* True for a label from class folders whose ids are not positions of names:
 * they follow from the folders of this split, or of another (parse.h). */
bool fby_field_is_numbered_by_folders(const struct fby_field_content *field);

/* True if a content has such a field. */
bool fby_content_is_numbered_by_folders(const struct fby_content *content);

#endif
