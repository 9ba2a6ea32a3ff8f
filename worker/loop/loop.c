/* One turn of the loop: phases in a fixed order. */
#include "worker/loop/loop.h"

#include <errno.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/log.h"

enum { MESSAGES_A_TURN = 64 };

static const int64_t longest_wait_ns = FBY_NS_PER_S;

/* A message is the sender's routing id and exactly one more frame. Any other is
 * read, dropped and counted as malformed. */
static bool receive_one(struct fby_loop *self)
{
    struct fby_routing_id from;
    int                   n =
        zmq_recv(self->router, from.bytes, sizeof(from.bytes), ZMQ_DONTWAIT);
    if (n < 0) {
        return false;
    }
    from.size       = (size_t)n;
    unsigned frames = 0;
    int      more   = 1;
    while (more != 0) {
        zmq_msg_t frame;
        zmq_msg_init(&frame);
        if (zmq_msg_recv(&frame, self->router, ZMQ_DONTWAIT) < 0) {
            zmq_msg_close(&frame);
            return false;
        }
        more = zmq_msg_more(&frame);
        if (frames++ == 0 && more == 0) {
            fby_loop_take_frame(
                self, &from, zmq_msg_data(&frame), zmq_msg_size(&frame));
        }
        zmq_msg_close(&frame);
    }
    self->counts.malformed += frames > 1 ? 1 : 0;
    return true;
}

static int64_t earlier(int64_t a_ns, int64_t b_ns)
{
    return a_ns < b_ns ? a_ns : b_ns;
}

static long wait_ms(const struct fby_loop *self)
{
    int64_t now_ns = fby_now_ns();
    int64_t due_ns = now_ns + longest_wait_ns;
    if (self->registry.socket != NULL && self->leave_until_ns == 0) {
        due_ns = earlier(due_ns, self->registry.due_ns);
    }
    if (self->opens != NULL) {
        due_ns = earlier(due_ns, self->progress_due_ns);
    }
    if (self->leave_until_ns != 0) {
        due_ns = earlier(due_ns, self->leave_until_ns);
    }
    return due_ns <= now_ns ? 0 : (long)((due_ns - now_ns) / FBY_NS_PER_MS) + 1;
}

static void receive_clients(struct fby_loop *self)
{
    for (int i = 0; i < MESSAGES_A_TURN && receive_one(self); i++) {
    }
}

/* Kept memory is unused after a stream ended, or if batches became smaller. */
static void trim_memory(struct fby_loop *self)
{
    int64_t since_ns = self->now_ns - self->options.idle_ns;
    fby_memory_trim(self->memory, since_ns);
    fby_stages_trim(self->stages, since_ns);
    self->trim_due_ns = self->now_ns + self->options.idle_ns / 4;
}

static void run_timers(struct fby_loop *self)
{
    if (self->now_ns >= self->progress_due_ns) {
        fby_loop_opens_progress(self);
        self->progress_due_ns = self->now_ns + self->options.progress_ns;
    }
    if (self->now_ns >= self->trim_due_ns) {
        trim_memory(self);
    }
    fby_loop_registry_tick(self);
    fby_loop_peers_sweep(self);
}

static void take_signals(struct fby_loop *self)
{
    struct signalfd_siginfo info;
    while (read(self->signal_fd, &info, sizeof(info)) == sizeof(info)) {
        fby_loop_leave(self);
    }
}

/* The descriptor stays readable, so it is polled only until leaving starts. */
static bool watches_stop(const struct fby_loop *self)
{
    return self->options.stop_fd >= 0 && self->leave_until_ns == 0;
}

void fby_loop_turn(struct fby_loop *self)
{
    enum { ROUTER, STAGES, ARENAS, PLANS, SIGNALS, STOP, SERVER, N };
    zmq_pollitem_t items[N] = {
        [ROUTER]  = {.socket = self->router},
        [STAGES]  = {.fd = fby_stages_fd(self->stages)},
        [ARENAS]  = {.fd = fby_arenas_fd(self->arenas)},
        [PLANS]   = {.fd = fby_plan_cache_fd(self->plans)},
        [SIGNALS] = {.fd = self->signal_fd},
        [STOP]    = {.fd = watches_stop(self) ? self->options.stop_fd : -1},
        [SERVER]  = {.socket = self->registry.socket, .fd = -1},
    };
    for (int i = 0; i < N; i++) {
        items[i].events = ZMQ_POLLIN;
    }
    if (zmq_poll(items, N, wait_ms(self)) < 0 && errno != EINTR) {
        fby_error("POLL", "%s", zmq_strerror(errno));
    }
    self->now_ns = fby_now_ns();

    receive_clients(self);
    fby_loop_registry_receive(self);
    fby_loop_take_events(self);
    fby_arenas_collect(self->arenas, fby_loop_request_freed, self);
    if ((items[PLANS].revents & ZMQ_POLLIN) != 0) {
        fby_loop_opens_ended(self);
    }
    if ((items[SIGNALS].revents & ZMQ_POLLIN) != 0) {
        take_signals(self);
    }
    if ((items[STOP].revents & ZMQ_POLLIN) != 0) {
        fby_loop_leave(self);
    }
    run_timers(self);
    fby_loop_flush(self);
    fby_loop_leave_tick(self);
}
