/* output.h - an output file that is written completely or not at all.
 *
 * Bytes go to FILE.part, which is renamed to FILE at the end. A device, pipe or
 * link is written in place. */
#ifndef FBY_CLI_SHOW_OUTPUT_H
#define FBY_CLI_SHOW_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

#include "common/err.h"

struct fby_output {
    const char *path; /* borrowed */
    char        part[4096];
    bool        replaced; /* `part` differs from `path`, and will replace it */
    FILE       *file;
};

/* Open the file, before the work whose result it gets.
 * Errors: FBY_IO, with the cause. */
FBY_CHECKED fby_err fby_output_open(
    struct fby_output *self, const char *path, struct fby_why *why);

/* Finish the file: flush it and rename it to its path.
 * Errors: FBY_IO, with the cause; the partial file is removed. */
FBY_CHECKED fby_err fby_output_keep(
    struct fby_output *self, struct fby_why *why);

/* Close the file; remove it unless it was kept. Call it also after an error; a
 * second call does nothing. */
void fby_output_close(struct fby_output *self);

#endif
