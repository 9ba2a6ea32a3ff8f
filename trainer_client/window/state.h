/* state.h - the internal state of the window, for the files of this folder.
 *
 * A step of the stream has one number, its `position`: epoch * steps_per_epoch
 * + step. The window covers the positions [cursor, reserved). Each of them has
 * a window_step, with one or two slots: for the main answer, and for a hedge's.
 * A slot holds one request and the state of its answer. A peer has only the
 * number and bytes of its open requests; search the few slots for the rest.
 *
 * Files: window.c   create, consumer, clock, counters
 *        peers.c    states of a peer, from add to GONE
 *        messages.c messages about a peer and its session
 *        timers.c   timers of the peers
 *        answers.c  messages that answer a request
 *        drop.c     requests given up, answers complete
 *        choose.c   choice of a peer, its speed, limits of hedges
 *        ask.c      requests, repeated requests, hedges; the tick's work
 *        audit.c    second answers, requested to be compared */
#ifndef FBY_CLIENT_WINDOW_STATE_H
#define FBY_CLIENT_WINDOW_STATE_H

#include <string.h>

#include "common/mutant.h"
#include "trainer_client/window/window.h"

enum {
    BATCH_KINDS  = 2,  /* full batches, and shorter ones */
    KNOWN_TIMES  = 64, /* latest answers of a kind, for their p95 */
    ENOUGH_TIMES = 20, /* fewer answers give no good p95 */
    HEDGE_BINS   = 10, /* parts of times.hedge_period */
    MAX_LOSERS   = 64  /* slower answers of hedges that are remembered */
};

enum slot_state {
    SLOT_FREE,     /* unused */
    SLOT_RESERVED, /* belongs to a step; no request sent */
    SLOT_ASKED,    /* request sent */
    SLOT_FILLING,  /* HEADER received */
    SLOT_ENDED,    /* END received; chunks are being decoded */
    SLOT_READY,    /* complete */
    SLOT_HELD,     /* taken by the consumer */
    SLOT_SPENT     /* given up; chunks are still being decoded */
};

struct window_slot {
    enum slot_state       state;
    struct fby_request_id id;
    uint64_t              position;
    int                   peer;
    uint64_t              bytes;     /* raw bytes of the batch */
    uint64_t              last_ping; /* number of the last PING before it */
    int64_t               asked_ns;  /* time of the request */
    bool                  hedged;    /* a second request was sent */
    uint32_t              n_chunks;
    uint32_t              n_taken;
    uint32_t              n_decoded;
    uint32_t              decoding; /* chunks being decoded, for any id */
    uint64_t             *taken;    /* bit per chunk */
    struct fby_sum        content;  /* from END on */
};

struct window_step {
    int       main;         /* slot */
    int       hedge;        /* slot or FBY_NO_SLOT */
    int       avoid;        /* peer whose answer was bad, or FBY_NO_PEER */
    int       corrupt;      /* bad answers so far */
    int       last_refuser; /* last peer with CANNOT, or FBY_NO_PEER */
    int       code;         /* of that CANNOT */
    bool      repeat;       /* the next request repeats one that was lost */
    bool      audited;      /* the audit was requested, or skipped */
    uint64_t *refused;      /* bit per peer with CANNOT */
};

enum peer_state {
    PEER_FREE,     /* unused number */
    PEER_IDLE,     /* known, not connected */
    PEER_GREETING, /* HELLO sent */
    PEER_OPENING,  /* WELCOME received, OPEN sent */
    PEER_READY,    /* accepts requests */
    PEER_LEAVING,  /* answers its open requests, accepts no new ones */
    PEER_BACKOFF,  /* unreachable or full; waits for the next attempt */
    PEER_ASIDE     /* serves other bytes; not used again */
};

struct window_peer {
    enum peer_state        state;
    struct fby_instance_id instance;
    uint64_t               key;
    bool                   unlisted; /* no longer in the server's list */
    bool                   leaving;
    bool                   opened; /* this instance has the pinned data */
    bool                   suspect;
    uint64_t               route;    /* nonce of the last HELLO */
    uint64_t               received; /* bytes on this route */
    uint64_t               credited; /* bytes reported with CREDIT */
    uint64_t               send_window;
    int64_t                uncredited_ns; /* oldest unreported byte; 0: none */
    int64_t                greeted_ns;    /* first HELLO of this greeting */
    int64_t                hello_ns;      /* last HELLO */
    int64_t                ping_ns;       /* last PING */
    uint64_t               ping;          /* number of the last PING */
    int64_t                probe_ns;      /* PING to a late peer; 0: none */
    int64_t                heard_ns;      /* last message */
    int64_t                used_ns;       /* last open request */
    int64_t                busy_until_ns; /* no requests before this time */
    int64_t                retry_ns;      /* end of BACKOFF */
    int64_t                backoff;       /* last wait, without jitter */
    int64_t                service_since_ns; /* start of its current answer */
    int64_t                measured_ns;      /* last update of `pace` */
    double                 pace;             /* ns per byte; 0: unknown */
    uint32_t               n_open;           /* open requests */
    uint64_t               owed;             /* their bytes */
};

