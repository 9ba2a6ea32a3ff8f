/* session.h - a worker's state for one trainer client.
 *
 * A pure state machine: which requests are open, which of their chunks are
 * ready, and what may be sent next. At most `send_window` bytes are on a route
 * beyond those that CREDIT returned. A route may break and be replaced at any
 * time; the session and its work go on, and open batches are sent again from
 * their start. It has no socket, thread or clock; it allocates only in create.
 * One thread.
 *
 * The life of a batch:  request -> header -> chunk_ready (each) -> all_ready;
 * meanwhile fby_session_next returns HEADER, chunks and END, lowest step first.
 * A batch is open until its END is returned, or it is cancelled, dropped or
 * lost. Its bytes stay charged until fby_session_freed, which the loop calls
 * once no holder of its memory is left, libzmq included. */
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
    int64_t  retry_ns;     /* delay that BUSY advises: 50 ms */
    int64_t  silent_ns;    /* silence until the session expires: 120 s */
    int64_t  routeless_ns; /* the same, without a route: 30 s */
    int64_t  stalled_ns;   /* without CREDIT until it may be shed: 1 s */
};
/* The values noted above. */
struct fby_session_config fby_session_defaults(void);

/* Create a session without a route. `entitled` is the size in bytes of its
 * client's largest batch (HELLO's max_bytes).
 *
 * Errors: FBY_FULL  the budget cannot entitle one more session. */
FBY_CHECKED fby_err fby_session_create(const struct fby_session_config *config,
    struct fby_budget *budget, uint64_t entitled, int64_t now_ns,
    struct fby_session **out);
/* Destroy a session, every batch of which has been freed. NULL is fine. */
void fby_session_destroy(struct fby_session **self_p);

/* ---- Messages of the client ---------------------------------------------- */

/* HELLO: a new route with its nonce. The counts of sent and credited bytes
 * restart at 0, and open batches are sent from their start. The loop must
 * answer WELCOME with fby_session_open before it calls fby_session_next. */
void fby_session_hello(
    struct fby_session *self, int64_t now_ns, uint64_t route);

/* List the ids of at most `room` open requests, for WELCOME and PONG; returns
 * how many. There are at most max_batches. */
size_t fby_session_open(
    const struct fby_session *self, struct fby_request_id *out, size_t room);

enum fby_session_answer {
    FBY_SESSION_ACCEPT,    /* make the batch */
    FBY_SESSION_BUSY,      /* answer BUSY with retry_ns */
    FBY_SESSION_TOO_LARGE, /* exceeds the whole budget: answer CANNOT */
    FBY_SESSION_LOST,      /* answer LOST: this worker is leaving */
    FBY_SESSION_REPEATED   /* the id is not new: drop and count the message */
};
struct fby_session_request {
    struct fby_request_id id;
    uint64_t              order; /* lower is sent first: the batch's number */
    uint64_t              bytes; /* to charge; 0 when it joins other work */
};
/* REQUEST: open the batch on FBY_SESSION_ACCEPT, else do what the answer
 * says. */
enum fby_session_answer fby_session_request(struct fby_session *self,
    int64_t now_ns, const struct fby_session_request *request);

/* CANCEL: the batch is no longer open. */
void fby_session_cancel(
    struct fby_session *self, int64_t now_ns, struct fby_request_id id);

/* CREDIT: the client has received `total` bytes on `route`. A CREDIT of an
 * older route is ignored.
 * Errors: FBY_PROTO  `total` exceeds the bytes sent, or decreased. */
FBY_CHECKED fby_err fby_session_credit(
    struct fby_session *self, int64_t now_ns, uint64_t route, uint64_t total);

/* PING, OPEN and any other message: note that the client is alive. */
void fby_session_heard(struct fby_session *self, int64_t now_ns);

/* BYE: close all batches and end the entitlement. */
void fby_session_bye(struct fby_session *self);

/* ---- Batches ------------------------------------------------------------- */

/* Chunks are kept in the order in which they became ready. */
struct fby_session_chunk {
    uint32_t chunk;      /* number in the batch */
    uint32_t wire_bytes; /* whole frame, prefix included */
};

/* HEADER is known. `chunks` has room for all `n_chunks` and is lent to the
 * session until the batch is freed.
 * Errors: FBY_GONE  the batch is no longer open: its rest need not be made.
 *                   This holds for the next two functions, too. */
FBY_CHECKED fby_err fby_session_header(struct fby_session *self,
    struct fby_request_id id, struct fby_session_chunk *chunks,
    uint32_t n_chunks);

/* One more chunk is ready. Call once per chunk, in any order.
 * Errors: FBY_GONE; FBY_USAGE  more than n_chunks. */
FBY_CHECKED fby_err fby_session_chunk_ready(struct fby_session *self,
    struct fby_request_id id, struct fby_session_chunk chunk);

/* All chunks are ready and END is known.
 * Errors: FBY_GONE; FBY_USAGE  a chunk is missing. */
FBY_CHECKED fby_err fby_session_all_ready(
    struct fby_session *self, struct fby_request_id id);

/* Close a batch that got another answer (CANNOT, STALE_DATA, ...). */
void fby_session_drop(struct fby_session *self, struct fby_request_id id);

/* The memory of a batch is free: refund its charge and forget the id. A batch
 * that is still open becomes lost. */
void fby_session_freed(struct fby_session *self, struct fby_request_id id);

/* Whether the batch is open (see the head of this file). */
bool fby_session_is_open(
    const struct fby_session *self, struct fby_request_id id);

/* ---- Sending ------------------------------------------------------------- */

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
/* Return the next item to send; false: nothing is ready, or there is no credit
 * or no route. The item counts as sent; if the send fails, call
 * fby_session_route_lost. */
bool fby_session_next(
    struct fby_session *self, int64_t now_ns, struct fby_session_item *out);

/* A send failed with EAGAIN or EHOSTUNREACH: the session has no route until
 * the next HELLO. */
void fby_session_route_lost(struct fby_session *self);

/* ---- Memory, time, end --------------------------------------------------- */

/* Choose the session that must shed a batch for `asking`, which was refused:
 * the one furthest beyond its entitlement with an open batch, none of whose
 * chunks was sent. It must be stalled, unless `asking` is below its
 * entitlement. NULL: there is none. */
struct fby_session *fby_session_victim(struct fby_session *const *sessions,
    size_t n, const struct fby_session *asking, int64_t now_ns);

/* Lose the open batch of the highest order, of those with no chunk sent on this
 * route; fby_session_next returns its LOST. Returns its id; 0: there is none.
 * The loop must release the memory and call fby_session_freed. */
struct fby_request_id fby_session_shed(struct fby_session *self);

/* LEAVE was sent: accept no new requests; open ones are finished. */
void fby_session_leave(struct fby_session *self);

/* The worker ends now: all open batches become lost. */
void fby_session_give_back(struct fby_session *self);

/* Whether the client has been silent for too long. Then the loop calls
 * fby_session_bye, and destroys the session once nothing is charged. */
bool fby_session_expired(const struct fby_session *self, int64_t now_ns);

struct fby_session_state { /* for counters and tests */
    uint64_t route;        /* 0: none */
    uint64_t sent;         /* bytes on this route */
    uint64_t credited;     /* of these, bytes returned by CREDIT */
    uint32_t open;         /* batches */
    uint64_t charged;      /* bytes */
    uint64_t entitled;     /* bytes */
    bool     leaving;
};
/* A snapshot of the session. */
struct fby_session_state fby_session_state(const struct fby_session *self);

#endif
