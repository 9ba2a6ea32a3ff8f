/* SPDX-License-Identifier: Apache-2.0 */
/* shell.h - words of the shell commands that messages suggest. */
#ifndef FBY_COMMON_SHELL_H
#define FBY_COMMON_SHELL_H

#include <stdbool.h>
#include <stddef.h>

/* True if `text` can be a part of a word, or of a text in quotes, as it is: it has
 * only letters, digits and _-+=./:,@% and does not begin with '-'. */
bool fby_shell_is_plain(const char *text);

/* True if `text` can stand in a word of a shell in double quotes, and there in a text
 * of Python in single quotes, as it is. */
bool fby_shell_is_quotable(const char *text);

/* Write `word` so that a shell reads it as one word: as it is, in quotes, or, if
 * it has control characters or invalid UTF-8, as $'...' of bash and zsh with
 * octal numbers. No control character is written.
 *
 * Errors: returns false if it does not fit, and `out` is "". It always fits in
 *         4 * strlen(word) + 4 bytes. */
bool fby_shell_quote(const char *word, char *out, size_t size);

#endif
