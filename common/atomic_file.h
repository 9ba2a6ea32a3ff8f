/* SPDX-License-Identifier: Apache-2.0 */
/* atomic_file.h - write a file completely or not at all.
 *
 * Bytes go to a new file FILE.XXXXXXXX.part (8 random digits), which is renamed
 * to FILE at the end. So no reader of FILE sees a partial file, and no other
 * file is changed. The new file is removed after any failure; only a process
 * that is killed leaves it. It is not synced to the disk before the rename. */
#ifndef FBY_COMMON_ATOMIC_FILE_H
#define FBY_COMMON_ATOMIC_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

#include "common/err.h"

struct fby_atomic_file {
    const char *path;            /* of FILE; borrowed */
    char        part_path[4096]; /* of the new file; "" if in place */
    FILE       *file;            /* NULL: closed */
    int         error; /* errno of a failed fby_atomic_file_write; 0: none */
};

/* Create the new file, with `mode` less the umask.
 * Errors: FBY_IO; `why` has only the cause, as for all functions below. */
FBY_CHECKED fby_err fby_atomic_file_open(struct fby_atomic_file *self,
    const char *path, mode_t mode, struct fby_error_detail *why);

/* Open FILE itself instead, a device or pipe, which cannot be replaced. */
FBY_CHECKED fby_err fby_atomic_file_open_in_place(struct fby_atomic_file *self,
    const char *path, struct fby_error_detail *why);

/* Write bytes. fby_atomic_file_finish reports a failure. */
void fby_atomic_file_write(
    struct fby_atomic_file *self, const void *bytes, size_t size);

/* Finish the file: flush it, close it and rename it to its path.
 * Errors: FBY_IO; the new file is removed. */
FBY_CHECKED fby_err fby_atomic_file_finish(
    struct fby_atomic_file *self, struct fby_error_detail *why);

/* Close and remove the new file, unless it is finished. Call it also after an
 * error; a second call does nothing. */
void fby_atomic_file_close(struct fby_atomic_file *self);

/* Is `suffix` what the name of a new file has behind that of FILE? */
bool fby_atomic_file_is_part_suffix(const char *suffix);

#endif
