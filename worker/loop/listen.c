/* SPDX-License-Identifier: Apache-2.0 */
/* Choose where to listen for clients without --listen: on loopback if the server
 * is there, else on the address from which this host reaches the server. Until
 * the server's address is known, the worker waits. */
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/log.h"
#include "worker/loop/loop.h"

/* ---- The route to the server --------------------------------------------- */

/* Store in `host` the address from which this machine sends to `server`.
 * Connecting a datagram socket chooses this address and sends nothing. */
static bool find_local_address(
    const struct addrinfo *server, char *host, size_t size)
{
    struct sockaddr_storage own;
    socklen_t               length = sizeof(own);
    int fd = socket(server->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return false;
    }
    bool found = connect(fd, server->ai_addr, server->ai_addrlen) == 0 &&
                 getsockname(fd, (struct sockaddr *)&own, &length) == 0 &&
                 getnameinfo((struct sockaddr *)&own, length, host,
                     (socklen_t)size, NULL, 0, NI_NUMERICHOST) == 0;
    close(fd);
    return found;
}

fby_err fby_loop_route_endpoint(const char *server, const char *port,
    char out[FBY_ENDPOINT_SIZE], struct fby_error_detail *why)
{
    char                 own_host[NI_MAXHOST] = "";
    struct fby_host_port remote;
    struct addrinfo     *address = NULL;
    struct addrinfo      hints   = {
               .ai_flags    = AI_NUMERICHOST | AI_NUMERICSERV,
               .ai_socktype = SOCK_DGRAM,
    };
    if (fby_endpoint_split(server, &remote) &&
        getaddrinfo(remote.host, remote.port, &hints, &address) == 0) {
        bool found = find_local_address(address, own_host, sizeof(own_host));
        freeaddrinfo(address);
        if (found) {
            bool is_ipv6 = strchr(own_host, ':') != NULL;
            snprintf(out, FBY_ENDPOINT_SIZE,
                is_ipv6 ? "tcp://[%.64s]:%s" : "tcp://%.64s:%s", own_host,
                port);
            return FBY_OK;
        }
    }
    return fby_error_set(why, FBY_CONFIG,
        "cannot find this machine's address on the route to %s; set it with "
        "--listen or --advertise",
        server);
}

/* ---- The address to listen on -------------------------------------------- */

/* Wait until the server's address is known. Returns false if the worker has to
 * end before. */
static bool await_server(struct fby_loop *self)
{
    enum { LOCATOR, SIGNALS, STOP, N_ITEMS };
    struct pollfd items[N_ITEMS] = {
        [LOCATOR] = {.fd = fby_loop_registry_fd(self), .events = POLLIN},
        [SIGNALS] = {.fd = self->signal_fd, .events = POLLIN},
        [STOP]    = {.fd = self->options.stop_fd, .events = POLLIN},
    };
    while (fby_loop_registry_server(self)[0] == '\0') {
        int64_t left_ns = fby_loop_registry_deadline(self) - fby_now_ns();
        left_ns         = fby_earlier_ns(left_ns, FBY_NS_PER_S);
        int wait_ms     = left_ns > 0 ? (int)(left_ns / FBY_NS_PER_MS) + 1 : 0;
        (void)poll(items, N_ITEMS, wait_ms);
        if (items[SIGNALS].revents != 0 || items[STOP].revents != 0) {
            return false;
        }
        self->now_ns = fby_now_ns();
        fby_loop_registry_locate(self);
    }
    return true;
}

/* The address on the route to `server`, which is not on loopback. */
static fby_err choose_route(
    struct fby_loop *self, const char *server, struct fby_error_detail *why)
{
    if (self->keys == NULL && !self->options.is_insecure) {
        return fby_error_set(why, FBY_USAGE,
            "the server %s is not on loopback, and a worker without a key "
            "listens only there: give it one (--keys), or in a trusted network "
            "--insecure",
            server);
    }
    FBY_TRY(fby_loop_route_endpoint(server, "*", self->listen, why));
    fby_info("LISTENS-ON-ROUTE",
        "%s is the address of this host on the route to the server %s; choose "
        "another one with --listen",
        self->listen, server);
    return FBY_OK;
}

fby_err fby_loop_choose_listen(
    struct fby_loop *self, struct fby_error_detail *why)
{
    struct fby_worker_options *options = &self->options;
    if (options->listen != NULL) {
        return FBY_OK;
    }
    snprintf(self->listen, sizeof(self->listen), "tcp://127.0.0.1:*");
    options->listen = self->listen;
    if (options->advertise != NULL || self->registry.locator == NULL) {
        return FBY_OK;
    }
    if (!await_server(self)) {
        self->done = true;
        return FBY_OK;
    }
    const char *server = fby_loop_registry_server(self);
    return fby_endpoint_is_loopback(server) ? FBY_OK
                                            : choose_route(self, server, why);
}
