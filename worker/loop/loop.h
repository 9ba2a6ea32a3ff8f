/* loop.h - the loop that owns a worker's sockets, and what its files share.
 *
 *   worker.c           start and end
 *   loop.c             one turn: poll, receive, events, timers, send
 *   answer.c           a handler for each message of a client
 *   request.c          REQUEST: find or start the work that makes the batch
 *   encoding_choice.c  filter and codec of each field
 *   open_request.c     OPEN: wait for a dataset and send what was found
 *   events.c           pass what the stages made to the sessions
 *   deliver.c          send what the sessions have ready
 *   peer.c             clients and their requests, and how they end
 *   registry.c         the server: registration and heartbeats
 *   counters.c         the counters in a heartbeat
 *   leave.c            the end: LEAVE, drain, give back
 *
 * Thread: only the loop's thread uses anything declared here. */
#ifndef FBY_WORKER_LOOP_H
#define FBY_WORKER_LOOP_H

#include <stdbool.h>
#include <zmq.h>

#include "codec/auto.h"
#include "common/socket.h"
#include "proto/wire.h"
#include "worker/plan/plan_cache.h"
#include "worker/session/session.h"
#include "worker/stages/stages.h"
#include "worker/worker.h"

enum { FBY_ROUTING_ID_MAX = 255 };

struct fby_routing_id { /* ZeroMQ's name of a connection */
    uint8_t bytes[FBY_ROUTING_ID_MAX];
    size_t  size;
};

/* A batch in work and the requests for it. */
struct fby_loop_work {
    struct fby_job          *job;      /* held */
    struct fby_loop_request *requests; /* none: it is about to end */
    struct fby_loop_work    *next;
};

/* A request of one client. The request that started the work is charged with
 * its memory and stays until that memory is free; the others stay until they
 * end. */
struct fby_loop_request {
    struct fby_loop_peer     *peer;
    struct fby_request_id     id;
    uint64_t                  request_sum; /* fby_request_sum, for HEADER */
    struct fby_loop_work     *work;        /* NULL: ended */
    struct fby_session_chunk *chunks;      /* lent to the session */
    bool                      charged;
    struct fby_loop_request  *next_of_work;
    struct fby_loop_request  *next_of_peer;
};

/* The encoding that a client asked for, and what `auto` learned from it. */
struct fby_loop_encoding {
    struct fby_digest        content;
    uint64_t                 fields;
    uint32_t                 n; /* 0: no request yet */
    struct fby_coding_choice choices[FBY_MAX_FIELDS];
    struct fby_auto          autos[FBY_MAX_FIELDS];
};

struct fby_loop_peer { /* one session of one client */
    struct fby_session_id    id;
    struct fby_routing_id    routing_id; /* size 0: no route */
    struct fby_session      *session;
    uint64_t                 features;
    struct fby_loop_encoding encoding;
    struct fby_loop_request *requests;
    struct fby_session_item  deferred; /* waits for memory for a copy; skipped
                                          if its request has ended */
    bool                     is_deferred;
    uint64_t duplicate_bytes; /* sent on this route by fault injection */
    bool     has_left;        /* freed once its memory is */
    char     name[96];        /* for log lines: "job/rank at host" */
    struct fby_loop_peer *next;
};

struct fby_loop_open { /* a client that waits for a load */
    struct fby_loop_peer   *peer;
    struct fby_open_id      id;
    struct fby_plan_load   *load;
    struct fby_maybe_digest data, fingerprint; /* expected */
    struct fby_loop_open   *next;
};

struct fby_loop_registry {         /* the worker's view of the server */
    void                  *socket; /* NULL: there is no server */
    char                   endpoint[FBY_ENDPOINT_SIZE];  /* the server's */
    char                   advertise[FBY_ENDPOINT_SIZE]; /* the worker's */
    char                   host[FBY_HOST_MAX + 1];
    struct fby_instance_id server; /* 0: not registered */
    int64_t                heartbeat_ns;
    int64_t                due_ns;     /* next REGISTER or HEARTBEAT */
    uint32_t               unanswered; /* messages in a row */
    bool                   silent;     /* logged; no answer came since */
    bool                   refused;    /* logged; not registered since */
    int64_t                last_busy_ns, last_load_ns; /* of load_permille */
};

