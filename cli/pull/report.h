/* SPDX-License-Identifier: Apache-2.0 */
/* report.h - print the result of a run of `forebay pull`.
 *
 * The table, for people, and the JSON object (--json), for programs, have the
 * same numbers. */
#ifndef FBY_CLI_PULL_REPORT_H
#define FBY_CLI_PULL_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "forebay/forebay.h"

struct fby_report {
    struct forebay_stats stats;
    const char          *noun;       /* for a sample: "image" */
    double               seconds;    /* of the run, after opening the stream */
    char                 digest[33]; /* hex digest of the stream; "": none */
    const char          *token;      /* resumes after the run; "": none */
    DLDevice             device;     /* of the tensors; type 0: no batch */
    bool                 has_model;  /* --step-ms stands for a model's steps */
};

/* Print the result as a table. */
void fby_report_table(const struct fby_report *report, FILE *out);

/* Print the result as one JSON object. */
void fby_report_json(const struct fby_report *report, FILE *out);

#endif
