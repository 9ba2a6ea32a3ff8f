/* SPDX-License-Identifier: Apache-2.0 */
/* token_type.h - guess the type of the tokens in a flat file from its bytes.
 *
 * Ids of a vocabulary are small, so that the upper bytes of wide ones are 0, or
 * nearly so. Bytes of narrow ids that are read as wide ones are not. */
#ifndef FBY_WORKER_SOURCE_TOKENS_TOKEN_TYPE_H
#define FBY_WORKER_SOURCE_TOKENS_TOKEN_TYPE_H

#include <stddef.h>
#include <stdint.h>

#include "pipeline/types.h"

struct fby_token_bytes { /* zero at first */
    /* The largest of the numbers of 16 bits at the bytes 0, 2, 4 and 6 of 8, which
     * begin where the largest of all is. */
    uint16_t largest[4];
    size_t   n; /* bytes that were added */
};

/* Add `n` bytes of a file, which begin with a token. */
void fby_token_bytes_add(
    struct fby_token_bytes *self, const uint8_t *bytes, size_t n);

/* The type that the tokens seem to have; 0: it is not known. `declared` is the type
 * that they are read as; 0: none, and then nothing tells u16. A file that is no
 * wider and no narrower than its declared type gives 0. */
enum fby_type fby_token_bytes_type(
    const struct fby_token_bytes *self, enum fby_type declared);

#endif
