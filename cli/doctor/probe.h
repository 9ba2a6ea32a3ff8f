/* probe.h - addresses knocked at, all at the same time.
 *
 * First a bare TCP connection, which tells a port where nobody listens from a
 * machine that is not there and from a process that is stopped; then messages
 * of the protocol with what listens. However many there are and whatever they
 * do, a step ends at its deadline. */
#ifndef FBY_CLI_DOCTOR_PROBE_H
#define FBY_CLI_DOCTOR_PROBE_H

#include "cli/doctor/judge.h"
#include "common/socket.h"
#include "proto/wire.h"

enum { FBY_PROBE_TRIPS = 5 };

struct fby_probe {
    char     endpoint[FBY_ENDPOINT_SIZE]; /* numeric */
    char     who[2 * FBY_ENDPOINT_SIZE];  /* for people */
    uint32_t worker; /* which one; several addresses may be one's */

    int     fd;         /* while it connects; else -1 */
    int     error;      /* of connecting; 0: it listens */
    int64_t connect_ns; /* that it took */

    void                  *socket; /* NULL: none */
    struct fby_session_id  session;
    enum fby_doctor_answer answer;
    char                   text[256]; /* of a refusal */
    uint32_t               version;
    int64_t                asked_ns; /* the last PING */
    int64_t                trips_ns[FBY_PROBE_TRIPS];
    uint32_t               n_trips;
};

/* Connect to all, and hang up. Fills `error` and `connect_ns`. */
void fby_probe_connect(struct fby_probe *probes, uint32_t n, int64_t until_ns);

/* Say HELLO and PING to all that listen, then BYE. */
void fby_probe_workers(
    struct fby_probe *probes, uint32_t n, void *zmq, int64_t until_ns);

/* The next message from `socket` in time; strange ones are passed over. The
 * caller ends `out` with fby_message_fini. */
bool fby_probe_hear(void *socket, int64_t until_ns, struct fby_message *out);

/* Of those measured; 0: none was. */
int64_t fby_probe_round_trip(const struct fby_probe *probe);

struct fby_answer_facts fby_probe_facts(const struct fby_probe *probe);

#endif
