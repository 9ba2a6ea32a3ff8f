/* SPDX-License-Identifier: Apache-2.0 */
/* zap.h - the thread that decides who may connect to a server's socket.
 *
 * With CURVE alone libzmq admits every client that knows the server's public
 * key. So it asks a handler of the ZeroMQ Authentication Protocol (RFC 27),
 * this thread, about the public key of each connection. A known key becomes the
 * user id of the connection's messages (fby_zap_key_of). libzmq tells a client
 * that is refused nothing, and the client tries again for ever. So an unknown
 * key is admitted without a user id, and the server answers it with one refusal;
 * only more than a few of them in a short time are refused here. */
#ifndef FBY_SECURE_ZAP_H
#define FBY_SECURE_ZAP_H

#include <stdbool.h>
#include <stdint.h>
#include <zmq.h>

#include "secure/aead.h"

enum { FBY_ZAP_UNKNOWN_MAX = 64 }; /* unknown keys admitted in 10 s */

/* How many unknown keys were admitted; {0} at the start. */
struct fby_zap_unknown {
    int64_t  since_ns; /* the begin of the current 10 s */
    uint32_t n;
};
/* True if one more unknown key may be admitted; counts it. */
bool fby_zap_admit_unknown(struct fby_zap_unknown *self, int64_t now_ns);

/* Called on the thread of the handler: is this key admitted? */
typedef bool fby_zap_knows(void *context, const struct fby_key *public_key);

struct fby_zap;

/* Start the handler of a ZeroMQ context, before a socket of it is bound.
 * Ownership: the caller calls zmq_ctx_shutdown, which ends the thread, then
 *            fby_zap_join.
 * Errors:    FBY_SYS  a thread or socket cannot be created. */
FBY_CHECKED fby_err fby_zap_start(
    void *zmq, fby_zap_knows *knows, void *context, struct fby_zap **out);
/* Wait for the end of the thread, and free it. Accepts a pointer to NULL. */
void fby_zap_join(struct fby_zap **self_p);

/* The number of connections that were refused for their key. Any thread. */
uint64_t fby_zap_refused(const struct fby_zap *self);

/* The public key that a message was sent with. False: the key is unknown. */
bool fby_zap_key_of(zmq_msg_t *frame, struct fby_key *out);

#endif
