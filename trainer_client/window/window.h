/* window.h - decides which worker to request each batch from, and when to
 * request it again.
 *
 * A pure state machine without a socket, thread or clock; it allocates only in
 * create. It owns the cursor of the stream and a window of batches in flight.
 * It knows the workers as peers, and the requests that each peer has. The
 * caller reports events and their time (`now_ns`), and carries out the actions
 * that follow. It guarantees, whatever the workers and the network do:
 *   - every step of the stream is taken exactly once, in order;
 *   - a request id is used once; an answer to an old id changes nothing;
 *   - every `audit`-th step, counted from epoch 0 step 0, is requested from a
 *     second peer too, and the stream fails if the two answers differ; an audit
 *     uses no slot and no bytes, and is skipped when no other peer is usable or
 *     its answer is damaged;
 *   - at most max_batches slots and max_bytes are in use, plus one slot for a
 *     hedge; a slot is reused only after every chunk taken for its old request
 *     was reported with fby_window_decoded.
 *
 * A turn of the caller:  events -> fby_window_tick -> fby_window_next until it
 * is false -> poll until fby_window_deadline. Any event may cause actions.
 * Thread: one, or under one lock.   Blocks: never. */
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
enum { FBY_AUDITS = 16 };     /* audits open at a time; more are skipped */
enum { FBY_CORRUPT_MAX = 8 }; /* damaged answers after which a step fails */

/* Timers; all fields are nanoseconds. */
struct fby_window_times {
    int64_t ping;         /* between two PINGs to a peer: 1 s */
    int64_t reach;        /* silence that makes a peer unreachable: 3 s */
    int64_t backoff;      /* first wait before the next attempt: 1 s */
    int64_t backoff_max;  /* the wait doubles, with jitter, up to: 30 s */
    int64_t idle;         /* time without requests before CLOSE: 60 s */
    int64_t hedge_min;    /* shortest time before a hedge: 20 ms */
    int64_t hedge_first;  /* the same while fewer than 20 answers are known;
                            twice the longest of them counts too: 1 s */
    int64_t hedge_period; /* period over which hedges are limited: 10 s */
    int64_t suspect;      /* silence after a hedge's PING: 100 ms */
    int64_t late_loop;    /* a caller later than this was asleep: 500 ms */
    int64_t credit;       /* longest delay before CREDIT for a chunk: 5 ms */
    int64_t busy_min;     /* shortest wait after BUSY: 5 ms */
    int64_t warn;         /* between two NO_WORKERS actions: 5 s */
};

struct fby_window_config {
    uint32_t                max_batches; /* slots, except the hedge's */
    uint64_t                max_bytes;   /* raw bytes in those slots */
    uint64_t                batch_bytes; /* raw bytes of a full batch */
    uint32_t                max_chunks;  /* of a full batch, all fields */
    uint32_t                max_peers;   /* known at a time */
    uint32_t                open_peers;  /* connected before start: 16 */
    uint64_t                seed;        /* for route nonces and jitter */
    uint64_t                audit;       /* audit every n-th step; 0: none */
    struct fby_window_times times;
};

/* The steps to stream. The functions must be pure; the window calls them only
 * inside its own functions. */
struct fby_window_plan {
    uint64_t steps_per_epoch;
    uint64_t epoch; /* of the first batch to deliver */
    uint64_t step;  /* of the first batch; < steps_per_epoch */
    uint64_t total; /* end of the stream, in batches from epoch 0, step 0;
                       UINT64_MAX: no end */
    /* Raw bytes of this rank's batch, at most batch_bytes; NULL: batch_bytes */
    uint64_t (*bytes)(const void *context, uint64_t epoch, uint64_t step);
    /* A key: steps with equal keys prefer the same worker. NULL: the number of
     * the batch from epoch 0, step 0 */
    uint64_t (*locality)(const void *context, uint64_t epoch, uint64_t step);
    const void *context; /* borrowed until destroy */
};

/* Defaults, except max_batches, max_bytes, batch_bytes, max_chunks and seed.
 * The caller scales the times with fby_timer_ns. */
struct fby_window_config fby_window_defaults(void);

/* Create a window that knows no peers.
 * Ownership: *out is the caller's, for destroy.
 * Errors: FBY_CONFIG  a number is 0, or batch_bytes > max_bytes: `why` names
 *                     both */
FBY_CHECKED fby_err fby_window_create(const struct fby_window_config *config,
    int64_t now_ns, struct fby_window **out, struct fby_why *why);
