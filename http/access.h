/* SPDX-License-Identifier: Apache-2.0 */
/* access.h - who may read which page: the token, and the check of a request.
 *
 * A token is a text of 16 to 512 printable characters, the first line of a file
 * that not all users may read. Only its digest is kept, and digests are compared
 * in constant time, so the time of an answer says nothing about the token. */
#ifndef FBY_HTTP_ACCESS_H
#define FBY_HTTP_ACCESS_H

#include <stdbool.h>
#include <stddef.h>

#include "common/err.h"
#include "common/hash.h"
#include "http/page.h"

enum { FBY_HTTP_TOKEN_MIN = 16, FBY_HTTP_TOKEN_MAX = 512 }; /* characters */

struct fby_http_token {
    bool              exists; /* false: every page is open */
    struct fby_digest digest;
};

/* Read the token from the first line of the file `path`.
 * Errors: FBY_USAGE   all users may read the file, or it has no valid token
 *         FBY_CONFIG  the file cannot be read
 * All with `why`. */
FBY_CHECKED fby_err fby_http_token_read(
    const char *path, struct fby_http_token *out, struct fby_error_detail *why);

struct fby_http_request {      /* all texts are from outside */
    const char *method;        /* "GET" */
    const char *path;          /* "/metrics", without the query */
    const char *authorization; /* the header of this name; NULL: none */
};

/* The status of the answer to a request: 405, 404, 401; or 200, and *page is
 * one of the `n_pages` at `pages`, which the client may read. */
unsigned fby_http_check(const struct fby_http_request *request,
    const struct fby_http_token *token, const struct fby_http_page *pages,
    size_t n_pages, const struct fby_http_page **page);

#endif