struct fby_loop_counts {
    uint64_t batches;    /* ENDs sent */
    uint64_t wire_bytes; /* of chunk frames sent */
    uint64_t raw_bytes;  /* in these frames, before encoding */
    uint64_t chunks;     /* sent */
    uint64_t requests;   /* accepted */
    uint64_t joined;     /* of these, those that joined work in progress */
    uint64_t busy, lost, cannot;
    uint64_t malformed;       /* frames that are not valid messages */
    uint64_t out_of_place;    /* messages that the protocol forbids here */
    uint64_t unknown_peers;   /* HELLO_FIRST sent */
    uint64_t routes_lost;     /* sends that failed */
    uint64_t copied_chunks;   /* not sent in place */
    uint64_t refused_clients; /* REFUSED sent */
};

struct fby_loop {
    struct fby_worker_options options; /* defaults resolved, timers divided */
    struct fby_instance_id    instance;
    struct fby_roots         *roots;
    struct fby_plan_cache    *plans;
    struct fby_memory        *memory; /* of the arenas */
    struct fby_arenas        *arenas;
    struct fby_stages        *stages;
    struct fby_budget         budget;
    struct fby_session_config session_config;
    void                     *zmq;
    void                     *router;
    char                      bound[FBY_ENDPOINT_SIZE];
    struct fby_loop_registry  registry;
    struct fby_loop_peer     *peers;
    struct fby_loop_work     *works;
    struct fby_loop_open     *opens;
    struct fby_buffer         frame; /* a control message being sent */
    struct fby_loop_counts    counts;
    int                       signal_fd; /* -1: none */
    int64_t                   now_ns;    /* read once a turn */
    int64_t                   progress_due_ns;
    int64_t                   trim_due_ns;
    int64_t                   leave_until_ns; /* 0: not leaving */
    bool                      done;
};

/* ---- loop.c -------------------------------------------------------------- */

/* Wait for messages, events or timers, and handle those that are due. */
void fby_loop_turn(struct fby_loop *self);

/* ---- answer.c ------------------------------------------------------------ */

/* Handle one frame from a client. A malformed frame is only counted. */
void fby_loop_take_frame(struct fby_loop *self,
    const struct fby_routing_id *from, const void *frame, size_t size);

/* Send `message` over a route. False: the route is gone, nothing more can
 * be sent. A message that cannot be encoded is our own error: it is logged. */
bool fby_loop_send(struct fby_loop *self, const struct fby_routing_id *to,
    const struct fby_message *message);

/* Note that the route of `peer` is gone; its session goes on. */
void fby_loop_route_lost(struct fby_loop *self, struct fby_loop_peer *peer);

/* Send `message` to `peer`, if it has a route. */
void fby_loop_send_to_peer(struct fby_loop *self, struct fby_loop_peer *peer,
    const struct fby_message *message);

/* Answer BUSY to a request: memory may be available a moment later. */
void fby_loop_send_busy(struct fby_loop *self, struct fby_loop_peer *peer,
    struct fby_request_id id);

/* ---- request.c ----------------------------------------------------------- */

/* Handle a REQUEST of `peer`: answer it, or join or start work for it. */
void fby_loop_on_request(struct fby_loop *self, struct fby_loop_peer *peer,
    const struct fby_request *message);

/* ---- encoding_choice.c --------------------------------------------------- */

/* Check that a request has a choice for each of its fields, and that each suits
 * the field's array. Errors: FBY_USAGE. */
FBY_CHECKED fby_err fby_loop_encoding_check(const struct fby_request *request,
    const struct fby_raw_layout *layout, struct fby_why *why);

/* Choose the coding of each field of the batch that `peer` asks for. The
 * request's choices must have been checked. */
void fby_loop_encoding_choose(struct fby_loop_peer *peer,
    const struct fby_request *request, const struct fby_raw_layout *layout,
    struct fby_coding out[FBY_MAX_FIELDS]);

/* Whether chunks coded for another client suit the last request of `peer`. */
bool fby_loop_encoding_suits(
    const struct fby_loop_peer *peer, const struct fby_job *job);

/* Let `auto` of `peer` learn what encoding a chunk of its own work saved. */
void fby_loop_encoding_learn(
    struct fby_loop_peer *peer, const struct fby_job_chunk *chunk);

