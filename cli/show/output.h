/* output.h - a file that a command writes: there whole, or not there.
 *
 * Bytes go to FILE.part, which takes FILE's place at the end. A device, a pipe
 * or a link stays what it is and is written to. */
#ifndef FBY_CLI_SHOW_OUTPUT_H
#define FBY_CLI_SHOW_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

#include "common/err.h"

struct fby_output {
    const char *path; /* borrowed */
    char        part[4096];
    bool        replaced; /* part is another file than path */
    FILE       *file;
};

/* Open it before the work that makes its bytes. Errors: FBY_IO, the cause. */
FBY_CHECKED fby_err fby_output_open(
    struct fby_output *self, const char *path, struct fby_why *why);

/* All was written: put it in its place. Errors: FBY_IO, when it is not. */
FBY_CHECKED fby_err fby_output_keep(
    struct fby_output *self, struct fby_why *why);

/* Close; what was not kept is removed. Also after an error, and twice. */
void fby_output_close(struct fby_output *self);

#endif
