/* SPDX-License-Identifier: Apache-2.0 */
/* list_command.h - the command that writes new lists of those in a folder, with a
 * program of Python (programs.h). */
#ifndef FBY_CLI_INIT_LIST_COMMAND_H
#define FBY_CLI_INIT_LIST_COMMAND_H

#include "cli/init/guess_search.h"
#include "cli/init/text.h"

struct fby_list_command {
    struct fby_search *search;
    const char        *dir;  /* of the lists, below the root */
    const char        *list; /* the name of the first one */
    const char        *word; /* of the new lists: fby_guess_name_list() */
};

/* Append what the program needs to know of a list, in the syntax of Python, or
 * nothing for a list that it leaves out. Returns false if that cannot be quoted. */
typedef bool fby_list_append_fn(
    const void *arg, const char *list, struct fby_buffer *out);

/* Append to `out`, separated by commas, what `append` writes of the list and of the
 * others of its type (.csv, .jsonl) beside it, if init was not given the list alone:
 * of at most FBY_COMMAND_LISTS in all. Returns false if something cannot be quoted. */
bool fby_list_command_append(const struct fby_list_command *self,
    fby_list_append_fn *append, const void *arg, struct fby_buffer *out);

enum { FBY_COMMAND_LISTS = 8 };

/* Set the command of the search: `settings`, and the parts of the program that all
 * lists have, with `change` in their middle. It ends with the next init. Returns
 * false if there is none, as in a zip archive. */
bool fby_list_command_set(const struct fby_list_command *self,
    const struct fby_buffer *settings, const char *change);

#endif
