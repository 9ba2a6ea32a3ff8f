/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses are compared as IPv6, in which IPv4 ones are "mapped", because a
 * socket for both families shows IPv4 peers in that form. */
#include "common/peer_endpoint.h"

#include <arpa/inet.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/socket.h"

static const char scheme[] = "tcp://";

static struct in6_addr map_ipv4(struct in_addr address)
{
    struct in6_addr mapped = {.s6_addr = {[10] = 0xff, [11] = 0xff}};
    memcpy(&mapped.s6_addr[12], &address, sizeof(address));
    return mapped;
}

/* Parse a numeric address; false if `text` is none. */
static bool parse_address(const char *text, struct in6_addr *out)
{
    struct in_addr ipv4;
    if (inet_pton(AF_INET, text, &ipv4) == 1) {
        *out = map_ipv4(ipv4);
        return true;
    }
    return inet_pton(AF_INET6, text, out) == 1;
}

/* The first byte of an IPv4 address, which names its kind; -1: IPv6. */
static int ipv4_kind(const struct in6_addr *address)
{
    return IN6_IS_ADDR_V4MAPPED(address) ? address->s6_addr[12] : -1;
}

/* True unless the address means any machine, or several. */
static bool is_of_one_machine(const struct in6_addr *address)
{
    enum { IPV4_MULTICAST = 224 }; /* from here on also reserved, broadcast */
    int kind = ipv4_kind(address);
    return kind != 0 && kind < IPV4_MULTICAST &&
           !IN6_IS_ADDR_UNSPECIFIED(address) && !IN6_IS_ADDR_MULTICAST(address);
}

static bool is_loopback(const struct in6_addr *address)
{
    return ipv4_kind(address) == 127 || IN6_IS_ADDR_LOOPBACK(address);
}

static bool is_port(const char *text)
{
    size_t length = strlen(text);
    if (length > 5 || strspn(text, "0123456789") != length) {
        return false;
    }
    unsigned long port = strtoul(text, NULL, 10);
    return port >= 1 && port <= UINT16_MAX;
}

/* Parse a numeric TCP endpoint; false if `endpoint` is none. */
static bool parse_endpoint(const char *endpoint, struct in6_addr *out)
{
    struct fby_host_port parts;
    if (strncmp(endpoint, scheme, strlen(scheme)) != 0 ||
        !fby_endpoint_split(endpoint, &parts) || !is_port(parts.port) ||
        !parse_address(parts.host, out)) {
        return false;
    }
    bool is_ipv6 = strchr(parts.host, ':') != NULL;
    return is_ipv6 == parts.bracketed && is_of_one_machine(out);
}

static fby_err refuse_endpoint(
    const char *endpoint, struct fby_error_detail *why)
{
    return fby_error_set(why, FBY_PROTO,
        "endpoint '%.80s': not a numeric TCP endpoint: write "
        "tcp://ADDRESS:PORT, IPv6 in brackets, with a PORT from 1 to 65535",
        endpoint);
}

fby_err fby_peer_endpoint_check(
    const char *endpoint, struct fby_error_detail *why)
{
    struct in6_addr address;
    return parse_endpoint(endpoint, &address) ? FBY_OK
                                              : refuse_endpoint(endpoint, why);
}

static bool is_same_machine(
    const struct in6_addr *address, const struct in6_addr *sender)
{
    return IN6_ARE_ADDR_EQUAL(address, sender) ||
           (is_loopback(address) && is_loopback(sender));
}

fby_err fby_peer_endpoint_check_sender(const char *endpoint, const char *sender,
    bool has_key, struct fby_error_detail *why)
{
    struct in6_addr address;
    struct in6_addr from;
    if (!parse_endpoint(endpoint, &address)) {
        return refuse_endpoint(endpoint, why);
    }
    if (has_key || (sender != NULL && parse_address(sender, &from) &&
                       is_same_machine(&address, &from))) {
        return FBY_OK;
    }
    bool is_ipv6 = sender != NULL && strchr(sender, ':') != NULL;
    return fby_error_set(why, FBY_PROTO,
        "endpoint '%.80s': the worker registers from address %.46s: without "
        "keys both must be the same: start the worker with --listen "
        "tcp://%s%.46s%s:*",
        endpoint, sender != NULL ? sender : "?", is_ipv6 ? "[" : "",
        sender != NULL ? sender : "ADDRESS", is_ipv6 ? "]" : "");
}
