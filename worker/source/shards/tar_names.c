/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/source/shards/tar_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/text.h"

enum { TAR_ENDING = sizeof(".tar") - 1 /* bytes */ };

bool fby_is_tar_name(const char *name)
{
    return fby_text_ends_with(name, ".tar");
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Count the digits at the end of NAME in NAME.tar, and the bytes before. */
static void find_digits(const char *name, int *prefix, int *digits)
{
    int end = (int)strlen(name) - TAR_ENDING;
    *prefix = end;
    while (*prefix > 0 && is_digit(name[*prefix - 1])) {
        (*prefix)--;
    }
    *digits = end - *prefix;
}

struct fby_tar_group fby_tar_group_begin(const char *name)
{
    struct fby_tar_group run = {.first = name, .last = name, .count = 1};
    run.equal_digits         = true;
    run.no_gaps              = true;
    find_digits(name, &run.prefix, &run.digits);
    return run;
}

bool fby_tar_group_join(struct fby_tar_group *run, const char *name)
{
    enum { MAX_DIGITS = 18 /* so many digits fit in 64 bits */ };
    int prefix = 0;
    int digits = 0;
    find_digits(name, &prefix, &digits);
    if (prefix != run->prefix || digits == 0 || run->digits == 0 ||
        strncmp(name, run->first, (size_t)prefix) != 0) {
        return false;
    }
    run->equal_digits = run->equal_digits && digits == run->digits;
    run->no_gaps = run->no_gaps && run->equal_digits && digits <= MAX_DIGITS &&
                   strtoll(name + prefix, NULL, 10) ==
                       strtoll(run->last + prefix, NULL, 10) + 1;
    run->last = name;
    run->count++;
    return true;
}

void fby_tar_group_pattern(
    const struct fby_tar_group *run, char *out, size_t size)
{
    enum { MAX_WILDCARDS = 32 /* bytes, with NUL */ };
    char wildcards[MAX_WILDCARDS] = "*";
    if (run->count == 1) {
        snprintf(out, size, "%s", run->first);
        return;
    }
    if (run->no_gaps) {
        snprintf(out, size, "%.*s{%.*s..%.*s}.tar", run->prefix, run->first,
            run->digits, run->first + run->prefix, run->digits,
            run->last + run->prefix);
        return;
    }
    if (run->equal_digits && run->digits < MAX_WILDCARDS) {
        memset(wildcards, '?', (size_t)run->digits);
        wildcards[run->digits] = '\0';
    }
    snprintf(out, size, "%.*s%s.tar", run->prefix, run->first, wildcards);
}
