/* SPDX-License-Identifier: Apache-2.0 */
/* keys.c - the keys of a worker: tickets, the keys of routes, and sealed frames
 * in place of messages in the clear. docs/security.md describes all of them.
 *
 * A connection begins with any message of the client, which HELLO_FIRST answers
 * with a nonce. SEALED_HELLO then shows a ticket, and HELLO is sealed in it.
 * From then on all messages of the connection are sealed frames. */
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/mem.h"
#include "secure/handshake.h"
#include "secure/key_file.h"
#include "worker/loop/loop.h"

struct fby_loop_keys {
    struct fby_key_file   key;
    struct fby_key        secret;       /* what the server seals tickets with */
    struct fby_aead      *aead;         /* of the loop */
    struct fby_aead     **thread_aeads; /* [n_threads], of the encode threads */
    uint32_t              n_threads;
    struct fby_challenges challenges;
};

struct fby_loop_seal { /* what a peer with a ticket has */
    struct fby_lanes  lanes;
    struct fby_ticket ticket;
};

/* ---- open and close ------------------------------------------------------ */

static fby_err create_aeads(struct fby_loop_keys *self, uint32_t n_threads)
{
    self->thread_aeads = fby_zalloc(n_threads * sizeof(void *));
    self->n_threads    = n_threads;
    for (uint32_t i = 0; i < n_threads; i++) {
        FBY_TRY(fby_aead_create(&self->thread_aeads[i]));
    }
    return fby_aead_create(&self->aead);
}

fby_err fby_loop_keys_open(struct fby_loop *self, struct fby_error_detail *why)
{
    if (self->options.keys == NULL) {
        return FBY_OK;
    }
    struct fby_loop_keys *keys = fby_zalloc(sizeof(*keys));
    self->keys                 = keys;
    randombytes_buf(&keys->secret, sizeof(keys->secret));
    if (create_aeads(keys, self->options.encode_threads) != FBY_OK) {
        return fby_error_set(
            why, FBY_SYS, "libcrypto has no AES-256-GCM for the keys");
    }
    return fby_key_file_load(
        self->options.keys, FBY_ROLE_WORKER, &keys->key, why);
}

void fby_loop_keys_close(struct fby_loop *self)
{
    struct fby_loop_keys *keys = self->keys;
    if (keys != NULL) {
        fby_aead_destroy(&keys->aead);
        for (uint32_t i = 0; i < keys->n_threads; i++) {
            fby_aead_destroy(&keys->thread_aeads[i]);
        }
        free(keys->thread_aeads);
        sodium_memzero(keys, sizeof(*keys));
        free(keys);
        self->keys = NULL;
    }
}

/* ---- the server ---------------------------------------------------------- */

void fby_loop_keys_set_socket(
    const struct fby_loop *self, struct fby_socket_limits *limits)
{
    if (self->keys != NULL) {
        limits->secret_key = self->keys->key.secret_key.bytes;
        limits->public_key = self->keys->key.public_key.bytes;
        limits->server_key = self->keys->key.server_key.bytes;
    }
}

void fby_loop_keys_register(
    const struct fby_loop *self, struct fby_registration *registration)
{
    if (self->keys != NULL) {
        registration->secret.known = true;
        memcpy(registration->secret.digest.bytes, self->keys->secret.bytes,
            FBY_KEY_BYTES);
        registration->clock_ns = (uint64_t)self->now_ns;
    }
}

/* ---- challenges ---------------------------------------------------------- */

void fby_loop_keys_challenge(struct fby_loop *self,
    const struct fby_routing_id *connection, struct fby_hello_first *out)
{
    if (self->keys == NULL) {
        return;
    }
    const struct fby_route_nonce nonce =
        fby_challenges_nonce(&self->keys->challenges, connection);
    out->nonce.known = true;
    memcpy(out->nonce.digest.bytes, nonce.bytes, FBY_ROUTE_NONCE);
    out->features =
        fby_cipher_preferred() == FBY_CIPHER_AES ? FBY_FEATURE_AES : 0;
}

/* ---- SEALED_HELLO -------------------------------------------------------- */

