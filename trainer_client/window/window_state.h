/* SPDX-License-Identifier: Apache-2.0 */
/* window_state.h - internal state of the window, for the files of this folder.
 *
 * The window decides from which worker (a "peer") to request the batch of each
 * step. The `position` of a step is epoch * steps_per_epoch + step. The window
 * covers the positions p with cursor <= p < window_end. Each has a window_step
 * with a slot for the main request. It has a second slot if that request is
 * hedged (sent to another peer too, because it is late). A slot holds one
 * request and the state of its answer, and names the peer of the request.
 * Functions shared by these files begin with fby_w_.
 *
 * Files: window.c   create, consumer, clock, counters
 *        peers.c    states of a peer, from add to GONE
 *        messages.c messages about a peer and its session
 *        timers.c   timers of the peers
 *        answers.c  messages that answer a request
 *        drop.c     dropping requests, completing answers
 *        seek.c     continuing at another step
 *        stall.c    peers that make no progress
 *        choose.c   choosing a peer, measuring speed, limiting hedges
 *        request.c  sending requests, repeated requests and hedges
 *        audit.c    audits: second answers, requested to be compared */
#ifndef FBY_CLIENT_WINDOW_STATE_H
#define FBY_CLIENT_WINDOW_STATE_H

#include <string.h>

#include "common/mutant.h"
#include "trainer_client/window/window.h"

enum {
    BATCH_KINDS = 2,  /* full batches, and shorter batches */
    MAX_TIMES   = 64, /* answer times stored for each kind of batch */
    MIN_TIMES   = 20, /* fewer answer times give no reliable p95 */
    HEDGE_BINS  = 10, /* hedges are counted in tenths of times.hedge_period */
    MAX_LOSERS  = 64  /* size of the ring `losers` */
};

enum slot_state {
    SLOT_FREE,      /* unused */
    SLOT_RESERVED,  /* belongs to a step; request to be sent */
    SLOT_REQUESTED, /* request sent */
    SLOT_FILLING,   /* HEADER received */
    SLOT_ENDED,     /* END received; chunks are being decoded */
    SLOT_READY,     /* complete */
    SLOT_HELD,      /* taken by the consumer */
    SLOT_SPENT      /* request dropped; chunks are still being decoded */
};

struct window_slot {
    enum slot_state       state;
    struct fby_request_id id;
    uint64_t              position; /* position of the requested step */
    int                   peer;     /* number of the peer that was asked */
    uint64_t              bytes;    /* size of the decoded batch */
    uint64_t  sent_after_ping; /* number of the last PING before the request */
    int64_t   requested_ns;    /* time of the request */
    bool      hedged;          /* a hedge of this request was sent */
    uint32_t  n_chunks;        /* chunks of the answer; from HEADER */
    uint32_t  n_taken;         /* different chunks received (FBY_TAKE) */
    uint32_t  n_decoded;       /* taken chunks that are decoded */
    uint32_t  n_decoding;      /* chunks being decoded, also of old ids */
    uint64_t *taken;           /* bit i: chunk i was received */
    struct fby_checksum content_hash; /* hash of the values; from END */
};

struct window_step {
    int       main_slot;    /* index of the main request's slot */
    int       hedge_slot;   /* index of the hedge's slot, or FBY_NO_SLOT */
    int       avoid_peer;   /* peer to ask last, or FBY_NO_PEER */
    int       n_corrupt;    /* corrupt answers to this step so far */
    int       last_refuser; /* last peer that sent CANNOT, or FBY_NO_PEER */
    int       refusal_code; /* code of last_refuser's CANNOT */
    bool      is_repeat;    /* the next request repeats a dropped one */
    bool      audited;      /* an audit was requested or skipped */
    uint64_t *refused;      /* bit i: peer i sent CANNOT */
};

enum peer_state {
    PEER_FREE,     /* no peer has this number */
    PEER_IDLE,     /* known, not connected */
    PEER_GREETING, /* HELLO sent */
    PEER_OPENING,  /* WELCOME received, OPEN sent */
    PEER_READY,    /* accepts requests */
    PEER_LEAVING,  /* answers its open requests, accepts no new ones */
    PEER_BACKOFF,  /* closed; waits until retry_ns to connect again */
    PEER_ASIDE     /* set aside: it will never be connected again */
};

