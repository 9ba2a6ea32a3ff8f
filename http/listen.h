/* SPDX-License-Identifier: Apache-2.0 */
/* listen.h - the listening socket of an explicit, numeric address. */
#ifndef FBY_HTTP_LISTEN_H
#define FBY_HTTP_LISTEN_H

#include <stdbool.h>

#include "common/err.h"

enum { FBY_HTTP_ADDRESS_SIZE = 64 }; /* of "[address]:port", with its NUL */

/* Listen on `address`, "127.0.0.1:9464" or "[::1]:0"; port 0 picks a free one.
 * `bound` receives the address with its port. An address that other hosts can
 * reach is refused unless `protected`: a token is needed to read the pages.
 *
 * Ownership: the caller closes *out, which does not block.
 * Errors:    FBY_USAGE   `address` is malformed, or not protected
 *            FBY_CONFIG  the address cannot be bound
 *            FBY_SYS     there is no socket
 * All with `why`. */
FBY_CHECKED fby_err fby_http_listen(const char *address, bool protected,
    char bound[FBY_HTTP_ADDRESS_SIZE], int *out, struct fby_error_detail *why);

#endif