struct answer_times { /* times of the latest answers of one kind, ns */
    int64_t  last[KNOWN_TIMES];
    uint32_t n;   /* answers so far; see note_time */
    int64_t  p95; /* 0: unknown */
};

struct hedge_bin {   /* counts in one part of times.hedge_period */
    int64_t  number; /* time / length of a bin */
    uint32_t requests;
    uint32_t hedges;
};

struct hedge_loser {          /* the slower answer of a hedge, dropped */
    struct fby_request_id id; /* 0: unused */
    int                   peer;
    int                   winner_peer;
    uint64_t              position;
    struct fby_sum        content; /* of the faster answer */
};

struct audit { /* a second answer to a step, compared and dropped */
    struct fby_request_id id;   /* 0: unused */
    int                   peer; /* FBY_NO_PEER: removed since its END */
    uint64_t              position;
    uint64_t              bytes;
    uint64_t              last_ping; /* as in window_slot */
    int64_t               asked_ns;
    bool                  has_header;
    bool                  ended;      /* the second answer is known */
    bool                  main_known; /* the delivered answer is known */
    int                   main_peer;  /* FBY_NO_PEER: removed since */
    struct fby_sum        content;    /* of the answer that is known */
    uint32_t              n_chunks;   /* from HEADER on */
    uint32_t              n_taken;
    uint64_t             *taken; /* bit per chunk */
};

struct fby_window {
    struct fby_window_config   config;
    struct fby_window_plan     plan;
    struct fby_window_counters counters;
    struct fby_window_failure  failure;
    bool                       started;
    bool                       stopped;

    struct window_slot *slots; /* max_batches + 1 */
    int                 n_slots;
    struct window_step *steps;   /* max_batches, by position % max_batches */
    struct window_peer *peers;   /* max_peers */
    int                 n_peers; /* highest number ever used, plus 1 */
    uint64_t           *bits;    /* memory of all bit sets */

    uint32_t n_used;       /* slots that are not free */
    uint64_t used_bytes;   /* raw bytes in those slots */
    uint64_t cursor;       /* next position to take */
    uint64_t reserved;     /* first position without a slot */
    uint64_t fail_at;      /* positions from here on are not delivered */
    uint64_t newest_id;    /* last request id */
    uint64_t pings;        /* number of the last PING to any peer */
    uint64_t random_state; /* of splitmix64 */

    int64_t now;           /* the caller's time less `slept` */
    int64_t slept;         /* total time that the caller slept */
    int64_t last_deadline; /* last result of deadline, the caller's time */
    int64_t last_now;      /* last `now_ns`, the caller's time */
    int64_t unserved_ns;   /* since when no peer is usable */

    bool                consumer_waiting;
    int64_t             taken_ns;      /* last take */
    int64_t             take_interval; /* mean, take to next call; 0: unknown */
    double              pace;          /* of all peers, ns per byte */
    struct answer_times answer_times[BATCH_KINDS];
    struct hedge_bin    hedge_bins[HEDGE_BINS];
    struct hedge_loser  losers[MAX_LOSERS];
    uint32_t            next_loser; /* index of the next one, % MAX_LOSERS */
    struct audit        audits[FBY_AUDITS];

    struct fby_action *actions; /* ring */
    uint32_t           n_actions;
    uint32_t           first_action;
    uint32_t           max_actions;
};

/* ---- window.c ------------------------------------------------------------ */

/* Begin an event: set w->now from the caller's time. */
void fby_w_set_now(struct fby_window *w, int64_t now_ns);
/* The next number of the window's own sequence (splitmix64). */
uint64_t fby_w_random(struct fby_window *w);
/* Append an action for `peer` and return it, to fill in its members. */
struct fby_action *fby_w_action(
    struct fby_window *w, enum fby_action_kind kind, int peer);
/* Fail the stream from position `fail_at` on, unless it fails earlier. */
void fby_w_fail(struct fby_window *w, const struct fby_window_failure *failure,
    uint64_t fail_at);
/* Change the state of a slot, and count the slots and bytes in use. */
void fby_w_slot_state(
    struct fby_window *w, struct window_slot *slot, enum slot_state state);
/* A request id that was never used. */
struct fby_request_id fby_w_new_id(struct fby_window *w);

static inline struct window_step *fby_w_step(
    const struct fby_window *w, uint64_t position)
{
    return &w->steps[position % w->config.max_batches];
}

