/* text_state.h - what the files that write a first pipeline share. */
#ifndef FBY_CLI_INIT_TEXT_STATE_H
#define FBY_CLI_INIT_TEXT_STATE_H

#include "cli/init/text.h"

void fby_init_put(struct fby_buffer *out, const char *text);

/* At most 255 bytes. */
__attribute__((format(printf, 2, 3))) void fby_init_put_line(
    struct fby_buffer *out, const char *format, ...);

/* A double-quoted YAML text. */
void fby_init_put_quoted(struct fby_buffer *out, const char *text);

/* `name` in lower case, as `from` has it; can a field be called so, too? */
bool fby_init_name(const char *name, char out[FBY_NAME_SIZE]);

/* The fields of a source whose samples have members: pictures, masks, labels
 * and values. Returns how many there are; 0 has written nothing. */
size_t fby_init_put_members(
    struct fby_buffer *out, const struct fby_init_summary *s);

/* All extensions, "a, b", as many as fit; returns how many. */
size_t fby_init_list(
    const struct fby_init_summary *s, char *out, size_t capacity);

#endif
