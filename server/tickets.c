/* SPDX-License-Identifier: Apache-2.0 */
#include "server/tickets.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"

struct fby_tickets {
    struct fby_aead        *aead;
    enum fby_secure_mode    mode;
    int64_t                 valid_ns; /* how long a ticket is valid */
    struct fby_buffer       bytes;    /* the tickets of the last list */
    struct fby_worker_info *entries;  /* of the last list */
};

fby_err fby_tickets_create(
    enum fby_secure_mode mode, int64_t valid_ns, struct fby_tickets **out)
{
    struct fby_tickets *self = fby_zalloc(sizeof(*self));
    self->mode               = mode;
    self->valid_ns           = valid_ns;
    if (fby_aead_create(&self->aead) != FBY_OK) {
        free(self);
        return FBY_SYS;
    }
    *out = self;
    return FBY_OK;
}

void fby_tickets_destroy(struct fby_tickets **self_p)
{
    if (*self_p != NULL) {
        fby_aead_destroy(&(*self_p)->aead);
        fby_buffer_fini(&(*self_p)->bytes);
        free((*self_p)->entries);
        free(*self_p);
        *self_p = NULL;
    }
}

/* The names of the roots that the key may use, as an array that the caller
 * frees. */
static const char **list_roots(const struct fby_allowed_key *key)
{
    const char **roots = fby_zalloc((key->n_roots + 1) * sizeof(*roots));
    const char  *name  = key->roots;
    for (size_t i = 0; i < key->n_roots; i++) {
        roots[i] = name;
        name += strlen(name) + 1;
    }
    return roots;
}

/* Append the ticket for one worker. Its place in the buffer is set at the end,
 * because the buffer may still move. */
static fby_err add_ticket(struct fby_tickets *self,
    const struct fby_dir_secret *secret, struct fby_ticket *ticket,
    int64_t now_ns, struct fby_worker_info *out)
{
    struct fby_key worker_secret;
    size_t         begin = self->bytes.size;
    memcpy(worker_secret.bytes, secret->secret.bytes, FBY_KEY_BYTES);
    randombytes_buf(ticket->session_key.bytes, FBY_KEY_BYTES);
    ticket->expiry_ns = now_ns + secret->clock_ahead_ns + self->valid_ns;
    fby_err err =
        fby_ticket_seal(self->aead, &worker_secret, ticket, &self->bytes);
    sodium_memzero(&worker_secret, sizeof(worker_secret));
    if (err == FBY_OK) {
        out->ticket.size       = self->bytes.size - begin;
        out->session_key.known = true;
        memcpy(out->session_key.digest.bytes, ticket->session_key.bytes,
            FBY_KEY_BYTES);
        out->secure = (uint32_t)self->mode;
    }
    return err;
}

/* Add a ticket to each entry. */
static fby_err add_tickets(struct fby_tickets *self,
    const struct fby_directory *directory, struct fby_ticket *ticket,
    int64_t now_ns, size_t n)
{
    self->bytes.size = 0;
    for (size_t i = 0; i < n; i++) {
        struct fby_dir_secret   secret;
        struct fby_worker_info *entry = &self->entries[i];
        if (fby_directory_find_secret(directory, entry->instance, &secret)) {
            FBY_TRY(add_ticket(self, &secret, ticket, now_ns, entry));
        }
    }
    const uint8_t *at = self->bytes.data;
    for (size_t i = 0; i < n; i++) {
        self->entries[i].ticket.data = at;
        at += self->entries[i].ticket.size;
    }
    return FBY_OK;
}

fby_err fby_tickets_add(struct fby_tickets *self,
    const struct fby_directory             *directory,
    const struct fby_dir_admitted *session, const struct fby_allowed_key *key,
    int64_t now_ns, struct fby_workers *workers)
{
    const size_t      n      = workers->n_added;
    const char      **roots  = list_roots(key);
    struct fby_ticket ticket = {.session = session->id,
        .mode                            = self->mode,
        .job                             = session->job,
        .all_roots                       = key->roots == NULL,
        .roots                           = roots,
        .n_roots                         = key->n_roots};
    self->entries =
        fby_realloc(self->entries, (n + 1) * sizeof(*self->entries));
    memcpy(self->entries, workers->added, n * sizeof(*self->entries));
    fby_err err    = add_tickets(self, directory, &ticket, now_ns, n);
    workers->added = self->entries;
    sodium_memzero(&ticket.session_key, sizeof(ticket.session_key));
    free(roots);
    return err;
}
