/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/tcp.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/bench.h"
#include "common/hash.h"

/* Connect two sockets: one for this process, one for the sender. */
static void connect_over_loopback(int *our_fd, int *sender_fd)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size     = sizeof(address);
    int       on       = 1;
    int       listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    *our_fd            = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(listener, (struct sockaddr *)&address, size) != 0 ||
        listen(listener, 1) != 0 ||
        getsockname(listener, (struct sockaddr *)&address, &size) != 0 ||
        connect(*our_fd, (struct sockaddr *)&address, size) != 0) {
        bench_die(
            "a connection over loopback cannot be opened: %s", strerror(errno));
    }
    *sender_fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    close(listener);
    setsockopt(*our_fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    setsockopt(*sender_fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

static bool send_all(int fd, const uint8_t *next, size_t left)
{
    while (left > 0) {
        ssize_t n = send(fd, next, left, MSG_NOSIGNAL);
        if (n <= 0) {
            return false;
        }
        next += n;
        left -= (size_t)n;
    }
    return true;
}

/* Send the batch from `copy`. Returns false if the connection is closed. */
static bool send_batch(
    int fd, const struct bench_batch *batch, uint8_t *copy, bool hash)
{
    bool ok = true;
    for (uint32_t i = 0; ok && i < batch->layout.n_chunks; i++) {
        const struct bench_chunk *chunk   = &batch->chunks[i];
        uint8_t                  *payload = copy + chunk->offset;
        uint8_t                  *frame   = payload - FBY_CHUNK_PREFIX;
        if (hash) {
            uint64_t payload_hash = fby_xxh3_64(payload, chunk->wire_bytes);
            memcpy(frame, &payload_hash, sizeof(payload_hash));
        }
        ok = send_all(fd, frame, FBY_CHUNK_PREFIX + chunk->wire_bytes);
    }
    return ok;
}

/* Send the requested batches until the receiver closes the connection. */
static _Noreturn void serve(int fd, const struct bench_batch *batch, bool hash)
{
    struct bench_copies copies    = bench_batch_copies(batch);
    size_t              next_copy = 0;
    uint64_t            wanted    = 0; /* batches requested and not yet sent */
    bool                ok        = true;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (ok &&
           recv(fd, &wanted, sizeof(wanted), MSG_WAITALL) == sizeof(wanted)) {
        for (; ok && wanted > 0; wanted--) {
            ok        = send_batch(fd, batch,
                       copies.memory + next_copy * batch->payloads_bytes, hash);
            next_copy = (next_copy + 1) % copies.n;
        }
    }
    _exit(0);
}

void bench_tcp_start(struct bench_tcp *self, const struct bench_batch *batch)
{
    int sender_fd = -1;
    connect_over_loopback(&self->fd, &sender_fd);
    fflush(NULL); /* else the child would write the buffers again */
    self->sender_pid = fork();
    if (self->sender_pid == 0) {
        close(self->fd);
        serve(sender_fd, batch, self->hash);
    }
    close(sender_fd);
    if (self->sender_pid < 0) {
        bench_die("a process cannot be started: %s", strerror(errno));
    }
}

void bench_tcp_stop(struct bench_tcp *self)
{
    close(self->fd);
    kill(self->sender_pid, SIGKILL);
    waitpid(self->sender_pid, NULL, 0);
}

void bench_tcp_request(const struct bench_tcp *self, uint64_t batches)
{
    if (send(self->fd, &batches, sizeof(batches), MSG_NOSIGNAL) !=
        sizeof(batches)) {
        bench_die("the sender closed the connection");
    }
}

void bench_tcp_receive(const struct bench_tcp *self, void *out, size_t size)
{
    uint8_t *next = out;
    while (size > 0) {
        ssize_t n = recv(self->fd, next, size, 0);
        if (n <= 0) {
            bench_die("the sender closed the connection");
        }
        next += n;
        size -= (size_t)n;
    }
}
