/* SPDX-License-Identifier: Apache-2.0 */
#include "http/access.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- the token ---- */

static struct fby_http_token token_of(const char *text, size_t length)
{
    return (struct fby_http_token){true, fby_digest_of(text, length)};
}

/* The length of the first line; 0 unless all its characters are printable
 * ASCII. */
static size_t line_length(const char *text)
{
    size_t length = strcspn(text, "\r\n");
    for (size_t i = 0; i < length; i++) {
        if (text[i] <= ' ' || text[i] > '~') {
            return 0;
        }
    }
    return length;
}

static fby_err check_mode(
    int fd, const char *path, struct fby_error_detail *why)
{
    struct stat st;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        return fby_error_set(why, FBY_CONFIG,
            "--http-token-file %s: this is no ordinary file", path);
    }
    if ((st.st_mode & S_IROTH) != 0) {
        return fby_error_set(why, FBY_USAGE,
            "--http-token-file %s: all users may read the token: run chmod "
            "o-rwx on the file, and change the token",
            path);
    }
    return FBY_OK;
}

/* Read the start of the file; `text` gets a NUL. */
static fby_err read_start(int fd, const char *path, char *text, size_t size,
    struct fby_error_detail *why)
{
    ssize_t n = read(fd, text, size - 1);
    if (n < 0) {
        return fby_error_set(why, FBY_CONFIG,
            "--http-token-file %s: cannot read the file: %s", path,
            strerror(errno));
    }
    text[n] = '\0';
    return FBY_OK;
}

static fby_err read_token(int fd, const char *path, struct fby_http_token *out,
    struct fby_error_detail *why)
{
    char text[FBY_HTTP_TOKEN_MAX + 2]; /* one more character, and a NUL */
    FBY_TRY(check_mode(fd, path, why));
    FBY_TRY(read_start(fd, path, text, sizeof(text), why));
    size_t length = line_length(text);
    if (length >= FBY_HTTP_TOKEN_MIN && length <= FBY_HTTP_TOKEN_MAX) {
        *out = token_of(text, length);
    }
    sodium_memzero(text, sizeof(text));
    return out->exists ? FBY_OK
                       : fby_error_set(why, FBY_USAGE,
                             "--http-token-file %s: the first line must be %d "
                             "to %d printable characters without blanks, as "
                             "'openssl rand -hex 32' makes them",
                             path, FBY_HTTP_TOKEN_MIN, FBY_HTTP_TOKEN_MAX);
}

fby_err fby_http_token_read(
    const char *path, struct fby_http_token *out, struct fby_error_detail *why)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        return fby_error_set(why, FBY_CONFIG,
            "--http-token-file %s: cannot open the file: %s", path,
            strerror(errno));
    }
    *out        = (struct fby_http_token){0};
    fby_err err = read_token(fd, path, out, why);
    close(fd);
    return err;
}

/* ---- requests ---- */

static bool is_method_answered(const char *method)
{
    return strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0;
}

static const struct fby_http_page *find_page(
    const char *path, const struct fby_http_page *pages, size_t n_pages)
{
    for (size_t i = 0; i < n_pages; i++) {
        if (strcmp(pages[i].path, path) == 0) {
            return &pages[i];
        }
    }
    return NULL;
}

/* True if the header is "Bearer TOKEN" with this token. */
static bool token_matches(
    const struct fby_http_token *token, const char *authorization)
{
    static const char scheme[] = "Bearer ";
    if (authorization == NULL ||
        strncasecmp(authorization, scheme, strlen(scheme)) != 0) {
        return false;
    }
    const char *given = authorization + strlen(scheme);
    given += strspn(given, " ");
    struct fby_digest digest = fby_digest_of(given, strlen(given));
    return sodium_memcmp(
               digest.bytes, token->digest.bytes, sizeof(digest.bytes)) == 0;
}

unsigned fby_http_check(const struct fby_http_request *request,
    const struct fby_http_token *token, const struct fby_http_page *pages,
    size_t n_pages, const struct fby_http_page **page)
{
    if (!is_method_answered(request->method)) {
        return 405;
    }
    *page = find_page(request->path, pages, n_pages);
    if (*page == NULL) {
        return 404;
    }
    bool allowed = (*page)->open || !token->exists ||
                   token_matches(token, request->authorization);
    return allowed ? 200 : 401;
}
