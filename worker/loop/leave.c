/* SPDX-License-Identifier: Apache-2.0 */
/* Leave: the worker sends LEAVE to its clients, accepts no new requests,
 * finishes the open batches, and ends. After drain_ns it answers LOST for the
 * batches that are still open. When the socket closes, ZeroMQ has LINGER_MS
 * (worker.c) to send the messages in its queues. */
#include "common/log.h"
#include "worker/loop/loop.h"

void fby_loop_start_leaving(struct fby_loop *self)
{
    if (self->leave_until_ns != 0) {
        self->leave_until_ns = self->now_ns; /* end in this turn */
        return;
    }
    fby_info("LEAVING", "finishing the open batches");
    fby_service_manager_tell(
        &self->manager, "STOPPING=1\nSTATUS=finishing the open batches");
    self->leave_until_ns = self->now_ns + self->options.drain_ns;
    fby_http_refresh(self->http);
    fby_loop_registry_deregister(self);
    for (struct fby_loop_peer *peer = self->peers; peer != NULL;
         peer                       = peer->next) {
        if (!peer->has_left) {
            fby_session_leave(peer->session);
            fby_loop_send_to_peer(
                self, peer, FBY_MESSAGE(LEAVE, leave, .session = peer->id));
        }
    }
}

static bool has_open_batches(const struct fby_loop *self)
{
    for (const struct fby_loop_peer *peer = self->peers; peer != NULL;
         peer                             = peer->next) {
        if (!peer->has_left && fby_session_state(peer->session).open > 0) {
            return true;
        }
    }
    return false;
}

/* True if frames wait until they are sealed. */
static bool has_frames(const struct fby_loop *self)
{
    const struct fby_loop_peer *peer = self->peers;
    while (peer != NULL && peer->outbox == NULL) {
        peer = peer->next;
    }
    return peer != NULL;
}

static void send_lost_for_open_batches(struct fby_loop *self)
{
    fby_warn("GIVEN-BACK",
        "the time to finish is over: the open batches are dropped");
    for (struct fby_loop_peer *peer = self->peers; peer != NULL;
         peer                       = peer->next) {
        if (!peer->has_left) {
            fby_session_lose_open(peer->session);
        }
    }
    fby_loop_send_ready(self);
}

void fby_loop_leave_tick(struct fby_loop *self)
{
    if (self->leave_until_ns == 0) {
        return;
    }
    if (self->now_ns >= self->leave_until_ns && has_open_batches(self)) {
        send_lost_for_open_batches(self);
    }
    self->done = !has_open_batches(self) && !has_frames(self);
}
