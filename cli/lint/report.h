/* SPDX-License-Identifier: Apache-2.0 */
/* report.h - print findings as text or JSON. */
#ifndef FBY_CLI_LINT_REPORT_H
#define FBY_CLI_LINT_REPORT_H

#include <stdio.h>

#include "cli/lint/findings.h"

struct fby_lint_report {               /* the input of both printers */
    const char                  *file; /* path of the pipeline file */
    const struct fby_lint_facts *facts;
    const struct fby_finding    *findings;
    uint32_t                     n; /* number of findings */
};

/* Print the findings as text, and a last line with their number. */
void fby_lint_report_text(const struct fby_lint_report *report, FILE *out);

/* Print one JSON object: file (null if its name is not UTF-8), samples, refused
 * and findings. */
void fby_lint_report_json(const struct fby_lint_report *report, FILE *out);

#endif
