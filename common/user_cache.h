/* SPDX-License-Identifier: Apache-2.0 */
/* user_cache.h - the directory of the user in which files are kept that can be
 * made again. */
#ifndef FBY_COMMON_USER_CACHE_H
#define FBY_COMMON_USER_CACHE_H

#include <stddef.h>

/* Write the directory to `out`: $FOREBAY_CACHE_DIR, else
 * $XDG_CACHE_HOME/forebay, else ~/.cache/forebay; or "" if there is none, or if
 * `size` bytes are too few. Returns `out`. */
const char *fby_user_cache_dir(char *out, size_t size);

/* Make the missing directories in the path of `file`, with mode 0777 less the
 * umask. Errors are ignored, because then opening the file fails. */
void fby_make_dirs_of(const char *file);

#endif