/* Free the window; *self_p becomes NULL. NULL is allowed. */
void fby_window_destroy(struct fby_window **self_p);

/* Begin to send requests to the peers reported with fby_window_opened. Before
 * start the window only connects peers (at most open_peers) and sends them
 * OPEN, so that the caller learns what the data is. Call once.
 * Errors: FBY_CONFIG  steps_per_epoch is 0, or step is not below it. */
FBY_CHECKED fby_err fby_window_start(struct fby_window *self, int64_t now_ns,
    const struct fby_window_plan *plan, struct fby_why *why);

/* Send BYE and CLOSE to every peer. Nothing is requested or delivered later. */
void fby_window_stop(struct fby_window *self, int64_t now_ns);

/* ---- Peers ---------------------------------------------------------------
 * A peer is a small number, assigned by add and valid until its GONE action.
 * Calls with any other number are ignored. */

/* Add a worker of the server's list; a known instance keeps its number. `key`
 * (a hash of its endpoints) is the same after a restart of the worker. It
 * decides which requests prefer this worker.
 * Errors: FBY_FULL  max_peers are known. */
FBY_CHECKED fby_err fby_window_peer_add(struct fby_window *self, int64_t now_ns,
    struct fby_instance_id instance, uint64_t key, int *out);

/* The server's list no longer has the worker. The peer is removed when its
 * connection fails, at once if it has none; a working connection stays. */
void fby_window_peer_unlist(struct fby_window *self, int64_t now_ns, int peer);

/* The transport cannot reach the worker (no such address, connection
 * refused). */
void fby_window_unreachable(struct fby_window *self, int64_t now_ns, int peer);

struct fby_window_welcome {
    struct fby_instance_id       instance;
    uint64_t                     route;       /* of the HELLO it answers */
    uint64_t                     send_window; /* bytes */
    const struct fby_request_id *open;        /* open in the session */
    size_t                       n_open;
};
/* WELCOME, the first message on a new route. Byte counts start at 0, and
 * requests missing from `open` are lost. A WELCOME to an older HELLO is
 * ignored. */
void fby_window_welcome(struct fby_window *self, int64_t now_ns, int peer,
    const struct fby_window_welcome *welcome);

/* The worker does not know this route (it or the connection restarted). */
void fby_window_hello_first(struct fby_window *self, int64_t now_ns, int peer);

/* REFUSED with FULL: the window tries again after a backoff. For other
 * refusals call set_aside. */
void fby_window_full(struct fby_window *self, int64_t now_ns, int peer);

struct fby_window_pong {
    struct fby_instance_id       instance;
    uint64_t                     seq; /* of the PING it answers */
    const struct fby_request_id *open;
    size_t                       n_open;
};
/* PONG: requests sent before its PING and missing from `open` are lost. */
void fby_window_pong(struct fby_window *self, int64_t now_ns, int peer,
    const struct fby_window_pong *pong);

/* Any other valid message: a sign of life. Every function that reports a
 * message counts as a sign of life too. */
void fby_window_heard(struct fby_window *self, int64_t now_ns, int peer);

/* The worker has the pinned data: requests may be sent to it. */
void fby_window_opened(struct fby_window *self, int64_t now_ns, int peer);

/* Close the peer and do not use it again: it serves other bytes (STALE_DATA,
 * WRONG_FINGERPRINT, other digests), cannot open the content, or speaks another
 * version. Its requests go to other peers. `code` (> 0) has a meaning for the
 * caller only. When all known peers are set aside, the stream fails with the
 * last code. */
void fby_window_set_aside(
    struct fby_window *self, int64_t now_ns, int peer, int code);

/* LEAVE: send no new requests; close the peer when its open ones are answered
 * or lost. */
void fby_window_leave(struct fby_window *self, int64_t now_ns, int peer);

/* The peer broke the protocol: close it and try again after a backoff. Its
 * requests go to other peers. */
void fby_window_proto(struct fby_window *self, int64_t now_ns, int peer);

/* ---- Answers -------------------------------------------------------------
 * Call these for each message that could be decoded. */

enum fby_verdict {
    FBY_TAKE,       /* store it in the slot of the request */
    FBY_LATE,       /* for an old id: drop it */
    FBY_LATE_HEDGE, /* from the slower answer of a hedge: drop it */
    FBY_AUDIT,      /* for an audit: check it, then drop it */
    FBY_DUPLICATE,  /* received before (after a reconnect): drop it */
    FBY_UNKNOWN,    /* for an id this peer was not asked: drop it */
    FBY_BREACH      /* breaks the protocol; fby_window_proto was called */
};