/* ---- open_request.c ------------------------------------------------------ */

/* Handle an OPEN of `peer`: start or join a load, or answer OPEN_FAILED. */
void fby_loop_on_open(struct fby_loop *self, struct fby_loop_peer *peer,
    const struct fby_open *open);

/* Answer the clients whose load ended. */
void fby_loop_opens_ended(struct fby_loop *self);

/* Send SCANNING to the clients whose load goes on. */
void fby_loop_opens_progress(struct fby_loop *self);

/* Drop the OPENs that `peer` waits for; NULL: those of all peers. */
void fby_loop_opens_forget(
    struct fby_loop *self, const struct fby_loop_peer *peer);

/* ---- events.c, deliver.c ------------------------------------------------- */

/* Handle what the stages made since the last call. */
void fby_loop_take_events(struct fby_loop *self);

/* Send what sessions have ready and credit for. */
void fby_loop_flush(struct fby_loop *self);

/* ---- peer.c -------------------------------------------------------------- */

/* The peer of `session`, or NULL. */
struct fby_loop_peer *fby_loop_find_peer(
    const struct fby_loop *self, struct fby_session_id session);

/* Add the peer that `hello` introduces. NULL: the budget cannot entitle one
 * more session; `why` has the numbers. */
struct fby_loop_peer *fby_loop_peer_add(
    struct fby_loop *self, const struct fby_hello *hello, struct fby_why *why);

/* End the session of a peer that left or is taken for dead. The peer is freed
 * once its memory is. */
void fby_loop_peer_bye(struct fby_loop *self, struct fby_loop_peer *peer);

/* Free peers that left; end the sessions of those silent for too long. */
void fby_loop_peers_sweep(struct fby_loop *self);

/* The work that `job` belongs to, or NULL. */
struct fby_loop_work *fby_loop_find_work(
    const struct fby_loop *self, const struct fby_job *job);

/* Add a request, with room for the session's record of its chunks. */
struct fby_loop_request *fby_loop_request_add(struct fby_loop_peer *peer,
    const struct fby_request *message, uint32_t n_chunks);

/* Let `request` wait for the batch of `work`. */
void fby_loop_request_join(
    struct fby_loop_request *request, struct fby_loop_work *work);

/* The request of `peer` with this id; NULL: unknown, or it ended. */
struct fby_loop_request *fby_loop_find_request(
    const struct fby_loop_peer *peer, struct fby_request_id id);

/* End a request; work without a request is cancelled. */
void fby_loop_request_end(
    struct fby_loop *self, struct fby_loop_request *request);

/* Free request `tag`, whose batch memory is free (fby_arenas_collect). */
void fby_loop_request_freed(void *context, void *tag);

/* ---- registry.c ---------------------------------------------------------- */

/* Connect to the server, when there is one.
 * Errors: FBY_USAGE, FBY_NOT_FOUND, FBY_CONFIG  an address cannot be used
 *         FBY_SYS  no socket; all with `why`. */
FBY_CHECKED fby_err fby_loop_registry_open(
    struct fby_loop *self, struct fby_why *why);

/* Close the connection to the server, if there is one. */
void fby_loop_registry_close(struct fby_loop *self);

/* Handle the messages of the server that have arrived. */
void fby_loop_registry_receive(struct fby_loop *self);

/* Send REGISTER or HEARTBEAT when it is due. */
void fby_loop_registry_tick(struct fby_loop *self);

/* Send DEREGISTER. */
void fby_loop_registry_leave(struct fby_loop *self);

/* ---- counters.c ---------------------------------------------------------- */

enum { FBY_LOOP_COUNTERS = 64 };
struct fby_loop_counters {
    struct fby_counter at[FBY_LOOP_COUNTERS];
    size_t             n;
};

/* Read all counters of the worker: totals since its start. */
void fby_loop_counters_read(
    const struct fby_loop *self, struct fby_loop_counters *counters);

/* ---- leave.c ------------------------------------------------------------- */

/* Start to leave. A second call ends the worker now. */
void fby_loop_leave(struct fby_loop *self);

/* While leaving: set `done` when no batch is open or the time is up. */
void fby_loop_leave_tick(struct fby_loop *self);

#endif
