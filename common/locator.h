/* SPDX-License-Identifier: Apache-2.0 */
/* locator.h - where a server is: which of its addresses to connect to, and when
 * to look its name up again.
 *
 * A name is looked up when the server has been silent for a lease (10 s until
 * the server has named one), and then after 1, 2, 4 ... 30 s until it answers,
 * so that a server that comes back at another address is found. All addresses
 * of a name are tried in turn, each for 3 s until it has answered. A name
 * without an address, and a file that does not exist yet, are waited for; the
 * log says so at most once in 30 s.
 *
 * Only the lookup has a thread (resolver.h). All else is computed from the
 * times that the caller passes. */
#ifndef FBY_COMMON_LOCATOR_H
#define FBY_COMMON_LOCATOR_H

#include <stdbool.h>
#include <stdint.h>

#include "common/err.h"
#include "common/resolver.h"

struct fby_locator;

/* Find the server that `source` names. The first fby_locator_tick() starts.
 *
 * Errors: FBY_USAGE  the text of `source` is no address
 *         FBY_SYS    the system gives no eventfd. */
FBY_CHECKED fby_err fby_locator_create(const struct fby_resolver_source *source,
    struct fby_locator **out, struct fby_error_detail *why);

/* *self_p becomes NULL; NULL is allowed. Blocks: never. */
void fby_locator_destroy(struct fby_locator **self_p);

/* A descriptor to poll for reading: then a tick is due. */
int fby_locator_fd(const struct fby_locator *self);

/* Do what is due. Returns true if the caller must now connect to
 * fby_locator_endpoint(), in place of its connection: after the first lookup,
 * and when the server has been silent. */
bool fby_locator_tick(struct fby_locator *self, int64_t now_ns);

/* The time at which a tick is due; INT64_MAX: only the descriptor says it. */
int64_t fby_locator_deadline(const struct fby_locator *self);

/* The numeric endpoint to connect to; "": none is known yet. */
const char *fby_locator_endpoint(const struct fby_locator *self);

/* Why the last lookup failed; "" if it did not, or the server has answered
 * since. */
const char *fby_locator_problem(const struct fby_locator *self);

/* The server at fby_locator_endpoint() has sent a message. */
void fby_locator_heard(struct fby_locator *self, int64_t now_ns);

/* The server has named its lease. Without a message for so long it counts as
 * silent; values below 1 s and above 30 s are not used. */
void fby_locator_set_lease(struct fby_locator *self, int64_t lease_ns);

#endif
