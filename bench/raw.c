#include "bench/raw.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/bench.h"
#include "bench/farm.h"
#include "common/hash.h"
#include "common/mem.h"

enum { COPIES_BYTES = 64 << 20 };

/* Open a connection over loopback; returns both ends. */
static void connect_ends(int *ours, int *theirs)
{
    struct sockaddr_in at = {
        .sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size     = sizeof(at);
    int       on       = 1;
    int       listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    *ours              = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(listener, (struct sockaddr *)&at, size) != 0 ||
        listen(listener, 1) != 0 ||
        getsockname(listener, (struct sockaddr *)&at, &size) != 0 ||
        connect(*ours, (struct sockaddr *)&at, size) != 0) {
        bench_die("no connection over loopback: %s", strerror(errno));
    }
    *theirs = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    close(listener);
    setsockopt(*ours, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    setsockopt(*theirs, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

static bool send_all(int fd, const uint8_t *at, size_t left)
{
    while (left > 0) {
        ssize_t n = send(fd, at, left, MSG_NOSIGNAL);
        if (n <= 0) {
            return false;
        }
        at += n;
        left -= (size_t)n;
    }
    return true;
}

static bool send_batch(
    int fd, const struct bench_stock *stock, uint8_t *copy, bool hash)
{
    for (uint32_t i = 0; i < stock->layout.n_chunks; i++) {
        const struct bench_chunk *encoded = &stock->chunks[i];
        uint8_t                  *payload = copy + encoded->at;
        uint8_t                  *frame   = payload - FBY_CHUNK_PREFIX;
        if (hash) {
            uint64_t sum = fby_xxh64(payload, encoded->wire_bytes);
            memcpy(frame, &sum, sizeof(sum));
        }
        if (!send_all(fd, frame, FBY_CHUNK_PREFIX + encoded->wire_bytes)) {
            return false;
        }
    }
    return true;
}

struct ring { /* copies of a batch, sent in turn */
    uint8_t *copies;
    size_t   n, next;
};

static struct ring make_ring(const struct bench_stock *stock)
{
    struct ring ring = {.n = 1};
    while (ring.n * stock->bytes < COPIES_BYTES) {
        ring.n++;
    }
    ring.copies = aligned_alloc(64, ring.n * stock->bytes);
    for (size_t i = 0; i < ring.n; i++) {
        memcpy(ring.copies + i * stock->bytes, stock->payloads, stock->bytes);
    }
    return ring;
}

static bool send_batches(
    int fd, const struct bench_stock *stock, struct ring *ring, bool hash)
{
    uint64_t wanted;
    if (recv(fd, &wanted, sizeof(wanted), MSG_WAITALL) != sizeof(wanted)) {
        return false;
    }
    for (; wanted > 0; wanted--) {
        uint8_t *copy = ring->copies + ring->next * stock->bytes;
        if (!send_batch(fd, stock, copy, hash)) {
            return false;
        }
        ring->next = (ring->next + 1) % ring->n;
    }
    return true;
}

static _Noreturn void serve(int fd, const struct bench_stock *stock, bool hash)
{
    struct ring ring = make_ring(stock);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (send_batches(fd, stock, &ring, hash)) {
    }
    _exit(0);
}

void bench_raw_start(
    struct bench_raw *self, const struct bench_stock *stock, bool hash)
{
    int theirs = -1;
    connect_ends(&self->fd, &theirs);
    fflush(NULL);
    self->pid = fork();
    if (self->pid == 0) {
        close(self->fd);
        serve(theirs, stock, hash);
    }
    close(theirs);
    if (self->pid < 0) {
        bench_die("a process cannot be started: %s", strerror(errno));
    }
}

void bench_raw_stop(struct bench_raw *self)
{
    close(self->fd);
    kill(self->pid, SIGKILL);
    waitpid(self->pid, NULL, 0);
    *self = (struct bench_raw){0};
}

void bench_raw_request(const struct bench_raw *self, uint64_t batches)
{
    if (send(self->fd, &batches, sizeof(batches), MSG_NOSIGNAL) !=
        sizeof(batches)) {
        bench_die("the raw sender closed the connection");
    }
}

void bench_raw_receive(const struct bench_raw *self, void *out, size_t size)
{
    uint8_t *at = out;
    while (size > 0) {
        ssize_t n = recv(self->fd, at, size, 0);
        if (n <= 0) {
            bench_die("the raw sender closed the connection");
        }
        at += n;
        size -= (size_t)n;
    }
}

int64_t bench_raw_cpu_ns(const struct bench_raw *self)
{
    return bench_cpu_ns(&(struct bench_part){.pid = self->pid});
}
