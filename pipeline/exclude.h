/* SPDX-License-Identifier: Apache-2.0 */
/* exclude.h - samples that a split leaves out by name.
 *
 * The key `exclude` of a split names a text file with one name a line. It is
 * read when the pipeline is parsed. The content has a hash of each name, so
 * that all workers leave out the same samples without the file
 * (worker/source/exclude.h defines the names of a sample). */
#ifndef FBY_PIPELINE_EXCLUDE_H
#define FBY_PIPELINE_EXCLUDE_H

#include <stdbool.h>
#include <stddef.h>

#include "common/err.h"
#include "pipeline/types.h"

/* True if `name` is one of the names. */
bool fby_excluded_has(const struct fby_excluded *self, const char *name);

/* True if the hashes ascend strictly and are at most FBY_MAX_EXCLUDED. */
bool fby_excluded_is_valid(const struct fby_excluded *self);

/* The splits that sections are for. All is borrowed. */
struct fby_exclude_splits {
    const char        *wanted; /* the split whose names are read */
    const char *const *names;  /* of all splits of the pipeline */
    size_t             n;
};

enum { FBY_EXCLUDE_MAX_BYTES = 16 << 20 }; /* of a file */

/* Read the names for the split `splits->wanted` from a text. Empty lines and
 * lines that begin with '#' are comments; a leading "./" is not part of a name,
 * nor is a CR at the end. Names after a line "[NAME]" are for the split NAME
 * only, those before the first such line for all. `path` is for messages.
 * *n_lines, unless NULL, becomes the number of lines with names for the split,
 * which is limited to FBY_MAX_EXCLUDED.
 * Errors: FBY_CONFIG  a line that is no name, a section for a split that does
 *                     not exist, or too many names. */
FBY_CHECKED fby_err fby_excluded_parse(const char *text, size_t size,
    const char *path, const struct fby_exclude_splits *splits,
    struct fby_excluded *out, uint32_t *n_lines, struct fby_error_detail *why);

/* Returns the prefix, "" or "./", that a name needs in a list so that its
 * line is not read as a comment or a section. A name with a line break or a
 * CR at its end cannot be written. */
const char *fby_excluded_prefix(const char *name);

/* Read the names for a split from a file.
 * Blocks: for the file.
 * Errors: FBY_CONFIG  those of fby_excluded_parse; the file cannot be read, is
 *                     no regular file, or is too long. */
FBY_CHECKED fby_err fby_excluded_load(const char *path,
    const struct fby_exclude_splits *splits, struct fby_excluded *out,
    struct fby_error_detail *why);

#endif
