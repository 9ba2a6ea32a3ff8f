/* SPDX-License-Identifier: Apache-2.0 */
/* measure.h - measure the facts that findings.h turns into advice.
 *
 * A CPU time is the shortest of a few rounds, in this thread. Compared variants
 * run alternately, so other load on the machine affects both alike. */
#ifndef FBY_CLI_LINT_MEASURE_H
#define FBY_CLI_LINT_MEASURE_H

#include "cli/lint/findings.h"
#include "cli/lint/sample.h"

enum { FBY_LINT_ROUNDS = 3 }; /* measurements of each CPU time */

/* Measure all facts. `split` is the name of the split of `samples`.
 * Errors: those of fby_order_create and of the functions below. */
FBY_CHECKED fby_err fby_lint_measure(const struct fby_lint_samples *samples,
    const char *split, struct fby_lint_facts *out,
    struct fby_error_detail *why);

/* Measure field `f` on the wire: out->current and out->best (encodings.c).
 * Errors: FBY_FULL when memory is short; those of the codec. */
FBY_CHECKED fby_err fby_lint_measure_encodings(
    const struct fby_lint_samples *samples, uint32_t f,
    struct fby_lint_field *out);

/* If field `f` is a picture, measure it with other orders of its ops and with
 * smaller decoding: out->moves and out->scale (orders.c).
 * Errors: those of fby_field_plan and fby_field_write. */
FBY_CHECKED fby_err fby_lint_measure_trials(
    const struct fby_lint_samples *samples, uint32_t f,
    struct fby_lint_field *out);

#endif
