/* SPDX-License-Identifier: Apache-2.0 */
/* connections.h - the open connections, by age. Pure.
 *
 * A connection is for one request and has a deadline. When all places but a few
 * are taken, the oldest connection must end for each new one. So clients that
 * send nothing, or one byte a second, do not prevent others from connecting. */
#ifndef FBY_HTTP_CONNECTIONS_H
#define FBY_HTTP_CONNECTIONS_H

#include <stdint.h>

enum {
    FBY_HTTP_CONNECTIONS = 64, /* most at one time */
    FBY_HTTP_CROWDED     = 48  /* from here on the oldest must end */
};

struct fby_http_connections { /* starts zeroed */
    struct {
        int     fd;               /* socket */
        int64_t since_ns;         /* when it was accepted */
    } list[FBY_HTTP_CONNECTIONS]; /* oldest first */
    uint32_t n;
};

/* Add a connection; there must be fewer than FBY_HTTP_CONNECTIONS. */
void fby_http_connections_add(
    struct fby_http_connections *self, int fd, int64_t now_ns);

/* Remove a connection that was closed. */
void fby_http_connections_remove(struct fby_http_connections *self, int fd);

/* The oldest connections that must end now: returns their number, k, and they
 * are the first k of the list. They stay until they are removed. */
uint32_t fby_http_connections_due(
    const struct fby_http_connections *self, int64_t now_ns, int64_t limit_ns);

#endif
