/* options.h - the command line options of `forebay show`. */
#ifndef FBY_CLI_SHOW_OPTIONS_H
#define FBY_CLI_SHOW_OPTIONS_H

#include <stdbool.h>

#include "cli/position.h"

struct fby_show_options {
    struct fby_local_options local;
    struct fby_position      position;
    uint64_t                 rows;     /* 0: not given */
    bool                     is_sheet; /* .png; false: .npz */
    const char              *output;
};

/* Parse and check the command line; exits with code 2 on wrong usage.
 * Ownership: the caller frees `local.data`. */
void fby_show_parse(int argc, char **argv, struct fby_show_options *out);

#endif
