/* ready_worker.h - one worker of ready.h: its sessions' requests, answered.
 * Internal to it; its loop is in ready.c. */
#ifndef FBY_BENCH_READY_WORKER_H
#define FBY_BENCH_READY_WORKER_H

#include "bench/ready.h"
#include "proto/wire.h"

enum { READY_ASKS = 1024, READY_ID_SIZE = 32 };

struct ready_route { /* ZeroMQ's name of a connection */
    uint8_t id[READY_ID_SIZE];
    size_t  size;
};

struct ready_copy { /* of a stock's payloads, while it is sent */
    uint8_t    *memory;
    bool        taken; /* by a request */
    atomic_uint lent;  /* frames that ZeroMQ still holds */
};

struct ready_pool { /* of copies, shared by the workers */
    struct ready_copy *copies;
    unsigned           n;
};

struct ready_ask { /* a request, in the order in which they came */
    struct fby_request request;
    struct ready_copy *copy;   /* of the stock; NULL before HEADER */
    uint32_t           next;   /* chunk */
    int64_t            due_ns; /* when it is served */
};

struct ready_worker {
    void                          *router;
    void                          *dealer; /* to the server */
    char                           endpoint[256];
    struct fby_instance_id         instance;
    bool                           registered;
    int64_t                        service_ns;
    int64_t                        free_ns; /* when the last one is served */
    const struct bench_ready_plan *plan;
    struct ready_pool             *pool;
    atomic_ulong                  *served;
    struct fby_session_id          session; /* the newest; others are gone */
    struct ready_route             route;
    struct ready_ask               asks[READY_ASKS]; /* a ring */
    uint32_t                       first, n;
    uint64_t                       sent, credit; /* bytes, on this route */
};

/* Answer one message that came from `from`. */
void ready_on_message(struct ready_worker *self, const struct ready_route *from,
    const struct fby_message *message, int64_t now_ns);

/* Send what is due and allowed; false when there was nothing. */
bool ready_send(struct ready_worker *self, int64_t now_ns);

/* When something becomes due, INT64_MAX: nothing waits for the clock. */
int64_t ready_due_ns(const struct ready_worker *self);

/* To a ROUTER (`to`), or a DEALER (NULL). */
void ready_tell(
    void *socket, const struct ready_route *to, const struct fby_message *m);

#endif
