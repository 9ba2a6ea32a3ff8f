/* options.h - the command line options of `forebay pull`. */
#ifndef FBY_CLI_PULL_OPTIONS_H
#define FBY_CLI_PULL_OPTIONS_H

#include <stdbool.h>

#include "cli/option.h"

struct fby_pull_options {
    const char      *pipeline;
    const char      *server;
    const char      *split;
    const char      *job;
    const char      *resume;
    const char      *token_file;
    const char      *digests;
    const char      *device; /* NULL: host */
    const char      *memory; /* per embedded worker; NULL: its default */
    struct fby_words data;
    struct fby_words fields;
    uint64_t         workers;
    uint64_t         threads;
    const char      *cpus; /* of the embedded workers; NULL: all */
    uint32_t         n_cpus;
    const char      *nice;
    uint64_t         steps;  /* in all; 0: no limit */
    uint64_t         epochs; /* in all; 0: no limit */
    uint64_t         seed;
    uint64_t         rank;
    uint64_t         world;
    uint64_t         token_every;
    uint64_t         window_bytes;
    uint64_t         audit;
    int64_t          step_ns;
    int64_t          open_timeout_ns;
    bool             has_seed;
    bool             json;
    bool             verify;
};

/* Parse and check the command line; exits with code 2 on wrong usage.
 * Ownership: the caller frees `data` and `fields`. */
void fby_pull_parse(int argc, char **argv, struct fby_pull_options *out);

#endif
