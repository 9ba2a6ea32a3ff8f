/* SPDX-License-Identifier: Apache-2.0 */
/* check.h - `forebay lint --check`: read all samples once. */
#ifndef FBY_CLI_LINT_CHECK_H
#define FBY_CLI_LINT_CHECK_H

#include "cli/local.h"

struct fby_lint_check {
    const struct fby_local_options *local;
    const char *output; /* add names of bad samples to it; NULL: no file */
    bool        json;   /* print one JSON object instead of text */
};

/* Read all samples of all splits, or of local->split, with several threads, and
 * print the bad ones to standard output, in the order of the dataset. A signal
 * ends the check early; what was found until then is printed and written to the
 * file. In the file the names stand in a section of their split.
 *
 * Returns the exit code of the command: 0 if no sample is bad, 1 if one is or
 * on an error, which is printed; 128 + the number of the signal. */
int fby_lint_check(const struct fby_lint_check *check);

#endif