struct window_probe { /* a request to a stalled peer; its answer is dropped */
    struct fby_request_id id; /* 0: none */
    uint64_t              bytes;
    uint64_t              sent_after_ping; /* as in window_slot */
    int64_t               requested_ns;
};

struct window_peer {
    enum peer_state        state;
    struct fby_instance_id instance;
    uint64_t               key;         /* hash of the worker's endpoints */
    bool                   unlisted;    /* no longer in the server's list */
    bool                   leaving;     /* LEAVE was received */
    bool                   opened;      /* OPENED: has the stream's dataset */
    bool                   suspect;     /* silent after a probe; not chosen */
    uint64_t               route;       /* nonce of the last HELLO */
    uint64_t               received;    /* bytes received on this route */
    uint64_t               credited;    /* bytes reported with CREDIT */
    uint64_t               send_window; /* bytes allowed beyond `credited` */
    uint64_t               largest;     /* bytes of the largest chunk so far */
    /* Times of the window's clock (`now`): */
    int64_t  uncredited_since_ns; /* oldest uncredited byte arrived; 0: none */
    int64_t  greeted_ns;          /* time of the first HELLO of this greeting */
    int64_t  last_hello_ns;       /* time of the last HELLO */
    int64_t  last_ping_ns;        /* time of the last PING */
    uint64_t ping_number;         /* number of the last PING to this peer */
    int64_t  probed_ns; /* time of an unanswered PING to a late peer, or 0 */
    int64_t  trip_ns;   /* smoothed time from PING to PONG; 0: unknown */
    int64_t  trip_deviation_ns; /* its smoothed mean deviation */
    int64_t  last_heard_ns;     /* time of the last message received */
    int64_t  last_used_ns;      /* last time at which a request was open */
    int64_t  busy_until_ns;     /* no request is sent before this time */
    int64_t  lost_pause_ns;     /* wait after the next loss; 0: no request was
                                  lost since the last complete answer */
    uint64_t newest_id_at_loss; /* newest request id at the last loss */
    int64_t  retry_at_ns;       /* end of PEER_BACKOFF */
    int64_t  backoff_ns;        /* duration of the last wait, without jitter */
    int64_t  service_since_ns;  /* earliest start of the current answer */
    int64_t  measured_ns;       /* time of the last update of `pace` */
    double   pace;              /* ns per byte of a decoded batch; 0: unknown */
    int64_t  owed_since_ns;     /* it has open requests, and has sent no byte
                                   since; 0: it owes nothing */
    int64_t  probe_at_ns;       /* no probe is sent before this time */
    uint32_t hedges_lost;       /* since its last answer */
    bool     stalled;           /* makes no progress; see stall.c */
    struct window_probe probe;
    uint32_t            n_open;     /* open requests */
    uint64_t            open_bytes; /* decoded bytes of the open requests */
};

struct answer_times { /* times from request to END, of one kind of batch */
    int64_t  ring[MAX_TIMES]; /* the latest times, ns */
    uint32_t n_times;         /* times stored so far; see store_time */
    int64_t  p95_ns;          /* 95th percentile; 0: unknown */
};

struct hedge_bin {     /* counts of one tenth of hedge_period */
    int64_t  number;   /* window time / length of a bin, rounded down */
    uint32_t requests; /* requests sent, including hedges */
    uint32_t hedges;   /* hedges sent */
};

struct audit { /* a second answer to a step, compared with the delivered one */
    struct fby_request_id id;   /* id of the second request; 0: unused */
    int                   peer; /* FBY_NO_PEER: removed after its END */
    /* Members without a note have the meaning that they have in window_slot. */
    uint64_t            position;
    uint64_t            bytes;
    uint64_t            sent_after_ping;
    int64_t             requested_ns;
    bool                has_header;   /* HEADER was received */
    bool                ended;        /* END was received */
    bool                main_known;   /* the answer to deliver is complete */
    int                 main_peer;    /* its sender; FBY_NO_PEER: removed */
    struct fby_checksum content_hash; /* of the first complete answer */
    uint32_t            n_chunks;
    uint32_t            n_taken;
    uint64_t           *taken;
};

struct fby_window {
    struct fby_window_config   config;
    struct fby_window_plan     plan;
    struct fby_window_counters counters;
    struct fby_window_failure  failure;
    bool                       started;
    bool                       stopped;

