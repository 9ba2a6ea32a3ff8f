/* text_state.h - shared by text.c and text_members.c. */
#ifndef FBY_CLI_INIT_TEXT_STATE_H
#define FBY_CLI_INIT_TEXT_STATE_H

#include "cli/init/text.h"

/* Append text. */
void fby_init_put(struct fby_buffer *out, const char *text);

/* Append formatted text; it is cut after 255 bytes. */
__attribute__((format(printf, 2, 3))) void fby_init_put_line(
    struct fby_buffer *out, const char *format, ...);

/* Append a double-quoted YAML string. */
void fby_init_put_quoted(struct fby_buffer *out, const char *text);

/* Convert `name` to lower case, as in a field's `from`. True if the result is a
 * valid name of a field. */
bool fby_init_name(const char *name, char out[FBY_NAME_SIZE]);

/* Append the fields of a source with members: pictures, masks, labels and
 * values. Returns the number of fields. */
size_t fby_init_put_members(
    struct fby_buffer *out, const struct fby_init_summary *s);

/* Write as many extensions as fit, as "a, b". Returns their number. */
size_t fby_init_list(
    const struct fby_init_summary *s, char *out, size_t capacity);

#endif
