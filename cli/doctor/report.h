/* report.h - verdicts as people and programs read them. */
#ifndef FBY_CLI_DOCTOR_REPORT_H
#define FBY_CLI_DOCTOR_REPORT_H

#include <jansson.h>
#include <stdio.h>

#include "cli/doctor/doctor.h"

/* One line: state, check, finding, advice. */
void fby_doctor_print(const struct fby_doctor_line *line, FILE *out);

/* The same as an object {check, state, finding, advice}, where advice is null
 * when there is none; the caller's. What is no UTF-8 becomes `?`. */
json_t *fby_doctor_object(const struct fby_doctor_line *line);

#endif
