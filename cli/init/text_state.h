/* SPDX-License-Identifier: Apache-2.0 */
/* text_state.h - functions shared by text.c and text_members.c. */
#ifndef FBY_CLI_INIT_TEXT_STATE_H
#define FBY_CLI_INIT_TEXT_STATE_H

#include "cli/init/text.h"

void fby_init_append(struct fby_buffer *out, const char *text);

/* Append text as printf does; it is cut after 255 bytes. */
__attribute__((format(printf, 2, 3))) void fby_init_printf(
    struct fby_buffer *out, const char *format, ...);

/* Append a double-quoted YAML string. */
void fby_init_append_quoted(struct fby_buffer *out, const char *text);

/* Write `name` in lower case, as it stands in a field's `from`. Returns true if
 * the result is also a valid name of a field. */
bool fby_init_to_field_name(const char *name, char out[FBY_NAME_SIZE]);

/* Append the fields of a source with members: pictures, masks, labels and
 * values. Returns the number of fields. */
size_t fby_init_append_members(
    struct fby_buffer *out, const struct fby_init_summary *data);

/* Write the valid extensions of the members, as "a, b": at most FBY_MAX_FROM,
 * and as many as fit. Returns the number of extensions written. */
size_t fby_init_list_extensions(
    const struct fby_init_summary *data, char *out, size_t capacity);

#endif
