/* SPDX-License-Identifier: Apache-2.0 */
#include "http/listen.h"

#include <errno.h>
#include <netdb.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/socket.h"

enum { BACKLOG = 256 }; /* connections that wait to be accepted */

/* True for a number up to 65535. getaddrinfo would take a higher one modulo
 * 65536. */
static bool is_port(const char *text)
{
    size_t length = strlen(text);
    return length >= 1 && length <= 5 && strspn(text, "0123456789") == length &&
           strtoul(text, NULL, 10) <= UINT16_MAX;
}

/* getaddrinfo would take * for all addresses. */
static bool is_numeric(const char *host)
{
    return host[strspn(host, "0123456789abcdefABCDEF.:")] == '\0';
}

/* Parse the address. The caller frees the result with freeaddrinfo. NULL: it is
 * malformed. */
static struct addrinfo *parse(const char *address)
{
    const struct addrinfo hints = {
        .ai_flags    = AI_NUMERICHOST | AI_NUMERICSERV,
        .ai_socktype = SOCK_STREAM,
    };
    struct addrinfo     *parsed = NULL;
    struct fby_host_port parts;
    if (strstr(address, "://") != NULL ||
        !fby_endpoint_split(address, &parts) || !is_port(parts.port) ||
        !is_numeric(parts.host) ||
        parts.bracketed != (strchr(parts.host, ':') != NULL) ||
        getaddrinfo(parts.host, parts.port, &hints, &parsed) != 0) {
        return NULL;
    }
    return parsed;
}

static bool bind_and_listen(int fd, const struct addrinfo *address)
{
    const int on = 1;
    return setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) == 0 &&
           (address->ai_family != AF_INET6 ||
               setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on)) ==
                   0) &&
           bind(fd, address->ai_addr, address->ai_addrlen) == 0 &&
           listen(fd, BACKLOG) == 0;
}

static bool write_bound(int fd, char bound[FBY_HTTP_ADDRESS_SIZE])
{
    struct sockaddr_storage own    = {0};
    socklen_t               length = sizeof(own);
    char                    host[NI_MAXHOST];
    char                    port[NI_MAXSERV];
    if (getsockname(fd, (struct sockaddr *)&own, &length) != 0 ||
        getnameinfo((struct sockaddr *)&own, length, host, sizeof(host), port,
            sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
        return false;
    }
    int n = snprintf(bound, FBY_HTTP_ADDRESS_SIZE,
        own.ss_family == AF_INET6 ? "[%s]:%s" : "%s:%s", host, port);
    return n < FBY_HTTP_ADDRESS_SIZE;
}

static fby_err open_socket(const char *text, const struct addrinfo *address,
    char bound[FBY_HTTP_ADDRESS_SIZE], int *out, struct fby_error_detail *why)
{
    int fd = socket(address->ai_family,
        SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, IPPROTO_TCP);
    if (fd < 0) {
        return fby_error_set(
            why, FBY_SYS, "--http %s: no socket: %s", text, strerror(errno));
    }
    if (!bind_and_listen(fd, address) || !write_bound(fd, bound)) {
        int cause = errno;
        close(fd);
        return fby_error_set(why, FBY_CONFIG,
            "--http %s: cannot listen there: %s: choose another address or "
            "port",
            text, strerror(cause));
    }
    *out = fd;
    return FBY_OK;
}

static bool is_loopback(const struct addrinfo *address)
{
    char host[NI_MAXHOST];
    return getnameinfo(address->ai_addr, address->ai_addrlen, host,
               sizeof(host), NULL, 0, NI_NUMERICHOST) == 0 &&
           (strncmp(host, "127.", 4) == 0 || strcmp(host, "::1") == 0);
}

fby_err fby_http_listen(const char *address, bool protected,
    char bound[FBY_HTTP_ADDRESS_SIZE], int *out, struct fby_error_detail *why)
{
    struct addrinfo *parsed = parse(address);
    if (parsed == NULL) {
        return fby_error_set(why, FBY_USAGE,
            "--http %s: this is not a numeric address and a port: write it as "
            "127.0.0.1:9464, or [::1]:9464; port 0 takes a free one",
            address);
    }
    fby_err err =
        protected || is_loopback(parsed)
            ? open_socket(address, parsed, bound, out, why)
            : fby_error_set(why, FBY_USAGE,
                  "--http %s: other hosts could read the pages at this "
                  "address: give --http-token-file PATH, or listen on "
                  "127.0.0.1",
                  address);
    freeaddrinfo(parsed);
    return err;
}
