/* sim.h - a simulation of window and session against each other.
 *
 * One trainer client, up to four workers, links between them, a consumer, and
 * faults, in virtual time: a schedule is a function of its seed. The client and
 * worker here act on the window and the session as the real ones do, but send
 * numbers instead of batches; after every event the invariants of both are
 * checked.
 *
 * Files: heap.c      events in order of time
 *        link.c      connections: FIFO, delay, resets
 *        worker.c    a worker around its fby_session
 *        client.c    the client around its fby_window, and the consumer
 *        faults.c    the faults
 *        schedule.c  one schedule from its seed; its checks
 *        bounds.c    the schedules with a bound on waiting
 *        main.c      many schedules, in several processes */
#ifndef FBY_TESTS_SIMULATE_SIM_H
#define FBY_TESTS_SIMULATE_SIM_H

#include <stdbool.h>
#include <stdint.h>

#include "common/clock.h"
#include "trainer_client/window/window.h"
#include "worker/session/session.h"

enum {
    SIM_WORKERS = 4,
    SIM_PEERS   = 12,
    SIM_JOBS    = 32, /* of a worker */
    SIM_CHUNKS  = 8,  /* of a batch */
    SIM_SLOTS   = 17,
    SIM_NAMED   = 32,  /* open ids in a message */
    SIM_QUEUE   = 256, /* messages in a link */
    SIM_DECODES = 256,
    SIM_STEPS   = 128 /* from the first on, of a stream with audits */
};

enum sim_message_kind {
    SIM_HELLO,
    SIM_OPEN,
    SIM_REQUEST,
    SIM_CANCEL,
    SIM_PING,
    SIM_CREDIT,
    SIM_BYE,
    SIM_WELCOME,
    SIM_HELLO_FIRST,
    SIM_FULL,
    SIM_OPENED,
    SIM_PONG,
    SIM_SEND_CONTENT,
    SIM_BUSY,
    SIM_LOST,
    SIM_CANNOT,
    SIM_HEADER,
    SIM_CHUNK,
    SIM_END,
    SIM_LEAVE
};

struct sim_message {
    enum sim_message_kind kind;
    struct fby_request_id id;
    uint64_t              number; /* nonce, seq, total, step: by kind */
    uint64_t              value;  /* route, or content of a chunk */
    uint64_t              instance;
    uint32_t              chunk; /* or chunks of a HEADER */
    uint32_t              bytes; /* on the wire, of a chunk */
    bool                  good;
    uint32_t              n_open;
    struct fby_request_id open[SIM_NAMED];
    int64_t               due_ns; /* arrives then */
};

struct sim_link { /* one direction */
    struct sim_message queue[SIM_QUEUE];
    uint32_t           first;
    uint32_t           n;
    int64_t            last_ns; /* messages arrive in order */
};

struct sim_peer {           /* a peer of the window: one connection */
    int             worker; /* -1: none */
    bool            open;
    uint64_t        connection; /* changes with each reset */
    struct sim_link up;         /* to the worker */
    struct sim_link down;
};

struct sim_job {
    bool                     used;
    bool                     working;
    bool                     cancelled;
    struct fby_request_id    id;
    uint64_t                 step;
    uint32_t                 made;
    uint32_t                 n_chunks;
    struct fby_session_chunk chunks[SIM_CHUNKS];
};

struct sim_worker {
    bool                alive;
    bool                leaving;
    bool                content; /* knows it */
    uint64_t            life;
    uint64_t            instance;
    uint64_t            key;
    int64_t             paused_ns; /* until then */
    int64_t             slow_ns;   /* until then slower */
    int64_t             slow_by;   /* how many times slower */
    int64_t             busy_ns;   /* until then answers BUSY */
    int64_t             service_ns;
    uint32_t            cores;
    uint32_t            working;
    uint32_t            n_corrupt;   /* next chunks to damage */
    uint32_t            n_duplicate; /* next chunks to send twice */
    uint32_t            n_bad_end;   /* next ENDs to damage */
    uint32_t            n_swallow;   /* next REQUEST or LOST to swallow */
    uint64_t            cannot;      /* bit per step % 64 it refuses */
    struct fby_budget   budget;
    struct fby_session *session;
    struct fby_session *rival; /* the session of another client */
    uint64_t            rival_id;
    int                 route; /* peer; -1: none */
    uint64_t            connection;
    struct sim_job      jobs[SIM_JOBS];
};

struct sim_decode {
    bool                  used;
    int                   slot;
    struct fby_request_id id;
    uint32_t              chunk;
    uint64_t              value;
    bool                  good;
};

struct sim_slot {
    uint32_t decoding; /* chunks that are being decoded into it */
    bool     held;
    uint64_t value[SIM_CHUNKS];
};

struct sim_asked { /* of a step */
    bool     audited;
    int      peer;   /* last */
    uint32_t spoilt; /* answers that arrived damaged */
};

enum sim_event_kind {
    SIM_AT_WORKER,    /* a: peer, b: connection */
    SIM_AT_CLIENT,    /* the same */
    SIM_WAKE,         /* the client's deadline */
    SIM_DECODED,      /* a: decode */
    SIM_MADE,         /* a: worker * SIM_JOBS + job, b: life */
    SIM_WANT,         /* the consumer asks */
    SIM_RELEASE,      /* a: slot */
    SIM_FAULT,        /* a: kind */
    SIM_RESTART,      /* a: worker */
    SIM_RIVAL_LEAVES, /* a: worker, b: life */
    SIM_JOIN          /* a: worker */
};

