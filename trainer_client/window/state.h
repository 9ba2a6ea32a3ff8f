/* state.h - the window from inside; only its own files include it.
 *
 * Steps of the stream have one number each: epoch * steps_per_epoch + step,
 * `at`. The window spans [cursor, reserved). Each of its steps has a place, and
 * in the place one or two slots: the answer asked for, and a hedge's. A slot
 * holds one request and what came of it. Peers know only how much they owe;
 * what they owe is found in the slots, which are few.
 *
 * Files: window.c          create, consumer, clock, what it can tell
 *        peers.c    the life of a peer
 *        messages.c what a peer says of itself
 *        timers.c   what is due at a peer
 *        answers.c  messages that answer a request
 *        drop.c     requests given up, answers complete
 *        choose.c   which peer, how fast, when late
 *        ask.c      asking, asking again, hedging; the tick's work
 *        audit.c    second answers, asked for to be compared */
#ifndef FBY_CLIENT_WINDOW_STATE_H
#define FBY_CLIENT_WINDOW_STATE_H

#include <string.h>

#include "common/mutant.h"
#include "trainer_client/window/window.h"

enum {
    KINDS        = 2,  /* of batches: whole, and shorter */
    KNOWN_TIMES  = 64, /* last answers of a kind, for their p95 */
    ENOUGH_TIMES = 20,
    SPANS        = 10, /* parts of the time over which hedges are rationed */
    LOSERS       = 64  /* slower answers of hedges that are remembered */
};

enum slot_state {
    SLOT_FREE,     /* nobody's */
    SLOT_RESERVED, /* a step's, nothing asked */
    SLOT_ASKED,    /* request sent */
    SLOT_FILLING,  /* HEADER is here */
    SLOT_ENDED,    /* END is here; chunks are being decoded */
    SLOT_READY,    /* complete */
    SLOT_HELD,     /* taken by the consumer */
    SLOT_SPENT     /* given up; chunks are still being decoded */
};

struct slot {
    enum slot_state       state;
    struct fby_request_id id;
    uint64_t              at; /* its step */
    int                   peer;
    uint64_t              bytes;    /* raw, of the batch */
    uint64_t              sent;     /* number of the last PING before it */
    int64_t               asked_ns; /* when */
    bool                  hedged;   /* a second request was sent for it */
    uint32_t              n_chunks;
    uint32_t              n_taken;
    uint32_t              n_decoded;
    uint32_t              decoding; /* with the shell, of any id */
    uint64_t             *taken;    /* bit per chunk */
    struct fby_sum        content;  /* from END on */
};

struct place {
    int       main;    /* slot */
    int       hedge;   /* slot or FBY_NO_SLOT */
    int       avoid;   /* peer whose answer was bad, or FBY_NO_PEER */
    int       corrupt; /* bad answers so far */
    int       refuser; /* the last peer that cannot, or FBY_NO_PEER */
    int       code;    /* why */
    bool      again;   /* the next request repeats one that was lost */
    bool      audited; /* its audit was begun, or skipped */
    uint64_t *refused; /* bit per peer that cannot */
};

enum peer_state {
    PEER_FREE,     /* no peer */
    PEER_IDLE,     /* known, not connected */
    PEER_GREETING, /* HELLO sent */
    PEER_OPENING,  /* welcome; OPEN sent */
    PEER_READY,    /* may be asked */
    PEER_LEAVING,  /* finishes what it has */
    PEER_BACKOFF,  /* cut off or full; waits until it is tried again */
    PEER_ASIDE     /* serves other bytes */
};

