/* SPDX-License-Identifier: Apache-2.0 */
/* handshake.h - how a route gets its keys: each side draws a nonce for it.
 *
 * A worker answers a connection without a route with a nonce, which is used up
 * by the first HELLO. The client draws a nonce too, and both derive the keys of
 * the route. The messages that a client sends before it gets the nonce are all
 * answered with the same one. So a nonce that the client has used already is
 * the answer to such a message, and not the end of its new route.
 *
 * No sockets, no clock; randomness is that of libsodium. Thread: one at a
 * time. */
#ifndef FBY_SECURE_HANDSHAKE_H
#define FBY_SECURE_HANDSHAKE_H

#include "common/socket.h"
#include "secure/route.h"

/* ---- the worker ---------------------------------------------------------- */

enum { FBY_MAX_CHALLENGES = 1024 }; /* connections with a nonce, at most */

struct fby_challenge { /* the nonce of a connection without a route */
    struct fby_routing_id  connection; /* size 0: none */
    struct fby_route_nonce nonce;
};

struct fby_challenges { /* start zeroed */
    struct fby_challenge list[FBY_MAX_CHALLENGES];
    size_t               next; /* the oldest, which is replaced next */
};

/* The nonce of the connection, drawn now if it has none. */
struct fby_route_nonce fby_challenges_nonce(
    struct fby_challenges *self, const struct fby_routing_id *connection);

/* Use up the nonce of the connection. False: it has none. */
bool fby_challenges_take(struct fby_challenges *self,
    const struct fby_routing_id *connection, struct fby_route_nonce *out);

/* ---- the client ---------------------------------------------------------- */

struct fby_client_route { /* to one worker; starts zeroed; wipe it at the end */
    bool                   has_nonce; /* `nonce` is not used yet */
    bool                   has_lanes; /* HELLO was sealed with `lanes` */
    struct fby_route_nonce nonce;     /* of the worker, the newest */
    struct fby_lanes       lanes;
};

/* Keep the nonce of the worker, and end the route. False: the route was begun
 * with this nonce, and goes on. */
bool fby_client_route_set_nonce(
    struct fby_client_route *self, const struct fby_route_nonce *nonce);

/* Begin a route with the nonce, which is then used up. `secrets` has all but
 * the nonces, which are set here.
 * Errors: FBY_SYS  libcrypto failed. */
FBY_CHECKED fby_err fby_client_route_begin(
    struct fby_client_route *self, struct fby_route_secrets *secrets);

/* The connection has ended: its nonce and keys are not used again. */
void fby_client_route_end(struct fby_client_route *self);

#endif
