/* SPDX-License-Identifier: Apache-2.0 */
/* sealed.h - a control message with a valid hash.
 *
 * A fuzzer cannot guess the hash, so without this its messages would be refused
 * by the check of the hash. */
#ifndef FBY_TESTS_FUZZ_SEALED_H
#define FBY_TESTS_FUZZ_SEALED_H

#include <stdlib.h>
#include <string.h>

#include "common/bytes.h"
#include "common/hash.h"
#include "proto/wire.h"

/* A copy of `size` bytes that the caller frees. Bytes 8 to 15 are the hash of
 * the other bytes, unless the copy is shorter. */
static inline uint8_t *sealed(const void *frame, size_t size)
{
    uint8_t *copy = malloc(size + 1);
    if (size > 0) {
        memcpy(copy, frame, size);
    }
    if (size >= FBY_MESSAGE_HEAD) {
        uint64_t hash = fby_xxh3_64_two(
            copy, 8, copy + FBY_MESSAGE_HEAD, size - FBY_MESSAGE_HEAD);
        fby_store_le(copy + 8, hash, 8);
    }
    return copy;
}

#endif
