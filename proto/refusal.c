/* SPDX-License-Identifier: Apache-2.0 */
#include "proto/refusal.h"

#include <inttypes.h>
#include <stdio.h>

#include "proto/wire.h"

const char *fby_refusal_explain(
    const struct fby_refused *refused, char out[FBY_REFUSAL_SIZE])
{
    char theirs[48];
    if (refused->code != FBY_REFUSED_VERSION) {
        snprintf(out, FBY_REFUSAL_SIZE, "%.255s", refused->text);
        return out;
    }
    if (refused->version_min == refused->version_max) {
        snprintf(
            theirs, sizeof(theirs), "version %" PRIu32, refused->version_min);
    } else {
        snprintf(theirs, sizeof(theirs), "versions %" PRIu32 " to %" PRIu32,
            refused->version_min, refused->version_max);
    }
    snprintf(out, FBY_REFUSAL_SIZE,
        "it speaks %s of the protocol, and this process version %d: install "
        "the same release of Forebay on both",
        theirs, FBY_PROTOCOL_VERSION);
    return out;
}
