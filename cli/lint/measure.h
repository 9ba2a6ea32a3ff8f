/* measure.h - the facts that findings.h decides from, measured.
 *
 * CPU times are those of this thread, the least of a few rounds in which the
 * ways compared take turns, so that a busy machine disturbs them little. */
#ifndef FBY_CLI_LINT_MEASURE_H
#define FBY_CLI_LINT_MEASURE_H

#include "cli/lint/findings.h"
#include "cli/lint/sample.h"

enum { FBY_LINT_ROUNDS = 3 };

/* All of them. `split` as for fby_pipeline_split.
 * Errors: those of the order; FBY_FULL when memory is short. */
FBY_CHECKED fby_err fby_lint_measure(const struct fby_lint_sample *sample,
    const char *split, struct fby_lint_facts *out, struct fby_why *why);

/* Its parts, of field `f`: bytes on the wire (encodings.c) ... */
FBY_CHECKED fby_err fby_lint_measure_codings(
    const struct fby_lint_sample *sample, uint32_t f,
    struct fby_lint_field *out);
/* ... and other ways to make it (orders.c). */
FBY_CHECKED fby_err fby_lint_measure_trials(
    const struct fby_lint_sample *sample, uint32_t f,
    struct fby_lint_field *out);

#endif
