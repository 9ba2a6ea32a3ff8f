/* SPDX-License-Identifier: Apache-2.0 */
/* expand.h - list the shards that a pattern names.
 *
 * Braces ("{a,b}", "{0..9}") are expanded, and globs (*, ?, [...]) are matched
 * with the files beneath the root. The names are sorted in byte order, each
 * once. */
#ifndef FBY_WORKER_SOURCE_EXPAND_H
#define FBY_WORKER_SOURCE_EXPAND_H

#include <stdint.h>

#include "common/err.h"
#include "pipeline/location.h"
#include "worker/source/roots.h"

enum { FBY_MAX_SHARDS = FBY_MAX_PATTERN_NAMES };

struct fby_names {
    char   **list;  /* the names */
    uint32_t count; /* number of names */
};

enum fby_expand_want { /* which entries a glob matches as shards */
    FBY_EXPAND_FILES,  /* plain files */
    FBY_EXPAND_TABLES  /* folders and .npz files, which hold columns */
};

/* List the names of the shards that match the pattern parts->rest, relative to
 * the directory parts->base. A name without a glob is listed even if there is
 * no such file. Release `out` with fby_names_fini(), also after an error.
 *
 * Errors: FBY_CONFIG     a wrong pattern, or too many shards
 *         FBY_NOT_FOUND  a glob without a match, or a missing folder
 *         FBY_USAGE      a link is outside the root;  FBY_IO */
FBY_CHECKED fby_err fby_pattern_expand(const struct fby_root *root,
    const struct fby_location_parts *parts, enum fby_expand_want want,
    struct fby_names *out, struct fby_error_detail *why);
void                fby_names_fini(struct fby_names *self);

#endif
