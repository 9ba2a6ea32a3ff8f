/* SPDX-License-Identifier: Apache-2.0 */
/* report.h - what `forebay init` prints when it has written a file. */
#ifndef FBY_CLI_INIT_REPORT_H
#define FBY_CLI_INIT_REPORT_H

#include "cli/init/guess.h"
#include "cli/init/splits.h"
#include "cli/init/text.h"
#include "common/bytes.h"

struct fby_init_report { /* all borrowed */
    const struct fby_guess *guess;
    /* Why split i of the guess is not in the file; "": it is. */
    const char (*reasons)[FBY_REASON_SIZE];
    const struct fby_buffer *notes; /* lines */
    const struct fby_buffer *text;  /* of the file */
    const char *output; /* path of the file; NULL: standard output */
};

/* Print to standard error what was found, what the file leaves out, and the
 * command to try it. */
void fby_init_print_report(const struct fby_init_report *self);

/* The roots that the data needs. Borrows the guess. */
struct fby_init_roots fby_init_roots_of(const struct fby_guess *guess);

#endif
