/* journal.h - what a run leaves on disk: digests of steps, and its token.
 *
 * The digest file gets a line a step, so that ranks and resumed runs can be
 * compared by lines:
 *     EPOCH STEP FIRST_ROW ROWS STEP_DIGEST SAMPLE:DIGEST SAMPLE:DIGEST ...
 * A token file is replaced whole (written beside it, then renamed), so that a
 * reader never sees half of one. */
#ifndef FBY_CLI_PULL_JOURNAL_H
#define FBY_CLI_PULL_JOURNAL_H

#include <stdio.h>

#include "common/err.h"
#include "forebay/forebay.h"

struct fby_journal {
    FILE       *digests; /* NULL: none wanted */
    const char *digests_path;
    const char *token_path;  /* NULL: none wanted */
    uint64_t    token_every; /* steps */
    uint64_t    steps;       /* recorded so far */
    char        token[512];  /* of the last batch taken */
};

/* Open `digests_path`, and see that `token_path` can be written; both may be
 * NULL. Close it also after an error. Errors: FBY_IO, with the cause. */
FBY_CHECKED fby_err fby_journal_open(struct fby_journal *self,
    const char *digests_path, const char *token_path, uint64_t token_every,
    struct fby_why *why);

/* Note one batch: its line is on disk before its token is. */
FBY_CHECKED fby_err fby_journal_batch(struct fby_journal *self,
    const struct forebay_batch *batch, struct fby_why *why);

/* Write the last token and close. */
FBY_CHECKED fby_err fby_journal_close(
    struct fby_journal *self, struct fby_why *why);

/* The text of `--resume`: a token, or with @FILE the first line of a file. */
FBY_CHECKED fby_err fby_journal_read_token(
    const char *text, char *out, size_t size, struct fby_why *why);

#endif
