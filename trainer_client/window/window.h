/* SPDX-License-Identifier: Apache-2.0 */
/* window.h - decides which worker to request each batch from, and when to
 * request it again.
 *
 * The window is a pure state machine: it has no socket, thread or clock, and
 * allocates only in create. The caller reports events with their time
 * (`now_ns`) and carries out the actions that follow. Terms:
 *   peer      a worker that the window knows by a small number
 *   instance  one run of a worker process, with a random id
 *   slot      the number of the caller's memory for the answer to one request
 *   hedge     a second request for a late step; the first complete answer wins
 *   audit     a second request whose answer is only compared; it has no slot
 *   stalled   a peer that does not answer what it was asked. It gets no request
 *             while another peer accepts them, but one probe at a time
 *   probe     a request whose answer is dropped, which shows that a stalled peer
 *             answers again
 * The window guarantees, however workers and network behave:
 *   - Every step of the stream is taken exactly once, in order.
 *   - A request id is used once. An answer to an old id is not delivered.
 *   - Every config.audit-th step, counted from epoch 0 step 0, is audited: the
 *     stream fails if the answers of two peers differ. The audit is skipped
 *     when no second peer is usable or the second answer is damaged.
 *   - At most max_batches slots and max_bytes are in use, plus one slot for a
 *     hedge. A slot is reused only after fby_window_decoded was called for
 *     every chunk of its old request.
 *
 * One turn of the caller: report events, call fby_window_tick, carry out
 * actions until fby_window_next_action returns false, and poll until
 * fby_window_deadline. Any event may cause actions.
 * Thread: one at a time.   Blocks: never. */
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
enum { FBY_MAX_AUDITS = 16 }; /* audits open at a time; more are skipped */
enum { FBY_CORRUPT_MAX = 8 }; /* damaged answers that fail a step */

/* Durations in nanoseconds. The notes give the defaults. */
struct fby_window_times {
    int64_t ping;            /* interval of PINGs to a peer: 1 s */
    int64_t reach;           /* a peer silent for so long is unreachable: 3 s */
    int64_t backoff;         /* wait before the first reconnect, and longest
                                wait after LOST: 1 s */
    int64_t backoff_max;     /* the wait doubles each time, up to: 30 s */
    int64_t idle;            /* a peer without requests is closed after: 60 s */
    int64_t hedge_min;       /* lowest age of a request that is hedged: 20 ms */
    int64_t hedge_first;     /* the same before 20 answers have ended: 1 s */
    int64_t hedge_period;    /* hedges are limited in each period of: 10 s */
    int64_t suspect;         /* a late peer that does not answer a PING for so
                             long gets no more requests: 100 ms, or longer if
                             its PONGs usually take longer */
    int64_t stall;           /* shortest time without a byte of what it was
                             asked after which a peer is stalled: 300 ms */
    int64_t suspended_after; /* if an event comes so long after the deadline,
                                the caller was suspended: 500 ms */
    int64_t credit;          /* longest delay of CREDIT for a chunk: 50 ms */
    int64_t busy_min;        /* shortest wait after BUSY, and after LOST if the
                                worker loses requests repeatedly: 5 ms */
    int64_t warn;            /* interval of WARN_NO_WORKERS: 5 s */
};

struct fby_window_config {
    uint32_t max_batches; /* number of slots, without the hedge's slot */
    uint64_t max_bytes;   /* limit for the decoded batches in these slots */
    uint64_t batch_bytes; /* size of a full batch when decoded */
    uint32_t max_chunks;  /* chunks of a full batch */
    uint32_t max_peers;   /* peers known at a time */
    uint32_t max_peers_before_start; /* peers to connect until start: 16 */
    uint64_t seed;                   /* for route nonces and jitter */
    uint64_t audit;                  /* audit every audit-th step; 0: none */
    uint32_t max_hedges_lost; /* a peer is stalled after so many in a row: 3 */
    struct fby_window_times times;
};

/* The largest number of a step at which a stream may begin, counted from epoch
 * 0, step 0. No stream can last until the count overflows. */
#define FBY_MAX_POSITION (UINT64_MAX / 2)

