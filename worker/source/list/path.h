/* SPDX-License-Identifier: Apache-2.0 */
/* path.h - the paths of files in a list: relative to the list's folder, with
 * `.` and `..`, or absolute. All lead to files below the list's root. */
#ifndef FBY_WORKER_SOURCE_LIST_PATH_H
#define FBY_WORKER_SOURCE_LIST_PATH_H

#include <stddef.h>

#include "pipeline/types.h"

/* Resolve a path without looking at files. `base` is the list's folder below
 * the root, and `root_dir` the absolute directory of the root; "" for none.
 * `out` is relative to the list's folder if the file is below it; otherwise it
 * is relative to the root and begins with a slash.
 * Returns a static text that says what is wrong; NULL if the path is valid. */
const char *fby_list_resolve_path(const char *base, const char *root_dir,
    const char *path, size_t size, char out[FBY_PATH_SIZE]);

#endif
