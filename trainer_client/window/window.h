/* window.h - the client's decisions: what to ask whom, when to ask again.
 *
 * A pure state machine. It owns the cursor of the stream and a window of
 * batches in flight; it knows workers as peers, and what each was asked. Its
 * shell tells it what happened and when (`now_ns`), and after each telling
 * drains its actions. It has no socket, thread or clock, and allocates only in
 * create. What it promises, whatever the workers and the network do:
 *   - every step of the stream is taken exactly once, in order;
 *   - a request id is used once; an answer to an old id changes nothing;
 *   - every `audit`-th step, counted from epoch 0 step 0, is asked of a second
 *     peer too, and where two answers differ the stream fails; an audit holds
 *     no slot and no bytes, and is skipped when no other peer can be asked, or
 *     its answer is damaged;
 *   - no more than max_batches slots and max_bytes are in use, one extra slot
 *     for a hedge apart; a slot is given to a new request only after every
 *     chunk taken for the old one was reported back with fby_window_decoded.
 *
 * A turn of the shell:   events -> fby_window_tick -> fby_window_next until it
 * is false -> poll until fby_window_deadline. Call from one thread, or under
 * one lock; any event may make actions. */
#ifndef FBY_CLIENT_WINDOW_H
#define FBY_CLIENT_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "common/hash.h"
#include "common/id.h"

struct fby_window;

enum { FBY_NO_PEER = -1, FBY_NO_SLOT = -1 };
enum { FBY_AUDITS = 16 };     /* open at a time; further ones are skipped */
enum { FBY_CORRUPT_MAX = 8 }; /* damaged answers after which a step fails */

/* Timers; all fields are nanoseconds. */
struct fby_window_times {
    int64_t ping;        /* between two PINGs to a peer: 1 s */
    int64_t reach;       /* silence after which a peer counts as cut off: 3 s */
    int64_t backoff;     /* first wait before it is tried again: 1 s */
    int64_t backoff_max; /* doubled, with jitter, up to: 30 s */
    int64_t idle;        /* without requests, then closed: 60 s */
    int64_t hedge_min;   /* never hedge earlier: 20 ms */
    int64_t hedge_first; /* the same while fewer than 20 answers are known,
                            of which twice the longest counts too: 1 s */
    int64_t hedge_span;  /* over which hedges are rationed: 10 s */
    int64_t suspect;     /* silence after a hedge's PING: 100 ms */
    int64_t late_loop;   /* a loop that wakes later adds it to all: 500 ms */
    int64_t credit;      /* longest that received bytes go unreported: 5 ms */
    int64_t busy_min;    /* shortest wait after BUSY: 5 ms */
    int64_t warn;        /* between two NO_WORKERS actions: 5 s */
};

struct fby_window_config {
    uint32_t                max_batches; /* slots, the hedge's not counted */
    uint64_t                max_bytes;   /* of those slots */
    uint64_t                batch_bytes; /* raw bytes of a whole batch */
    uint32_t                max_chunks;  /* of a whole batch, all fields */
    uint32_t                max_peers;   /* known at a time */
    uint32_t                open_peers;  /* connected before start: 16 */
    uint64_t                seed;        /* of route nonces and of jitter */
    uint64_t                audit;       /* each such step's second answer is
                                            compared too; 0: of none */
    struct fby_window_times times;
};

/* What is streamed; known once the data is. The functions are pure, and are
 * called only from inside calls to the window. */
struct fby_window_plan {
    uint64_t steps_per_epoch;
    uint64_t epoch; /* of the first batch to deliver */
    uint64_t step;  /* the same; < steps_per_epoch */
    uint64_t total; /* batches from epoch 0, step 0 at which the stream ends;
                       UINT64_MAX: never */
    /* Raw bytes of this rank's batch: at most batch_bytes. NULL: batch_bytes */
    uint64_t (*bytes)(const void *context, uint64_t epoch, uint64_t step);
    /* Key to the preferred worker. NULL: the batch's number */
    uint64_t (*locality)(const void *context, uint64_t epoch, uint64_t step);
    const void *context; /* borrowed until destroy */
};

/* Defaults for everything but max_batches, max_bytes, batch_bytes, max_chunks
 * and seed. The shell passes times through fby_timer_ns. */
struct fby_window_config fby_window_defaults(void);

/* Errors: FBY_CONFIG  a number is 0, or batch_bytes > max_bytes: `why` names
 *                     both */
