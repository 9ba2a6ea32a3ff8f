/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"

#include <stdio.h>

int fby_command_end(
    const char *name, fby_err err, const struct fby_error_detail *why)
{
    if (err == FBY_OK) {
        return FBY_EXIT_DONE;
    }
    fprintf(stderr, "forebay %s: %s\n", name, why->text);
    return err == FBY_USAGE ? FBY_EXIT_USAGE : FBY_EXIT_FAILED;
}
