/* server.h - the process that knows who is there.
 *
 * One loop on one ROUTER socket around the directory (directory.h): it answers
 * workers' and clients' messages and lets leases run out. It holds nothing
 * that its peers do not tell again; killing and restarting it is harmless. */
#ifndef FBY_SERVER_SERVER_H
#define FBY_SERVER_SERVER_H

#include <stdint.h>

#include "common/err.h"

struct fby_server_options {
    const char *listen;   /* "tcp://127.0.0.1:7070"; port * picks one */
    int         ready_fd; /* gets the endpoint and a newline; -1: none */
    int64_t     lease_ns;
    int64_t     heartbeat_ns;
};

struct fby_server_options fby_server_defaults(void);

/* Serve until SIGTERM or SIGINT.
 * Blocks: for the server's life.  Errors: FBY_CONFIG, FBY_SYS, with `why`. */
FBY_CHECKED fby_err fby_server_run(
    const struct fby_server_options *options, struct fby_why *why);

#endif
