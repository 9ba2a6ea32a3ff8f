/* SPDX-License-Identifier: Apache-2.0 */
/* view.h - a copy of what the server knows at one time, for the HTTP pages.
 *
 * It has no pointer to the directory, so another thread can read it. All texts
 * lie in one buffer, and members that name one are offsets there. */
#ifndef FBY_SERVER_VIEW_H
#define FBY_SERVER_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/bytes.h"
#include "common/id.h"
#include "proto/counters.h"
#include "server/directory.h"
#include "server/wanted.h"

enum fby_server_number { /* index in `numbers` */
    FBY_SERVER_READY,    /* 1: listening and not stopping; else 0 */
    FBY_SERVER_WORKERS,  /* registered now, also the next two */
    FBY_SERVER_SESSIONS,
    FBY_SERVER_JOBS,
    /* Since the start: */
    FBY_SERVER_HANDSHAKES, /* that failed */
    FBY_SERVER_REFUSED_CONNECTIONS,
    FBY_SERVER_REFUSED_MESSAGES,
    FBY_SERVER_REFUSED_WORKERS,
    FBY_SERVER_REFUSED_JOINS,
    FBY_SERVER_EXPIRED_WORKERS,
    FBY_SERVER_EXPIRED_SESSIONS,
    FBY_SERVER_UNREACHABLE, /* reports that a worker cannot be reached */
    FBY_SERVER_NUMBERS
};

struct fby_view_worker {
    uint64_t instance;
    size_t   host;      /* text */
    size_t   endpoints; /* the first of n_endpoints texts in sequence */
    size_t   n_endpoints;
    uint32_t pid;
    uint32_t cores;
    int64_t  silent_ns; /* since its last message */
    bool     heard;     /* the members below are of its last heartbeat */
    uint32_t sessions;
    uint32_t load_permille;
    struct fby_counter_values counters;
};

struct fby_view_job {
    size_t   name; /* text */
    uint32_t world;
    uint64_t epoch, step;      /* where its ranks started */
    uint32_t n_joined;         /* ranks that take part */
    uint64_t milli_rows_per_s; /* that they take together */
    uint64_t wait_ms, span_ms; /* the sums over these ranks */
};

struct fby_view_rank {
    uint32_t        job; /* index in `jobs` */
    uint32_t        rank;
    size_t          host; /* text */
    uint32_t        pid;
    const char     *state;     /* "joined", "waiting" or "refused"; static */
    int64_t         silent_ns; /* since its last message */
    struct fby_pace pace;
};

struct fby_server_view {
    struct fby_instance_id  instance; /* of the server */
    size_t                  endpoint; /* text */
    uint64_t                numbers[FBY_SERVER_NUMBERS];
    struct fby_view_worker *workers; /* in the order of registration */
    struct fby_view_job    *jobs;    /* in the order of creation */
    struct fby_view_rank   *ranks;   /* in the order of joining */
    uint32_t                n_workers, n_jobs, n_ranks;
    struct {
        bool     is_known; /* else the members below are 0 */
        uint32_t wanted, workers, jobs;
        size_t   reasons; /* the first of n_reasons texts in sequence */
        uint32_t n_reasons;
    } scale;
    struct fby_buffer texts; /* each with its NUL */
};

/* Copy the directory. The caller sets `instance` and the numbers that are not
 * the directory's. The directory only changes indices that it keeps for this. */
struct fby_server_view *fby_server_view_create(
    struct fby_directory *directory, const char *endpoint, int64_t now_ns);

/* Copy the wanted number of workers. */
void fby_server_view_set_wanted(
    struct fby_server_view *view, const struct fby_wanted *wanted);

/* Free a view; a void pointer, as fby_http_config wants it. */
void fby_server_view_destroy(void *view);

static inline const char *fby_view_text(
    const struct fby_server_view *view, size_t at)
{
    return (const char *)view->texts.data + at;
}

#endif
