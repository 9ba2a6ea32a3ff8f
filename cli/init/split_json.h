/* SPDX-License-Identifier: Apache-2.0 */
/* split_json.h - JSON files whose first member is called after a split and has a list
 * of names, as {"train": ["a/0.jpg", ...], "test": [...]}. */
#ifndef FBY_CLI_INIT_SPLIT_JSON_H
#define FBY_CLI_INIT_SPLIT_JSON_H

#include <stdbool.h>
#include <stddef.h>

#include "worker/source/roots.h"

/* The first name in the list of the file `file` in the folder `dir`, which is
 * written to `out`. Returns false if it is no such file, or the name has an escape
 * or does not fit. */
bool fby_split_json_read(const struct fby_root *root, const char *dir,
    const char *file, char *out, size_t size);

#endif
