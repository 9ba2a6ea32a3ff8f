/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_route.c - any bytes as a sealed frame: refused. Then any bytes inside a
 * genuine seal: they come back. */
#include <string.h>

#include "secure/route.h"
#include "tests/fuzz/demand.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX_FRAME = 4096 };

static struct fby_aead *aead;

static void try_frame(struct fby_lane lane, const uint8_t *data, size_t size)
{
    static uint8_t  frame[MAX_FRAME];
    struct fby_seal seal;
    memcpy(frame, data, size);
    if (fby_lane_accept(&lane, frame, size, &seal) == FBY_OK) {
        demand(fby_open_frame(aead, &seal, frame, size) == FBY_PROTO);
    }
}

static void try_genuine(struct fby_lane lane, const uint8_t *data, size_t size)
{
    static uint8_t  sealed[MAX_FRAME + FBY_SEAL_BYTES];
    struct fby_lane other   = lane;
    size_t          n_clear = size >= FBY_SEAL_CLEAR ? FBY_SEAL_CLEAR : 0;
    struct fby_seal seal, opened;
    demand(fby_lane_next(&lane, size, &seal) == FBY_OK);
    demand(fby_seal_frame(aead, &seal, (struct fby_span){data, n_clear},
               (struct fby_span){data + n_clear, size - n_clear},
               sealed) == FBY_OK);
    size_t n = size + FBY_SEAL_BYTES;
    demand(fby_lane_accept(&other, sealed, n, &opened) == FBY_OK);
    demand(fby_open_frame(aead, &opened, sealed, n) == FBY_OK);
    demand(size == 0 || memcmp(sealed + FBY_SEAL_HEAD, data, size) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct fby_route_secrets secrets = {
        .cipher = FBY_CIPHER_AES, .mode = FBY_SECURE_FULL};
    struct fby_lanes lanes;
    if (aead == NULL) {
        demand(fby_aead_create(&aead) == FBY_OK);
    }
    demand(fby_lanes_derive(&secrets, &lanes) == FBY_OK);
    if (size > 0 && size <= MAX_FRAME) {
        try_frame(lanes.to_client, data, size);
        try_genuine(lanes.to_client, data, size);
    }
    return 0;
}