struct sim_event {
    int64_t             at_ns;
    uint64_t            order; /* among equal times: that of sim_push */
    enum sim_event_kind kind;
    int                 a;
    uint64_t            b;
};

struct sim_heap {
    struct sim_event *events;
    uint32_t          n;
    uint32_t          room;
    uint64_t          order;
};

struct sim_config { /* of one schedule */
    int      n_workers;
    uint32_t max_batches;
    uint64_t chunk_bytes; /* on the wire */
    uint64_t send_window;
    uint32_t budget_batches;
    uint64_t steps_per_epoch;
    uint64_t first;
    uint64_t total;
    int64_t  delay_ns; /* of a link */
    int64_t  interval_ns;
    int64_t  decode_ns;
    int64_t  hold_ns;
    uint32_t n_faults;
    int64_t  faults_end_ns;
    bool     cannot;
    uint64_t audit;
};

struct sim {
    uint64_t          seed;
    uint64_t          random;
    bool              trace;
    const char       *failure; /* the first check that failed */
    int64_t           now;
    uint64_t          n_events;
    struct sim_heap   heap;
    struct sim_config config;
    struct sim_worker workers[SIM_WORKERS];
    struct sim_peer   peers[SIM_PEERS];
    uint64_t          connections;

    struct fby_window *window;
    struct sim_decode  decodes[SIM_DECODES];
    struct sim_slot    slots[SIM_SLOTS];
    int64_t            paused_ns; /* the client, until then */
    int64_t            wake_ns;   /* a SIM_WAKE is due then */
    bool               wanting;
    int64_t            wanted_ns; /* since when */
    int64_t            worst_ns;  /* longest wait of the consumer */
    uint64_t           cursor;    /* next step to take */
    uint64_t           newest;    /* highest request id */
    struct sim_asked   asked[SIM_STEPS];
    bool               done;
    bool               failed; /* the window said FAIL, as it may */
};

static inline struct sim_asked *sim_asked(struct sim *sim, uint64_t step)
{
    return &sim->asked[(step - sim->config.first) % SIM_STEPS];
}

/* heap.c */
void sim_push(struct sim *sim, int64_t at_ns, enum sim_event_kind kind, int a,
    uint64_t b);
struct sim_event sim_pop(struct sim *sim);

/* link.c */
void sim_connect(struct sim *sim, int peer, int worker);
void sim_close(struct sim *sim, int peer);
void sim_reset(struct sim *sim, int peer);
/* False: the connection is gone. */
bool sim_send_up(struct sim *sim, int peer, const struct sim_message *message);
bool sim_send_down(struct sim *sim, int peer, uint64_t connection,
    const struct sim_message *message);
/* The message whose arrival is `event`, or NULL: it was lost in a reset, or
 * its receiver is paused and it was put off. */
const struct sim_message *sim_arrived(
    struct sim *sim, const struct sim_event *event);

/* worker.c */
void sim_worker_start(struct sim *sim, int worker);
void sim_worker_stop(struct sim *sim, int worker);
void sim_worker_message(
    struct sim *sim, int peer, const struct sim_message *message);
void sim_worker_made(struct sim *sim, const struct sim_event *event);
void sim_worker_pump(struct sim *sim, int worker);
void sim_worker_leave(struct sim *sim, int worker);
void sim_worker_rival(struct sim *sim, int worker);
void sim_worker_rival_leaves(struct sim *sim, const struct sim_event *event);

/* client.c */
void sim_client_start(struct sim *sim);
void sim_client_join(struct sim *sim, int worker);
void sim_client_message(
    struct sim *sim, int peer, const struct sim_message *message);
void sim_client_decoded(struct sim *sim, int number);
void sim_client_release(struct sim *sim, int slot);
void sim_client_want(struct sim *sim);
void sim_client_turn(struct sim *sim);

/* faults.c */
void sim_faults_plan(struct sim *sim);
void sim_fault(struct sim *sim, int kind);

/* schedule.c */
uint64_t sim_random(struct sim *sim);
/* Uniform in [low, high]. */
int64_t  sim_between(struct sim *sim, int64_t low, int64_t high);
bool     sim_chance(struct sim *sim, int percent);
uint32_t sim_chunks_of(const struct sim *sim, uint64_t step);
uint64_t sim_value_of(uint64_t step, uint32_t chunk);
void     sim_fail(struct sim *sim, const char *what);
void     sim_trace(struct sim *sim, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Clear everything but the heap's memory, and begin at the seed. */
void sim_begin(struct sim *sim, uint64_t seed, bool trace);
void sim_step(struct sim *sim);
void sim_end(struct sim *sim);
/* True when every check passed; else sim->failure says what did not. */
bool sim_run(struct sim *sim, uint64_t seed, bool trace);

/* bounds.c */
void sim_check_calm(struct sim *sim); /* when nothing went wrong */
bool sim_paused_worker(struct sim *sim, uint64_t seed, bool trace);
bool sim_slow_worker(struct sim *sim, uint64_t seed, bool trace);
bool sim_paused_client(struct sim *sim, uint64_t seed, bool trace);

#endif
