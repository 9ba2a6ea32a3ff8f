/* SPDX-License-Identifier: Apache-2.0 */
/* ready.h - tell other programs that this process listens, and where.
 *
 * A line with the endpoint is written to a descriptor, for a parent, and to a
 * file, for programs that start in any order. The file appears complete (it is
 * renamed to its name), and is removed when the process ends. */
#ifndef FBY_COMMON_READY_H
#define FBY_COMMON_READY_H

#include "common/err.h"

/* Before listening: remove the file of an earlier process. `path` may be NULL.
 * Errors: FBY_CONFIG  `path` is no regular file, or cannot be removed. */
FBY_CHECKED fby_err fby_ready_prepare(
    const char *path, struct fby_error_detail *why);

/* Write the endpoint and a newline to the descriptor `fd` (-1: none), and to the
 * file `path` (NULL: none). `fd` is closed, unless it is a standard stream. A
 * failure of the descriptor is only logged.
 * Errors: FBY_CONFIG  the file cannot be written. */
FBY_CHECKED fby_err fby_ready_announce(int fd, const char *path,
    const char *endpoint, struct fby_error_detail *why);

/* At the end, after fby_ready_announce: remove the file. */
void fby_ready_withdraw(const char *path);

#endif
