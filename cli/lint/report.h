/* report.h - print findings as text or JSON. */
#ifndef FBY_CLI_LINT_REPORT_H
#define FBY_CLI_LINT_REPORT_H

#include <stdio.h>

#include "cli/lint/findings.h"

struct fby_lint_report {
    const char                  *file; /* the pipeline's */
    const struct fby_lint_facts *facts;
    const struct fby_finding    *findings;
    uint32_t                     n;
};

/* The name of a kind, such as "op-order". */
const char *fby_finding_name(enum fby_finding_kind kind);

/* The saving in percent; 0 if the finding has none. */
double fby_finding_percent(const struct fby_finding *finding);

/* Print the findings as text, and a last line with their number. */
void fby_lint_report_table(const struct fby_lint_report *report, FILE *out);

/* Print one JSON object: file (null if its name is not UTF-8), samples, refused
 * and findings. */
void fby_lint_report_json(const struct fby_lint_report *report, FILE *out);

#endif
