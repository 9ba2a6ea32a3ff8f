/* SPDX-License-Identifier: Apache-2.0 */
/* without.c - in place of http.c in builds without libmicrohttpd, which brings a
 * TLS library that wheels need not carry: --http is refused. */
#include "http/http.h"

fby_err fby_http_start(const struct fby_http_config *config,
    struct fby_http **out, struct fby_error_detail *why)
{
    *out = NULL;
    return config->options.listen == NULL
               ? FBY_OK
               : fby_error_set(why, FBY_USAGE,
                     "--http: this build has no HTTP; use the program of a "
                     "package or of the source");
}

void fby_http_stop(struct fby_http **self_p)
{
    *self_p = NULL;
}

bool fby_http_turn(struct fby_http *self, int64_t now_ns)
{
    (void)self;
    (void)now_ns;
    return false;
}

void fby_http_refresh(struct fby_http *self)
{
    (void)self;
}

void fby_http_publish(struct fby_http *self, void *snapshot)
{
    (void)self;
    (void)snapshot;
}