/* The steps to stream. The callbacks must be pure functions. */
struct fby_window_plan {
    uint64_t steps_per_epoch;
    uint64_t epoch; /* epoch of the first batch to deliver */
    uint64_t step;  /* step of the first batch in its epoch */
    uint64_t total; /* batches from epoch 0, step 0 to the end of the stream;
                       UINT64_MAX: no end */
    /* Bytes of this rank's decoded batch. NULL: all have batch_bytes */
    uint64_t (*bytes)(const void *context, uint64_t epoch, uint64_t step);
    /* The key of a step. Steps with equal keys prefer the same worker. NULL:
     * the key is the number of the batch, counted from epoch 0, step 0 */
    uint64_t (*locality)(const void *context, uint64_t epoch, uint64_t step);
    const void *context; /* borrowed until destroy */
};

/* The defaults; the caller sets max_batches, max_bytes, batch_bytes, max_chunks
 * and seed, and scales the times with fby_scaled_timeout_ns. */
struct fby_window_config fby_window_defaults(void);

/* Create a window that knows no peers.
 * Ownership: *out is the caller's, for destroy.
 * Errors: FBY_CONFIG  max_batches, batch_bytes, max_chunks or max_peers is 0,
 *                     or batch_bytes exceeds max_bytes */
FBY_CHECKED fby_err fby_window_create(const struct fby_window_config *config,
    int64_t now_ns, struct fby_window **out, struct fby_error_detail *why);
/* Free the window; *self_p becomes NULL. NULL is allowed. */
void fby_window_destroy(struct fby_window **self_p);

/* Begin to send requests to the peers reported with fby_window_opened. Before
 * start the window only connects at most max_peers_before_start peers and sends
 * them OPEN, so that the caller learns which datasets they have. Call once.
 * Errors: FBY_CONFIG  steps_per_epoch is 0, or step is not below it, or the
 *                     first batch is beyond FBY_MAX_POSITION. */
FBY_CHECKED fby_err fby_window_start(struct fby_window *self, int64_t now_ns,
    const struct fby_window_plan *plan, struct fby_error_detail *why);

/* Continue at another step, which may be behind plan.total. All batches that
 * were not taken are dropped, and their open requests are cancelled. Audits whose
 * two answers were not compared yet are skipped. A failure of a step that was
 * not taken is forgotten if its cause is FBY_CAUSE_CANNOT or FBY_CAUSE_CORRUPT.
 * Call only after start, with a step below plan.steps_per_epoch, and a position
 * up to FBY_MAX_POSITION. */
void fby_window_seek(
    struct fby_window *self, int64_t now_ns, uint64_t epoch, uint64_t step);

/* Send BYE to every peer and close the connections. No batch is requested or
 * delivered later. */
void fby_window_stop(struct fby_window *self, int64_t now_ns);

/* ---- Peers ---------------------------------------------------------------
 * fby_window_peer_add gives each peer a number, which is valid until the peer's
 * GONE action. Calls with other numbers are ignored. */

/* Add a worker of the server's list. A known instance keeps its number. A
 * restarted worker is a second peer until WELCOME shows that both are the same
 * worker; then one of them is removed. `key` decides which steps prefer this
 * worker. It is a hash of the worker's endpoints, which a restart does not
 * change.
 * Errors: FBY_FULL  max_peers are known. */
FBY_CHECKED fby_err fby_window_peer_add(struct fby_window *self, int64_t now_ns,
    struct fby_instance_id instance, uint64_t key, int *out);

/* The server's list no longer has the worker. A peer without a connection is
 * removed now, a connected peer when its connection fails. */
void fby_window_peer_unlist(struct fby_window *self, int64_t now_ns, int peer);

/* The transport cannot reach the worker (no such address, connection
 * refused). */
void fby_window_unreachable(struct fby_window *self, int64_t now_ns, int peer);

struct fby_window_welcome {
    struct fby_instance_id       instance;
    uint64_t                     route;       /* nonce of the HELLO */
    uint64_t                     send_window; /* bytes */
    const struct fby_request_id *open_ids; /* requests that the worker knows */
    size_t                       n_open;
};
/* WELCOME, the first message on a new route (the path of a session's messages,
 * named by the nonce of a HELLO). Byte counts start at 0, and requests missing
 * from open_ids are lost. A WELCOME to an older HELLO is ignored. */
void fby_window_welcome(struct fby_window *self, int64_t now_ns, int peer,
    const struct fby_window_welcome *welcome);

