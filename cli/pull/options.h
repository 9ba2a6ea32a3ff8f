/* options.h - the command line options of `forebay pull`. */
#ifndef FBY_CLI_PULL_OPTIONS_H
#define FBY_CLI_PULL_OPTIONS_H

#include "cli/cluster.h"
#include "forebay/forebay.h"

struct fby_pull_options {
    struct forebay_options     stream;  /* without roots, token and callbacks */
    struct fby_cluster_options cluster; /* to start if stream.server is NULL */
    struct fby_words           data;    /* "NAME=DIR" */
    struct fby_words           fields;  /* names; empty: all */
    struct fby_seed            seed;
    const char                *resume; /* a token, or "@FILE" */
    const char                *token_file;
    uint64_t                   token_every; /* steps */
    const char                *digests;     /* path of the digest file */
    int64_t                    step_ns;     /* time that each batch is held */
    bool                       json;
};

/* Parse and check the command line; exits with code 2 on wrong usage.
 * Ownership: the caller frees `data` and `fields`. */
void fby_pull_parse(int argc, char **argv, struct fby_pull_options *out);

#endif
