#include "cli/doctor/report.h"

#include <string.h>

#include "common/utf8.h"

void fby_doctor_print(const struct fby_doctor_line *line, FILE *out)
{
    const struct fby_verdict *verdict = &line->verdict;
    fprintf(out, "%-4s  %-10s  %s", fby_doctor_state_name(verdict->state),
        line->check, verdict->finding);
    if (verdict->advice[0] != '\0') {
        fprintf(out, " -> %s", verdict->advice);
    }
    fputc('\n', out);
}

static void replace_non_ascii(char *text)
{
    for (char *at = text; *at != '\0'; at++) {
        if ((unsigned char)*at >= 0x80) {
            *at = '?';
        }
    }
}

static json_t *text_object(const char *text)
{
    char clean[sizeof(((struct fby_verdict *)NULL)->finding)];
    snprintf(clean, sizeof(clean), "%s", text);
    if (!fby_is_utf8(clean, strlen(clean))) {
        replace_non_ascii(clean);
    }
    return json_string(clean);
}

json_t *fby_doctor_object(const struct fby_doctor_line *line)
{
    const struct fby_verdict *verdict = &line->verdict;
    return json_pack("{s:s, s:s, s:o, s:o}", "check", line->check, "state",
        fby_doctor_state_name(verdict->state), "finding",
        text_object(verdict->finding), "advice",
        verdict->advice[0] != '\0' ? text_object(verdict->advice)
                                   : json_null());
}