    struct window_slot *slots; /* max_batches + 1 for a hedge */
    int                 n_slots;
    struct window_step *steps;    /* max_batches, by position % max_batches */
    struct window_peer *peers;    /* max_peers */
    int                 n_peers;  /* 1 + the highest peer number so far */
    uint64_t           *bit_sets; /* memory of all members taken, refused */

    uint32_t n_used;       /* slots that are not free */
    uint64_t used_bytes;   /* decoded bytes of the batches in those slots */
    uint64_t cursor;       /* position that the consumer takes next */
    uint64_t window_end;   /* first position after the window */
    uint64_t fail_at;      /* this and later positions are not delivered */
    uint64_t newest_id;    /* last request id that was used */
    uint64_t n_pings;      /* PINGs sent so far; number of the last one */
    uint64_t random_state; /* state of splitmix64 */

    int64_t now;      /* window time, ns: caller's time minus slept_ns */
    int64_t slept_ns; /* total time that the caller was suspended */
    int64_t last_deadline_ns; /* last result of fby_window_deadline */
    int64_t last_caller_ns;   /* caller's time of the last event (`now_ns`) */
    int64_t no_peer_since_ns; /* when a peer was last usable or not needed,
                                 or the last warning was given */

    bool    consumer_waiting; /* fby_window_take waits for a batch */
    int64_t taken_ns;         /* window time when a batch was last taken */
    int64_t take_interval_ns; /* mean time from taking a batch to the next call
                                 of fby_window_take; 0: unknown */
    double  pace; /* mean pace of all peers, ns per byte; 0: unknown */
    struct answer_times   answer_times[BATCH_KINDS];
    struct hedge_bin      hedge_bins[HEDGE_BINS];
    struct fby_request_id losers[MAX_LOSERS]; /* slower requests of hedges */
    uint32_t      n_losers; /* so far; the next has index % MAX_LOSERS */
    struct audit *audits;   /* FBY_MAX_AUDITS elements */

    struct fby_action *actions; /* ring of max_actions elements */
    uint32_t           n_actions;
    uint32_t           first_action; /* index of the oldest action */
    uint32_t           max_actions;
};

/* ---- window.c ------------------------------------------------------------ */

/* Begin an event: compute w->now from the caller's time `now_ns`. */
void fby_w_set_now(struct fby_window *w, int64_t now_ns);
/* A pseudorandom number (splitmix64, from config.seed). */
uint64_t fby_w_random(struct fby_window *w);
/* Append an action for `peer`. The caller sets further members. */
struct fby_action *fby_w_add_action(
    struct fby_window *w, enum fby_action_kind kind, int peer);
/* Fail the stream because of the step at `position`, unless an earlier step
 * failed. Sets the members epoch and step of the failure. */
void fby_w_fail(struct fby_window *w, const struct fby_window_failure *failure,
    uint64_t position);
/* Change the state of a slot, and count the slots and bytes in use. */
void fby_w_set_slot_state(
    struct fby_window *w, struct window_slot *slot, enum slot_state state);
/* Return a request id that was not used before. */
struct fby_request_id fby_w_new_id(struct fby_window *w);

static inline struct window_step *fby_w_step(
    const struct fby_window *w, uint64_t position)
{
    return &w->steps[position % w->config.max_batches];
}

/* The slot of the step's main request. */
static inline struct window_slot *fby_w_main_slot(
    const struct fby_window *w, uint64_t position)
{
    return &w->slots[fby_w_step(w, position)->main_slot];
}

/* True if the request was sent and its END has not arrived. */
static inline bool fby_w_is_open(const struct window_slot *slot)
{
    return slot->state == SLOT_REQUESTED || slot->state == SLOT_FILLING;
}

/* True if the last batch of the stream was taken. */
static inline bool fby_w_stream_is_over(const struct fby_window *w)
{
    return w->started && w->cursor >= w->plan.total;
}

static inline bool fby_w_has_bit(const uint64_t *bits, uint32_t i)
{
    return (bits[i / 64] >> (i % 64) & 1) != 0;
}

static inline void fby_w_set_bit(uint64_t *bits, uint32_t i)
{
    bits[i / 64] |= UINT64_C(1) << (i % 64);
}

static inline void fby_w_clear_bit(uint64_t *bits, uint32_t i)
{
    bits[i / 64] &= ~(UINT64_C(1) << (i % 64));
}

