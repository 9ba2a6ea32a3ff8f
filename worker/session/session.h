/* SPDX-License-Identifier: Apache-2.0 */
/* session.h - a worker's state for one trainer client.
 *
 * A session is a state machine without socket, thread or clock. It keeps the
 * requested batches and their ready chunks, and chooses the next item to send.
 * A route is one connection of the client. It carries at most `send_window`
 * bytes beyond those that the client confirmed with CREDIT. A route may break
 * and be replaced at any time. The session then continues, and sends open
 * batches again from their start. Only fby_session_create allocates.
 * Thread: the loop (the worker's network thread, which calls all functions).
 *
 * For each batch the loop calls fby_session_request, fby_session_header,
 * fby_session_chunk_ready for each chunk, and fby_session_all_ready. Meanwhile
 * fby_session_next returns what can be sent of the batch with the lowest order:
 * HEADER, chunks and END. A batch is open until its END is returned, or it is
 * cancelled, dropped or lost. Its bytes stay charged to the budget (budget.h)
 * until its memory is free and the loop calls fby_session_freed. */
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
    uint64_t send_window; /* limit of bytes sent but not confirmed; 16 MiB */
    uint32_t max_batches; /* limit of batches open or charged; 64 */
    int64_t  retry_ns;    /* delay that BUSY advises; 50 ms */
    int64_t  lease_ns;    /* a session ends after this time without a message;
                          10 s. ZeroMQ does not report closed connections */
    int64_t  stall_limit_ns; /* a client that confirms no sent bytes for this
                               time is stalled; 1 s */
};
/* Returns the default values, which end the comments above. */
struct fby_session_config fby_session_defaults(void);

/* Create a session without a route; never NULL. `batch_bytes` is the size of
 * its client's largest batch (HELLO's max_bytes). The budget entitles the
 * session to so many bytes at its first request: a client that only connects
 * takes nothing from others. */
struct fby_session *fby_session_create(const struct fby_session_config *config,
    struct fby_budget *budget, uint64_t batch_bytes, int64_t now_ns);
/* Destroy a session whose batches have all been freed. NULL is allowed. */
void fby_session_destroy(struct fby_session **self_p);

/* ---- Messages of the client ---------------------------------------------- */

/* HELLO: the client has a new route, named by the nonce `route`. The counts of
 * sent and credited bytes restart at 0, and open batches are sent from their
 * start. The loop must answer WELCOME, with the ids of fby_session_list_open,
 * before it calls fby_session_next. */
void fby_session_hello(
    struct fby_session *self, int64_t now_ns, uint64_t route);

/* Store the ids of at most `max_ids` open requests in `out`, for WELCOME and
 * PONG. Returns their number, which is at most max_batches. */
size_t fby_session_list_open(
    const struct fby_session *self, struct fby_request_id *out, size_t max_ids);

enum fby_session_answer {
    FBY_SESSION_ACCEPT,    /* make the batch */
    FBY_SESSION_BUSY,      /* no memory now: answer BUSY with retry_ns */
    FBY_SESSION_NO_SHARE,  /* the budget cannot entitle one more session: answer
                              BUSY with retry_ns */
    FBY_SESSION_TOO_LARGE, /* exceeds the whole budget: answer CANNOT */
    FBY_SESSION_LOST,      /* answer LOST: this worker is stopping */
    FBY_SESSION_REPEATED   /* the id was used: drop and count the message */
};
struct fby_session_request {
    struct fby_request_id id;
    uint64_t              order; /* the batch with the lowest is sent first */
    uint64_t              bytes; /* to charge; 0 if the batch is already being
                                    made for another request */
};
/* REQUEST: after FBY_SESSION_ACCEPT the batch is open. */
enum fby_session_answer fby_session_request(struct fby_session *self,
    int64_t now_ns, const struct fby_session_request *request);

/* CANCEL: the batch is no longer open. */
void fby_session_cancel(
    struct fby_session *self, int64_t now_ns, struct fby_request_id id);

/* CREDIT: the client has received `total` bytes since `route` began. A CREDIT
 * of an older route is ignored.
 * Errors: FBY_PROTO  `total` exceeds the bytes sent, or decreased. */
FBY_CHECKED fby_err fby_session_credit(
    struct fby_session *self, int64_t now_ns, uint64_t route, uint64_t total);

/* PING, OPEN and any other message: note that the client is alive. */
void fby_session_heard(struct fby_session *self, int64_t now_ns);

/* BYE: the client has left. Close all batches and end the entitlement. */
void fby_session_bye(struct fby_session *self);

/* ---- Batches ------------------------------------------------------------- */

struct fby_session_chunk {
    uint32_t chunk;      /* index of the chunk in the batch */
    uint32_t wire_bytes; /* size of its frame, including the prefix */
};

