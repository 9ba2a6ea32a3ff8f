/* measure.h - measure the facts that findings.h decides from.
 *
 * CPU times are those of this thread, the least of a few rounds. The compared
 * ways alternate, so that other load on the machine disturbs them little. */
#ifndef FBY_CLI_LINT_MEASURE_H
#define FBY_CLI_LINT_MEASURE_H

#include "cli/lint/findings.h"
#include "cli/lint/sample.h"

enum { FBY_LINT_ROUNDS = 3 };

/* Measure all facts. `split` is as for fby_pipeline_split.
 * Errors: those of the order; FBY_FULL when memory is short. */
FBY_CHECKED fby_err fby_lint_measure(const struct fby_lint_sample *sample,
    const char *split, struct fby_lint_facts *out, struct fby_why *why);

/* Measure the bytes of field `f` on the wire (encodings.c).
 * Errors: FBY_FULL when memory is short; those of the codec. */
FBY_CHECKED fby_err fby_lint_measure_encodings(
    const struct fby_lint_sample *sample, uint32_t f,
    struct fby_lint_field *out);

/* Try other ways to make field `f`, if it is a picture (orders.c).
 * Errors: those of fby_field_plan and fby_field_write. */
FBY_CHECKED fby_err fby_lint_measure_trials(
    const struct fby_lint_sample *sample, uint32_t f,
    struct fby_lint_field *out);

#endif
