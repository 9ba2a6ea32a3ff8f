/* SPDX-License-Identifier: Apache-2.0 */
/* names.h - the names of bad samples in a list for the key `exclude`: FILE of
 * `forebay lint --check`.
 *
 * Names are added to what FILE has, in a section for each split. FILE is read
 * as the key reads it (pipeline/exclude.h), so that the new list can be used:
 * it never gets more names than a split may have. */
#ifndef FBY_CLI_LINT_NAMES_H
#define FBY_CLI_LINT_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "pipeline/parse.h"

struct fby_lint_bad {
    size_t   split; /* index in the pipeline */
    uint64_t number;
    char    *name;       /* for the key exclude; owned */
    char    *cause;      /* owned */
    bool     excludable; /* false: a list cannot have the name */
};

/* Numbers of samples. */
struct fby_bad_names {
    bool     is_empty_list; /* the file is new and has no name */
    uint32_t added;
    uint32_t present; /* in the list already */
    uint32_t without; /* a list cannot have their names */
    uint32_t beyond;  /* beyond the limits of a list */
};

/* Can a list have this name? */
bool fby_bad_name_is_excludable(const char *name);

/* Check that names can be added to the file, if there is one.
 * Errors: FBY_USAGE  it is a pipeline, or no list that the splits can use. */
FBY_CHECKED fby_err fby_bad_names_check(const struct fby_pipeline *pipeline,
    const char *path, struct fby_error_detail *why);

/* Add the names of `n` samples, in ascending order of splits. If none is added,
 * a file that exists stays as it is. If `n` is 0 and there is no file, a list
 * without names is written, so that the key `exclude` can name it.
 * Errors: FBY_IO; those of fby_bad_names_check. */
FBY_CHECKED fby_err fby_bad_names_add(const struct fby_pipeline *pipeline,
    const char *path, const struct fby_lint_bad *bad, uint32_t n,
    struct fby_bad_names *out, struct fby_error_detail *why);

/* Print to standard error what was added, and what was not and why. */
void fby_bad_names_report(const struct fby_pipeline *pipeline, const char *path,
    const struct fby_bad_names *names);

#endif