/* HEADER, of an answer of `n_chunks` chunks. */
enum fby_verdict fby_window_header(struct fby_window *self, int64_t now_ns,
    int peer, struct fby_request_id id, uint32_t n_chunks);

struct fby_window_chunk {
    int                   peer;
    struct fby_request_id id;
    uint32_t              chunk;      /* number in the batch, over all fields */
    uint64_t              wire_bytes; /* whole frame, including the prefix */
};
/* A chunk. Report every chunk frame, also one that is dropped, because CREDIT
 * counts its bytes; use id 0 if its prefix cannot be read. After each FBY_TAKE
 * call fby_window_decoded exactly once. */
enum fby_verdict fby_window_chunk(struct fby_window *self, int64_t now_ns,
    const struct fby_window_chunk *chunk);

struct fby_window_end {
    int                   peer;
    struct fby_request_id id;
    bool matches; /* END agrees with the prefixes of its chunks; used only when
                     all chunks were taken */
    struct fby_sum content; /* hash of all that END says about the content */
};
/* END. If chunks are missing or `matches` is false, the answer is corrupt and
 * is requested again; an audit is skipped. An END with FBY_LATE_HEDGE is
 * compared with the faster answer, one with FBY_AUDIT with the delivered
 * answer. */
enum fby_verdict fby_window_end(
    struct fby_window *self, int64_t now_ns, const struct fby_window_end *end);

/* A chunk that was taken is decoded and checked. If it is bad (`ok` false),
 * the whole answer is requested again. Call it also for an id that is old by
 * now. */
void fby_window_decoded(struct fby_window *self, int64_t now_ns, int slot,
    struct fby_request_id id, bool ok);

/* The slot for the answer to `id`, or FBY_NO_SLOT. */
int fby_window_slot(const struct fby_window *self, struct fby_request_id id);

/* The number (0 to FBY_AUDITS - 1) of the audit that waits for the answer to
 * `id`, or FBY_NO_SLOT. The number is reused after the audit. */
int fby_window_audit(const struct fby_window *self, struct fby_request_id id);

/* A chunk of an audit's answer (FBY_AUDIT) is damaged: skip the audit. */
void fby_window_audit_damaged(
    struct fby_window *self, int64_t now_ns, struct fby_request_id id);

/* Whether `peer` was asked `id` and all chunks of the answer are taken, so that
 * its END can be checked. */
bool fby_window_has_all(
    const struct fby_window *self, int peer, struct fby_request_id id);

/* BUSY: send `peer` no request for `retry_ns` (at least busy_min, at most
 * backoff_max). The request goes to another peer, or waits. */
void fby_window_busy(struct fby_window *self, int64_t now_ns, int peer,
    struct fby_request_id id, int64_t retry_ns);
/* LOST: the worker dropped the request; it goes to another peer if possible. */
void fby_window_lost(struct fby_window *self, int64_t now_ns, int peer,
    struct fby_request_id id);
/* CANNOT: the request goes to another peer. When all have refused it, the
 * stream fails with the last `code` (> 0, with a meaning for the caller). */
void fby_window_cannot(struct fby_window *self, int64_t now_ns, int peer,
    struct fby_request_id id, int code);
/* SEND_CONTENT: the worker does not have the content; send it OPEN again. */
void fby_window_send_content(struct fby_window *self, int64_t now_ns, int peer,
    struct fby_request_id id);

/* ---- The consumer -------------------------------------------------------- */

struct fby_window_batch {
    uint64_t              epoch;
    uint64_t              step;
    int                   slot; /* the caller's until fby_window_release */
    struct fby_request_id id;
    int                   peer; /* that sent it */
};
/* Take the next batch in order. Call it as soon as the consumer wants a batch,
 * even if none is ready: the rate of the calls decides whether a hedge is worth
 * its cost. The stream's end waits for open audits, each for 1 s after its
 * request, or longer if a hedge would wait longer.
 * Errors: FBY_AGAIN  the batch is not ready
 *         FBY_GONE   the stream has ended
 *         FBY_IO     the stream failed: see fby_window_failure */
FBY_CHECKED fby_err fby_window_take(
    struct fby_window *self, int64_t now_ns, struct fby_window_batch *out);
/* Give back the slot of a batch that was taken. */
void fby_window_release(struct fby_window *self, int64_t now_ns, int slot);

