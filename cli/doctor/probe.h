/* SPDX-License-Identifier: Apache-2.0 */
/* probe.h - connect to many addresses concurrently, and measure their answers.
 *
 * The first step only opens a TCP connection to each address, and closes it
 * again. This distinguishes a closed port or an unreachable machine from a
 * process that does not answer. The second step opens sessions with the workers
 * that the first step reached. A worker with keys challenges the probe, and
 * each challenge is an answer. Each step has one deadline for all addresses. */
#ifndef FBY_CLI_DOCTOR_PROBE_H
#define FBY_CLI_DOCTOR_PROBE_H

#include "cli/doctor/judge.h"
#include "common/socket.h"
#include "proto/wire.h"

enum { FBY_PROBE_TRIPS = 5 }; /* round trips to measure for each address */

struct fby_probe { /* one address of the server or of a worker */
    char     endpoint[FBY_ENDPOINT_SIZE]; /* tcp://, a numeric address, port */
    char     name[2 * FBY_ENDPOINT_SIZE]; /* for the report */
    uint32_t worker; /* its index; each address of a worker has a probe */

    int     fd;         /* the socket while connecting; else -1 */
    int     error;      /* errno of the first step; 0: connected */
    int64_t connect_ns; /* duration of the first step */

    void                  *socket; /* of ZeroMQ, for messages; NULL: not open */
    struct fby_session_id  session;
    enum fby_doctor_answer answer; /* to HELLO or, from the server, to JOIN */
    char                   text[256]; /* the reason of a refusal */
    bool     has_keys; /* it demands keys; of a worker: its answer says so */
    uint32_t version;  /* protocol version that a worker chose; 0: no answer */
    int64_t  started_ns; /* when connecting began, or the last PING was sent */
    int64_t  trips_ns[FBY_PROBE_TRIPS]; /* durations of round trips */
    uint32_t n_trips;                   /* entries of trips_ns */
};

/* Connect to all addresses, and close the connections. Sets `error` and
 * `connect_ns`. */
void fby_probe_connect(struct fby_probe *probes, uint32_t n, int64_t until_ns);

/* For all workers whose `error` is 0: open a session (HELLO), measure round
 * trips (PING), and close the session (BYE). A worker with keys admits only
 * tickets of its server, so no session is opened with it. */
void fby_probe_workers(
    struct fby_probe *probes, uint32_t n, void *zmq, int64_t until_ns);

/* Send a message over the probe's socket. */
void fby_probe_send(struct fby_probe *probe, const struct fby_message *message);

/* Receive the next valid message; invalid messages are skipped. Returns false
 * at the deadline. Ownership: after true, call fby_message_fini on `out`. */
bool fby_probe_receive(void *socket, int64_t until_ns, struct fby_message *out);

/* Returns the result of a probe for judge.h. Its texts belong to the probe. */
struct fby_answer_facts fby_probe_facts(const struct fby_probe *probe);

#endif