struct peer {
    enum peer_state        state;
    struct fby_instance_id instance;
    uint64_t               key;
    bool                   unlisted; /* the server's list lacks it */
    bool                   leaving;
    bool                   opened; /* this instance has the pinned data */
    bool                   suspect;
    uint64_t               route;    /* nonce of the last HELLO */
    uint64_t               received; /* bytes on this route */
    uint64_t               credited; /* of them, reported */
    uint64_t               send_window;
    int64_t                uncredited_ns; /* since when bytes wait; 0: none */
    int64_t                greeted_ns;    /* first HELLO of this greeting */
    int64_t                hello_ns;      /* last HELLO */
    int64_t                ping_ns;       /* last PING */
    uint64_t               ping;          /* its number */
    int64_t                probe_ns;      /* PING to a late peer; 0: none */
    int64_t                heard_ns;
    int64_t                used_ns;  /* last had an open request */
    int64_t                busy_ns;  /* until then */
    int64_t                retry_ns; /* end of BACKOFF */
    int64_t                backoff;  /* last wait, before jitter */
    int64_t                since_ns; /* works on its next answer */
    int64_t                done_ns;  /* pace was last measured */
    double                 pace;     /* ns a byte; 0: not known */
    uint32_t               n_open;   /* requests it owes */
    uint64_t               owed;     /* their bytes */
};

struct times { /* of the last answers of one kind */
    int64_t  last[KNOWN_TIMES];
    uint32_t n;   /* all so far */
    int64_t  p95; /* 0: none is known */
};

struct span {
    int64_t  number; /* time / length of a span */
    uint32_t requests;
    uint32_t hedges;
};

struct loser {                /* the slower answer of a hedge, dropped */
    struct fby_request_id id; /* 0: none yet */
    int                   peer;
    int                   winner_peer;
    uint64_t              at;
    struct fby_sum        content; /* of the winner */
};

struct audit { /* a second answer to a step, to be compared and dropped */
    struct fby_request_id id;   /* 0: no audit */
    int                   peer; /* or FBY_NO_PEER: gone since its END */
    uint64_t              at;
    uint64_t              bytes;
    uint64_t              sent; /* as of a slot */
    int64_t               asked_ns;
    bool                  begun;     /* HEADER is here */
    bool                  ended;     /* the second answer is known */
    bool                  main;      /* the one that is delivered is */
    int                   main_peer; /* or FBY_NO_PEER: gone since */
    struct fby_sum        content;   /* of the one known */
    uint32_t              n_chunks;  /* from HEADER on */
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

    struct slot  *slots; /* max_batches + 1 */
    int           n_slots;
    struct place *places;  /* max_batches; a step's is at % max_batches */
    struct peer  *peers;   /* max_peers */
    int           n_peers; /* so many numbers were ever in use */
    uint64_t     *bits;    /* memory of all bit sets */

    uint32_t n_used;     /* slots that are not free */
    uint64_t used_bytes; /* theirs */
    uint64_t cursor;     /* next step to take */
    uint64_t reserved;   /* first step without a place */
    uint64_t fail_at;    /* steps from here on are not delivered */
    uint64_t newest;     /* last request id */
    uint64_t pings;      /* number of the last PING, to any peer */
    uint64_t random;

    int64_t now;         /* without the time that the loop slept */
    int64_t slept;       /* that time, in all */
    int64_t told;        /* deadline last given out, in the shell's time */
    int64_t clock;       /* last `now_ns`, in the shell's time */
    int64_t unserved_ns; /* since when nobody can be asked */

    bool         wanting; /* the consumer waits */
    int64_t      taken_ns;
    int64_t      interval; /* between a take and the next wish; 0: unknown */
    double       pace;     /* of all peers, ns a byte */
    struct times answers[KINDS];
    struct span  spans[SPANS];
    struct loser losers[LOSERS];
    uint32_t     next_loser; /* where the next one is kept, % LOSERS */
    struct audit audits[FBY_AUDITS];

    struct fby_action *actions; /* ring */
    uint32_t           n_actions;
    uint32_t           first_action;
    uint32_t           max_actions;
};

/* window.c */
void               fby_w_enter(struct fby_window *w, int64_t now_ns);
uint64_t           fby_w_random(struct fby_window *w);
struct fby_action *fby_w_act(
    struct fby_window *w, enum fby_action_kind kind, int peer);
