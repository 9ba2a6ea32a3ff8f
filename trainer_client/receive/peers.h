/* peers.h - a worker as the receiver knows it: address, socket, answer to OPEN.
 *
 * The window knows a worker only by its number, the index in this table.
 * Thread: the receiver's. */
#ifndef FBY_CLIENT_RECEIVE_PEERS_H
#define FBY_CLIENT_RECEIVE_PEERS_H

#include <stdbool.h>

#include "proto/wire.h"

enum fby_peer_answer {  /* to OPEN, while the stream is being opened */
    FBY_PEER_NO_ANSWER, /* none yet */
    FBY_PEER_OPENED,
    FBY_PEER_FAILED,     /* OPEN_FAILED: see `failure` */
    FBY_PEER_UNREACHABLE /* no connection */
};

struct fby_peer {
    bool                   used;
    struct fby_instance_id instance;
    char                 **endpoints; /* owned */
    size_t                 n_endpoints;
    size_t                 attempt; /* attempts to connect so far */
    void                  *socket;  /* NULL: closed */
    char               label[320];  /* "worker HOST (ENDPOINT)", for messages */
    struct fby_open_id open;        /* id of the last OPEN */
    int64_t            reopen_ns;   /* time to repeat OPEN; 0: never */
    int64_t            open_ns;     /* last OPEN sent or SCANNING received */
    enum fby_peer_answer    answer;
    struct fby_digest       data;        /* if `answer` is OPENED */
    struct fby_digest       fingerprint; /* if `answer` is OPENED */
    struct fby_error_detail failure;     /* text of the last OPEN_FAILED */
    char     refusal[256];          /* text of REFUSED with FULL; "": none */
    uint32_t scan_done, scan_total; /* shards */
};

/* Set a table entry to a worker of the server's list. */
void fby_peer_set(struct fby_peer *peer, const struct fby_worker_info *info);
/* Free the contents and mark the entry as unused. The socket must be closed. */
void fby_peer_clear(struct fby_peer *peer);

/* Advance to the next endpoint in round-robin order and return it; NULL when
 * the worker has none. */
const char *fby_peer_next_endpoint(struct fby_peer *peer);

/* A hash of the worker's endpoints, which does not change when it restarts. */
uint64_t fby_peer_key(const struct fby_worker_info *info);

#endif