/* HEADER can be sent. The session borrows the array `chunks`, of `n_chunks`
 * entries, until the batch is freed, and stores the ready chunks there.
 * Errors: FBY_GONE  the batch is no longer open, and its other chunks need not
 *                   be made. The next two functions return it likewise. */
FBY_CHECKED fby_err fby_session_header(struct fby_session *self,
    struct fby_request_id id, struct fby_session_chunk *chunks,
    uint32_t n_chunks);

/* One more chunk is ready. Call once per chunk, in any order.
 * Errors: FBY_GONE; FBY_USAGE  more than n_chunks. */
FBY_CHECKED fby_err fby_session_chunk_ready(struct fby_session *self,
    struct fby_request_id id, struct fby_session_chunk chunk);

/* All chunks are ready, and END can be sent.
 * Errors: FBY_GONE; FBY_USAGE  a chunk is missing. */
FBY_CHECKED fby_err fby_session_all_ready(
    struct fby_session *self, struct fby_request_id id);

/* Close a batch that got another answer (CANNOT, STALE_DATA, ...). */
void fby_session_drop(struct fby_session *self, struct fby_request_id id);

/* The memory of a batch is free: refund its charge and forget the id. A batch
 * that is still open becomes lost. */
void fby_session_freed(struct fby_session *self, struct fby_request_id id);

/* True if the batch is open (see the head of this file). */
bool fby_session_is_open(
    const struct fby_session *self, struct fby_request_id id);

/* ---- Sending ------------------------------------------------------------- */

enum fby_session_item_kind {
    FBY_SEND_LOST,
    FBY_SEND_HEADER,
    FBY_SEND_CHUNK,
    FBY_SEND_END /* the batch is no longer open */
};
struct fby_session_item {
    enum fby_session_item_kind kind;
    struct fby_request_id      id;
    uint32_t chunk;      /* FBY_SEND_CHUNK: index of the chunk in the batch */
    uint32_t wire_bytes; /* FBY_SEND_CHUNK: size of the frame */
};
/* Store the next item to send in *out. The item then counts as sent; if the
 * send fails, call fby_session_route_lost. Returns false if nothing is ready,
 * or there is no credit or no route. */
bool fby_session_next(
    struct fby_session *self, int64_t now_ns, struct fby_session_item *out);

/* Replace config.send_window. If more is sent than `bytes`, nothing is sent until
 * CREDIT confirms it. */
void fby_session_set_window(struct fby_session *self, uint64_t bytes);

/* A send failed with EAGAIN or EHOSTUNREACH: the session has no route until
 * the next HELLO. */
void fby_session_route_lost(struct fby_session *self);

/* ---- Memory, time, end --------------------------------------------------- */

/* Choose the session that must give up a batch for `asking`, whose request was
 * refused. Candidates are sessions beyond their entitlement that have an open
 * batch of which no chunk was sent. If `asking` has used its own entitlement,
 * or is NULL, only stalled sessions are candidates. Returns the candidate that
 * is furthest beyond its entitlement, or NULL. */
struct fby_session *fby_session_choose_victim(
    struct fby_session *const *sessions, size_t n,
    const struct fby_session *asking, int64_t now_ns);

/* Give up the batch that is needed last: of the open batches without a sent
 * chunk, the one with the highest order becomes lost, and fby_session_next
 * returns its LOST. Returns the id of the batch; 0: there is none. The loop
 * must release the memory and call fby_session_freed. */
struct fby_request_id fby_session_shed_batch(struct fby_session *self);

/* LEAVE was sent: accept no new requests; open ones are finished. */
void fby_session_leave(struct fby_session *self);

/* The worker ends now: all open batches become lost. */
void fby_session_lose_open(struct fby_session *self);

/* The process did not run for `gap_ns`, and could not receive messages: extend
 * the lease. */
void fby_session_extend_lease(struct fby_session *self, int64_t gap_ns);

/* True if the client has been silent for one lease. The loop then calls
 * fby_session_bye, and destroys the session once nothing is charged. */
bool fby_session_expired(const struct fby_session *self, int64_t now_ns);

struct fby_session_state { /* for counters and tests */
    uint64_t route;        /* nonce of the route; 0: none */
    uint64_t sent;         /* bytes of the chunks sent on this route */
    uint64_t credited;     /* bytes of `sent` that CREDIT confirmed */
    uint32_t open;         /* number of open batches */
    uint64_t charged;      /* bytes charged to the budget */
    uint64_t entitled;     /* bytes that the budget guarantees */
    bool     leaving;      /* the session accepts no new requests */
};
/* A snapshot of the session. */
struct fby_session_state fby_session_state(const struct fby_session *self);

#endif