static inline struct window_slot *fby_w_slot(
    const struct fby_window *w, int slot)
{
    return &w->slots[slot];
}

/* The request was sent and its END has not arrived. */
static inline bool fby_w_is_open(const struct window_slot *slot)
{
    return slot->state == SLOT_ASKED || slot->state == SLOT_FILLING;
}

/* The last batch of the stream was taken. */
static inline bool fby_w_is_over(const struct fby_window *w)
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

/* Mark all chunks as not taken. */
static inline void fby_w_clear_chunks(
    const struct fby_window *w, uint64_t *taken)
{
    size_t words = (w->config.max_chunks + 63) / 64;
    memset(taken, 0, words * sizeof(*taken));
}

/* ---- peers.c ------------------------------------------------------------- */

/* The peer with this number, or NULL. */
struct window_peer *fby_w_peer(struct fby_window *w, int peer);
/* Whether the peer has a socket: from CONNECT to CLOSE. */
bool fby_w_is_connected(const struct window_peer *peer);
/* Note a sign of life. */
void fby_w_heard(struct fby_window *w, struct window_peer *peer);
/* Send PING. */
void fby_w_ping(struct fby_window *w, struct window_peer *peer);
/* CONNECT and greet. */
void fby_w_connect(struct fby_window *w, struct window_peer *peer);

static inline int fby_w_peer_number(
    const struct fby_window *w, const struct window_peer *peer)
{
    return (int)(peer - w->peers);
}

/* Begin an event with a message of `peer`: set the time and note a sign of
 * life. NULL when the peer is not connected: then ignore the message. */
struct window_peer *fby_w_peer_message(
    struct fby_window *w, int64_t now_ns, int peer);
/* The peer of this instance, or NULL. */
struct window_peer *fby_w_find_instance(
    struct fby_window *w, struct fby_instance_id instance);
/* Change the state of a peer, and log it. */
void fby_w_peer_state(const struct fby_window *w, struct window_peer *peer,
    enum peer_state state);
/* Append an action that has no further members. */
void fby_w_peer_action(struct fby_window *w, enum fby_action_kind kind,
    const struct window_peer *peer);
/* Send HELLO with a new route. */
void fby_w_hello(struct fby_window *w, struct window_peer *peer);
/* Enter GREETING and send the first HELLO. */
void fby_w_greet(struct fby_window *w, struct window_peer *peer);
/* GONE: the number becomes free. */
void fby_w_remove_peer(struct fby_window *w, struct window_peer *peer);
/* CLOSE, enter state `next` and drop the peer's requests. */
void fby_w_disconnect(
    struct fby_window *w, struct window_peer *peer, enum peer_state next);
/* The same after BYE, which ends the session. */
void fby_w_bye(
    struct fby_window *w, struct window_peer *peer, enum peer_state next);
/* Disconnect and wait; the wait doubles each time. */
void fby_w_back_off(struct fby_window *w, struct window_peer *peer);
/* UNREACHABLE, then back off. */
void fby_w_unreachable(struct fby_window *w, struct window_peer *peer);

/* ---- timers.c ------------------------------------------------------------ */

/* Run the timers of all peers that are due. */
void fby_w_peers_tick(struct fby_window *w);
/* When the next of them is due. */
int64_t fby_w_peers_deadline(const struct fby_window *w);

/* ---- drop.c -------------------------------------------------------------- */

/* Give up a request. The step continues with its hedge, or waits for another
 * request. */
void fby_w_drop(
    struct fby_window *w, struct window_slot *slot, bool send_cancel);
/* Drop the requests of a peer that were sent before PING number `before_ping`
 * and are missing from `open`. */
void fby_w_drop_unnamed(struct fby_window *w, struct window_peer *peer,
    uint64_t before_ping, const struct fby_request_id *open, size_t n_open);
/* Drop all requests of a peer. */
void fby_w_drop_all(struct fby_window *w, struct window_peer *peer);
/* Free a slot that no step needs, once none of its chunks is being decoded. */
void fby_w_release_slot(struct fby_window *w, struct window_slot *slot);
/* Send CANCEL to a connected peer that has a route. */
void fby_w_cancel(struct fby_window *w, int peer, struct fby_request_id id);
/* Count an answer of `bytes` as no longer open at the peer. */
void fby_w_answer_done(struct fby_window *w, int peer, uint64_t bytes);
/* Whether `id` is one of `open`. */
bool fby_w_has_id(
    const struct fby_request_id *open, size_t n_open, struct fby_request_id id);

struct difference { /* two different answers to one step */
    uint64_t              position;
    int                   peer;
    int                   other;
    struct fby_request_id id;
};
/* Fail the stream because of a difference. */
void fby_w_fail_different(
    struct fby_window *w, const struct difference *difference);
/* A chunk or the END is bad: drop the request, to be repeated, and fail the
 * stream after FBY_CORRUPT_MAX of them. */
