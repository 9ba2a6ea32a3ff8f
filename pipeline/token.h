/* token.h - where to go on: a place in a stream, as one printable word.
 *
 * It names the stream (content, data, fingerprint, seed) and a position in
 * it, and nothing of ranks, worlds or workers, so any of these may differ when
 * a run goes on. proto/PROTOCOL.md, "Token", has the bytes. */
#ifndef FBY_PIPELINE_TOKEN_H
#define FBY_PIPELINE_TOKEN_H

#include "common/err.h"
#include "common/hash.h"

enum {
    FBY_TOKEN_BYTES     = 129,
    FBY_TOKEN_TEXT_SIZE = 178 /* "fby1-", 172 letters, NUL */
};

struct fby_token {
    struct fby_digest content;
    struct fby_digest data;
    struct fby_digest fingerprint;
    uint64_t          seed;
    uint64_t          epoch;
    uint64_t          step; /* the next to deliver, in its epoch */
};

/* Returns `out`. */
char *fby_token_encode(
    const struct fby_token *token, char out[FBY_TOKEN_TEXT_SIZE]);

/* White space around `text` is ignored, so that a file's last newline does no
 * harm. Errors: FBY_USAGE, with what is wrong with it in `why`. */
FBY_CHECKED fby_err fby_token_decode(
    const char *text, struct fby_token *out, struct fby_why *why);

#endif
