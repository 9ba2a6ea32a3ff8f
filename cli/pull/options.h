/* options.h - what `forebay pull` was asked for. */
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
    const char      *memory; /* of an own worker; NULL: its default */
    struct fby_words data;
    struct fby_words fields;
    uint64_t         workers;
    uint64_t         threads;
    const char      *cpus; /* of the own workers */
    uint32_t         n_cpus;
    const char      *nice;
    uint64_t         steps;
    uint64_t         epochs;
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

/* Read and check the command line; ends the program with 2 when it is wrong.
 * The words lists are the caller's to free. */
void fby_pull_parse(int argc, char **argv, struct fby_pull_options *out);

#endif