/* Clear the bits of all chunks in the bit set `taken`. */
static inline void fby_w_clear_chunks(
    const struct fby_window *w, uint64_t *taken)
{
    size_t words = (w->config.max_chunks + 63) / 64;
    memset(taken, 0, words * sizeof(*taken));
}

/* ---- peers.c ------------------------------------------------------------- */

/* The peer with this number; NULL: none, or the window has stopped. */
struct window_peer *fby_w_peer(struct fby_window *w, int peer);
/* True from CONNECT to CLOSE, also while WELCOME is awaited. */
bool fby_w_has_socket(const struct window_peer *peer);
/* Record that the peer is alive: a message arrived or a connection begins. */
void fby_w_note_alive(struct fby_window *w, struct window_peer *peer);
void fby_w_send_ping(struct fby_window *w, struct window_peer *peer);
/* Open a connection: CONNECT, then greet. */
void fby_w_connect(struct fby_window *w, struct window_peer *peer);

/* If the stored peer number is that of the removed peer `gone`, replace it by
 * FBY_NO_PEER, since another peer may get that number. */
static inline void fby_w_forget_peer(int *peer, int gone)
{
    *peer = *peer == gone ? FBY_NO_PEER : *peer;
}

static inline int fby_w_peer_number(
    const struct fby_window *w, const struct window_peer *peer)
{
    return (int)(peer - w->peers);
}

/* Begin the event that `peer` sent a message: set the time and record that the
 * peer is alive. NULL: the peer has no socket, so ignore the message. */
struct window_peer *fby_w_begin_peer_event(
    struct fby_window *w, int64_t now_ns, int peer);
/* The peer of this instance, or NULL. */
struct window_peer *fby_w_find_instance(
    struct fby_window *w, struct fby_instance_id instance);
/* Change the state of a peer, and log it. */
void fby_w_set_peer_state(const struct fby_window *w, struct window_peer *peer,
    enum peer_state state);
/* As fby_w_add_action, with a pointer to the peer. */
struct fby_action *fby_w_add_peer_action(struct fby_window *w,
    enum fby_action_kind kind, const struct window_peer *peer);
/* Send HELLO with a new route nonce. */
void fby_w_send_hello(struct fby_window *w, struct window_peer *peer);
/* Enter GREETING and send the first HELLO. */
void fby_w_greet(struct fby_window *w, struct window_peer *peer);
/* Report that the peer is removed (FBY_DO_GONE), and free its number. */
void fby_w_remove_peer(struct fby_window *w, struct window_peer *peer);
/* Enter state `next`, drop the peer's requests and close any connection. */
void fby_w_disconnect(
    struct fby_window *w, struct window_peer *peer, enum peer_state next);
/* Send BYE, which ends the session, then disconnect. */
void fby_w_end_session(
    struct fby_window *w, struct window_peer *peer, enum peer_state next);
/* Disconnect and wait before the next attempt; the wait doubles each time. */
void fby_w_back_off(struct fby_window *w, struct window_peer *peer);
/* Report that the peer is unreachable (FBY_DO_UNREACHABLE), and back off. */
void fby_w_mark_unreachable(struct fby_window *w, struct window_peer *peer);

/* ---- timers.c ------------------------------------------------------------ */

/* Run the timers of all peers that are due. */
void fby_w_peers_tick(struct fby_window *w);
/* The time at which the next timer of a peer is due. */
int64_t fby_w_peers_deadline(const struct fby_window *w);

/* ---- answers.c ----------------------------------------------------------- */

/* Report a breach of the protocol by `peer`; returns FBY_BREACH. */
enum fby_verdict fby_w_report_breach(struct fby_window *w, int peer);
/* The worker dropped the open request `id` (LOST, SEND_CONTENT). The first time
 * the peer may be asked again at once. If it drops a request that was sent
 * since, and has completed no answer, it gets no request for busy_min, then for
 * twice as long each time, up to `backoff`. */
void fby_w_pause_after_loss(
    struct fby_window *w, int peer, struct fby_request_id id);
/* The peer completed an answer: its next loss is a first one again. */
void fby_w_reset_loss_pause(struct fby_window *w, int peer);

/* ---- drop.c -------------------------------------------------------------- */

enum drop_kind { DROP_SILENTLY, DROP_WITH_CANCEL /* send CANCEL */ };
/* Drop a request: the window ignores its answer. If the step has two requests,
 * the other one becomes its main request. Otherwise the slot waits until the
 * step is requested again. */