/* HELLO_FIRST: the worker does not know this route, because the worker or the
 * connection restarted. */
void fby_window_hello_first(struct fby_window *self, int64_t now_ns, int peer);

/* REFUSED with FULL: the window tries again after a backoff. For other
 * refusals call set_aside. */
void fby_window_refused_full(struct fby_window *self, int64_t now_ns, int peer);

struct fby_window_pong {
    struct fby_instance_id       instance;
    uint64_t                     sequence; /* number of the PING */
    const struct fby_request_id *open_ids; /* requests that the worker knows */
    size_t                       n_open;
};
/* PONG: requests sent before its PING and missing from open_ids are lost. */
void fby_window_pong(struct fby_window *self, int64_t now_ns, int peer,
    const struct fby_window_pong *pong);

/* A valid message for which there is no other function: the peer is alive. */
void fby_window_heard(struct fby_window *self, int64_t now_ns, int peer);

/* OPENED: the worker has the stream's dataset and accepts requests. */
void fby_window_opened(struct fby_window *self, int64_t now_ns, int peer);

/* Close the peer and do not use it again. Reasons: the worker would send other
 * values (STALE_DATA, WRONG_FINGERPRINT, other digests), cannot open the
 * dataset, or speaks another version. The peer's requests go to other peers.
 * Only the caller interprets `code` (> 0). When all known peers are set aside,
 * the stream fails with the last code. */
void fby_window_set_aside(
    struct fby_window *self, int64_t now_ns, int peer, int code);

/* LEAVE: send no new requests; close the peer when its open requests are
 * answered or lost. */
void fby_window_leave(struct fby_window *self, int64_t now_ns, int peer);

/* The peer broke the protocol: close it and try again after a backoff. Its
 * requests go to other peers. */
void fby_window_breach(struct fby_window *self, int64_t now_ns, int peer);

/* ---- Answers -------------------------------------------------------------
 * Call the function of its type for each message that could be decoded. */

enum fby_verdict {  /* what the caller must do with a message */
    FBY_TAKE,       /* use it: a chunk belongs in the slot of the request */
    FBY_LATE,       /* drop it: the request id is old */
    FBY_LATE_HEDGE, /* drop it: it belongs to the slower answer of a hedge */
    FBY_AUDIT,      /* check it, then drop it: it answers an audit */
    FBY_DUPLICATE,  /* drop it: it was received before a reconnect */
    FBY_UNKNOWN,    /* drop it: this id was not requested from this peer */
    FBY_BREACH      /* drop it: fby_window_breach was called for the peer */
};

/* HEADER of an answer that has `n_chunks` chunks. */
enum fby_verdict fby_window_header(struct fby_window *self, int64_t now_ns,
    int peer, struct fby_request_id id, uint32_t n_chunks);

struct fby_window_chunk {
    int                   peer;
    struct fby_request_id id;
    uint32_t              chunk;      /* index among all chunks of the batch */
    uint64_t              wire_bytes; /* size of the frame with its prefix */
};
/* A chunk. Report every chunk frame, because CREDIT also counts the bytes of
 * dropped chunks. Use id 0 if the frame's prefix cannot be read. After each
 * FBY_TAKE call fby_window_decoded exactly once. */
enum fby_verdict fby_window_chunk(struct fby_window *self, int64_t now_ns,
    const struct fby_window_chunk *chunk);

struct fby_window_end {
    int                   peer;
    struct fby_request_id id;
    bool matches; /* END agrees with the prefixes of its chunks; ignored if
                     chunks are missing */
    struct fby_checksum content_hash; /* by fby_end_content_hash (assembly.h) */
};
/* END. If chunks are missing or `matches` is false, the answer is corrupt: the
 * step is requested again, or the audit is skipped. If the verdict is
 * FBY_AUDIT, content_hash is compared with that of the delivered answer. */
enum fby_verdict fby_window_end(
    struct fby_window *self, int64_t now_ns, const struct fby_window_end *end);

/* A chunk with FBY_TAKE was decoded and checked. If `ok` is false, the chunk is
 * bad, and the step is requested again. Call this also if the id is old. */
void fby_window_decoded(struct fby_window *self, int64_t now_ns, int slot,
    struct fby_request_id id, bool ok);

