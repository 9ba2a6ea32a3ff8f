/* SPDX-License-Identifier: Apache-2.0 */
/* pages.h - the HTTP pages of a server: from a view of it to text. Pure. */
#ifndef FBY_SERVER_PAGES_H
#define FBY_SERVER_PAGES_H

#include "http/page.h"
#include "server/view.h"

/* /metrics names at most so many workers and jobs one by one. */
enum { FBY_SERVER_LISTED = 1000 };

enum { FBY_SERVER_PAGES = 4 };
/* /readyz, /metrics, /scale and /api/cluster, of a struct fby_server_view. */
extern const struct fby_http_page fby_server_pages[FBY_SERVER_PAGES];

#endif
