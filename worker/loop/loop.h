/* loop.h - the loop that owns a worker's sockets, and what its files share.
 *
 *   worker.c    the start and the end
 *   loop.c     one turn of the loop: poll, receive, events, timers, send
 *   answer.c    a handler for each message of a client
 *   request.c   REQUEST: find or begin the work that makes the batch
 *   encoding_choice.c   how its fields travel
 *   plan_load.c     OPEN: wait for a dataset and tell what was found
 *   events.c    what the stages made, to the sessions
 *   deliver.c   what the sessions have to say, out
 *   peer.c      clients and their requests, and how they end
 *   registry.c  the server: registration, heartbeats; counters.c what they say
 *   leave.c     the end: LEAVE, drain, give back
 *
 * Everything here belongs to the one thread of the loop. */
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

enum { FBY_ROUTING_MAX = 255 };

struct routing { /* ZeroMQ's name of a connection */
    uint8_t bytes[FBY_ROUTING_MAX];
    size_t  size;
};

/* One batch in work and who asked for it. */
struct work {
    struct fby_job *job;  /* held */
    struct ask     *asks; /* none: it is about to end */
    struct work    *next;
};

/* One request of one client. The one that began the work is charged with its
 * memory and stays until that is free; the others stay until they end. */
struct ask {
    struct peer              *peer;
    struct fby_request_id     id;
    uint64_t                  asked;  /* fby_request_sum, for HEADER */
    struct work              *work;   /* NULL: ended */
    struct fby_session_chunk *chunks; /* lent to the session */
    bool                      charged;
    struct ask               *next_of_work;
    struct ask               *next_of_peer;
};

/* How one client wants its fields, and what `auto` learnt of them. */
struct encoding {
    struct fby_digest        content;
    uint64_t                 fields;
    uint32_t                 n; /* 0: nothing asked yet */
    struct fby_coding_choice choices[FBY_MAX_FIELDS];
    struct fby_auto          autos[FBY_MAX_FIELDS];
};

struct peer { /* one session of one client */
    struct fby_session_id   id;
    struct routing          routing;
    struct fby_session     *session;
    uint64_t                features;
    struct encoding         encoding;
    struct ask             *asks;
    struct fby_session_item stuck; /* waits for memory to be copied into; of
                                      an ask that ended: passed over */
    bool                    is_stuck;
    uint64_t doubled_bytes; /* on this route, by a fault that was asked for */
    bool     has_left;      /* freed once its memory is */
    char     name[96];      /* for people: "job/rank at host" */
    struct peer *next;
};

struct waiting_open { /* a client that waits for a load */
    struct peer            *peer;
    struct fby_open_id      id;
    struct fby_plan_load   *load;
    struct fby_maybe_digest data, fingerprint; /* expected */
    struct waiting_open    *next;
};

struct registry {                  /* the server, as the worker sees it */
    void                  *socket; /* NULL: there is none */
    char                   endpoint[FBY_ENDPOINT_SIZE];  /* its own */
    char                   advertise[FBY_ENDPOINT_SIZE]; /* the worker's */
    char                   host[FBY_HOST_MAX + 1];
    struct fby_instance_id server; /* 0: not registered */
    int64_t                heartbeat_ns;
    int64_t                due_ns;     /* next REGISTER or HEARTBEAT */
    uint32_t               unanswered; /* messages in a row */
    bool                   silent;     /* said so, and nothing came since */
    bool                   refused;    /* said so, and not registered since */
    int64_t                last_busy_ns, last_load_ns; /* of load_permille */
};

struct loop_counts {
    uint64_t batches;    /* ENDs sent */
    uint64_t wire_bytes; /* of chunk frames sent */
    uint64_t raw_bytes;  /* in them */
    uint64_t chunks;     /* sent */
    uint64_t requests;   /* taken */
    uint64_t joined;     /* of these, into work that was going on */
    uint64_t busy, lost, cannot;
    uint64_t malformed;       /* messages that are none */
    uint64_t out_of_place;    /* messages that the protocol forbids here */
    uint64_t unknown_peers;   /* HELLO_FIRST sent */
    uint64_t routes_lost;     /* sends that failed */
    uint64_t copied_chunks;   /* not sent in place */
    uint64_t refused_clients; /* REFUSED sent */
};

struct loop {
    struct fby_worker_options options; /* defaults filled in, timers divided */
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
    struct registry           registry;
    struct peer              *peers;
    struct work              *works;
    struct waiting_open      *opens;
    struct fby_buffer         frame; /* a control message being sent */
    struct loop_counts        counts;
    int                       signal_fd; /* -1: none */
    int64_t                   now_ns;    /* read once a turn */
    int64_t                   progress_due_ns;
    int64_t                   trim_due_ns;
    int64_t                   leave_until_ns; /* 0: not leaving */
    bool                      done;
};

/* ---- loop.c ------------------------------------------------------------- */

/* Wait for something to happen, and do all that is to be done then. */
void fby_loop_turn(struct loop *self);

