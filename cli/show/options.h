/* options.h - what `forebay show` was asked for. */
#ifndef FBY_CLI_SHOW_OPTIONS_H
#define FBY_CLI_SHOW_OPTIONS_H

#include <stdbool.h>

#include "cli/position.h"

struct fby_show_options {
    struct fby_local_options local;
    struct fby_position      position;
    uint64_t                 rows;     /* 0: not said */
    bool                     is_sheet; /* else an archive of arrays */
    const char              *output;
};

/* Read and check the command line; ends the program with 2 when it is wrong.
 * The words list is the caller's to free. */
void fby_show_parse(int argc, char **argv, struct fby_show_options *out);

#endif