void fby_w_fail(struct fby_window *w, const struct fby_window_failure *failure,
    uint64_t fail_at);
void fby_w_slot_state(
    struct fby_window *w, struct slot *slot, enum slot_state state);
struct fby_request_id fby_w_new_id(struct fby_window *w);

static inline struct place *fby_w_place(const struct fby_window *w, uint64_t at)
{
    return &w->places[at % w->config.max_batches];
}

static inline struct slot *fby_w_slot(const struct fby_window *w, int slot)
{
    return &w->slots[slot];
}

/* A request is out and its END has not come. */
static inline bool fby_w_is_open(const struct slot *slot)
{
    return slot->state == SLOT_ASKED || slot->state == SLOT_FILLING;
}

/* The last batch was taken. */
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

/* No chunk is taken. */
static inline void fby_w_clear_chunks(
    const struct fby_window *w, uint64_t *taken)
{
    size_t words = (w->config.max_chunks + 63) / 64;
    memset(taken, 0, words * sizeof(*taken));
}

/* peers.c */
struct peer      *fby_w_peer(struct fby_window *w, int peer); /* NULL: none */
bool              fby_w_is_connected(const struct peer *peer);
void              fby_w_heard(struct fby_window *w, struct peer *peer);
void              fby_w_ping(struct fby_window *w, struct peer *peer);
void              fby_w_connect(struct fby_window *w, struct peer *peer);
static inline int fby_w_peer_number(
    const struct fby_window *w, const struct peer *peer)
{
    return (int)(peer - w->peers);
}

/* The peer an event is about, heard from; NULL, and the event is to be ignored,
 * unless it is connected. */
struct peer *fby_w_enter_peer(struct fby_window *w, int64_t now_ns, int peer);
struct peer *fby_w_find_instance(
    struct fby_window *w, struct fby_instance_id instance);
void fby_w_peer_state(
    const struct fby_window *w, struct peer *peer, enum peer_state state);
void fby_w_say(
    struct fby_window *w, enum fby_action_kind kind, const struct peer *peer);
void fby_w_say_hello(struct fby_window *w, struct peer *peer);
/* The first HELLO of a greeting. */
void fby_w_greet(struct fby_window *w, struct peer *peer);
/* Its number is free. */
void fby_w_forget(struct fby_window *w, struct peer *peer);
/* CLOSE; what it owed is asked for elsewhere. */
void fby_w_cut(struct fby_window *w, struct peer *peer, enum peer_state next);
/* The same with BYE: over for good, in order. */
void fby_w_part(struct fby_window *w, struct peer *peer, enum peer_state next);
/* Cut, then wait, each time twice as long. */
void fby_w_back_off(struct fby_window *w, struct peer *peer);
/* The same, and UNREACHABLE. */
void fby_w_give_up(struct fby_window *w, struct peer *peer);

/* timers.c */
void    fby_w_peers_tick(struct fby_window *w);
int64_t fby_w_peers_deadline(const struct fby_window *w);

/* drop.c */
/* Give up a request: its place waits for another one, or goes on with the
 * hedge. `tell` sends CANCEL. */
void fby_w_drop(struct fby_window *w, struct slot *slot, bool tell);
/* Drop all open requests of a peer that `open` does not name. */
void fby_w_drop_unnamed(struct fby_window *w, struct peer *peer,
    uint64_t sent_before, const struct fby_request_id *open, size_t n_open);
void fby_w_drop_all(struct fby_window *w, struct peer *peer);
void fby_w_settle(struct fby_window *w, struct slot *slot);
/* CANCEL to a connected peer, if it has a route. */
void fby_w_cancel(struct fby_window *w, int peer, struct fby_request_id id);
/* The peer no longer owes an answer of so many bytes. */
void fby_w_disown(struct fby_window *w, int peer, uint64_t bytes);
bool fby_w_names(
    const struct fby_request_id *open, size_t n_open, struct fby_request_id id);