FBY_CHECKED fby_err fby_window_create(const struct fby_window_config *config,
    int64_t now_ns, struct fby_window **out, struct fby_why *why);
void                fby_window_destroy(struct fby_window **self_p);

/* Before start, peers are connected (at most open_peers of them) and get OPEN,
 * so that the shell can learn what the data is. From start on, requests flow
 * to those reported with fby_window_opened. Once.
 * Errors: FBY_CONFIG  steps_per_epoch is 0, or step is not below it. */
FBY_CHECKED fby_err fby_window_start(struct fby_window *self, int64_t now_ns,
    const struct fby_window_plan *plan, struct fby_why *why);

/* BYE and CLOSE to every peer; after that nothing is asked or delivered. */
void fby_window_stop(struct fby_window *self, int64_t now_ns);

/* ---- Peers ---------------------------------------------------------------
 * A peer is a small number, given by add and valid until its GONE action.
 * Calls about a number that is no peer are ignored. */

/* A worker from the server's list. `key` is what it keeps over restarts (a
 * hash of its endpoints); it decides which requests prefer it. A known instance
 * is given its old number again.
 * Errors: FBY_FULL  max_peers are known. */
FBY_CHECKED fby_err fby_window_peer_add(struct fby_window *self, int64_t now_ns,
    struct fby_instance_id instance, uint64_t key, int *out);

/* The server's list no longer has it: forgotten once its connection fails;
 * at once when there is none. One that works stays. */
void fby_window_peer_unlist(struct fby_window *self, int64_t now_ns, int peer);

/* The transport cannot reach it (no such address, connection refused). */
void fby_window_unreachable(struct fby_window *self, int64_t now_ns, int peer);

struct fby_window_welcome {
    struct fby_instance_id       instance;
    uint64_t                     route;       /* of the HELLO it answers */
    uint64_t                     send_window; /* bytes */
    const struct fby_request_id *open;        /* what the session has open */
    size_t                       n_open;
};
/* The first message of a new route: counts of bytes start at 0 here, requests
 * that are not named are lost. One that answers an older HELLO is ignored. */
void fby_window_welcome(struct fby_window *self, int64_t now_ns, int peer,
    const struct fby_window_welcome *welcome);

/* The worker does not know this route (it or the connection restarted). */
void fby_window_hello_first(struct fby_window *self, int64_t now_ns, int peer);

/* REFUSED as FULL: tried again after a backoff. Other refusals: set_aside. */
void fby_window_full(struct fby_window *self, int64_t now_ns, int peer);

struct fby_window_pong {
    struct fby_instance_id       instance;
    uint64_t                     seq; /* of the PING it answers */
    const struct fby_request_id *open;
    size_t                       n_open;
};
void fby_window_pong(struct fby_window *self, int64_t now_ns, int peer,
    const struct fby_window_pong *pong);

/* Any other valid message: a sign of life. All calls that take a message are
 * signs of life by themselves. */
void fby_window_heard(struct fby_window *self, int64_t now_ns, int peer);

/* Its data is the pinned data: it may be asked. */
void fby_window_opened(struct fby_window *self, int64_t now_ns, int peer);

/* It serves other bytes (STALE_DATA, WRONG_FINGERPRINT, other digests), cannot
 * open the content, or speaks another version: closed and not used again;
 * what it had is asked for elsewhere. `code` is the shell's own, > 0. When all
 * known peers are set aside, the stream fails with the last code. */
void fby_window_set_aside(
    struct fby_window *self, int64_t now_ns, int peer, int code);

/* LEAVE: no new requests; closed when its open ones are answered or lost. */
void fby_window_leave(struct fby_window *self, int64_t now_ns, int peer);

/* It broke the protocol: closed, what it had is asked for elsewhere, and it is
 * tried again after a backoff. */
void fby_window_proto(struct fby_window *self, int64_t now_ns, int peer);

/* ---- Answers -------------------------------------------------------------
 * The shell calls these for each message that it could read. */

enum fby_verdict {
    FBY_TAKE,       /* it belongs into the request's slot */
    FBY_LATE,       /* an old id's: drop it */
    FBY_LATE_HEDGE, /* of the slower answer of a hedge: drop it */
    FBY_AUDIT,      /* of an audit: check it, then drop it */
    FBY_DUPLICATE,  /* came before (after a reconnect): drop it */
    FBY_UNKNOWN,    /* nothing that this peer was asked: drop it */
    FBY_BREACH      /* the protocol forbids it; fby_window_proto was done */
};