/* The slot for the answer to `id`, or FBY_NO_SLOT. */
int fby_window_find_slot(
    const struct fby_window *self, struct fby_request_id id);

/* The index (0 to FBY_MAX_AUDITS - 1) of the audit that waits for the answer to
 * `id`, or FBY_NO_SLOT. The index is reused after the audit. */
int fby_window_audit_index(
    const struct fby_window *self, struct fby_request_id id);

/* A chunk of an audit's answer (FBY_AUDIT) is damaged: skip the audit. */
void fby_window_audit_damaged(
    struct fby_window *self, int64_t now_ns, struct fby_request_id id);

/* True if `id` was requested from `peer` and all chunks of the answer were
 * taken, so that END can be checked against them. */
bool fby_window_has_all_chunks(
    const struct fby_window *self, int peer, struct fby_request_id id);

/* BUSY: send `peer` no request for `retry_ns` (at least busy_min, at most
 * backoff_max). The request goes to another peer, or waits. */
void fby_window_busy(struct fby_window *self, int64_t now_ns, int peer,
    struct fby_request_id id, int64_t retry_ns);
/* LOST: the worker dropped the request. The step is requested again, from
 * another peer if possible. If `peer` drops requests again and again, it gets
 * none for busy_min, then for twice as long each time, up to `backoff`. */
void fby_window_lost(struct fby_window *self, int64_t now_ns, int peer,
    struct fby_request_id id);
/* CANNOT: the request goes to another peer. When all peers have refused it, the
 * stream fails with the last `code` (> 0). Only the caller interprets it. */
void fby_window_cannot(struct fby_window *self, int64_t now_ns, int peer,
    struct fby_request_id id, int code);
/* SEND_CONTENT: the worker lacks what OPEN carries, so OPEN is sent again. The
 * request is repeated as after LOST. */
void fby_window_send_content(struct fby_window *self, int64_t now_ns, int peer,
    struct fby_request_id id);

/* ---- The consumer -------------------------------------------------------- */

struct fby_window_batch {
    uint64_t              epoch;
    uint64_t              step;
    int                   slot; /* to be given back with fby_window_release */
    struct fby_request_id id;
    int                   peer; /* the sender of the answer */
};
/* Take the next batch in order. Call this as soon as the consumer wants a
 * batch, even if none is ready, because the rate of the calls decides whether a
 * hedge is worth its cost. After the last batch, open audits delay the end of
 * the stream. Each is then skipped at the age at which a request is hedged, but
 * not before the age hedge_first.
 * Errors: FBY_AGAIN  the batch is not ready
 *         FBY_GONE   the stream has ended
 *         FBY_IO     the stream failed: see fby_window_failure */
FBY_CHECKED fby_err fby_window_take(
    struct fby_window *self, int64_t now_ns, struct fby_window_batch *out);
/* Give back the slot of a batch that was taken. */
void fby_window_release(struct fby_window *self, int64_t now_ns, int slot);

enum fby_window_cause {
    FBY_CAUSE_NONE,
    FBY_CAUSE_CANNOT,    /* all peers refused a step */
    FBY_CAUSE_DIFFERENT, /* two workers sent different values for a step */
    FBY_CAUSE_CORRUPT,   /* FBY_CORRUPT_MAX answers to a step were damaged */
    FBY_CAUSE_ASIDE      /* all peers are set aside */
};

struct fby_window_failure {
    enum fby_window_cause cause;
    int                   code;  /* last code of CANNOT or set_aside; else 0 */
    int                   peer;  /* FBY_NO_PEER: unknown or removed */
    int                   other; /* DIFFERENT: the second peer, as `peer` */
    uint64_t              epoch; /* epoch of the failed step */
    uint64_t              step;  /* the failed step in its epoch */
    struct fby_request_id id;    /* the request that failed; 0: none */
};
/* The failure, or NULL. Batches before the failed step are delivered first,
 * except after FBY_CAUSE_DIFFERENT. */
const struct fby_window_failure *fby_window_failure(
    const struct fby_window *self);

/* ---- Actions ------------------------------------------------------------- */

