/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_http_access.c - any bytes as a method, a path and a header, one a line:
 * a page is given only for GET or HEAD of its path, and a page that is not open
 * only with the token. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "http/access.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char token_text[] = "0123456789abcdef";

static const struct fby_http_page pages[] = {
    {"/open", "", "", true, NULL},
    {"/shut", "", "", false, NULL},
};

static bool has_token(const char *authorization)
{
    size_t length = authorization != NULL ? strlen(authorization) : 0;
    return length > strlen("Bearer ") + strlen(token_text) - 1 &&
           strncasecmp(authorization, "Bearer ", strlen("Bearer ")) == 0 &&
           strcmp(authorization + length - strlen(token_text), token_text) == 0;
}

static void check(const struct fby_http_request *request)
{
    const struct fby_http_page *page  = NULL;
    const struct fby_http_token token = {
        true, fby_digest_of(token_text, strlen(token_text))};
    unsigned status = fby_http_check(request, &token, pages, 2, &page);
    if (status != 200) {
        return;
    }
    if ((strcmp(request->method, "GET") != 0 &&
            strcmp(request->method, "HEAD") != 0) ||
        strcmp(page->path, request->path) != 0 ||
        (!page->open && !has_token(request->authorization))) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = calloc(1, size + 1);
    if (text == NULL) {
        return 0;
    }
    memcpy(text, data, size);
    char       *rest   = text;
    const char *method = strsep(&rest, "\n");
    const char *path   = rest != NULL ? strsep(&rest, "\n") : "";
    check(&(struct fby_http_request){method, path, rest});
    free(text);
    return 0;
}
