/* SPDX-License-Identifier: Apache-2.0 */
/* token.h - the resume token: a position in a stream as one printable word.
 *
 * A token names the stream (content, data, fingerprint, seed) and a position
 * (epoch, step). It does not depend on ranks, world size or workers: they may
 * differ when a run is resumed. proto/PROTOCOL.md, "Token", is the
 * definition. */
#ifndef FBY_PIPELINE_TOKEN_H
#define FBY_PIPELINE_TOKEN_H

#include "common/err.h"
#include "common/hash.h"

enum {
    FBY_TOKEN_BYTES     = 129,
    FBY_TOKEN_TEXT_SIZE = 178 /* "fby1-", 172 letters, NUL */
};

struct fby_token {
    struct fby_digest content;     /* digest of the pipeline, see canon.h */
    struct fby_digest data;        /* digest of the dataset's files */
    struct fby_digest fingerprint; /* digest of the decoders and ops */
    uint64_t          seed;
    uint64_t          epoch;
    uint64_t          step; /* the next step of `epoch` to deliver */
};

/* Write the text of `token` to `out`, and return `out`. */
char *fby_token_encode(
    const struct fby_token *token, char out[FBY_TOKEN_TEXT_SIZE]);

/* Read a token. White space around `text` is ignored. Errors: FBY_USAGE. */
FBY_CHECKED fby_err fby_token_decode(
    const char *text, struct fby_token *out, struct fby_error_detail *why);

#endif