static fby_err check_ticket(const struct fby_loop *self,
    const struct fby_ticket *ticket, struct fby_session_id session,
    struct fby_error_detail *why)
{
    if (!fby_session_equal(ticket->session, session)) {
        return fby_error_set(why, FBY_PROTO,
            "the ticket is of another session; the client is faulty");
    }
    if (ticket->expiry_ns <= self->now_ns) {
        return fby_error_set(why, FBY_GONE,
            "the ticket has expired: the server does not answer the trainer, "
            "or its key was removed");
    }
    return FBY_OK;
}

static fby_err open_ticket(const struct fby_loop *self, struct fby_blob sealed,
    struct fby_session_id session, struct fby_ticket *out,
    struct fby_error_detail *why)
{
    if (fby_ticket_open(self->keys->aead, &self->keys->secret,
            (struct fby_span){sealed.data, sealed.size}, out) != FBY_OK) {
        return fby_error_set(why, FBY_PROTO,
            "the ticket is not for this worker: it was restarted, or the "
            "ticket is forged");
    }
    fby_err err = check_ticket(self, out, session, why);
    if (err != FBY_OK) {
        fby_ticket_fini(out);
    }
    return err;
}

/* Derive the keys of the route from the ticket and both nonces. */
static fby_err derive_lanes(const struct fby_loop *self,
    const struct fby_sealed_hello *message, const struct fby_route_nonce *nonce,
    struct fby_loop_seal *seal)
{
    struct fby_route_secrets secrets = {
        .session_key  = seal->ticket.session_key,
        .worker_nonce = *nonce,
        .cipher       = (enum fby_cipher)message->cipher,
        .mode         = seal->ticket.mode,
        .session      = message->session,
        .worker       = self->instance,
    };
    memcpy(secrets.client_nonce.bytes, message->nonce.digest.bytes,
        FBY_ROUTE_NONCE);
    fby_err err = fby_lanes_derive(&secrets, &seal->lanes);
    sodium_memzero(&secrets, sizeof(secrets));
    return err;
}

/* Open a sealed message in place, and decode it. */
static fby_err open_message(const struct fby_loop *self,
    struct fby_loop_seal *seal, uint8_t *frame, size_t size,
    struct fby_message *out)
{
    struct fby_seal         place;
    struct fby_error_detail why = {""};
    FBY_TRY(fby_lane_accept(&seal->lanes.to_worker, frame, size, &place));
    FBY_TRY(fby_open_frame(self->keys->aead, &place, frame, size));
    fby_err err = fby_message_decode(
        frame + FBY_SEAL_HEAD, size - FBY_SEAL_BYTES, out, &why);
    sodium_memzero(&place, sizeof(place));
    return err;
}

static fby_err open_hello(struct fby_loop *self,
    const struct fby_sealed_hello *message, const struct fby_route_nonce *nonce,
    struct fby_loop_seal *seal, struct fby_message *hello,
    struct fby_error_detail *why)
{
    FBY_TRY(open_ticket(
        self, message->ticket, message->session, &seal->ticket, why));
    uint8_t *frame = fby_memdup(message->hello.data, message->hello.size);
    fby_err  err   = derive_lanes(self, message, nonce, seal);
    if (err == FBY_OK) {
        err = open_message(self, seal, frame, message->hello.size, hello);
    }
    free(frame);
    if (err != FBY_OK) {
        return fby_error_set(why, err, "HELLO was not sealed with the ticket");
    }
    if (hello->type != FBY_MSG_HELLO ||
        !fby_session_equal(hello->hello.session, message->session) ||
        strcmp(hello->hello.job, seal->ticket.job) != 0) {
        fby_message_fini(hello);
        return fby_error_set(
            why, FBY_PROTO, "HELLO is not of the ticket's session and job");
    }
    return FBY_OK;
}

