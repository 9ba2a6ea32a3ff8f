/* SPDX-License-Identifier: Apache-2.0 */
/* ticket.h - the tickets that admit a trainer client to a worker.
 *
 * The server makes a ticket for each session and worker, and seals it with the
 * secret that the worker sent when it registered. The client cannot read it and
 * shows it to the worker in HELLO. So a worker needs no list of keys, and it
 * admits clients while the server is down. The expiry is a time of the worker's
 * own clock, so the clocks of the hosts need not agree.
 * docs/security.md has the byte table. */
#ifndef FBY_SECURE_TICKET_H
#define FBY_SECURE_TICKET_H

#include "common/bytes.h"
#include "common/id.h"
#include "secure/route.h"

enum {
    FBY_TICKET_MAX       = 8192, /* bytes of a sealed ticket */
    FBY_TICKET_ROOTS_MAX = 1024,
    FBY_TICKET_NAME_MAX  = 255 /* bytes of a job or root */
};

struct fby_ticket {
    struct fby_session_id session;
    struct fby_key        session_key;
    enum fby_secure_mode  mode;
    int64_t               expiry_ns; /* of the worker's clock */
    const char           *job;
    bool                  all_roots; /* else only `roots` */
    const char *const    *roots;
    size_t                n_roots;
};

/* Append the sealed ticket to `out`. The nonce is random.
 * Errors: FBY_USAGE  a name is too long, or there are too many
 *         FBY_SYS    libcrypto failed. */
FBY_CHECKED fby_err fby_ticket_seal(struct fby_aead *aead,
    const struct fby_key *worker_secret, const struct fby_ticket *ticket,
    struct fby_buffer *out);

/* Open a sealed ticket. The caller checks its session and expiry.
 * Ownership: the caller calls fby_ticket_fini.
 * Errors:    FBY_PROTO  it was not sealed with this secret, or is malformed. */
FBY_CHECKED fby_err fby_ticket_open(struct fby_aead *aead,
    const struct fby_key *worker_secret, struct fby_span sealed,
    struct fby_ticket *out);

/* Wipe the session key and free the names; {0} is allowed. */
void fby_ticket_fini(struct fby_ticket *self);

/* True if the ticket admits its client to the data below `root`. */
bool fby_ticket_allows_root(const struct fby_ticket *self, const char *root);

#endif
