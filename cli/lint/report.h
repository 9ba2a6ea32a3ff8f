/* SPDX-License-Identifier: Apache-2.0 */
/* report.h - print findings as text or JSON. */
#ifndef FBY_CLI_LINT_REPORT_H
#define FBY_CLI_LINT_REPORT_H

#include <jansson.h>
#include <stdio.h>

#include "cli/lint/findings.h"

struct fby_lint_report {                /* what was found in a split */
    const char                  *file;  /* path of the pipeline file */
    const char                  *split; /* NULL: the file has no other */
    const struct fby_lint_facts *facts;
    const struct fby_finding    *findings;
    uint32_t                     n; /* number of findings */
};

/* Print the findings as text, and a last line with their number. */
void fby_lint_report_text(const struct fby_lint_report *report, FILE *out);

/* Create a JSON object: file (null if its name is not UTF-8), samples, refused
 * and findings. Ownership: the caller calls json_decref(). */
json_t *fby_lint_report_begin_json(const char *file);

/* Add a report to such an object. */
void fby_lint_report_add_json(
    const struct fby_lint_report *report, json_t *root);

void fby_lint_report_print_json(const json_t *root, FILE *out);

/* Findings that were reported for earlier splits. Zero-initialize it. */
struct fby_lint_found {
    struct fby_lint_place *places;
    uint32_t               n;
};

/* Keep, in order, those of `n` findings that no earlier split has in the same
 * line; bad samples are always kept. Returns their number. */
uint32_t fby_lint_found_keep_new(
    struct fby_lint_found *self, struct fby_finding *findings, uint32_t n);

void fby_lint_found_fini(struct fby_lint_found *self);

#endif
