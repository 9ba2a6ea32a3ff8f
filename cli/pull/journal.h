/* SPDX-License-Identifier: Apache-2.0 */
/* journal.h - the files that a run of `forebay pull` writes: digests and token.
 *
 * A token is a text from which a later run resumes the stream (--resume).
 * The digest file has one line per step, so that ranks and resumed runs can be
 * compared line by line:
 *     EPOCH STEP FIRST_ROW ROWS STEP_DIGEST SAMPLE:DIGEST SAMPLE:DIGEST ...
 * The token file is replaced atomically (cli/output.h). */
#ifndef FBY_CLI_PULL_JOURNAL_H
#define FBY_CLI_PULL_JOURNAL_H

#include <stdio.h>

#include "common/err.h"
#include "forebay/forebay.h"

struct fby_journal {
    FILE       *digests; /* NULL: not requested */
    const char *digests_path;
    const char *token_path;  /* NULL: not requested */
    uint64_t    token_every; /* the token is written every so many steps */
    uint64_t    steps;       /* number of recorded steps */
    char        token[512];  /* of the last recorded batch; "": none */
};

/* Open `digests_path`, and check that `token_path` can be written. Both may be
 * NULL. Close the journal also after an error. Errors: FBY_IO, with cause. */
FBY_CHECKED fby_err fby_journal_open(struct fby_journal *self,
    const char *digests_path, const char *token_path, uint64_t token_every,
    struct fby_error_detail *why);

/* Record a batch: write its line, and its token if due. The line is flushed
 * before, so that a resumed run never lacks the line of an earlier step.
 * Errors: FBY_IO, with the cause. */
FBY_CHECKED fby_err fby_journal_record(struct fby_journal *self,
    const struct forebay_batch *batch, struct fby_error_detail *why);

/* Write the last token, and close the files. Errors: FBY_IO, with the cause. */
FBY_CHECKED fby_err fby_journal_close(
    struct fby_journal *self, struct fby_error_detail *why);

/* Copy to `out` the token of a --resume argument: the argument itself, or the
 * first line of FILE for @FILE.
 * Errors: FBY_CONFIG (no token, or too long), FBY_IO. */
FBY_CHECKED fby_err fby_journal_read_token(
    const char *text, char *out, size_t size, struct fby_error_detail *why);

#endif