void fby_w_drop_request(
    struct fby_window *w, struct window_slot *slot, enum drop_kind kind);
/* Drop the peer's requests that were sent before PING number `before_ping` and
 * whose ids are not in `open`. */
void fby_w_drop_missing_requests(struct fby_window *w, struct window_peer *peer,
    uint64_t before_ping, const struct fby_request_id *open, size_t n_open);
void fby_w_drop_all_requests(struct fby_window *w, struct window_peer *peer);
/* Cancel the slot's request if it is open, and release the slot. */
void fby_w_drop_slot(struct fby_window *w, struct window_slot *slot);
/* Free a slot that no step uses. If chunks are still being decoded into it,
 * mark it as spent until the last of them is decoded. */
void fby_w_release_slot(struct fby_window *w, struct window_slot *slot);
/* Send CANCEL to a peer with a socket, unless its WELCOME is awaited: the
 * window answers WELCOME with the CANCELs that are needed. */
void fby_w_send_cancel(
    struct fby_window *w, int peer, struct fby_request_id id);
/* Count one request for `bytes` as no longer open at the peer. */
void fby_w_count_request_closed(struct fby_window *w, int peer, uint64_t bytes);
/* True if `id` is one of the ids in `open`. */
bool fby_w_has_id(
    const struct fby_request_id *open, size_t n_open, struct fby_request_id id);

/* A chunk or END is bad: drop the request, so that the step is requested again.
 * After FBY_CORRUPT_MAX bad answers to the step fail the stream. */
void fby_w_drop_corrupt_answer(struct fby_window *w, struct window_slot *slot);
/* END is received and all chunks are decoded: the slot becomes ready, and the
 * other request of a hedged step is cancelled. */
void fby_w_complete_answer(struct fby_window *w, struct window_slot *slot);
/* True if `id` is the slower request of one of the last MAX_LOSERS hedges. */
bool fby_w_is_loser(const struct fby_window *w, struct fby_request_id id);

/* ---- stall.c ------------------------------------------------------------- */

/* A request was sent to the peer. */
void fby_w_note_owed(const struct fby_window *w, struct window_peer *peer);
/* The peer sent bytes of an answer, or refused a request. */
void fby_w_note_progress(const struct fby_window *w, struct window_peer *peer);
/* The peer completed an answer: it is not stalled. */
void fby_w_note_answered(const struct fby_window *w, struct window_peer *peer);
/* A hedge was answered before the peer's request. */
void fby_w_note_hedge_lost(struct fby_window *w, struct window_peer *peer);
/* Find the peers that are stalled now. */
void fby_w_stalls_tick(struct fby_window *w);
/* Send the probes that are due. */
void fby_w_probes_tick(struct fby_window *w);
/* The time at which a peer is stalled, or a probe is due. */
int64_t fby_w_stalls_deadline(const struct fby_window *w);
/* True if `id` is that of the peer's open probe. */
bool fby_w_is_probe(const struct window_peer *peer, struct fby_request_id id);
/* The open probe was lost: send another one later. */
void fby_w_end_probe(struct fby_window *w, struct window_peer *peer);
/* The peer refused a request, perhaps its probe. */
void fby_w_note_refusal(
    struct fby_window *w, struct window_peer *peer, struct fby_request_id id);
/* END of the open probe arrived. */
void fby_w_note_probe_answered(struct fby_window *w, struct window_peer *peer);

/* ---- choose.c ------------------------------------------------------------ */

enum choose_among {
    AMONG_READY,      /* peers that accept a request now */
    AMONG_READY_SOON, /* also peers that are idle or being connected */
    AMONG_STALLED     /* peers that accept a request now, also stalled ones */
};
/* The best peer for a slot's request other than `excluded`, or FBY_NO_PEER. */
int fby_w_choose_peer(struct fby_window *w, const struct window_slot *slot,
    int excluded, enum choose_among among);
/* True if a peer that is not stalled accepts the step's request now or when it
 * is no longer busy. */
bool fby_w_waits_for_busy(
    const struct fby_window *w, const struct window_step *step);
/* True if every peer that may become usable answered CANNOT to the step. */
bool fby_w_all_refused(struct fby_window *w, const struct window_step *step);
/* A slot's answer has ended: record the answer time and the pace. */
void fby_w_measure_answer(struct fby_window *w, const struct window_slot *slot);
/* An answer has ended: update the pace of the peer and the mean pace. */
void fby_w_measure_pace(
    struct fby_window *w, int peer, uint64_t bytes, int64_t requested_ns);
