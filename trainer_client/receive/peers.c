/* SPDX-License-Identifier: Apache-2.0 */
#include "trainer_client/receive/peers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/hash.h"
#include "common/mem.h"

void fby_peer_assign(struct fby_peer *peer, const struct fby_worker_info *info)
{
    fby_peer_clear(peer);
    peer->used        = true;
    peer->instance    = info->instance;
    peer->n_endpoints = info->endpoints.n;
    peer->endpoints = fby_zalloc(info->endpoints.n * sizeof(*peer->endpoints));
    for (size_t i = 0; i < info->endpoints.n; i++) {
        peer->endpoints[i] = fby_strdup(info->endpoints.at[i]);
    }
    snprintf(peer->label, sizeof(peer->label), "worker %.100s (%.150s)",
        info->host, info->endpoints.n > 0 ? info->endpoints.at[0] : "nowhere");
}

void fby_peer_clear(struct fby_peer *peer)
{
    for (size_t i = 0; i < peer->n_endpoints; i++) {
        free(peer->endpoints[i]);
    }
    free(peer->endpoints);
    *peer = (struct fby_peer){0};
}

const char *fby_peer_next_endpoint(struct fby_peer *peer)
{
    return peer->n_endpoints > 0
               ? peer->endpoints[peer->n_attempts++ % peer->n_endpoints]
               : NULL;
}

uint64_t fby_peer_endpoints_hash(const struct fby_worker_info *info)
{
    struct fby_digest_state state;
    uint64_t                key = 0;
    fby_digest_begin(&state);
    for (size_t i = 0; i < info->endpoints.n; i++) {
        const char *endpoint = info->endpoints.at[i];
        fby_digest_add(&state, endpoint, strlen(endpoint) + 1);
    }
    struct fby_digest digest = fby_digest_end(&state);
    memcpy(&key, digest.bytes, sizeof(key));
    return key;
}
