/* SPDX-License-Identifier: Apache-2.0 */
/* page.h - a page that a process serves, as an entry of a constant table. */
#ifndef FBY_HTTP_PAGE_H
#define FBY_HTTP_PAGE_H

#include <stdbool.h>

#include "common/bytes.h"

struct fby_http_page {
    const char *path;  /* "/metrics" */
    const char *about; /* one line, for the list of the pages */
    const char *type;  /* Content-Type */
    bool        open;  /* may be read without the token */
    /* Append the text of the page, made from the newest snapshot of the
     * process. Returns the status, 200 or 503. Thread: the HTTP thread. */
    unsigned (*write)(const void *snapshot, struct fby_buffer *out);
};

#endif