/* A request is dropped as too slow: measure the peer's pace by the wait. */
void fby_w_measure_dropped(struct fby_window *w, struct window_peer *peer);
/* A PONG has answered the peer's last PING. */
void fby_w_measure_trip(const struct fby_window *w, struct window_peer *peer);
/* The time within which a late peer has to answer a PING. */
int64_t fby_w_suspect_after(
    const struct fby_window *w, const struct window_peer *peer);
/* The age, in ns, at which a request for `bytes` is late enough for a hedge. */
int64_t fby_w_hedge_after(const struct fby_window *w, uint64_t bytes);
/* True if one more hedge is allowed. In each times.hedge_period the limit is 2
 * hedges, or 5 % of the requests if that is more. */
bool fby_w_may_hedge(struct fby_window *w);
/* Count a request for the limit of hedges. */
void fby_w_count_request(struct fby_window *w, bool is_hedge);
/* Record that the consumer wants a batch, or that it got one. */
void fby_w_note_consumer_waits(struct fby_window *w);
void fby_w_note_consumer_took(struct fby_window *w);
/* True if the consumer will have taken the `n_ready` ready batches before a
 * peer can send another batch. */
bool fby_w_consumer_runs_out(const struct fby_window *w, uint32_t n_ready);

/* ---- request.c ----------------------------------------------------------- */

/* Send the requests and hedges that are possible and due. */
void fby_w_requests_tick(struct fby_window *w);
/* The time of the next request, hedge or audit that becomes due without an
 * event. */
int64_t fby_w_requests_deadline(const struct fby_window *w);
/* True if a step of the window waits for its request to be sent. */
bool fby_w_has_unrequested_step(const struct fby_window *w);
/* Append a REQUEST action with a new id, and count it as open at the peer. */
struct fby_action *fby_w_send_request(
    struct fby_window *w, int peer, uint64_t position, uint64_t bytes);

/* ---- audit.c ------------------------------------------------------------- */

/* If the slot's step must be audited, request a second answer. */
void fby_w_audit_begin(struct fby_window *w, const struct window_slot *slot);
/* The slot's answer is complete and will be delivered. If its step is audited,
 * compare the answer with the second one, now or when that is complete. */
void fby_w_audits_note_main_answer(
    struct fby_window *w, const struct window_slot *slot);
/* HEADER, a chunk and END of an audit's answer. */
enum fby_verdict fby_w_audit_header(
    struct fby_window *w, struct audit *audit, uint32_t n_chunks);
enum fby_verdict fby_w_audit_chunk(
    struct fby_window *w, struct audit *audit, uint32_t chunk);
enum fby_verdict fby_w_audit_end(struct fby_window *w, struct audit *audit,
    const struct fby_window_end *end);
/* The audit that was requested with this id, or NULL. */
struct audit *fby_w_find_audit(
    const struct fby_window *w, struct fby_request_id id);
/* Skip an audit whose second answer is incomplete, and return true. Returns
 * false if that answer is complete. */
bool fby_w_audit_skip(struct fby_window *w, struct audit *audit);
/* Skip all audits, and cancel those whose second answer is incomplete. */
void fby_w_audits_drop(struct fby_window *w);
/* Skip the peer's audits that were requested before PING number `before_ping`
 * and whose ids are not in `open`. */
void fby_w_audits_drop_missing(struct fby_window *w, int peer,
    uint64_t before_ping, const struct fby_request_id *open, size_t n_open);
/* Replace the number of a removed peer by FBY_NO_PEER in all audits. */
void fby_w_audits_forget_peer(struct fby_window *w, int peer);
/* True if an audit's two answers have not been compared yet. */
bool fby_w_has_open_audit(const struct fby_window *w);
/* At the stream's end, skip the audits that are late. */
void fby_w_audits_tick(struct fby_window *w);
/* At the stream's end, the time at which the next audit is late. */
int64_t fby_w_audits_deadline(const struct fby_window *w);

#define FBY_W_NEVER    INT64_MAX  /* the deadline when no timer runs */
#define FBY_W_ANY_PING UINT64_MAX /* a `before_ping` above all numbers */

#endif
