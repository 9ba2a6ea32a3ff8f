/* report.h - what a run of `forebay pull` says at its end.
 *
 * A short table for people, or one JSON object (--json) for programs, made of
 * the same numbers. */
#ifndef FBY_CLI_PULL_REPORT_H
#define FBY_CLI_PULL_REPORT_H

#include <stdio.h>

#include "forebay/forebay.h"

struct fby_report {
    struct forebay_stats stats;
    double               seconds;    /* first request to last batch */
    char                 digest[33]; /* hex; "" when none was taken */
    const char          *token;      /* to go on from; "" when none */
    DLDevice             device;     /* of the batches; 0: there was none */
};

void fby_report_table(const struct fby_report *report, FILE *out);
void fby_report_json(const struct fby_report *report, FILE *out);

#endif
