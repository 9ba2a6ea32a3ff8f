/* SPDX-License-Identifier: Apache-2.0 */
/* Leave: the worker sends LEAVE to its clients, finishes the open batches, and
 * ends. Clients send no request after LEAVE; those that were in flight are
 * accepted until each client has said BYE, for IN_FLIGHT_NS at most. After
 * drain_ns the worker answers LOST for the batches that are still open. When the
 * socket closes, ZeroMQ has LINGER_MS (worker.c) to send the messages in its
 * queues. A thread that hangs, as one that reads from a mount that does not
 * answer, cannot be joined: a timer ends the process END_S after drain_ns. A
 * process that was stopped until then has END_S too. */
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/timer.h"
#include "worker/loop/loop.h"

/* Two signals within this time are one request. */
#define SAME_REQUEST_NS FBY_NS_PER_S

/* Several round trips of a slow network, and short beside a drain. */
#define IN_FLIGHT_NS (FBY_NS_PER_S / 2)

enum { END_S = 3 }; /* for the threads to end the sample that they work on */

static volatile sig_atomic_t is_last_alarm;

/* For SIGALRM: the first is for the end of the drain, the second ends the
 * process. Calls only functions that are safe in a signal handler. */
static void on_alarm(int number)
{
    static const char text[] =
        "forebay worker: it did not end within 3 s of --drain: probably a "
        "thread reads from a mount that does not answer; check the mounts of "
        "--data\n";
    (void)number;
    if (is_last_alarm == 0) {
        is_last_alarm = 1;
        (void)alarm(END_S);
        return;
    }
    ssize_t n = write(STDERR_FILENO, text, sizeof(text) - 1);
    (void)n;
    _exit(EXIT_FAILURE);
}

/* End the process after `ns` and END_S, unless fby_loop_end_in_order()
 * is called before. Only a process that handles signals is the worker's own. */
static void end_process_after(const struct fby_loop *self, int64_t ns)
{
    struct sigaction action = {.sa_handler = on_alarm};
    ns = ns > 0 ? ns : FBY_NS_PER_US; /* 0 would stop the timer */
    const struct itimerval timer = {
        .it_value = {.tv_sec = (time_t)(ns / FBY_NS_PER_S),
            .tv_usec = (suseconds_t)(ns % FBY_NS_PER_S / FBY_NS_PER_US)}};
    if (self->options.handles_signals) {
        is_last_alarm = 0;
        sigemptyset(&action.sa_mask);
        sigaction(SIGALRM, &action, NULL);
        setitimer(ITIMER_REAL, &timer, NULL);
    }
}

void fby_loop_end_in_order(const struct fby_loop *self)
{
    const struct itimerval none = {.it_value = {0}};
    if (self->options.handles_signals) {
        setitimer(ITIMER_REAL, &none, NULL);
    }
}

void fby_loop_start_leaving(struct fby_loop *self)
{
    if (self->leave_until_ns != 0) {
        if (self->now_ns - self->leaving_since_ns < SAME_REQUEST_NS) {
            return;
        }
        end_process_after(self, 0);
        self->leave_until_ns  = self->now_ns; /* end in this turn */
        self->accept_until_ns = self->now_ns;
        return;
    }
    fby_info("LEAVING", "finishing the open batches");
    fby_service_manager_tell(
        &self->manager, "STOPPING=1\nSTATUS=finishing the open batches");
    end_process_after(self, self->options.drain_ns);
    self->leaving_since_ns = self->now_ns;
    self->leave_until_ns   = self->now_ns + self->options.drain_ns;
    self->accept_until_ns  = fby_earlier_ns(self->leave_until_ns,
         self->now_ns + fby_scaled_timeout_ns(IN_FLIGHT_NS));
    fby_http_refresh(self->http);
    fby_loop_registry_deregister(self);
    for (struct fby_loop_peer *peer = self->peers; peer != NULL;
         peer                       = peer->next) {
        if (!peer->has_left) {
            fby_loop_send_to_peer(
                self, peer, FBY_MESSAGE(LEAVE, leave, .session = peer->id));
        }
    }
}

static void accept_no_requests(struct fby_loop *self)
{
    for (struct fby_loop_peer *peer = self->peers; peer != NULL;
         peer                       = peer->next) {
        fby_session_leave(peer->session);
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

/* True if frames wait until a thread has written them. */
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
    bool accepts = self->now_ns < self->accept_until_ns &&
                   fby_loop_count_sessions(self) > 0;
    if (!accepts) {
        accept_no_requests(self);
    }
    self->done = !accepts && !has_open_batches(self) && !has_frames(self);
}
