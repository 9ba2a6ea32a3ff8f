/* session.h - what a worker knows about one trainer client.
 *
 * A pure state machine: which requests are open, which of their chunks are
 * ready, and what may be sent next without putting more than `send_window`
 * bytes on a route beyond what CREDIT gave back. The route may break and be
 * made anew at any time; the session and its work go on, and open batches are
 * sent again from their start. It has no socket, thread or clock; it allocates
 * only in create. One thread.
 *
 * The life of a batch:  request -> header -> chunk_ready (each) -> all_ready,
 * meanwhile fby_session_next hands out HEADER, chunks, END, lowest step first.
 * It is open until its END is handed out, or it is cancelled, dropped or lost.
 * Its bytes stay charged until the loop says fby_session_freed, when nobody
 * (also not libzmq) holds its memory any more. */
#ifndef FBY_WORKER_SESSION_H
#define FBY_WORKER_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "common/id.h"
#include "worker/session/budget.h"

struct fby_session;

struct fby_session_config {
    uint64_t send_window;  /* bytes on a route without CREDIT: 16 MiB */
    uint32_t max_batches;  /* open or charged at a time: 64 */
    int64_t  retry_ns;     /* what BUSY advises: 50 ms */
    int64_t  silent_ns;    /* silence after which it is expired: 120 s */
    int64_t  routeless_ns; /* the same, without a route: 30 s */
    int64_t  stalled_ns;   /* without CREDIT, then its surplus is shed: 1 s */
};
struct fby_session_config fby_session_defaults(void);

/* A session without a route; `entitled` is the largest batch its client asks
 * for (HELLO's max_bytes).
 *
 * Errors: FBY_FULL  the budget cannot entitle one more. */
FBY_CHECKED fby_err fby_session_create(const struct fby_session_config *config,
    struct fby_budget *budget, uint64_t entitled, int64_t now_ns,
    struct fby_session **out);
/* Every batch must have been freed. */
void fby_session_destroy(struct fby_session **self_p);

/* ---- Messages of the client ---------------------------------------------- */

/* HELLO: a new route with its nonce. Nothing counts as sent or credited, and
 * open batches start again. The loop answers WELCOME with fby_session_open,
 * before it asks fby_session_next. */
void fby_session_hello(
    struct fby_session *self, int64_t now_ns, uint64_t route);

/* Ids of the open requests, for WELCOME and PONG; at most max_batches. */
size_t fby_session_open(
    const struct fby_session *self, struct fby_request_id *out, size_t room);

enum fby_session_answer {
    FBY_SESSION_ACCEPT,    /* make it */
    FBY_SESSION_BUSY,      /* answer BUSY with retry_ns */
    FBY_SESSION_TOO_LARGE, /* more than the whole budget: answer CANNOT */
    FBY_SESSION_LOST,      /* answer LOST: this worker is leaving */
    FBY_SESSION_REPEATED   /* the id is not new: drop the message, count it */
};
struct fby_session_request {
    struct fby_request_id id;
    uint64_t              order; /* lower is sent first: the batch's number */
    uint64_t              bytes; /* to charge; 0 when it joins other work */
};
enum fby_session_answer fby_session_request(struct fby_session *self,
    int64_t now_ns, const struct fby_session_request *request);

void fby_session_cancel(
    struct fby_session *self, int64_t now_ns, struct fby_request_id id);

/* CREDIT; one of an older route is ignored.
 * Errors: FBY_PROTO  more than was sent, or less than before. */
FBY_CHECKED fby_err fby_session_credit(
    struct fby_session *self, int64_t now_ns, uint64_t route, uint64_t total);

/* PING, OPEN and any other message: the client lives. */
void fby_session_heard(struct fby_session *self, int64_t now_ns);

/* BYE: nothing is open any more, and its entitlement ends. */
void fby_session_bye(struct fby_session *self);

/* ---- Its batches --------------------------------------------------------- */

/* A chunk in the order in which it became ready. */
struct fby_session_chunk {
    uint32_t chunk;      /* number in the batch */
    uint32_t wire_bytes; /* whole frame, prefix included */
};

/* HEADER is known. `chunks` is room for all of them, lent until freed.
 * Here and below an id that is not open any more is fine: FBY_GONE says that
 * the rest need not be made.
 * Errors: FBY_GONE. */
FBY_CHECKED fby_err fby_session_header(struct fby_session *self,
    struct fby_request_id id, struct fby_session_chunk *chunks,
    uint32_t n_chunks);

/* Each chunk once, in any order.
 * Errors: FBY_GONE, FBY_USAGE more than n_chunks. */
FBY_CHECKED fby_err fby_session_chunk_ready(struct fby_session *self,
    struct fby_request_id id, struct fby_session_chunk chunk);

/* All chunks are ready and END is known.
 * Errors: FBY_GONE, FBY_USAGE a chunk is missing. */
FBY_CHECKED fby_err fby_session_all_ready(
    struct fby_session *self, struct fby_request_id id);

/* It was answered otherwise (CANNOT, STALE_DATA, ...): no longer open. */
void fby_session_drop(struct fby_session *self, struct fby_request_id id);

/* Nobody holds its memory: the charge goes back, the id is forgotten. If it is
 * still open it becomes lost. */
void fby_session_freed(struct fby_session *self, struct fby_request_id id);

bool fby_session_is_open(
    const struct fby_session *self, struct fby_request_id id);

/* ---- What to send -------------------------------------------------------- */

enum fby_session_item_kind {
    FBY_SEND_LOST, /* id */
    FBY_SEND_HEADER,
    FBY_SEND_CHUNK, /* chunk, wire_bytes */
    FBY_SEND_END    /* the batch is no longer open */
};
struct fby_session_item {
    enum fby_session_item_kind kind;
    struct fby_request_id      id;
    uint32_t                   chunk;
    uint32_t                   wire_bytes;
};
/* The next thing to send, false when there is nothing, no credit, or no route.
 * It counts as sent; if it cannot be, say route_lost. */
bool fby_session_next(
    struct fby_session *self, int64_t now_ns, struct fby_session_item *out);

/* EAGAIN or EHOSTUNREACH: the route is gone, the session is not. */
void fby_session_route_lost(struct fby_session *self);

/* ---- Memory, time, end --------------------------------------------------- */

/* Whose surplus gives way when `asking` was refused although it is below its
 * entitlement, or when others stall: the session furthest beyond its own that
 * has a batch nobody began to send. NULL: none. */
struct fby_session *fby_session_victim(struct fby_session *const *sessions,
    size_t n, const struct fby_session *asking, int64_t now_ns);

/* Lose the highest waiting batch (none of its chunks sent on this route): its
 * LOST comes out of next. Returns its id, 0 when there is none. The loop lets
 * go of the memory and says freed. */
struct fby_request_id fby_session_shed(struct fby_session *self);

/* LEAVE was sent: no new requests; open ones are finished. */
void fby_session_leave(struct fby_session *self);
/* The worker ends now: what is open becomes lost. */
void fby_session_give_back(struct fby_session *self);

/* Silent for so long that it is over: the loop says bye, and destroys it once
 * nothing is charged. */
bool fby_session_expired(const struct fby_session *self, int64_t now_ns);

struct fby_session_state { /* for counters and tests */
    uint64_t route;        /* 0: none */
    uint64_t sent;         /* bytes on this route */
    uint64_t credited;     /* of them */
    uint32_t open;         /* batches */
    uint64_t charged;      /* bytes */
    uint64_t entitled;     /* bytes */
    bool     leaving;
};
struct fby_session_state fby_session_state(const struct fby_session *self);

#endif
