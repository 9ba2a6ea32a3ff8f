/* SPDX-License-Identifier: Apache-2.0 */
/* server.h - the server process, where workers register and ranks join jobs.
 *
 * An event loop on one ROUTER socket passes the messages of workers and clients
 * to the directory (directory.h), sends the answers and expires leases. After a
 * restart the state is rebuilt from messages of the peers, so the process can
 * be killed at any time. */
#ifndef FBY_SERVER_SERVER_H
#define FBY_SERVER_SERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "http/http.h"
#include "secure/route.h"

struct fby_server_options {
    const char *listen;      /* "tcp://127.0.0.1:7070"; port *: any free one */
    bool        is_insecure; /* listens beyond loopback without keys */
    int         ready_fd; /* descriptor to which the endpoint and a newline are
                           written; then closed; -1: none */
    const char *ready_file; /* holds the same while the server listens; NULL:
                               none */
    const char *keys; /* folder of keys, or the key's file (secure/key_file.h);
                            NULL: no keys, all connections in the clear */
    const char *allowed; /* list of admitted keys; NULL: `allowed` in `keys` */
    enum fby_secure_mode secure; /* what workers and trainers seal */
    int64_t lease_ns; /* peers without a message for so long are removed */
    struct fby_http_options http; /* the pages for users; http/http.h */
};

struct fby_server_options fby_server_defaults(void);

/* Serve until SIGTERM or SIGINT.
 *
 * Blocks: until one of these signals.
 * Errors: FBY_USAGE   `listen` is malformed, or is_insecure is missing
 *         FBY_CONFIG  the server cannot listen on `listen`, or `ready_file`
 *                     cannot be written
 *         FBY_SYS     a system call failed. */
FBY_CHECKED fby_err fby_server_run(
    const struct fby_server_options *options, struct fby_error_detail *why);

#endif