fby_err fby_loop_keys_begin(struct fby_loop *self,
    const struct fby_routing_id *sender, const struct fby_sealed_hello *message,
    struct fby_message *hello, struct fby_loop_seal **out,
    struct fby_error_detail *why)
{
    struct fby_route_nonce nonce;
    if (self->keys == NULL ||
        !fby_challenges_take(&self->keys->challenges, sender, &nonce)) {
        return FBY_NOT_FOUND;
    }
    struct fby_loop_seal *seal = fby_zalloc(sizeof(*seal));
    fby_err err = open_hello(self, message, &nonce, seal, hello, why);
    if (err != FBY_OK) {
        fby_loop_seal_free(&seal);
        return FBY_PROTO;
    }
    *out = seal;
    return FBY_OK;
}

void fby_loop_seal_free(struct fby_loop_seal **self_p)
{
    struct fby_loop_seal *self = *self_p;
    if (self != NULL) {
        fby_ticket_fini(&self->ticket);
        sodium_memzero(self, sizeof(*self));
        free(self);
        *self_p = NULL;
    }
}

void fby_loop_peer_set_seal(
    struct fby_loop_peer *peer, struct fby_loop_seal *seal)
{
    fby_loop_seal_free(&peer->seal);
    peer->seal = seal;
}

/* ---- TICKET, and what a ticket permits ----------------------------------- */

void fby_loop_on_ticket(struct fby_loop *self, struct fby_loop_peer *peer,
    const struct fby_message *message)
{
    struct fby_ticket       ticket = {0};
    struct fby_error_detail why    = {""};
    if (peer->seal == NULL) {
        self->counts.out_of_place++;
        return;
    }
    if (open_ticket(self, message->ticket_renewal.ticket, peer->id, &ticket,
            &why) != FBY_OK) {
        fby_warn("TICKET-REFUSED", "%s: %s", peer->name, why.text);
        return;
    }
    fby_ticket_fini(&peer->seal->ticket);
    peer->seal->ticket = ticket;
}

bool fby_loop_ticket_expired(
    const struct fby_loop *self, const struct fby_loop_peer *peer)
{
    return peer->seal != NULL && peer->seal->ticket.expiry_ns <= self->now_ns;
}

/* True if the ticket permits the root of "NAME:path". */
static bool permits(const struct fby_ticket *ticket, const char *location)
{
    char   root[FBY_TICKET_NAME_MAX + 1];
    size_t size = strcspn(location, ":");
    if (size >= sizeof(root)) {
        return false;
    }
    memcpy(root, location, size);
    root[size] = '\0';
    return fby_ticket_allows_root(ticket, root);
}

fby_err fby_loop_check_location(const struct fby_loop_peer *peer,
    const char *location, struct fby_error_detail *why)
{
    if (peer->seal == NULL || location[0] == '\0' ||
        permits(&peer->seal->ticket, location)) {
        return FBY_OK;
    }
    return fby_error_set(why, FBY_USAGE,
        "the key of this trainer does not permit %.200s: change its roots in "
        "the list of keys",
        location);
}

/* ---- sealed frames ------------------------------------------------------- */

fby_err fby_loop_open_message(struct fby_loop *self, struct fby_loop_peer *peer,
    uint8_t *frame, size_t size, struct fby_message *out)
{
    return peer->seal != NULL ? open_message(self, peer->seal, frame, size, out)
                              : FBY_PROTO;
}

bool fby_loop_seals_chunks(const struct fby_loop_peer *peer)
{
    return peer->seal != NULL && peer->seal->ticket.mode == FBY_SECURE_FULL;
}

fby_err fby_loop_keys_take_place(
    struct fby_loop_peer *peer, size_t size, struct fby_seal *out)
{
    return fby_lane_next(&peer->seal->lanes.to_client, size, out);
}

fby_err fby_loop_keys_seal(struct fby_loop *self, struct fby_loop_peer *peer,
    struct fby_span message, uint8_t *out)
{
    struct fby_seal place;
    FBY_TRY(fby_loop_keys_take_place(peer, message.size, &place));
    fby_err err = fby_seal_frame(
        self->keys->aead, &place, (struct fby_span){0}, message, out);
    sodium_memzero(&place, sizeof(place));
    return err;
}

struct fby_aead *const *fby_loop_keys_aeads(const struct fby_loop *self)
{
    return self->keys->thread_aeads;
}