/* Two answers to one step differ: the stream fails. */
struct difference { /* what the failure says of them */
    uint64_t              at;
    int                   peer;
    int                   other;
    struct fby_request_id id;
};
void fby_w_differ(struct fby_window *w, const struct difference *difference);
/* A chunk or END of it is bad: asked for again, and failed in the end. */
void fby_w_corrupt(struct fby_window *w, struct slot *slot);
/* END is here and all is decoded: it is to be delivered. */
void fby_w_complete(struct fby_window *w, struct slot *slot);
/* NULL: not the slower answer of a hedge. */
const struct loser *fby_w_loser(
    const struct fby_window *w, struct fby_request_id id);
void fby_w_compare_loser(struct fby_window *w, const struct loser *loser,
    const struct fby_sum *content);
/* The number will name another peer. */
void fby_w_losers_forget(struct fby_window *w, int peer);

/* choose.c */
enum choose_among { AMONG_READY, AMONG_REACHABLE };
int  fby_w_choose(struct fby_window *w, const struct slot *slot, int except,
     enum choose_among among);
bool fby_w_all_refused(struct fby_window *w, const struct place *place);
void fby_w_measure(struct fby_window *w, const struct slot *slot);
void fby_w_measure_pace(
    struct fby_window *w, int peer, uint64_t bytes, int64_t asked_ns);
void    fby_w_measure_slow(struct fby_window *w, struct peer *peer);
int64_t fby_w_hedge_after(const struct fby_window *w, uint64_t bytes);
bool    fby_w_may_hedge(struct fby_window *w);
void    fby_w_count_request(struct fby_window *w, bool hedge);
void    fby_w_wish(struct fby_window *w);
void    fby_w_took(struct fby_window *w);
bool    fby_w_in_demand(const struct fby_window *w, uint32_t ready);

/* ask.c */
void    fby_w_ask_tick(struct fby_window *w);
int64_t fby_w_ask_deadline(const struct fby_window *w);
/* A step of the window waits for somebody to be asked. */
bool fby_w_lacks_request(const struct fby_window *w);
/* A REQUEST of its own id, of which the peer owes the answer from now on. */
struct fby_action *fby_w_request(
    struct fby_window *w, int peer, uint64_t at, uint64_t bytes);

/* audit.c */
/* The slot's request was sent: ask another peer too, if an audit is due. */
void fby_w_audit_begin(struct fby_window *w, const struct slot *slot);
/* The slot's answer will be delivered. */
void fby_w_audit_main(struct fby_window *w, const struct slot *slot);
/* The messages of an audit's answer; FBY_BREACH is left to the caller. */
enum fby_verdict fby_w_audit_header(
    struct fby_window *w, struct fby_request_id id, uint32_t n_chunks);
enum fby_verdict fby_w_audit_chunk(
    struct fby_window *w, struct fby_request_id id, uint32_t chunk);
enum fby_verdict fby_w_audit_end(
    struct fby_window *w, const struct fby_window_end *end);
/* NULL: no audit's id. */
const struct audit *fby_w_audit(
    const struct fby_window *w, struct fby_request_id id);
/* It is not going to be answered. False: it was already. */
bool fby_w_audit_skip(struct fby_window *w, struct fby_request_id id);
/* The same of all of a peer's, as fby_w_drop_unnamed. */
void    fby_w_audits_drop_unnamed(struct fby_window *w, int peer,
       uint64_t sent_before, const struct fby_request_id *open, size_t n_open);
void    fby_w_audits_forget(struct fby_window *w, int peer);
bool    fby_w_audits_open(const struct fby_window *w);
void    fby_w_audits_tick(struct fby_window *w);
int64_t fby_w_audits_deadline(const struct fby_window *w);

#define FBY_W_NEVER INT64_MAX

#endif
