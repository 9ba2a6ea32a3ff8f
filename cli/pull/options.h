/* SPDX-License-Identifier: Apache-2.0 */
/* options.h - the command line options of `forebay pull`. */
#ifndef FBY_CLI_PULL_OPTIONS_H
#define FBY_CLI_PULL_OPTIONS_H

#include "cli/cluster.h"
#include "forebay/forebay.h"

struct fby_pull_options {
    struct forebay_options stream; /* roots, token and callbacks are unset */
    struct fby_cluster_options cluster; /* unused with stream.server */
    struct fby_words           data;    /* values of --data: "NAME=DIR" */
    struct fby_words           fields;  /* names of fields; empty: all */
    struct fby_seed            seed;
    const char                *resume;       /* a token, or "@FILE" */
    const char                *token_path;   /* token file; NULL: none */
    uint64_t                   token_every;  /* write it every so many steps */
    const char                *digests_path; /* digest file; NULL: none */
    int64_t                    hold_ns;      /* time that each batch is held */
    bool                       json;
};

/* Parse and check the command line; exits with code 2 on wrong usage.
 * Ownership: the caller frees `data` and `fields`. */
void fby_pull_parse(int argc, char **argv, struct fby_pull_options *out);

#endif
