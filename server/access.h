/* SPDX-License-Identifier: Apache-2.0 */
/* access.h - the keys of a server: its own, the list of those that it admits,
 * and what each may do. docs/security.md describes them.
 *
 * Thread: fby_access_knows is called by the handler of keys, all other
 *         functions by the server's loop. */
#ifndef FBY_SERVER_ACCESS_H
#define FBY_SERVER_ACCESS_H

#include "proto/messages.h"
#include "secure/allowed.h"

struct fby_access;

/* Read the server's key from `keys` (fby_key_file_load) and the list from
 * `allowed`; NULL: the file `allowed` in the folder `keys`, or beside the key
 * file `keys`.
 * Errors: FBY_CONFIG  `why` has the file and what is wrong. */
FBY_CHECKED fby_err fby_access_open(const char *keys, const char *allowed,
    struct fby_access **out, struct fby_error_detail *why);
/* Wipe and free; accepts a pointer to NULL. */
void fby_access_close(struct fby_access **self_p);

/* The server's secret key, of FBY_KEY_BYTES bytes. */
const uint8_t *fby_access_secret(const struct fby_access *self);

/* fby_zap_knows: `context` is the struct fby_access. */
bool fby_access_knows(void *context, const struct fby_key *public_key);

/* Read the list again if its file has changed. A list that cannot be read or is
 * malformed is logged once, and the old one stays. */
void fby_access_refresh(struct fby_access *self);

/* The entry of a key, until the next fby_access_refresh; NULL: the list has no
 * such key. */
const struct fby_allowed_key *fby_access_find(
    const struct fby_access *self, const struct fby_key *public_key);

/* True if a process of `role` may send messages of `type` to a server. */
bool fby_access_permits(enum fby_role role, enum fby_message_type type);

#endif
