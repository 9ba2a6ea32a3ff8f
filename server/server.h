/* server.h - the server process: registry of workers and of job ranks.
 *
 * One event loop on one ROUTER socket around the directory (directory.h). It
 * answers messages of workers and clients and expires leases. Its state is
 * rebuilt from messages of its peers, so it can be killed and restarted at any
 * time. */
#ifndef FBY_SERVER_SERVER_H
#define FBY_SERVER_SERVER_H

#include <stdint.h>

#include "common/err.h"

struct fby_server_options {
    const char *listen;   /* "tcp://127.0.0.1:7070"; port *: any free one */
    int         ready_fd; /* receives the endpoint and a newline; -1: none */
    int64_t     lease_ns;
    int64_t     heartbeat_ns;
};

/* The default options. */
struct fby_server_options fby_server_defaults(void);

/* Serve until SIGTERM or SIGINT.
 *
 * Blocks: until then.
 * Errors: FBY_USAGE   `listen` is malformed
 *         FBY_CONFIG  it cannot listen there
 *         FBY_SYS     a system call failed. */
FBY_CHECKED fby_err fby_server_run(
    const struct fby_server_options *options, struct fby_why *why);

#endif