/* ---- answer.c ------------------------------------------------------------ */

/* One frame from a client; never fails, only counts. */
void fby_loop_take_frame(struct loop *self, const struct routing *from,
    const void *frame, size_t size);

/* Send `message` over a route. False: the route is gone, nothing more can
 * be sent. A message that cannot be encoded is our own error: it is logged. */
bool fby_loop_say(struct loop *self, const struct routing *to,
    const struct fby_message *message);
/* The route of `peer` is gone; its session goes on. */
void fby_loop_route_lost(struct loop *self, struct peer *peer);
/* Say it to a peer, if it has a route. */
void fby_loop_tell(
    struct loop *self, struct peer *peer, const struct fby_message *message);

/* BUSY to a request: what there is none of now may be there a moment later. */
void fby_loop_say_busy(
    struct loop *self, struct peer *peer, struct fby_request_id id);

/* ---- request.c ----------------------------------------------------------- */

void fby_loop_request(
    struct loop *self, struct peer *peer, const struct fby_request *request);

/* ---- encoding_choice.c ----------------------------------------------------------- */

/* Whether the choices of a request are as many as its fields and for such
 * arrays as they are. Errors: FBY_USAGE. */
FBY_CHECKED fby_err fby_loop_codings_check(const struct fby_request *request,
    const struct fby_raw_layout *layout, struct fby_why *why);
/* The coding of each chosen field of the batch that `peer` asks for, with
 * choices that were checked. */
void fby_loop_codings(struct peer *peer, const struct fby_request *request,
    const struct fby_raw_layout *layout, struct fby_coding out[FBY_MAX_FIELDS]);
/* Whether chunks coded for somebody else suit the last request of `peer`. */
bool fby_loop_codings_suit(const struct peer *peer, const struct fby_job *job);
/* A chunk coded for `peer` is encoded: `auto` learns what that saved. */
void fby_loop_codings_learn(
    struct peer *peer, const struct fby_job_chunk *chunk);

/* ---- plan_load.c ------------------------------------------------------------- */

void fby_loop_open(
    struct loop *self, struct peer *peer, const struct fby_open *open);
/* Answer those whose load ended. */
void fby_loop_opens_ended(struct loop *self);
/* SCANNING to those whose load goes on. */
void fby_loop_opens_progress(struct loop *self);
/* Forget what `peer` (NULL: anybody) waits for. */
void fby_loop_opens_forget(struct loop *self, const struct peer *peer);

/* ---- events.c, deliver.c ------------------------------------------------- */

/* What the stages made since last time. */
void fby_loop_take_events(struct loop *self);
/* Send what sessions have ready and credit for. */
void fby_loop_flush(struct loop *self);

/* ---- peer.c -------------------------------------------------------------- */

struct peer *fby_loop_peer(
    const struct loop *self, struct fby_session_id session);
/* NULL when the budget entitles no further session; `why` has the numbers. */
struct peer *fby_loop_peer_add(
    struct loop *self, const struct fby_hello *hello, struct fby_why *why);
/* It left or is taken for dead: nothing of it is open any more. It is freed
 * once its memory is. */
void fby_loop_peer_bye(struct loop *self, struct peer *peer);
/* Free peers that left, say bye to those silent for too long. */
void fby_loop_peers_sweep(struct loop *self);

struct work *fby_loop_work_of(
    const struct loop *self, const struct fby_job *job);
/* A request, with room for what the session keeps of its chunks. */
struct ask *fby_loop_ask_add(
    struct peer *peer, const struct fby_request *request, uint32_t n_chunks);
void fby_loop_ask_join(struct ask *ask, struct work *work);
/* NULL when it ended. */
struct ask *fby_loop_ask(const struct peer *peer, struct fby_request_id id);
/* It is no longer open; work that nobody asks for any more is dropped. */
void fby_loop_ask_end(struct loop *self, struct ask *ask);
/* The memory of its batch is free (fby_arenas_collect). */
void fby_loop_ask_freed(void *context, void *tag);

/* ---- registry.c ---------------------------------------------------------- */

/* Connect to the server, when there is one. */
FBY_CHECKED fby_err fby_loop_registry_open(
    struct loop *self, struct fby_why *why);
void fby_loop_registry_close(struct loop *self);
void fby_loop_registry_receive(struct loop *self);
/* Register or send a heartbeat when it is time to. */
void fby_loop_registry_tick(struct loop *self);
void fby_loop_registry_leave(struct loop *self);

/* ---- counters.c ---------------------------------------------------------- */

enum { FBY_LOOP_COUNTERS = 64 };
struct fby_loop_counters {
    struct fby_counter at[FBY_LOOP_COUNTERS];
    size_t             n;
};
void fby_loop_count(
    const struct loop *self, struct fby_loop_counters *counters);

/* ---- leave.c ------------------------------------------------------------- */

/* Begin to leave; called again, end now. */
void fby_loop_leave(struct loop *self);
/* Done when nothing is open, or when the time is up. */
void fby_loop_leave_tick(struct loop *self);

#endif
