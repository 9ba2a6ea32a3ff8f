/* SPDX-License-Identifier: Apache-2.0 */
/* roles.h - the checks of folders that may be no classes, each in a file of its own,
 * and what they share (refuse_roles.c). */
#ifndef FBY_CLI_INIT_ROLES_H
#define FBY_CLI_INIT_ROLES_H

#include "cli/init/guess_notes.h"
#include "cli/init/survey.h"

struct fby_roles { /* the folders that are checked; all borrowed */
    struct fby_search       *search;
    const char              *path; /* of their parent, below the root */
    const struct fby_survey *survey;
    const char *const       *names; /* of the folders of the survey */
};

/* Refuse the folds of cross-validation, which may have class folders
 * (refuse_folds.c).
 * Errors: FBY_CONFIG: what to do. */
FBY_CHECKED fby_err fby_refuse_folds(
    const struct fby_roles *self, struct fby_error_detail *why);

/* Refuse folders that all have the same folders, as those of classes
 * (refuse_groups.c).
 * Errors: FBY_CONFIG: what to do. */
FBY_CHECKED fby_err fby_refuse_groups(
    const struct fby_roles *self, struct fby_error_detail *why);

/* Refuse folders of which only one has pictures (refuse_lone_pictures.c).
 * Errors: FBY_CONFIG: what to do, also with texts or boxes of the pictures in
 *         another one. */
FBY_CHECKED fby_err fby_refuse_lone_pictures(
    const struct fby_roles *self, struct fby_error_detail *why);

/* Write the operand of a command for the folder `name` in `path`. */
void fby_roles_write_operand(const struct fby_search *search, const char *path,
    const char *name, char out[FBY_OPERAND_SIZE]);

/* Write the first names: "a, b, c, ...". */
void fby_roles_list_names(
    const char *const *names, uint32_t n, char *out, size_t size);

/* Do the names look like those of parallel folders, as images and masks? */
bool fby_roles_are_parallel(const char *const *names, uint32_t n);

#endif
