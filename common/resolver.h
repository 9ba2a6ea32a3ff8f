/* SPDX-License-Identifier: Apache-2.0 */
/* resolver.h - look up the addresses of a host on a thread of its own, because
 * a lookup may take as long as the time-outs of DNS.
 *
 * The name is fixed, or in a file that each lookup reads again. A lookup cannot
 * be interrupted: one that still runs when its resolver is destroyed is left to
 * end by itself, and frees its own memory then. */
#ifndef FBY_COMMON_RESOLVER_H
#define FBY_COMMON_RESOLVER_H

#include <stdbool.h>

#include "common/err.h"
#include "common/socket.h"

struct fby_resolver;

/* Look up "tcp://HOST:PORT"; as fby_endpoint_resolve_all. Thread: any. */
typedef fby_err fby_resolve_function(
    const char *text, struct fby_endpoints *out, struct fby_error_detail *why);

struct fby_resolver_source {
    const char *text; /* the address; NULL: the first line of `file` */
    const char *file; /* path; used only without `text` */
    fby_resolve_function *resolve; /* NULL: fby_endpoint_resolve_all */
};

/* The texts of `source` are copied.
 * Errors: FBY_SYS  the system gives no eventfd. */
FBY_CHECKED fby_err fby_resolver_create(
    const struct fby_resolver_source *source, struct fby_resolver **out,
    struct fby_error_detail *why);

/* *self_p becomes NULL; NULL is allowed. Blocks: never. */
void fby_resolver_destroy(struct fby_resolver **self_p);

/* A descriptor that is readable when a lookup has ended. */
int fby_resolver_fd(const struct fby_resolver *self);

/* Start a lookup, unless one runs.
 * Errors: FBY_SYS  the system gives no thread. */
FBY_CHECKED fby_err fby_resolver_start(
    struct fby_resolver *self, struct fby_error_detail *why);

/* True if a lookup was started whose result was not taken. */
bool fby_resolver_is_running(const struct fby_resolver *self);

/* Take the result of the lookup, once it has ended.
 * Errors: FBY_AGAIN      no lookup has ended
 *         FBY_NOT_FOUND  the name has no address, or there is no file
 *         FBY_USAGE      the file has no address. */
FBY_CHECKED fby_err fby_resolver_take(struct fby_resolver *self,
    struct fby_endpoints *out, struct fby_error_detail *why);

#endif
