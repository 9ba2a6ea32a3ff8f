/* SPDX-License-Identifier: Apache-2.0 */
/* output.h - an output file that is written completely or not at all.
 *
 * Bytes go to FILE.part, which is renamed to FILE at the end. So no reader of
 * FILE sees a partial file. A device, pipe or link is written in place. */
#ifndef FBY_CLI_OUTPUT_H
#define FBY_CLI_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

#include "common/err.h"

struct fby_output {
    const char *path;            /* borrowed */
    char        part_path[4096]; /* FILE.part, or FILE if written in place */
    bool        in_place;
    FILE       *file;
};

/* Check early that the file can be written: create and remove FILE.part. A pipe
 * or device is not opened: that might block, or end the input of its reader.
 * Errors: FBY_IO, with the cause. */
FBY_CHECKED fby_err fby_output_check(
    const char *path, struct fby_error_detail *why);

/* Open the file. Call it before the work, so that an error shows early.
 * Errors: FBY_IO, with the cause. */
FBY_CHECKED fby_err fby_output_open(
    struct fby_output *self, const char *path, struct fby_error_detail *why);

/* Finish the file: flush it and rename it to its path.
 * Errors: FBY_IO, with the cause; the partial file is removed. */
FBY_CHECKED fby_err fby_output_finish(
    struct fby_output *self, struct fby_error_detail *why);

/* Close the file, and remove it unless fby_output_finish finished it. Call it
 * also after an error; a second call does nothing. */
void fby_output_close(struct fby_output *self);

#endif
