/* SPDX-License-Identifier: Apache-2.0 */
/* Draw random ids with libsodium, and format ids. */
#include "proto/ids.h"

#include <sodium.h>

#include "common/hash.h"

uint64_t fby_id_random(void)
{
    uint64_t value = 0; /* 0 is not a valid id, so it is drawn again */
    while (value == 0) {
        randombytes_buf(&value, sizeof(value));
    }
    return value;
}

struct fby_id_text fby_id_text(uint64_t value)
{
    struct fby_id_text id;
    uint8_t            bytes[8];
    for (unsigned i = 0; i < 8; i++) {
        bytes[i] = (uint8_t)(value >> (56 - 8 * i));
    }
    fby_hex(bytes, sizeof(bytes), id.text);
    return id;
}
