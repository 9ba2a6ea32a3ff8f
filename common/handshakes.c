/* SPDX-License-Identifier: Apache-2.0 */
#include "common/handshakes.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <zmq.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/plural.h"

enum {
    EVENTS = ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL |
             ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL |
             ZMQ_EVENT_HANDSHAKE_FAILED_AUTH,
    MAX_READ   = 4096, /* events read in a call */
    EVENT_SIZE = 6 /* bytes: u16 event, u32 value, as the machine has them */
};

static const char endpoint[] = "inproc://forebay-handshakes";

static const int64_t between_lines_ns = 10 * FBY_NS_PER_S;

/* Connect a PAIR socket to the monitor. Its queue has no limit: at the limit
 * libzmq's own thread, which moves all data, would wait for this reader. */
static bool connect_monitor(struct fby_handshakes *self, void *zmq)
{
    const int none = 0;
    self->monitor  = zmq_socket(zmq, ZMQ_PAIR);
    return self->monitor != NULL &&
           zmq_setsockopt(self->monitor, ZMQ_RCVHWM, &none, sizeof(none)) ==
               0 &&
           zmq_setsockopt(self->monitor, ZMQ_LINGER, &none, sizeof(none)) ==
               0 &&
           zmq_connect(self->monitor, endpoint) == 0;
}

fby_err fby_handshakes_watch(struct fby_handshakes *self, void *zmq,
    void *socket, struct fby_error_detail *why)
{
    int    mechanism = ZMQ_NULL;
    size_t size      = sizeof(mechanism);
    (void)zmq_getsockopt(socket, ZMQ_MECHANISM, &mechanism, &size);
    self->has_keys = mechanism == ZMQ_CURVE;
    if (zmq_socket_monitor(socket, endpoint, EVENTS) != 0 ||
        !connect_monitor(self, zmq)) {
        return fby_error_set(
            why, FBY_SYS, "cannot watch connections: %s", zmq_strerror(errno));
    }
    return FBY_OK;
}

static enum fby_handshake_reason reason_of(uint16_t event, uint32_t value)
{
    if (event == ZMQ_EVENT_HANDSHAKE_FAILED_AUTH) {
        return FBY_HANDSHAKE_REFUSED;
    }
    if (event == ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL) {
        return FBY_HANDSHAKE_SILENT;
    }
    return value == ZMQ_PROTOCOL_ERROR_ZMTP_CRYPTOGRAPHIC ||
                   value == ZMQ_PROTOCOL_ERROR_ZMTP_MECHANISM_MISMATCH
               ? FBY_HANDSHAKE_KEYS
               : FBY_HANDSHAKE_FOREIGN;
}

/* Count one event, which has two frames: the event, and the socket's endpoint.
 * Returns false when there is none. */
static bool count_one(struct fby_handshakes *self)
{
    uint8_t  bytes[EVENT_SIZE];
    uint16_t event = 0;
    uint32_t value = 0;
    int      size = zmq_recv(self->monitor, bytes, sizeof(bytes), ZMQ_DONTWAIT);
    if (size < 0) {
        return false;
    }
    (void)zmq_recv(self->monitor, NULL, 0, ZMQ_DONTWAIT);
    if (size == EVENT_SIZE) {
        memcpy(&event, bytes, sizeof(event));
        memcpy(&value, bytes + sizeof(event), sizeof(value));
        self->unlogged[reason_of(event, value)]++;
        self->failed++;
    }
    return true;
}

static const char *const reasons[FBY_HANDSHAKE_REASONS] = {
    [FBY_HANDSHAKE_KEYS]    = "without a key or with one for another server",
    [FBY_HANDSHAKE_REFUSED] = "with a key that is not admitted",
    [FBY_HANDSHAKE_FOREIGN] = "against the protocol of ZeroMQ",
    [FBY_HANDSHAKE_SILENT]  = "silent, or closed by the peer",
};

static const char *reason_text(const struct fby_handshakes *self, int reason)
{
    return reason == FBY_HANDSHAKE_SILENT && self->has_keys
               ? "silent, or closed by the peer, which may have no key"
               : reasons[reason];
}

static void log_failed(struct fby_handshakes *self, uint64_t n)
{
    char   text[512] = "";
    size_t used      = 0;
    for (int i = 0; i < FBY_HANDSHAKE_REASONS; i++) {
        if (self->unlogged[i] > 0) {
            used += (size_t)snprintf(text + used, sizeof(text) - used,
                "%s%" PRIu64 " %s", used > 0 ? ", " : "", self->unlogged[i],
                reason_text(self, i));
        }
    }
    fby_warn("HANDSHAKES-FAILED", "%s ended in the handshake: %s",
        fby_plural(n, "connection").text, text);
    memset(self->unlogged, 0, sizeof(self->unlogged));
}

void fby_handshakes_tick(struct fby_handshakes *self, int64_t now_ns)
{
    uint64_t n = 0;
    for (int i = 0; self->monitor != NULL && i < MAX_READ && count_one(self);
         i++) {
    }
    for (int i = 0; i < FBY_HANDSHAKE_REASONS; i++) {
        n += self->unlogged[i];
    }
    if (n > 0 && now_ns >= self->line_due_ns) {
        log_failed(self, n);
        self->line_due_ns = now_ns + between_lines_ns;
    }
}

void fby_handshakes_fini(struct fby_handshakes *self)
{
    if (self->monitor != NULL) {
        zmq_close(self->monitor);
        self->monitor = NULL;
    }
}
