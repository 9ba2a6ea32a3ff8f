/* report.h - findings as people and programs read them. */
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

/* "op-order" */
const char *fby_finding_name(enum fby_finding_kind kind);
double      fby_finding_percent(const struct fby_finding *finding);

void fby_lint_report_table(const struct fby_lint_report *report, FILE *out);
/* One object: file (null when its name is no UTF-8), samples, refused and
 * findings. */
void fby_lint_report_json(const struct fby_lint_report *report, FILE *out);

#endif
