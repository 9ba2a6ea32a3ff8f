/* ready_worker.h - one worker of ready.h: answers the requests of its session.
 * Internal to ready.c, which has the loop. */
#ifndef FBY_BENCH_READY_WORKER_H
#define FBY_BENCH_READY_WORKER_H

#include "bench/ready.h"
#include "proto/wire.h"

enum { READY_MAX_PENDING = 1024, READY_ID_SIZE = 32 };

struct ready_route { /* ZeroMQ routing id of a connection */
    uint8_t id[READY_ID_SIZE];
    size_t  size;
};

struct ready_copy { /* a copy of a stock's payloads, from which to send */
    uint8_t    *memory;
    bool        taken;       /* by a request */
    atomic_uint frames_held; /* frames not yet released by ZeroMQ */
};

struct ready_pool { /* shared by the workers */
    struct ready_copy *copies;
    unsigned           n;
};

struct ready_pending { /* a request that is not answered completely */
    struct fby_request request;
    struct ready_copy *copy;   /* NULL before HEADER */
    uint32_t           next;   /* next chunk to send */
    int64_t            due_ns; /* end of its service time */
};

struct ready_worker {
    void                          *router;
    void                          *dealer; /* to the server */
    char                           endpoint[256];
    struct fby_instance_id         instance;
    bool                           registered;
    int64_t                        service_ns;
    int64_t                        free_ns; /* due_ns of the last request */
    const struct bench_ready_plan *plan;
    struct ready_pool             *pool;
    atomic_ulong                  *served;
    struct fby_session_id          session; /* the newest; others ended */
    struct ready_route             route;
    struct ready_pending           pending[READY_MAX_PENDING]; /* a ring */
    uint32_t                       first, n;
    uint64_t                       sent, credit; /* bytes, on this route */
};

/* Answer one message that came from `from`. */
void ready_on_message(struct ready_worker *self, const struct ready_route *from,
    const struct fby_message *message, int64_t now_ns);

/* Send one message or chunk if due and allowed; false if nothing was sent. */
bool ready_send(struct ready_worker *self, int64_t now_ns);

/* The time at which the first request is due; INT64_MAX if there is none. */
int64_t ready_due_ns(const struct ready_worker *self);

/* Send to a peer of a ROUTER (`to`), or by a DEALER (`to` is NULL). */
void ready_send_message(
    void *socket, const struct ready_route *to, const struct fby_message *m);

#endif
