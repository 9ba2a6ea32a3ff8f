/* SPDX-License-Identifier: Apache-2.0 */
/* pages.h - the HTTP pages of a worker: from a view of it to text. Pure. */
#ifndef FBY_WORKER_PAGES_H
#define FBY_WORKER_PAGES_H

#include "common/socket.h"
#include "http/page.h"
#include "proto/counters.h"

/* The numbers of a worker: its counters, then these. */
enum fby_worker_number {
    FBY_WORKER_SESSIONS = FBY_N_COUNTERS,
    FBY_WORKER_BUDGET_LIMIT,    /* bytes, also the next two */
    FBY_WORKER_BUDGET_ENTITLED, /* by sessions */
    FBY_WORKER_BUDGET_CHARGED,  /* for batches */
    FBY_WORKER_REGISTERED,      /* 1: at the server; else 0 */
    FBY_WORKER_LEAVING,         /* 1: no new requests are taken; else 0 */
    FBY_WORKER_HANDSHAKES,      /* that failed since the start */
    FBY_WORKER_NUMBERS
};

struct fby_worker_view { /* the state of a worker at one time */
    uint64_t numbers[FBY_WORKER_NUMBERS];
    char     server[FBY_ENDPOINT_SIZE]; /* ""; or where it registers */
};

enum { FBY_WORKER_PAGES = 2 };
/* /readyz and /metrics, of a struct fby_worker_view. */
extern const struct fby_http_page fby_worker_pages[FBY_WORKER_PAGES];

#endif