enum fby_verdict fby_window_header(struct fby_window *self, int64_t now_ns,
    int peer, struct fby_request_id id, uint32_t n_chunks);

struct fby_window_chunk {
    int                   peer;
    struct fby_request_id id;
    uint32_t              chunk;      /* number in the batch, over all fields */
    uint64_t              wire_bytes; /* whole frame, prefix included */
};
/* Every chunk frame must pass here, also one that is dropped: its bytes are
 * what CREDIT reports. One whose prefix cannot be read passes with id 0. Each
 * FBY_TAKE must be followed by exactly one fby_window_decoded. */
enum fby_verdict fby_window_chunk(struct fby_window *self, int64_t now_ns,
    const struct fby_window_chunk *chunk);

struct fby_window_end {
    int                   peer;
    struct fby_request_id id;
    bool           matches; /* END equals what the prefixes of its chunks say;
                               asked only when all chunks were taken */
    struct fby_sum content; /* a hash of all END says about the content */
};
/* END. With chunks missing, or `matches` false, the answer is corrupt and is
 * asked for again; an audit's is skipped. FBY_LATE_HEDGE: compared with the
 * answer that was faster; FBY_AUDIT: with the answer that is delivered. */
enum fby_verdict fby_window_end(
    struct fby_window *self, int64_t now_ns, const struct fby_window_end *end);

/* A chunk that was taken is now decoded and checked; or is bad (`ok` false),
 * and the whole answer is asked for again. Also for an id that is old by
 * now. */
void fby_window_decoded(struct fby_window *self, int64_t now_ns, int slot,
    struct fby_request_id id, bool ok);

/* The slot in which the answer to `id` is gathered, or FBY_NO_SLOT. */
int fby_window_slot(const struct fby_window *self, struct fby_request_id id);

/* Which audit (0 to FBY_AUDITS - 1) waits for the answer to `id`, or
 * FBY_NO_SLOT. Its number is given to another one once it is over. */
int fby_window_audit(const struct fby_window *self, struct fby_request_id id);

/* A chunk of an audit's answer (FBY_AUDIT) is damaged: nothing is compared. */
void fby_window_audit_damaged(
    struct fby_window *self, int64_t now_ns, struct fby_request_id id);

/* `peer` was asked `id`, and all its chunks are taken: END can be compared. */
bool fby_window_has_all(
    const struct fby_window *self, int peer, struct fby_request_id id);

void fby_window_busy(struct fby_window *self, int64_t now_ns, int peer,
    struct fby_request_id id, int64_t retry_ns);
void fby_window_lost(struct fby_window *self, int64_t now_ns, int peer,
    struct fby_request_id id);
/* Another worker is asked; when all have refused, the stream fails with the
 * last `code` (the shell's own, > 0). */
void fby_window_cannot(struct fby_window *self, int64_t now_ns, int peer,
    struct fby_request_id id, int code);
/* The worker has forgotten the content: it gets OPEN again. */
void fby_window_send_content(struct fby_window *self, int64_t now_ns, int peer,
    struct fby_request_id id);

/* ---- The consumer -------------------------------------------------------- */

struct fby_window_batch {
    uint64_t              epoch;
    uint64_t              step;
    int                   slot; /* the taker's until fby_window_release */
    struct fby_request_id id;
    int                   peer; /* that made it */
};
/* The next batch in order. Call it as soon as the consumer wants one, also
 * when there is none: how fast it asks decides whether a hedge pays. The end
 * waits for audits that are still open, each for 1 s from when it was asked
 * for, or as long as a hedge would be put off.
 * Errors: FBY_AGAIN  it is not there yet
 *         FBY_GONE   the stream's end
 *         FBY_IO     the stream failed: fby_window_failure */
FBY_CHECKED fby_err fby_window_take(
    struct fby_window *self, int64_t now_ns, struct fby_window_batch *out);
void fby_window_release(struct fby_window *self, int64_t now_ns, int slot);

enum fby_window_cause {
    FBY_CAUSE_NONE,
    FBY_CAUSE_CANNOT,    /* all refused a step: `code` of the last */
    FBY_CAUSE_DIFFERENT, /* two workers gave one step different contents */
    FBY_CAUSE_CORRUPT,   /* a step came damaged again and again */
    FBY_CAUSE_ASIDE      /* no worker is left: `code` of the last set aside */
};

