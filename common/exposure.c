/* SPDX-License-Identifier: Apache-2.0 */
#include "common/exposure.h"

#include "common/socket.h"

fby_err fby_exposure_check(const char *endpoint, bool has_keys,
    bool is_insecure, struct fby_error_detail *why)
{
    if (has_keys || is_insecure || fby_endpoint_is_loopback(endpoint)) {
        return FBY_OK;
    }
    return fby_error_set(why, FBY_USAGE,
        "--listen %s: without keys, any host that reaches this port could use "
        "it: add --keys (forebay keys init writes them), listen on loopback "
        "(tcp://127.0.0.1:*), or add --insecure in a trusted network",
        endpoint);
}
