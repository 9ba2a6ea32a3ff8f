#include "worker/source/shards/tar_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/text.h"

enum { TAR_END = sizeof(".tar") - 1 };

bool fby_is_tar_name(const char *name)
{
    return fby_text_ends_with(name, ".tar");
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Find the offset of the last digits of a name, and the number of digits. */
static void measure(const char *name, int *prefix, int *digits)
{
    int end = (int)strlen(name) - TAR_END;
    *prefix = end;
    while (*prefix > 0 && is_digit(name[*prefix - 1])) {
        (*prefix)--;
    }
    *digits = end - *prefix;
}

struct fby_tar_run fby_tar_run_begin(const char *name)
{
    struct fby_tar_run run = {
        .first = name, .last = name, .count = 1, .even = true, .dense = true};
    measure(name, &run.prefix, &run.digits);
    return run;
}

bool fby_tar_run_join(struct fby_tar_run *run, const char *name)
{
    enum { SURE = 18 /* digits that fit a number */ };
    int prefix = 0;
    int digits = 0;
    measure(name, &prefix, &digits);
    if (prefix != run->prefix || digits == 0 || run->digits == 0 ||
        strncmp(name, run->first, (size_t)prefix) != 0) {
        return false;
    }
    run->even  = run->even && digits == run->digits;
    run->dense = run->dense && run->even && digits <= SURE &&
                 strtoll(name + prefix, NULL, 10) ==
                     strtoll(run->last + prefix, NULL, 10) + 1;
    run->last = name;
    run->count++;
    return true;
}

void fby_tar_run_pattern(const struct fby_tar_run *run, char *out, size_t size)
{
    enum { MAX_MARKS = 32 };
    char marks[MAX_MARKS] = "*";
    if (run->count == 1) {
        snprintf(out, size, "%s", run->first);
        return;
    }
    if (run->dense) {
        snprintf(out, size, "%.*s{%.*s..%.*s}.tar", run->prefix, run->first,
            run->digits, run->first + run->prefix, run->digits,
            run->last + run->prefix);
        return;
    }
    if (run->even && run->digits < MAX_MARKS) {
        memset(marks, '?', (size_t)run->digits);
        marks[run->digits] = '\0';
    }
    snprintf(out, size, "%.*s%s.tar", run->prefix, run->first, marks);
}
