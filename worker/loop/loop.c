/* SPDX-License-Identifier: Apache-2.0 */
/* One turn of a worker's loop: wait, then handle messages, events of the stages
 * (the threads that make batches), freed memory, loaded datasets, signals and
 * timers, in this order. At the end send what is ready. */
#include "worker/loop/loop.h"

#include <errno.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/log.h"

enum { MESSAGES_PER_TURN = 64 }; /* at most, so that other events come next */

/* Silent clients and unused memory may be noticed so late, because wait_ms does
 * not consider their timers. */
static const int64_t longest_wait_ns = FBY_NS_PER_S;

/* Receive and handle one message. Returns false when there is none. */
static bool receive_one(struct fby_loop *self)
{
    struct fby_routing_id sender;
    zmq_msg_t             frame;
    fby_err err = fby_socket_receive(self->router, &sender, &frame);
    if (err == FBY_OK) {
        fby_loop_handle_frame(
            self, &sender, zmq_msg_data(&frame), zmq_msg_size(&frame));
        zmq_msg_close(&frame);
    } else if (err == FBY_PROTO) { /* a message of several frames */
        self->counts.malformed++;
    }
    return err != FBY_AGAIN;
}

/* If a turn begins so much later than the longest wait allows, the process was
 * stopped or starved, and could not receive messages. */
static const int64_t max_oversleep_ns = FBY_NS_PER_S / 2;

static void read_clock(struct fby_loop *self)
{
    int64_t now_ns    = fby_now_ns();
    int64_t latest_ns = self->now_ns + longest_wait_ns + max_oversleep_ns;
    if (now_ns > latest_ns) {
        fby_loop_peers_extend_leases(self, now_ns - latest_ns);
    }
    self->now_ns = now_ns;
}

/* Milliseconds to wait for messages and events: until the next timer is due, at
 * most longest_wait_ns. */
static long wait_ms(const struct fby_loop *self)
{
    int64_t now_ns = fby_now_ns();
    int64_t due_ns = now_ns + longest_wait_ns;
    due_ns         = fby_earlier_ns(due_ns, fby_loop_registry_deadline(self));
    if (self->opens != NULL) {
        due_ns = fby_earlier_ns(due_ns, self->progress_due_ns);
    }
    if (self->leave_until_ns != 0) {
        due_ns = fby_earlier_ns(due_ns, self->leave_until_ns);
    }
    if (self->now_ns < self->accept_until_ns) {
        due_ns = fby_earlier_ns(due_ns, self->accept_until_ns);
    }
    /* Round up, so that the timer is due after the wait. */
    return due_ns <= now_ns ? 0 : (long)((due_ns - now_ns) / FBY_NS_PER_MS) + 1;
}

/* Unmap memory that was kept for reuse and was not used for idle_ns. A check in
 * each quarter of idle_ns finds it early enough. */
static void trim_memory(struct fby_loop *self)
{
    int64_t unused_since_ns = self->now_ns - self->options.idle_ns;
    fby_memory_trim(self->memory, unused_since_ns);
    fby_stages_trim(self->stages, unused_since_ns);
    self->trim_due_ns = self->now_ns + self->options.idle_ns / 4;
}

static void run_timers(struct fby_loop *self)
{
    if (self->now_ns >= self->progress_due_ns) {
        fby_loop_send_progress(self);
        self->progress_due_ns = self->now_ns + self->options.progress_ns;
    }
    if (self->now_ns >= self->trim_due_ns) {
        trim_memory(self);
    }
    fby_file_watch_tick(&self->files, self->now_ns);
    fby_service_manager_tick(&self->manager, self->now_ns);
    fby_handshakes_tick(&self->handshakes, self->now_ns);
    fby_loop_registry_tick(self);
    fby_loop_peers_sweep(self);
}

static void handle_signals(struct fby_loop *self)
{
    struct signalfd_siginfo info;
    while (read(self->signal_fd, &info, sizeof(info)) == sizeof(info)) {
        fby_loop_start_leaving(self);
    }
}

/* stop_fd stays readable, so it is polled only until the worker leaves. */
static bool polls_stop_fd(const struct fby_loop *self)
{
    return self->options.stop_fd >= 0 && self->leave_until_ns == 0;
}

void fby_loop_turn(struct fby_loop *self)
{
    enum {
        ROUTER,
        STAGES,
        ARENAS,
        PLANS,
        SIGNALS,
        STOP,
        LOCATOR,
        SERVER,
        N_ITEMS
    };
    zmq_pollitem_t items[N_ITEMS] = {
        [ROUTER]  = {.socket = self->router},
        [STAGES]  = {.fd = fby_stages_fd(self->stages)},
        [ARENAS]  = {.fd = fby_arenas_fd(self->arenas)},
        [PLANS]   = {.fd = fby_plan_cache_fd(self->plans)},
        [SIGNALS] = {.fd = self->signal_fd},
        [STOP]    = {.fd = polls_stop_fd(self) ? self->options.stop_fd : -1},
        [LOCATOR] = {.fd = fby_loop_registry_fd(self)},
        /* Without a server `socket` is NULL, and the fd of -1 is ignored. */
        [SERVER] = {.socket = self->registry.socket, .fd = -1},
    };
    for (int i = 0; i < N_ITEMS; i++) {
        items[i].events = ZMQ_POLLIN;
    }
    if (zmq_poll(items, N_ITEMS, wait_ms(self)) < 0 && errno != EINTR) {
        fby_error("POLL", "%s", zmq_strerror(errno));
    }
    read_clock(self);
    int received = 0;
    while (received < MESSAGES_PER_TURN && receive_one(self)) {
        received++;
    }
    fby_loop_registry_receive(self);
    fby_loop_handle_events(self);
    fby_arenas_free_released(self->arenas, fby_loop_request_free, self);
    if ((items[PLANS].revents & ZMQ_POLLIN) != 0) {
        fby_loop_answer_ended_opens(self);
    }
    if ((items[SIGNALS].revents & ZMQ_POLLIN) != 0) {
        handle_signals(self);
    }
    if ((items[STOP].revents & ZMQ_POLLIN) != 0) {
        fby_loop_start_leaving(self);
    }
    run_timers(self);
    fby_loop_send_ready(self);
    fby_loop_leave_tick(self);
    if (fby_http_turn(self->http, self->now_ns)) {
        fby_http_publish(self->http, fby_loop_view(self));
    }
}
