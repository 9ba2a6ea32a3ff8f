/* SPDX-License-Identifier: Apache-2.0 */
/* sim.h - a simulation of the client's window, the worker's session and the keys
 * of routes.
 *
 * It has one trainer client, up to four workers, links between them, a consumer
 * and faults, in virtual time. A schedule depends only on its seed. Client and
 * workers drive the window and the session as the real ones do, but send
 * numbers instead of batches. The invariants of both are checked at every
 * event.
 *
 * Files: heap.c      events in order of time
 *        link.c      connections: FIFO, delay, resets
 *        worker.c    a worker around its fby_session
 *        client.c    the client around its fby_window, and the consumer
 *        keys.c      sealed frames, in every second schedule
 *        faults.c    the faults
 *        schedule.c  one schedule from its seed; its checks
 *        bounds.c    schedules with a bound on the consumer's wait
 *        main.c      many schedules, in several processes */
#ifndef FBY_TESTS_SIMULATE_SIM_H
#define FBY_TESTS_SIMULATE_SIM_H

#include <stdbool.h>
#include <stdint.h>

#include "common/clock.h"
#include "secure/handshake.h"
#include "trainer_client/window/window.h"
#include "worker/session/session.h"

enum {
    SIM_WORKERS     = 4,
    SIM_PEERS       = 12,
    SIM_JOBS        = 32, /* batches in work at a worker */
    SIM_CHUNKS      = 8,  /* in a batch */
    SIM_SLOTS       = 17,
    SIM_NAMED       = 32,  /* open ids in a message */
    SIM_QUEUE       = 256, /* messages in a link */
    SIM_DECODES     = 256,
    SIM_STEPS       = 128, /* steps with a sim_asked, from the first one on */
    SIM_SEALED_TEXT = 8,   /* bytes in the sealed frame of a message */
    SIM_SEALS       = 1 << 16
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
    uint64_t              number; /* nonce, seq, total or step, by kind */
    uint64_t              value;  /* route, or content of a chunk */
    uint64_t              instance;
    uint32_t              chunk; /* HEADER: number of chunks */
    uint32_t              bytes; /* CHUNK: on the wire */
    bool                  good;  /* false: damaged */
    uint32_t              n_open;
    struct fby_request_id open[SIM_NAMED];
    int64_t               due_ns; /* time of arrival */
    /* With keys: */
    bool                   is_sealed; /* HELLO: it has a sealed part */
    uint8_t                sealed[SIM_SEALED_TEXT + FBY_SEAL_BYTES];
    struct fby_route_nonce nonce;       /* HELLO_FIRST, HELLO */
    struct fby_key         session_key; /* HELLO: what its ticket has */
};

struct sim_link { /* one direction */
    struct sim_message queue[SIM_QUEUE];
    uint32_t           first;
    uint32_t           n;
    int64_t            last_ns; /* arrival of the last message */
};

struct sim_peer {           /* a peer of the window: one connection */
    int             worker; /* -1: none */
    bool            open;
    uint64_t        connection; /* changes with each reset */
    struct sim_link up;         /* to the worker */
    struct sim_link down;
    /* With keys: */
    uint64_t                ticket_of; /* instance of the worker */
    struct fby_key          session_key;
    struct fby_client_route route;
    struct sim_message      hello;     /* the last one */
    bool                    has_hello; /* it has no WELCOME yet */
};

struct sim_job { /* a batch that a worker makes */
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
    bool                content; /* has the pipeline's content */
    uint64_t            generation;
    uint64_t            instance;
    uint64_t            key;
    int64_t             paused_ns; /* end of a pause */
    int64_t             slow_ns;   /* end of a slow period */
    int64_t             slow_by;   /* factor of the slow period */
    int64_t             busy_ns;   /* answers BUSY until then */
    int64_t             service_ns;
    uint32_t            cores;
    uint32_t            working;
    uint32_t            n_corrupt;   /* next chunks to damage */
    uint32_t            n_duplicate; /* next chunks to send twice */
    uint32_t            n_bad_end;   /* next ENDs to damage */
    uint32_t            n_drop;      /* next REQUEST or LOST to drop */
    bool                mute;        /* sends no chunk and no END */
    uint64_t            cannot;      /* bit per step % 64: CANNOT */
    struct fby_budget   budget;
    struct fby_session *session;
    struct fby_session *rival; /* session of another client, or NULL */
    uint64_t            rival_id;
    int                 route; /* the session's peer; -1: none */
    uint64_t            connection;
    struct fby_lanes    lanes; /* of the route, with keys */
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
    uint32_t decoding; /* chunks being decoded into it */
    bool     held;
    uint64_t value[SIM_CHUNKS];
};

struct sim_asked { /* the requests for one step */
    bool     audited;
    int      peer;    /* of the last request */
    uint32_t damaged; /* answers that arrived damaged */
};

