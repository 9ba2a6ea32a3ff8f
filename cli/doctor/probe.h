/* probe.h - connect to many addresses concurrently, and measure their answers.
 *
 * The first step is a bare TCP connection, which distinguishes a closed port,
 * an unreachable machine and a paused process. The second step exchanges
 * messages of the protocol over the connections. Each step ends at its
 * deadline, for any number of addresses. */
#ifndef FBY_CLI_DOCTOR_PROBE_H
#define FBY_CLI_DOCTOR_PROBE_H

#include "cli/doctor/judge.h"
#include "common/socket.h"
#include "proto/wire.h"

enum { FBY_PROBE_TRIPS = 5 }; /* round trips that are measured */

struct fby_probe {
    char     endpoint[FBY_ENDPOINT_SIZE]; /* numeric */
    char     name[2 * FBY_ENDPOINT_SIZE]; /* for messages */
    uint32_t worker; /* number of the worker, which may have several probes */

    int     fd;         /* while connecting; else -1 */
    int     error;      /* errno of connecting; 0: connected */
    int64_t connect_ns; /* time to connect */

    void                  *socket; /* NULL: none */
    struct fby_session_id  session;
    enum fby_doctor_answer answer;
    char                   text[256]; /* of a refusal */
    uint32_t               version;
    int64_t  asked_ns; /* when connecting or the last PING began */
    int64_t  trips_ns[FBY_PROBE_TRIPS];
    uint32_t n_trips;
};

/* Connect to all addresses, and close the connections. Sets `error` and
 * `connect_ns`. */
void fby_probe_connect(struct fby_probe *probes, uint32_t n, int64_t until_ns);

/* Exchange HELLO, PINGs and BYE with all workers whose `error` is 0. */
void fby_probe_workers(
    struct fby_probe *probes, uint32_t n, void *zmq, int64_t until_ns);

/* Send a message over the probe's socket. */
void fby_probe_send(struct fby_probe *probe, const struct fby_message *message);

/* Receive the next valid message; false at the deadline. Invalid messages are
 * skipped. Ownership: the caller frees `out` with fby_message_fini. */
bool fby_probe_receive(void *socket, int64_t until_ns, struct fby_message *out);

/* The result of a probe for judge.h; it borrows the probe's texts. */
struct fby_answer_facts fby_probe_facts(const struct fby_probe *probe);

#endif
