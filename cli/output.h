/* SPDX-License-Identifier: Apache-2.0 */
/* output.h - an output file that is written completely or not at all.
 *
 * It is an atomic file (common/atomic_file.h). If FILE is a link, the file that
 * it leads to is replaced, and the link stays. A device, a pipe and a file that
 * a link names but that is not there are written in place. */
#ifndef FBY_CLI_OUTPUT_H
#define FBY_CLI_OUTPUT_H

#include <stdbool.h>

#include "common/atomic_file.h"

struct fby_shown_path {
    char text[4096];
};

/* A copy of `path` for a message: control characters, and bytes that are not
 * UTF-8, become '?'. */
struct fby_shown_path fby_show_path(const char *path);

struct fby_output {
    const char            *path;            /* as given; borrowed */
    char                   real_path[4096]; /* of FILE, without links */
    bool                   in_place;
    struct fby_atomic_file whole; /* at real_path */
    FILE                  *file;  /* borrowed from `whole` */
};

/* Check early that the file can be written: create and remove the new file. A
 * pipe or device is not opened: that might block, or end the input of its
 * reader.
 * Errors: FBY_IO, with the cause. */
FBY_CHECKED fby_err fby_output_check(
    const char *path, struct fby_error_detail *why);

/* Open the file. Call it when its content is ready: a process that is killed
 * between open and finish leaves the new file.
 * Errors: FBY_IO, with the cause. */
FBY_CHECKED fby_err fby_output_open(
    struct fby_output *self, const char *path, struct fby_error_detail *why);

/* Write bytes to the file. fby_output_finish reports a failure. */
void fby_output_write(struct fby_output *self, const void *bytes, size_t size);

/* Finish the file: flush it and rename it to its path.
 * Errors: FBY_IO, with the cause; the partial file is removed. */
FBY_CHECKED fby_err fby_output_finish(
    struct fby_output *self, struct fby_error_detail *why);

/* Close the file, and remove it unless fby_output_finish finished it. Call it
 * also after an error; a second call does nothing. */
void fby_output_close(struct fby_output *self);

#endif