enum fby_window_cause {
    FBY_CAUSE_NONE,
    FBY_CAUSE_CANNOT,    /* all peers refused a step: `code` of the last */
    FBY_CAUSE_DIFFERENT, /* two workers sent different content for a step */
    FBY_CAUSE_CORRUPT,   /* FBY_CORRUPT_MAX answers to a step were damaged */
    FBY_CAUSE_ASIDE      /* all peers are set aside: `code` of the last */
};

struct fby_window_failure {
    enum fby_window_cause cause;
    int                   code;  /* from the caller; 0: none */
    int                   peer;  /* or FBY_NO_PEER; DIFFERENT: it is gone */
    int                   other; /* DIFFERENT: second peer, or FBY_NO_PEER */
    uint64_t              epoch; /* of the failed step */
    uint64_t              step;
    struct fby_request_id id;
};
/* The failure, or NULL. Batches before the failed step are delivered first,
 * except after FBY_CAUSE_DIFFERENT. */
const struct fby_window_failure *fby_window_failure(
    const struct fby_window *self);

/* ---- Actions ------------------------------------------------------------- */

enum fby_action_kind {
    FBY_DO_CONNECT,     /* open a socket to the peer */
    FBY_DO_HELLO,       /* `number`: route nonce */
    FBY_DO_OPEN,        /* send the content */
    FBY_DO_REQUEST,     /* id, epoch, step, bytes: its max_bytes; slot, or
                           FBY_NO_SLOT for an audit */
    FBY_DO_CANCEL,      /* id */
    FBY_DO_PING,        /* `number`: seq */
    FBY_DO_CREDIT,      /* `number`: total bytes on `route` */
    FBY_DO_BYE,         /* before CLOSE, when the session there has ended */
    FBY_DO_CLOSE,       /* close the socket; CONNECT may follow later */
    FBY_DO_UNREACHABLE, /* tell the server */
    FBY_DO_GONE,        /* the number is free for another peer */
    FBY_DO_NO_WORKERS,  /* tell the user: batches wait and no peer is usable */
    FBY_DO_FAIL         /* the stream failed: fby_window_failure; once */
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
    bool                  hedge; /* REQUEST only, for the log */
};
/* Take the oldest action; false when there is none. Take all of them before
 * the next event. */
bool fby_window_next(struct fby_window *self, struct fby_action *out);

/* Run the timers that are due. Call it also after a poll without events. */
void fby_window_tick(struct fby_window *self, int64_t now_ns);

/* The latest time for the next tick. A tick more than late_loop after it means
 * that the caller itself slept; no peer is blamed for that time. */
int64_t fby_window_deadline(struct fby_window *self);

/* ---- State and counters -------------------------------------------------- */

struct fby_window_counters {
    uint64_t delivered;      /* batches taken */
    uint64_t requests;       /* all, including hedges and audits */
    uint64_t hedges;         /* second requests for a slow step */
    uint64_t hedges_won;     /* hedges that were answered first */
    uint64_t rerequests;     /* after any loss; not hedges, not after BUSY */
    uint64_t late;           /* chunks for old ids */
    uint64_t late_hedge;     /* chunks of the slower answer of a hedge */
    uint64_t duplicates;     /* chunks received twice */
    uint64_t unknown;        /* messages for ids that the peer was not asked */
    uint64_t lost;           /* requests a worker returned or did not know */
    uint64_t busy;           /* BUSY answers */
    uint64_t cannot;         /* CANNOT answers */
    uint64_t corrupt;        /* answers with a bad chunk or END, also audits */
    uint64_t suspects;       /* times a worker stayed silent after a PING */
    uint64_t restarts;       /* times a peer returned as another instance */
    uint64_t reconnects;     /* new routes to the same instance */
    uint64_t unreachable;    /* times a peer became unreachable */
    uint64_t set_aside;      /* peers set aside */
    uint64_t breaches;       /* breaches of the protocol */
    uint64_t gaps;           /* times the caller itself slept */
    uint64_t audits;         /* steps whose second answer was compared */
    uint64_t audits_skipped; /* due, but no good second answer in time */
};
/* All counters since create. */
struct fby_window_counters fby_window_counters(const struct fby_window *self);

/* The number of peers that can be sent a request now. */
uint32_t fby_window_usable(const struct fby_window *self);
/* The number of batches that could be taken now. */
uint32_t fby_window_ready(const struct fby_window *self);
/* The age, in ns, at which a request for a full batch is late enough for a
 * hedge. */
int64_t fby_window_hedge_after(const struct fby_window *self);
/* The raw bytes of all slots in use. */
uint64_t fby_window_bytes(const struct fby_window *self);

#endif
