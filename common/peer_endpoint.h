/* SPDX-License-Identifier: Apache-2.0 */
/* peer_endpoint.h - rules for an endpoint that another process sends.
 *
 * A worker names the endpoint at which trainers connect to it. ZeroMQ would
 * also connect to files of this machine (ipc://), to broadcast addresses and
 * to host names, which it resolves each time. So only numeric TCP endpoints
 * are accepted. Pure functions: no look-up, no socket. */
#ifndef FBY_COMMON_PEER_ENDPOINT_H
#define FBY_COMMON_PEER_ENDPOINT_H

#include <stdbool.h>

#include "common/err.h"

/* Check that `endpoint` is "tcp://ADDRESS:PORT": a numeric address of one
 * machine, IPv6 in brackets, and a port from 1 to 65535.
 * Errors: FBY_PROTO; `why` has the rule and what to do. */
FBY_CHECKED fby_err fby_peer_endpoint_check(
    const char *endpoint, struct fby_error_detail *why);

/* Check `endpoint` as above, and that the sender may name it. `sender` is the
 * numeric address that the message came from; NULL: unknown. A sender without a
 * key may only name its own address: a false one would send trainers to
 * a machine that has not asked for them. On loopback all addresses are equal.
 * Errors: FBY_PROTO; `why` has both addresses and what to do. */
FBY_CHECKED fby_err fby_peer_endpoint_check_sender(const char *endpoint,
    const char *sender, bool has_key, struct fby_error_detail *why);

#endif
