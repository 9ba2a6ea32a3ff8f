/* SPDX-License-Identifier: Apache-2.0 */
/* guess_tokens.h - recognise token files in a directory, and refuse those that
 * may be tokens and are not read so. */
#ifndef FBY_CLI_INIT_GUESS_TOKENS_H
#define FBY_CLI_INIT_GUESS_TOKENS_H

#include "cli/init/guess_search.h"

/* Add a split for each group of token files.
 * Errors: those of reading; FBY_CONFIG for invalid files. */
FBY_CHECKED fby_err fby_guess_tokens(struct fby_search *search,
    const char *path, const struct fby_listing *listing,
    struct fby_error_detail *why);

/* Give all splits of tokens the length of the first, when their order is that of the
 * file. A split that is too short for it keeps its own, with a note.
 * Errors: those of reading. */
FBY_CHECKED fby_err fby_guess_share_length(
    struct fby_search *search, struct fby_error_detail *why);

/* Refuse NumPy files in `path` where the user gave the type of tokens, and no
 * token files were found.
 * Errors: FBY_CONFIG  what to do. */
FBY_CHECKED fby_err fby_refuse_token_arrays(const struct fby_search *search,
    const char *path, const struct fby_listing *listing,
    struct fby_error_detail *why);

/* Add a note if the table is one array of whole numbers, which may be tokens. */
void fby_guess_note_token_array(
    struct fby_search *search, const struct fby_guess_split *split);

/* Refuse .bin files whose type is not given, if nothing else there is data.
 * Errors: FBY_CONFIG  the option that is needed;  FBY_IO. */
FBY_CHECKED fby_err fby_refuse_untyped_tokens(const struct fby_search *search,
    const char *path, const struct fby_listing *listing,
    struct fby_error_detail *why);

/* Refuse the flat file `name` in `path` if its numbers seem to be wider or narrower
 * than those of the type that the user gives (token_type.h).
 * Errors: FBY_CONFIG: the command with the type that it seems to have. */
FBY_CHECKED fby_err fby_refuse_token_type(const struct fby_search *search,
    const char *path, const char *name, struct fby_error_detail *why);

#endif
