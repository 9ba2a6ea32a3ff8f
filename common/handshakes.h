/* SPDX-License-Identifier: Apache-2.0 */
/* handshakes.h - count and log the connections to a socket that end before
 * their handshake, which libzmq closes without a word: of scanners, of peers
 * that say nothing, and of those whose keys do not suit.
 *
 * libzmq reports them as events of a socket monitor. They are read once in each
 * turn of a loop and wake none, so that a flood of connections cannot keep the
 * loop busy. A log line, HANDSHAKES-FAILED, says how many failed for which
 * reason; the next one follows at least 10 s later.
 *
 * libzmq reports no peer whose first byte is not ZeroMQ's (a browser's), which
 * it closes or takes for a peer of ZeroMQ 2.
 *
 * Thread: the one that uses the socket. */
#ifndef FBY_COMMON_HANDSHAKES_H
#define FBY_COMMON_HANDSHAKES_H

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"

enum fby_handshake_reason {
    FBY_HANDSHAKE_KEYS,    /* no key, or one for another server */
    FBY_HANDSHAKE_REFUSED, /* the handler of keys refused the key */
    FBY_HANDSHAKE_FOREIGN, /* it breaks ZeroMQ's protocol */
    FBY_HANDSHAKE_SILENT,  /* too little came in time, or the peer closed,
 as one without keys may do first */
    FBY_HANDSHAKE_REASONS
};

struct fby_handshakes { /* starts zeroed */
    void    *monitor;   /* PAIR; NULL: no socket is watched */
    bool     has_keys;  /* the socket demands keys */
    uint64_t failed;    /* since the start */
    uint64_t unlogged[FBY_HANDSHAKE_REASONS]; /* since the last log line */
    int64_t  line_due_ns; /* the next log line comes no earlier */
};

/* Watch a socket of the context `zmq`, at most one in a context.
 * Ownership: the caller calls fby_handshakes_fini before it ends the context.
 * Errors:    FBY_SYS  the monitor cannot be created; `why` has the cause. */
FBY_CHECKED fby_err fby_handshakes_watch(struct fby_handshakes *self, void *zmq,
    void *socket, struct fby_error_detail *why);

/* Count what failed since the last call, and log it if a line is due. Blocks:
 * never. */
void fby_handshakes_tick(struct fby_handshakes *self, int64_t now_ns);

/* Close the monitor, after the socket was closed. */
void fby_handshakes_fini(struct fby_handshakes *self);

#endif