enum sim_event_kind {
    SIM_AT_WORKER,    /* a: peer, b: connection */
    SIM_AT_CLIENT,    /* the same */
    SIM_WAKE,         /* the window's deadline */
    SIM_DECODED,      /* a: index of the decode */
    SIM_MADE,         /* a: worker * SIM_JOBS + job, b: generation */
    SIM_TAKE,         /* the consumer asks for a batch */
    SIM_RELEASE,      /* a: slot */
    SIM_FAULT,        /* a: kind of fault */
    SIM_RESTART,      /* a: worker */
    SIM_RIVAL_LEAVES, /* a: worker, b: generation */
    SIM_JOIN          /* a: worker */
};

struct sim_event {
    int64_t             at_ns;
    uint64_t            order; /* of sim_push, for equal times */
    enum sim_event_kind kind;
    int                 a;
    uint64_t            b;
};

struct sim_heap {
    struct sim_event *events;
    uint32_t          n;
    uint32_t          capacity;
    uint64_t          order;
};

struct sim_config { /* parameters of one schedule */
    int      n_workers;
    uint32_t max_batches;
    uint64_t chunk_bytes; /* on the wire */
    uint64_t send_window;
    uint32_t budget_batches;
    uint64_t steps_per_epoch;
    uint64_t first;    /* step at which the stream begins */
    uint64_t total;    /* step at which it ends */
    int64_t  delay_ns; /* of a link */
    int64_t  interval_ns;
    int64_t  decode_ns;
    int64_t  hold_ns;
    uint32_t n_faults;
    int64_t  faults_end_ns;
    bool     cannot;
    uint64_t audit;
    int64_t  stall_ns; /* of the window; 0: the default */
    bool     keys;
};

struct sim_seal {  /* a frame that was sealed */
    uint64_t seed; /* of the schedule */
    uint64_t hash; /* of its key and count */
};

enum sim_hello {
    SIM_HELLO_GOOD,
    SIM_HELLO_REFUSED, /* its ticket is of an instance that has ended */
    SIM_HELLO_REPEATED /* the nonce of the connection was used */
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

    struct fby_window    *window;
    struct sim_decode     decodes[SIM_DECODES];
    struct sim_slot       slots[SIM_SLOTS];
    int64_t               paused_ns; /* end of the client's pause */
    int64_t               wake_ns;   /* time of the next SIM_WAKE */
    bool                  consumer_waiting;
    int64_t               waiting_since_ns; /* begin of the wait */
    int64_t               longest_wait_ns;  /* longest wait of the consumer */
    uint64_t              cursor;           /* next step to take */
    uint32_t              n_seeks;          /* times it was set anew */
    uint64_t              newest;           /* highest request id */
    struct sim_asked      asked[SIM_STEPS];
    struct fby_challenges challenges[SIM_WORKERS];
    struct fby_aead      *aead;
    struct sim_seal       seals[SIM_SEALS]; /* a hash table */
    uint32_t              n_seals;
    bool                  done;
    bool                  failed; /* FAIL by the window, where allowed */
};

/* The requests for `step`, which is one of SIM_STEPS from config.first on. */
static inline struct sim_asked *sim_asked(struct sim *sim, uint64_t step)
{
    return &sim->asked[(step - sim->config.first) % SIM_STEPS];
}

/* Every second schedule has keys. */
static inline bool sim_wants_keys(const struct sim *sim)
{
    return (sim->seed >> 8 & 1) != 0;
}

/* heap.c */
/* Schedule an event, not earlier than now. */
void sim_push(struct sim *sim, int64_t at_ns, enum sim_event_kind kind, int a,
    uint64_t b);
/* Take the earliest event; there must be one. */
struct sim_event sim_pop(struct sim *sim);

/* link.c */
/* Open a connection from the client's peer to a worker. */
void sim_connect(struct sim *sim, int peer, int worker);
/* Close the connection; messages on the way are lost. */
void sim_close(struct sim *sim, int peer);
/* Replace the connection by a new one; messages on the way are lost. */
void sim_reset(struct sim *sim, int peer);
/* Send to the worker. False: there is no connection. */
bool sim_send_up(struct sim *sim, int peer, const struct sim_message *message);
/* Send to the client. False: `connection` was replaced or closed. */
bool sim_send_down(struct sim *sim, int peer, uint64_t connection,
    const struct sim_message *message);
/* The message that arrives with `event`. NULL: it was lost in a reset, or its
 * receiver is paused and the event was postponed. */
const struct sim_message *sim_arrived(
    struct sim *sim, const struct sim_event *event);

/* worker.c */
/* Start a worker as a new instance. */
void sim_worker_start(struct sim *sim, int worker);
/* Kill a worker; its connections are reset. */
void sim_worker_stop(struct sim *sim, int worker);
/* Handle a message that arrived at the peer's worker. */
void sim_worker_message(
    struct sim *sim, int peer, const struct sim_message *message);
