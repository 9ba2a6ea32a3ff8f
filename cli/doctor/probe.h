/* probe.h - connect to many addresses concurrently, and measure their answers.
 *
 * The first step is a bare TCP connection: it distinguishes a closed port, an
 * unreachable machine and a paused process. The second step exchanges messages
 * of the protocol with those that listen. Each step ends at its deadline,
 * however many addresses there are and whatever they do. */
#ifndef FBY_CLI_DOCTOR_PROBE_H
#define FBY_CLI_DOCTOR_PROBE_H

#include "cli/doctor/judge.h"
#include "common/socket.h"
#include "proto/wire.h"

enum { FBY_PROBE_TRIPS = 5 };

struct fby_probe {
    char     endpoint[FBY_ENDPOINT_SIZE]; /* numeric */
    char     name[2 * FBY_ENDPOINT_SIZE]; /* for people */
    uint32_t worker; /* its number; a worker may have several addresses */

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

/* Connect to all and close the connections. Sets `error` and `connect_ns`. */
void fby_probe_connect(struct fby_probe *probes, uint32_t n, int64_t until_ns);

/* Exchange HELLO, PINGs and BYE with all workers that could be connected. */
void fby_probe_workers(
    struct fby_probe *probes, uint32_t n, void *zmq, int64_t until_ns);

/* Receive the next valid message; false at the deadline. Invalid ones are
 * skipped. Ownership: the caller ends `out` with fby_message_fini. */
bool fby_probe_receive(void *socket, int64_t until_ns, struct fby_message *out);

/* The median of the measured round trips, in ns; 0: none. */
int64_t fby_probe_round_trip(const struct fby_probe *probe);

/* The result of a probe for judge.h; it borrows the probe's texts. */
struct fby_answer_facts fby_probe_facts(const struct fby_probe *probe);

#endif
