/* SPDX-License-Identifier: Apache-2.0 */
/* peers.h - the entries of the receiver's table of workers: the address of each,
 * its socket and its answer to OPEN.
 *
 * OPEN asks a worker which dataset it has. The index of an entry is the number of
 * the peer in the window. Thread: the receiver's. */
#ifndef FBY_CLIENT_RECEIVE_PEERS_H
#define FBY_CLIENT_RECEIVE_PEERS_H

#include <stdbool.h>

#include "proto/wire.h"

enum fby_peer_answer { /* the worker's answer to OPEN */
    FBY_PEER_NO_ANSWER,
    FBY_PEER_OPENED,
    FBY_PEER_FAILED,     /* OPEN_FAILED: see `failure` */
    FBY_PEER_UNREACHABLE /* no connection */
};

struct fby_peer {
    bool                     used;      /* the entry has a worker */
    struct fby_instance_id   instance;  /* changes when the worker restarts */
    char                   **endpoints; /* its addresses; owned */
    size_t                   n_endpoints;
    size_t                   n_attempts; /* attempts to connect so far */
    void                    *socket;     /* to the worker; NULL: closed */
    struct fby_r_route_keys *keys;       /* keys.c; NULL: no ticket */
    char               label[320]; /* "worker HOST (ENDPOINT)", for messages */
    struct fby_open_id open_id;    /* id of the last OPEN */
    bool accepts_any_data; /* OPEN asks for whatever data it has, to compare its
                              list of shards with the stream's or token's */
    int64_t reopen_at_ns;  /* time to repeat OPEN; 0: do not repeat */
    int64_t silent_since_ns; /* time of last OPEN sent or SCANNING received */
    enum fby_peer_answer    answer;
    struct fby_digest       data;        /* if `answer` is OPENED */
    struct fby_digest       fingerprint; /* if `answer` is OPENED */
    struct fby_error_detail failure;     /* text of the last OPEN_FAILED */
    bool                    is_aside;    /* not used again: see `refusal` */
    char        refusal[256]; /* why it is not used, until WELCOME; "": none */
    const char *unanswered;   /* the last message, OPEN or HELLO, if it has not
                               answered that; NULL: it has */
    uint32_t    scan_done, scan_total; /* numbers of shards; from SCANNING */
};

/* Fill the entry with a worker of the server's list, whose addresses are copied.
 * The entry is cleared first. */
void fby_peer_assign(struct fby_peer *peer, const struct fby_worker_info *info);
/* Free the contents and zero the entry. The socket must be closed. */
void fby_peer_clear(struct fby_peer *peer);

/* The endpoint for the next attempt to connect, in round-robin order; borrowed.
 * NULL: the worker has none. */
const char *fby_peer_next_endpoint(struct fby_peer *peer);

/* A hash of the worker's endpoints, which does not change when it restarts. */
uint64_t fby_peer_endpoints_hash(const struct fby_worker_info *info);

#endif
