/* SPDX-License-Identifier: Apache-2.0 */
/* tickets.h - makes the tickets that a list of workers carries to a trainer.
 *
 * Thread: the server's loop. */
#ifndef FBY_SERVER_TICKETS_H
#define FBY_SERVER_TICKETS_H

#include "proto/messages.h"
#include "secure/allowed.h"
#include "secure/ticket.h"
#include "server/directory.h"

struct fby_tickets;

/* The tickets are valid for `valid_ns`.
 * Errors: FBY_SYS  libcrypto cannot be used. */
FBY_CHECKED fby_err fby_tickets_create(
    enum fby_secure_mode mode, int64_t valid_ns, struct fby_tickets **out);
/* Accepts a pointer to NULL. */
void fby_tickets_destroy(struct fby_tickets **self_p);

/* Add a session key and a ticket to each entry of the list whose worker sent a
 * secret. They admit the session, with the limits of its key. The entries are
 * then those of `self`, until the next call.
 * Errors: FBY_SYS    libcrypto failed
 *         FBY_USAGE  the limits of the key do not fit into a ticket. */
FBY_CHECKED fby_err fby_tickets_add(struct fby_tickets *self,
    const struct fby_directory                         *directory,
    const struct fby_dir_admitted *session, const struct fby_allowed_key *key,
    int64_t now_ns, struct fby_workers *workers);

#endif
