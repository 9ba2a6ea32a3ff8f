/* peers.h - the workers as the receiver knows them: address, socket, answer.
 *
 * The window decides about a worker by its number; this table says what the
 * number stands for. One thread: the receiver's. */
#ifndef FBY_CLIENT_RECEIVE_PEERS_H
#define FBY_CLIENT_RECEIVE_PEERS_H

#include <stdbool.h>

#include "proto/wire.h"

enum fby_peer_answer { /* to OPEN, while the stream is being opened */
    FBY_PEER_SILENT,   /* none yet */
    FBY_PEER_OPENED,
    FBY_PEER_FAILED,     /* it cannot: `text` */
    FBY_PEER_UNREACHABLE /* it was not there when we knocked */
};

struct fby_peer {
    bool                   used;
    struct fby_instance_id instance;
    char                 **endpoints; /* owned */
    size_t                 n_endpoints;
    size_t                 attempt;   /* endpoints are tried in turn */
    void                  *socket;    /* NULL: closed */
    char                   who[320];  /* "host (endpoint)", for people */
    struct fby_open_id     open;      /* of the last OPEN */
    int64_t                reopen_ns; /* ask again then; 0: no */
    int64_t                open_ns;   /* of the last OPEN, or SCANNING to it */
    enum fby_peer_answer   answer;
    struct fby_digest      data;         /* answer: opened */
    struct fby_digest      fingerprint;  /* likewise */
    struct fby_why         failure;      /* answer: failed */
    char                   refusal[256]; /* why it had no room; "": it has */
    uint32_t               scan_done, scan_total;
};

/* Fill an entry from the server's list. */
void fby_peer_set(struct fby_peer *peer, const struct fby_worker_info *info);
void fby_peer_clear(struct fby_peer *peer);

/* The endpoint to try now; goes round. */
const char *fby_peer_endpoint(struct fby_peer *peer);

/* What a worker keeps over restarts: a hash of its endpoints. */
uint64_t fby_peer_key(const struct fby_worker_info *info);

#endif
