/* SPDX-License-Identifier: Apache-2.0 */
/* FBY_MUTANT(name) is false except in a test of the simulator. */
#include "secure/handshake.h"

#include <sodium.h>
#include <string.h>

#include "common/mutant.h"

/* ---- the worker ---------------------------------------------------------- */

static struct fby_challenge *find(
    struct fby_challenges *self, const struct fby_routing_id *connection)
{
    for (size_t i = 0; i < FBY_MAX_CHALLENGES; i++) {
        struct fby_challenge *challenge = &self->list[i];
        if (challenge->connection.size > 0 &&
            fby_routing_id_equal(&challenge->connection, connection)) {
            return challenge;
        }
    }
    return NULL;
}

struct fby_route_nonce fby_challenges_nonce(
    struct fby_challenges *self, const struct fby_routing_id *connection)
{
    struct fby_challenge *challenge = find(self, connection);
    if (challenge == NULL) {
        challenge             = &self->list[self->next];
        self->next            = (self->next + 1) % FBY_MAX_CHALLENGES;
        challenge->connection = *connection;
        randombytes_buf(&challenge->nonce, sizeof(challenge->nonce));
    }
    return challenge->nonce;
}

bool fby_challenges_take(struct fby_challenges *self,
    const struct fby_routing_id *connection, struct fby_route_nonce *out)
{
    struct fby_challenge *challenge = find(self, connection);
    if (challenge == NULL) {
        return false;
    }
    *out = challenge->nonce;
    if (!FBY_MUTANT(keep_nonce)) {
        *challenge = (struct fby_challenge){0};
    }
    return true;
}

/* ---- the client ---------------------------------------------------------- */

bool fby_client_route_set_nonce(
    struct fby_client_route *self, const struct fby_route_nonce *nonce)
{
    if (self->has_lanes &&
        memcmp(&self->nonce, nonce, sizeof(self->nonce)) == 0) {
        return false;
    }
    fby_client_route_end(self);
    self->has_nonce = true;
    self->nonce     = *nonce;
    return true;
}

fby_err fby_client_route_begin(
    struct fby_client_route *self, struct fby_route_secrets *secrets)
{
    secrets->worker_nonce = self->nonce;
    randombytes_buf(&secrets->client_nonce, sizeof(secrets->client_nonce));
    self->has_nonce = false;
    fby_err err     = fby_lanes_derive(secrets, &self->lanes);
    self->has_lanes = err == FBY_OK;
    return err;
}

void fby_client_route_end(struct fby_client_route *self)
{
    self->has_nonce = false;
    self->has_lanes = false;
    sodium_memzero(&self->lanes, sizeof(self->lanes));
}
