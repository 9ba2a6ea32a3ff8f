/* SPDX-License-Identifier: Apache-2.0 */
/* http.h - pages over HTTP by which a user, or Prometheus, looks at a running
 * process: /healthz, / with a list of the pages, and the pages of the process.
 *
 * A thread of its own, at a lower priority, answers GET and HEAD. It never asks
 * the process's loop for anything, and the loop never waits for it: the loop
 * publishes a snapshot of its state twice a second, and the pages are made from
 * the newest one. Each page is made once per snapshot, so the cost of many
 * requests is that of sending them. A connection is for one request.
 *
 * Thread: all functions but the pages' `write` are for one thread, the loop's.
 */
#ifndef FBY_HTTP_HTTP_H
#define FBY_HTTP_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "http/page.h"

enum { /* what a process needs beyond its own, for common/limits.h */
    FBY_HTTP_FILES   = 68,
    FBY_HTTP_THREADS = 1
};

struct fby_http_options {
    const char *listen;     /* "ADDRESS:PORT", numeric; NULL: no HTTP */
    const char *token_file; /* file with the token; NULL: none is needed */
};

struct fby_http_config {
    struct fby_http_options     options;
    const struct fby_http_page *pages; /* a constant table */
    size_t                      n_pages;
    void (*destroy)(void *snapshot); /* frees a snapshot; any thread */
};

struct fby_http;

/* Start to serve, and log the address as HTTP-READY. If `listen` is NULL, *out
 * is NULL, which all functions below accept.
 *
 * Errors: FBY_USAGE   the address or the token is not valid, or other hosts
 *                     could read the pages without a token
 *         FBY_CONFIG  the address cannot be bound, or the token not read
 *         FBY_SYS     the system gives no socket or no thread
 * All with `why`. */
FBY_CHECKED fby_err fby_http_start(const struct fby_http_config *config,
    struct fby_http **out, struct fby_error_detail *why);

/* Stop to serve, and set *self_p to NULL. Blocks: for the answer in work. */
void fby_http_stop(struct fby_http **self_p);

/* Note that the loop turned at `now_ns`, for /healthz. True if a snapshot is
 * due. Call in each turn. */
bool fby_http_turn(struct fby_http *self, int64_t now_ns);

/* Let the next call of fby_http_turn return true, since the state changed. */
void fby_http_refresh(struct fby_http *self);

/* Replace the published snapshot. Ownership: `snapshot` moves. */
void fby_http_publish(struct fby_http *self, void *snapshot);

#endif