void fby_w_answer_corrupt(struct fby_window *w, struct window_slot *slot);
/* END is received and all chunks are decoded: the slot becomes ready. */
void fby_w_answer_complete(struct fby_window *w, struct window_slot *slot);
/* The slower answer of a hedge with this id, or NULL. */
const struct hedge_loser *fby_w_loser(
    const struct fby_window *w, struct fby_request_id id);
/* Compare its content with the faster answer; fail if they differ. */
void fby_w_compare_loser(struct fby_window *w, const struct hedge_loser *loser,
    const struct fby_sum *content);
/* Forget a peer's number, which another peer will get. */
void fby_w_losers_forget(struct fby_window *w, int peer);

/* ---- choose.c ------------------------------------------------------------ */

enum choose_among { AMONG_READY, AMONG_REACHABLE };
/* The best peer for a slot's request, other than `except`; or FBY_NO_PEER. */
int fby_w_choose(struct fby_window *w, const struct window_slot *slot,
    int except, enum choose_among among);
/* Whether every usable peer answered CANNOT to the step. */
bool fby_w_all_refused(struct fby_window *w, const struct window_step *step);
/* END of a slot: measure the answer time and the pace. */
void fby_w_measure(struct fby_window *w, const struct window_slot *slot);
/* END of any answer: measure the pace of the peer, and of all. */
void fby_w_measure_pace(
    struct fby_window *w, int peer, uint64_t bytes, int64_t asked_ns);
/* A peer whose answer was given up: it is at least as slow as it was so far. */
void fby_w_measure_slow(struct fby_window *w, struct window_peer *peer);
/* The age at which a request for `bytes` is late enough for a hedge, ns. */
int64_t fby_w_hedge_after(const struct fby_window *w, uint64_t bytes);
/* Whether the limit allows one more hedge: 2, or 1 in 20 requests. */
bool fby_w_may_hedge(struct fby_window *w);
/* Count a request for that limit. */
void fby_w_count_request(struct fby_window *w, bool hedge);
/* The consumer asks for a batch. */
void fby_w_consumer_waits(struct fby_window *w);
/* The consumer got a batch. */
void fby_w_consumer_took(struct fby_window *w);
/* Whether the consumer will take `ready` batches sooner than a peer makes one
 * more. */
bool fby_w_in_demand(const struct fby_window *w, uint32_t ready);

/* ---- ask.c --------------------------------------------------------------- */

/* Send the requests and hedges that are possible and due. */
void fby_w_ask_tick(struct fby_window *w);
/* When to look again, if no event comes earlier. */
int64_t fby_w_ask_deadline(const struct fby_window *w);
/* Whether a step of the window waits for a peer to send its request to. */
bool fby_w_lacks_request(const struct fby_window *w);
/* Append a REQUEST with a new id, and count it as open at the peer. */
struct fby_action *fby_w_request(
    struct fby_window *w, int peer, uint64_t position, uint64_t bytes);

/* ---- audit.c ------------------------------------------------------------- */

/* The slot's request was sent: request an audit too, if one is due. */
void fby_w_audit_begin(struct fby_window *w, const struct window_slot *slot);
/* The slot's answer will be delivered: compare it with that of an audit. */
void fby_w_audit_delivered(
    struct fby_window *w, const struct window_slot *slot);
/* HEADER of an audit's answer. On FBY_BREACH the caller closes the peer. */
enum fby_verdict fby_w_audit_header(
    struct fby_window *w, struct fby_request_id id, uint32_t n_chunks);
/* A chunk of it; likewise. */
enum fby_verdict fby_w_audit_chunk(
    struct fby_window *w, struct fby_request_id id, uint32_t chunk);
/* END of it; likewise. */
enum fby_verdict fby_w_audit_end(
    struct fby_window *w, const struct fby_window_end *end);
/* The audit with this id, or NULL. */
const struct audit *fby_w_audit(
    const struct fby_window *w, struct fby_request_id id);
/* The audit will not be answered. False: it was answered already. */
bool fby_w_audit_skip(struct fby_window *w, struct fby_request_id id);
/* Skip audits as fby_w_drop_unnamed drops requests. */
void fby_w_audits_drop_unnamed(struct fby_window *w, int peer,
    uint64_t before_ping, const struct fby_request_id *open, size_t n_open);
/* Forget a peer's number, which another peer will get. */
void fby_w_audits_forget(struct fby_window *w, int peer);
/* Whether an audit is open. */
bool fby_w_audits_open(const struct fby_window *w);
/* At the stream's end, skip the audits that are late. */
void fby_w_audits_tick(struct fby_window *w);
/* When the next of them is late. */
int64_t fby_w_audits_deadline(const struct fby_window *w);

#define FBY_W_NEVER INT64_MAX

#endif
