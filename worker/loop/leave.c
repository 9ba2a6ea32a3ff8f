/* Leaving: send LEAVE, accept nothing new, finish what is open. When the time
 * is up, give back the rest as LOST. When the socket closes, ZeroMQ has a
 * limited time to send what it still holds. */
#include "common/log.h"
#include "worker/loop/loop.h"

static void send_leave(struct fby_loop *self, struct fby_loop_peer *peer)
{
    fby_session_leave(peer->session);
    fby_loop_send_to_peer(self, peer,
        &(struct fby_message){
            .type = FBY_MSG_LEAVE, .leave = {.session = peer->id}});
}

void fby_loop_leave(struct fby_loop *self)
{
    if (self->leave_until_ns != 0) {
        self->leave_until_ns = self->now_ns; /* the second call: end now */
        return;
    }
    fby_info("LEAVING", "finishing what is open");
    self->leave_until_ns = self->now_ns + self->options.drain_ns;
    fby_loop_registry_leave(self);
    for (struct fby_loop_peer *peer = self->peers; peer != NULL;
         peer                       = peer->next) {
        if (!peer->has_left) {
            send_leave(self, peer);
        }
    }
}

static bool anything_open(const struct fby_loop *self)
{
    for (const struct fby_loop_peer *peer = self->peers; peer != NULL;
         peer                             = peer->next) {
        if (!peer->has_left && fby_session_state(peer->session).open > 0) {
            return true;
        }
    }
    return false;
}

static void give_back_all(struct fby_loop *self)
{
    fby_warn("GIVEN-BACK", "time is up: open batches are lost");
    for (struct fby_loop_peer *peer = self->peers; peer != NULL;
         peer                       = peer->next) {
        if (!peer->has_left) {
            fby_session_give_back(peer->session);
        }
    }
    fby_loop_flush(self);
}

void fby_loop_leave_tick(struct fby_loop *self)
{
    if (self->leave_until_ns == 0) {
        return;
    }
    if (!anything_open(self)) {
        self->done = true;
    } else if (self->now_ns >= self->leave_until_ns) {
        give_back_all(self);
        self->done = true;
    }
}
