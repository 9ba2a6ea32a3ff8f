/* SPDX-License-Identifier: Apache-2.0 */
/* guess_zip.h - look for data in zip archives, and refuse those that are not
 * read. */
#ifndef FBY_CLI_INIT_GUESS_ZIP_H
#define FBY_CLI_INIT_GUESS_ZIP_H

#include "cli/init/guess_search.h"

/* Does the path lead to a zip archive or into it, by its name? */
bool fby_guess_is_zip_path(const char *path);

/* Like realpath(). If the path leads into a zip archive, returns the path of
 * the archive, and *within is the rest, which begins with a slash; else "". */
char *fby_guess_resolve(const char *path, const char **within);

/* Add the splits in a zip archive. `path` is that of the archive or of a folder
 * in it. A split that is alone gets the name `name`.
 * Errors: those of opening the archive, and of fby_guess_splits_below. */
FBY_CHECKED fby_err fby_guess_zip(struct fby_search *search, const char *path,
    const char *name, struct fby_error_detail *why);

/* Do so for the zip archives in the listing of `path`: the only one, or of
 * several those for each split, if train is one of them.
 * Errors: those of fby_refuse_zips for other archives, too. */
FBY_CHECKED fby_err fby_guess_zips(struct fby_search *search, const char *path,
    const char *name, const struct fby_listing *listing,
    struct fby_error_detail *why);

/* Refuse the zip archive at `path` if it is a part of a split archive.
 * Errors: FBY_CONFIG: what to do. */
FBY_CHECKED fby_err fby_refuse_zip_parts(const struct fby_search *search,
    const char *path, struct fby_error_detail *why);

/* Refuse the zip archives in the listing of `path`, of which none is train. Sets
 * out->command to one that unpacks them.
 * Errors: FBY_CONFIG  always: what to do. */
FBY_CHECKED fby_err fby_refuse_zips(struct fby_search *search, const char *path,
    const struct fby_listing *listing, struct fby_error_detail *why);

/* Refuse a zip archive without pictures, with this listing of a folder in it.
 * Errors: FBY_CONFIG  always: what to do. */
FBY_CHECKED fby_err fby_refuse_zip(struct fby_search *search,
    const struct fby_listing *listing, struct fby_error_detail *why);

/* Set the command to the one that unpacks the zip archive at `archive`, and looks
 * at `folder`, a path in it. Returns false if its name needs quotes. */
bool fby_guess_advise_unzip(
    struct fby_search *search, const char *archive, const char *folder);

/* Set the command to the one that unpacks the archive `name` in `path`. Returns
 * false if there is none. */
bool fby_guess_set_unzip(
    struct fby_search *search, const char *path, const char *name);

#endif
