/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/curve.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zmq.h>

#include "bench/bench.h"
#include "bench/process.h"
#include "common/clock.h"
#include "common/mem.h"
#include "common/socket.h"
#include "secure/key_file.h"

enum { QUEUED = 8 /* frames; as few as the credit of a stream permits */ };

static void *open_socket(void *zmq, int type, const struct fby_key_file *key)
{
    const int queued = QUEUED;
    void     *socket = zmq_socket(zmq, type);
    bool      ok =
        socket != NULL &&
        zmq_setsockopt(socket, ZMQ_SNDHWM, &queued, sizeof(queued)) == 0 &&
        zmq_setsockopt(socket, ZMQ_RCVHWM, &queued, sizeof(queued)) == 0;
    if (ok && key != NULL) {
        ok = zmq_setsockopt(socket, ZMQ_CURVE_SECRETKEY, key->secret_key.bytes,
                 FBY_KEY_BYTES) == 0 &&
             zmq_setsockopt(socket, ZMQ_CURVE_PUBLICKEY, key->public_key.bytes,
                 FBY_KEY_BYTES) == 0;
    }
    if (!ok) {
        bench_die("a socket cannot be opened: %s", zmq_strerror(zmq_errno()));
    }
    return socket;
}

static void keep(void *data, void *hint)
{
    (void)data; /* the sender keeps it */
    (void)hint;
}

/* Send frames without end, without copying them. */
static _Noreturn void serve(
    int ready_fd, const struct fby_key_file *key, uint8_t *frame, size_t size)
{
    const int server = 1;
    char      endpoint[FBY_ENDPOINT_SIZE];
    size_t    n = sizeof(endpoint);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    void *socket = open_socket(zmq_ctx_new(), ZMQ_PUSH, key);
    if ((key != NULL && zmq_setsockopt(socket, ZMQ_CURVE_SERVER, &server,
                            sizeof(server)) != 0) ||
        zmq_bind(socket, "tcp://127.0.0.1:*") != 0 ||
        zmq_getsockopt(socket, ZMQ_LAST_ENDPOINT, endpoint, &n) != 0 ||
        write(ready_fd, endpoint, n) != (ssize_t)n) {
        bench_die("CURVE cannot be measured: %s", zmq_strerror(zmq_errno()));
    }
    for (;;) {
        zmq_msg_t message;
        zmq_msg_init_data(&message, frame, size, keep, NULL);
        zmq_msg_send(&message, socket, 0);
    }
}

/* Start the sender. Returns its process, and sets `endpoint`. */
static pid_t start_sender(const struct fby_key_file *key, size_t size,
    char endpoint[FBY_ENDPOINT_SIZE])
{
    int pipe_fds[2];
    if (pipe(pipe_fds) != 0) {
        bench_die("a pipe cannot be created");
    }
    fflush(NULL); /* else the child would write the buffers again */
    pid_t pid = fork();
    if (pid == 0) {
        serve(pipe_fds[1], key, fby_zalloc(size), size);
    }
    close(pipe_fds[1]);
    if (pid < 0 || read(pipe_fds[0], endpoint, FBY_ENDPOINT_SIZE) <= 0) {
        bench_die("a process that sends by ZeroMQ did not start");
    }
    close(pipe_fds[0]);
    return pid;
}

static void receive(void *socket, uint64_t frames, size_t size)
{
    for (uint64_t i = 0; i < frames; i++) {
        zmq_msg_t message;
        zmq_msg_init(&message);
        if (zmq_msg_recv(&message, socket, 0) != (int)size) {
            bench_die("ZeroMQ: %s", zmq_strerror(zmq_errno()));
        }
        zmq_msg_close(&message);
    }
}

double bench_curve_cost(bool encrypted, uint64_t frames, size_t size)
{
    char                      endpoint[FBY_ENDPOINT_SIZE];
    const struct fby_key_file server =
        fby_key_file_generate(FBY_ROLE_SERVER, "server", NULL);
    const struct fby_key_file client =
        fby_key_file_generate(FBY_ROLE_TRAINER, "client", &server.public_key);
    pid_t sender = start_sender(encrypted ? &server : NULL, size, endpoint);
    void *zmq    = zmq_ctx_new();
    void *socket = open_socket(zmq, ZMQ_PULL, encrypted ? &client : NULL);
    if ((encrypted && zmq_setsockopt(socket, ZMQ_CURVE_SERVERKEY,
                          server.public_key.bytes, FBY_KEY_BYTES) != 0) ||
        zmq_connect(socket, endpoint) != 0) {
        bench_die("CURVE cannot be measured: %s", zmq_strerror(zmq_errno()));
    }
    receive(socket, QUEUED, size); /* warm up */
    int64_t cpu_ns = bench_cpu_ns(BENCH_THIS_PROCESS) + bench_cpu_ns(sender);
    receive(socket, frames, size);
    cpu_ns = bench_cpu_ns(BENCH_THIS_PROCESS) + bench_cpu_ns(sender) - cpu_ns;
    zmq_close(socket);
    zmq_ctx_term(zmq);
    kill(sender, SIGKILL);
    waitpid(sender, NULL, 0);
    return (double)cpu_ns / (double)(frames * size);
}