enum fby_action_kind {
    FBY_DO_CONNECT,     /* open a socket to the peer */
    FBY_DO_HELLO,       /* send HELLO; `number`: route nonce */
    FBY_DO_OPEN,        /* send OPEN with the content */
    FBY_DO_REQUEST,     /* send REQUEST with id, epoch, step and bytes; an audit
                           and a probe have slot FBY_NO_SLOT */
    FBY_DO_CANCEL,      /* send CANCEL with id */
    FBY_DO_PING,        /* send PING; `number`: sequence number */
    FBY_DO_CREDIT,      /* send CREDIT; `number`: total bytes on `route` */
    FBY_DO_BYE,         /* send BYE, which ends the session; CLOSE follows */
    FBY_DO_CLOSE,       /* close the socket; CONNECT may follow later */
    FBY_DO_UNREACHABLE, /* report the worker to the server */
    FBY_DO_GONE,        /* the peer is removed; its number may be used again */
    FBY_DO_WARN_NO_WORKERS, /* a peer is needed, and none is usable */
    FBY_DO_FAIL /* the stream failed (fby_window_failure); sent once */
};

struct fby_action {
    enum fby_action_kind  kind;
    int                   peer;   /* or FBY_NO_PEER */
    struct fby_request_id id;     /* REQUEST, CANCEL: id of the request */
    uint64_t              epoch;  /* REQUEST: epoch of the step */
    uint64_t              step;   /* REQUEST: step in its epoch */
    int                   slot;   /* REQUEST: slot for the answer */
    uint64_t              bytes;  /* REQUEST: size of the decoded batch */
    uint64_t              number; /* HELLO, PING, CREDIT: see the kind */
    uint64_t              route;  /* CREDIT: nonce of the route */
    bool                  hedge;  /* REQUEST: it is a hedge */
    bool                  probe;  /* REQUEST: its answer is dropped */
};
/* Take the oldest action; false when there is none. Take all actions before the
 * next event. */
bool fby_window_next_action(struct fby_window *self, struct fby_action *out);

/* Run the timers that are due. Call it also after a poll without events. */
void fby_window_tick(struct fby_window *self, int64_t now_ns);

/* The latest time for the next tick. If the next event comes more than
 * suspended_after later than this, the caller was suspended, and no timer
 * counts the time since the last event. */
int64_t fby_window_deadline(struct fby_window *self);

/* ---- State and counters -------------------------------------------------- */

struct fby_window_counters {
    uint64_t delivered;      /* batches taken */
    uint64_t requests;       /* including hedges and audits */
    uint64_t hedges;         /* second requests for a slow step */
    uint64_t hedges_won;     /* hedges that were answered first */
    uint64_t rerequests;     /* repeated requests, except after BUSY */
    uint64_t late;           /* chunks for old ids */
    uint64_t late_hedge;     /* chunks of the slower answer of a hedge */
    uint64_t duplicates;     /* chunks received twice */
    uint64_t unknown;        /* messages with FBY_UNKNOWN */
    uint64_t lost;           /* requests that a worker dropped or forgot */
    uint64_t busy;           /* BUSY answers */
    uint64_t cannot;         /* CANNOT answers */
    uint64_t corrupt;        /* answers, also of audits, with a bad chunk or
                               END */
    uint64_t suspects;       /* times a peer stayed silent after a probe */
    uint64_t stalls;         /* times a peer made no progress */
    uint64_t restarts;       /* times a peer returned as another instance */
    uint64_t reconnects;     /* new routes to the same instance */
    uint64_t unreachable;    /* times a peer became unreachable */
    uint64_t set_aside;      /* peers set aside */
    uint64_t breaches;       /* breaches of the protocol */
    uint64_t gaps;           /* times the caller was suspended */
    uint64_t audits;         /* steps whose second answer was compared */
    uint64_t audits_skipped; /* audits without a good second answer in time */
};
/* All counters since create. */
struct fby_window_counters fby_window_counters(const struct fby_window *self);

/* The number of connected peers that accept requests and are not suspect. */
uint32_t fby_window_n_usable_peers(const struct fby_window *self);
/* The number of batches that could be taken now. */
uint32_t fby_window_n_ready(const struct fby_window *self);
/* For tests: the age, in ns, at which a request for a full batch is late enough
 * for a hedge. */
int64_t fby_window_hedge_after(const struct fby_window *self);
/* For tests: the decoded bytes of the batches in all slots in use. */
uint64_t fby_window_used_bytes(const struct fby_window *self);

#endif