struct fby_window_failure {
    enum fby_window_cause cause;
    int                   code;  /* the shell's own; 0: none */
    int                   peer;  /* or FBY_NO_PEER; of DIFFERENT: it is gone */
    int                   other; /* the second of DIFFERENT, or FBY_NO_PEER */
    uint64_t              epoch; /* of the step it happened to */
    uint64_t              step;
    struct fby_request_id id;
};
/* NULL while nothing has failed. Batches before the failed one are delivered
 * first. */
const struct fby_window_failure *fby_window_failure(
    const struct fby_window *self);

/* ---- Actions ------------------------------------------------------------- */

enum fby_action_kind {
    FBY_DO_CONNECT,     /* make a socket for the peer */
    FBY_DO_HELLO,       /* `number`: route nonce */
    FBY_DO_OPEN,        /* send the content */
    FBY_DO_REQUEST,     /* id, epoch, step, bytes: its max_bytes; slot, or
                           FBY_NO_SLOT for an audit */
    FBY_DO_CANCEL,      /* id */
    FBY_DO_PING,        /* `number`: seq */
    FBY_DO_CREDIT,      /* `number`: total bytes on `route` */
    FBY_DO_BYE,         /* before CLOSE, when the session there is over */
    FBY_DO_CLOSE,       /* close the socket; CONNECT may come again */
    FBY_DO_UNREACHABLE, /* tell the server */
    FBY_DO_GONE,        /* the number is free and may name another peer */
    FBY_DO_NO_WORKERS,  /* tell the user: batches wait, nobody to ask */
    FBY_DO_FAIL         /* fby_window_failure says what; once */
};

struct fby_action {
    enum fby_action_kind  kind;
    int                   peer; /* or FBY_NO_PEER */
    struct fby_request_id id;
    uint64_t              epoch;
    uint64_t              step;
    int                   slot;
    uint64_t              bytes;
    uint64_t              number;
    uint64_t              route;
    bool                  hedge; /* of REQUEST, for the log */
};
/* The oldest action not yet handed out; false when there is none. To be
 * drained before the next event. */
bool fby_window_next(struct fby_window *self, struct fby_action *out);

/* Do what is due. Also to be called after a poll that brought nothing. */
void fby_window_tick(struct fby_window *self, int64_t now_ns);

/* When to tick at the latest. What wakes late_loop later than this was itself
 * asleep, and judges nobody for that time. */
int64_t fby_window_deadline(struct fby_window *self);

/* ---- What it can tell ---------------------------------------------------- */

struct fby_window_counters {
    uint64_t delivered;      /* batches taken */
    uint64_t requests;       /* all, hedges and audits too */
    uint64_t hedges;         /* second requests for a step */
    uint64_t hedges_won;     /* that came first */
    uint64_t rerequests;     /* after a loss of any kind; no hedges, no BUSY */
    uint64_t late;           /* chunks of old ids */
    uint64_t late_hedge;     /* chunks of the slower answer of a hedge */
    uint64_t duplicates;     /* chunks that came twice */
    uint64_t unknown;        /* messages for ids that the peer was not asked */
    uint64_t lost;           /* requests a worker gave back or did not know */
    uint64_t busy;           /* answers BUSY */
    uint64_t cannot;         /* answers CANNOT */
    uint64_t corrupt;        /* answers with a bad chunk or END, audits' too */
    uint64_t suspects;       /* times a worker stood silent after a PING */
    uint64_t restarts;       /* times a peer came back as another instance */
    uint64_t reconnects;     /* routes made anew to the same instance */
    uint64_t unreachable;    /* times a peer was given up for a while */
    uint64_t set_aside;      /* peers */
    uint64_t breaches;       /* of the protocol */
    uint64_t gaps;           /* times the shell itself slept */
    uint64_t audits;         /* steps whose second answer was compared */
    uint64_t audits_skipped; /* due, but no good second answer in time */
};
struct fby_window_counters fby_window_counters(const struct fby_window *self);

/* Peers that may be asked now. */
uint32_t fby_window_usable(const struct fby_window *self);
/* Batches that could be taken now. */
uint32_t fby_window_ready(const struct fby_window *self);
/* Age after which the lowest missing whole batch would be hedged, ns. */
int64_t fby_window_hedge_after(const struct fby_window *self);
/* Raw bytes of all slots in use. */
uint64_t fby_window_bytes(const struct fby_window *self);

#endif
