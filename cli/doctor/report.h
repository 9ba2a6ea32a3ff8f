/* report.h - print verdicts as text or JSON. */
#ifndef FBY_CLI_DOCTOR_REPORT_H
#define FBY_CLI_DOCTOR_REPORT_H

#include <jansson.h>
#include <stdio.h>

#include "cli/doctor/doctor.h"

/* Print one line: state, check, finding, advice. */
void fby_doctor_print(const struct fby_doctor_line *line, FILE *out);

/* The same as a new JSON object {check, state, finding, advice}; advice is null
 * if there is none. In a text that is not UTF-8, bytes above 127 become `?`. */
json_t *fby_doctor_object(const struct fby_doctor_line *line);

#endif