/* SIM_MADE: a worker has made a chunk. */
void sim_worker_made(struct sim *sim, const struct sim_event *event);
/* Start jobs on free cores, and send what the session allows. */
void sim_worker_pump(struct sim *sim, int worker);
/* Send LEAVE and accept no new batches. */
void sim_worker_leave(struct sim *sim, int worker);
/* Open a session of another client, which requests one batch. */
void sim_worker_rival(struct sim *sim, int worker);
/* SIM_RIVAL_LEAVES: end that session. */
void sim_worker_rival_leaves(struct sim *sim, const struct sim_event *event);

/* client.c */
/* Create and start the window. */
void sim_client_start(struct sim *sim);
/* The server lists a worker: add it to the window. */
void sim_client_join(struct sim *sim, int worker);
/* Handle a message that arrived at the client. */
void sim_client_message(
    struct sim *sim, int peer, const struct sim_message *message);
/* SIM_DECODED: decode `number` has finished. */
void sim_client_decoded(struct sim *sim, int number);
/* SIM_RELEASE: the consumer releases a batch. */
void sim_client_release(struct sim *sim, int slot);
/* SIM_TAKE: the consumer asks for a batch. */
void sim_client_take(struct sim *sim);
/* The consumer continues at another step. */
void sim_client_seek(struct sim *sim, uint64_t step);
/* Carry out the window's actions, tick, and check its limits. */
void sim_client_turn(struct sim *sim);

/* keys.c */
/* The server lists the peer's worker, with a new session key and ticket. */
void sim_keys_list(struct sim *sim, int peer);
/* The client's connection has ended. */
void sim_keys_forget(struct sim *sim, int peer);
/* Send to the worker, sealed if the schedule has keys. */
void sim_client_send(
    struct sim *sim, int peer, const struct sim_message *message);
/* Open a message that arrived at the client. False: it must be dropped. */
bool sim_keys_at_client(
    struct sim *sim, int peer, const struct sim_message *message);
/* Forget the nonces of the worker's last instance. */
void sim_keys_start_worker(struct sim *sim, int worker);
/* Add the nonce of the peer's connection to a HELLO_FIRST. */
void sim_keys_challenge(struct sim *sim, int peer, struct sim_message *out);
/* Open a HELLO, and derive the keys of its route. */
enum sim_hello sim_keys_hello(struct sim *sim, int peer,
    const struct sim_message *message, struct fby_lanes *out);
/* Open a message on the worker's route. False: its route ends. */
bool sim_keys_at_worker(
    struct sim *sim, int worker, const struct sim_message *message);
/* Seal a message on the worker's route. */
void sim_keys_seal_down(
    struct sim *sim, int worker, struct sim_message *message);

/* faults.c */
/* Schedule config.n_faults random faults. */
void sim_faults_plan(struct sim *sim);
/* SIM_FAULT: cause a fault of this kind at a random worker. */
void sim_fault(struct sim *sim, int kind);

/* schedule.c */
/* The next number of the schedule's own sequence. */
uint64_t sim_random(struct sim *sim);
/* Uniform in [low, high]. */
int64_t sim_between(struct sim *sim, int64_t low, int64_t high);
/* True with this probability. */
bool sim_chance(struct sim *sim, int percent);
/* The number of chunks of a step, and the content of a chunk. */
uint32_t sim_chunks_of(const struct sim *sim, uint64_t step);
uint64_t sim_value_of(uint64_t step, uint32_t chunk);
/* A check failed: the first message is kept. `what` is static text. */
void sim_fail(struct sim *sim, const char *what);
/* Print a line if the schedule is traced. */
void sim_trace(struct sim *sim, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Clear everything except the heap's memory, and set the seed. */
void sim_begin(struct sim *sim, uint64_t seed, bool trace);
/* Handle the next event. */
void sim_next_event(struct sim *sim);
/* Stop workers and window, and check that no memory stays charged. */
void sim_end(struct sim *sim);
/* Run one schedule. True when all checks passed; else see sim->failure. */
bool sim_run(struct sim *sim, uint64_t seed, bool trace);

/* bounds.c */
/* Check a run without faults: no request was repeated or lost. */
void sim_check_no_repeats(struct sim *sim);
/* Like sim_run, with a pause of one worker, a slow worker, a pause of the
 * client, workers that make no progress; each also checks a bound (see
 * bounds.c). */
bool sim_paused_worker(struct sim *sim, uint64_t seed, bool trace);
bool sim_slow_worker(struct sim *sim, uint64_t seed, bool trace);
bool sim_paused_client(struct sim *sim, uint64_t seed, bool trace);
bool sim_mute_workers(struct sim *sim, uint64_t seed, bool trace);

#endif
