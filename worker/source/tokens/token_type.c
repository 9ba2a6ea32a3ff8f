/* SPDX-License-Identifier: Apache-2.0 */
/* token_type.c - guess the type of tokens from their bytes: see token_type.h. */
#include "worker/source/tokens/token_type.h"

enum {
    LEAST_BYTES = 256,
    MOST_UPPER  = 15,  /* of ids in 32 bits: the vocabulary is below 2^20 */
    LARGE       = 1024 /* an id of a large vocabulary */
};

void fby_token_bytes_add(
    struct fby_token_bytes *self, const uint8_t *bytes, size_t n)
{
    uint16_t largest[4] = {0};
    size_t   first      = 0;
    for (size_t i = 0; i + 8 <= n; i += 2) {
        uint16_t number = (uint16_t)(bytes[i] | bytes[i + 1] << 8);
        size_t   k      = i / 2 % 4;
        largest[k]      = number > largest[k] ? number : largest[k];
    }
    for (size_t k = 1; k < 4; k++) {
        first = largest[k] > largest[first] ? k : first;
    }
    for (size_t k = 0; k < 4; k++) {
        uint16_t number = largest[(first + k) % 4];
        self->largest[k] =
            number > self->largest[k] ? number : self->largest[k];
    }
    self->n += n;
}

enum fby_type fby_token_bytes_type(
    const struct fby_token_bytes *self, enum fby_type declared)
{
    const uint16_t *of    = self->largest;
    uint16_t        low   = of[0] > of[2] ? of[0] : of[2];
    uint16_t        upper = of[1] > of[3] ? of[1] : of[3];
    uint32_t        bytes = declared != 0 ? fby_type_bytes(declared) : 0;
    enum fby_type   found = (enum fby_type)0;
    if (self->n < LEAST_BYTES || low == 0 || bytes == 1) {
        return found;
    }
    if (of[2] == 0 && of[3] == 0) {
        found = FBY_I64;
    } else if (upper == 0 || (upper <= MOST_UPPER && low >= LARGE)) {
        found = FBY_U32;
    } else if (bytes > 2 && upper > MOST_UPPER && 2 * upper > low) {
        found = FBY_U16;
    }
    return found != 0 && fby_type_bytes(found) == bytes ? (enum fby_type)0
                                                        : found;
}
