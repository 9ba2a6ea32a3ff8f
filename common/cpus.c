#include "common/cpus.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_SIZE = 4096 };

/* ---- Lists --------------------------------------------------------------- */

static bool read_number(const char **at, unsigned long *out)
{
    char *end = NULL;
    if (!isdigit((unsigned char)**at)) {
        return false;
    }
    *out = strtoul(*at, &end, 10);
    *at  = end;
    return *out < CPU_SETSIZE;
}

/* "N" or "N-M". */
static bool read_range(const char **at, cpu_set_t *out)
{
    unsigned long first = 0;
    if (!read_number(at, &first)) {
        return false;
    }
    unsigned long last = first;
    if (**at == '-') {
        ++*at;
        if (!read_number(at, &last) || last < first) {
            return false;
        }
    }
    for (unsigned long cpu = first; cpu <= last; cpu++) {
        CPU_SET(cpu, out);
    }
    return true;
}

fby_err fby_cpus_parse(const char *text, cpu_set_t *out, struct fby_why *why)
{
    const char *at = text;
    CPU_ZERO(out);
    bool good = read_range(&at, out);
    while (good && *at == ',') {
        at++;
        good = read_range(&at, out);
    }
    at += *at == '\n';
    if (good && *at == '\0') {
        return FBY_OK;
    }
    return fby_because(why, FBY_USAGE,
        "'%.100s' is not a list of CPUs; write for example 0-3,8", text);
}

/* The last of the consecutive CPUs in `set` from `first` on. */
static size_t range_end(const cpu_set_t *set, size_t first)
{
    size_t last = first;
    while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, set)) {
        last++;
    }
    return last;
}

struct fby_cpus_text fby_cpus_show(const cpu_set_t *set)
{
    struct fby_cpus_text out  = {{0}};
    size_t               used = 0;
    for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET(cpu, set)) {
            continue;
        }
        if (sizeof(out.text) - used < sizeof(",1023-1023,...")) {
            snprintf(out.text + used, sizeof(out.text) - used, ",...");
            break;
        }
        size_t last = range_end(set, cpu);
        used += (size_t)snprintf(out.text + used, sizeof(out.text) - used,
            last > cpu ? "%s%zu-%zu" : "%s%zu", used > 0 ? "," : "", cpu, last);
        cpu = last;
    }
    return out;
}

/* ---- This machine -------------------------------------------------------- */

/* The first CPU of `asked` that is not in `available`; CPU_SETSIZE: none. */
static size_t first_missing(const cpu_set_t *asked, const cpu_set_t *available)
{
    size_t cpu = 0;
    while (cpu < CPU_SETSIZE &&
           !(CPU_ISSET(cpu, asked) && !CPU_ISSET(cpu, available))) {
        cpu++;
    }
    return cpu;
}

fby_err fby_cpus_check(const cpu_set_t *asked, const cpu_set_t *allowed,
    const cpu_set_t *online, struct fby_why *why)
{
    size_t cpu = first_missing(asked, online);
    if (cpu < CPU_SETSIZE) {
        return fby_because(why, FBY_USAGE,
            "CPU %zu is not online; this machine has %s", cpu,
            fby_cpus_show(online).text);
    }
    cpu = first_missing(asked, allowed);
    if (cpu < CPU_SETSIZE) {
        return fby_because(why, FBY_USAGE,
            "CPU %zu is not allowed; a cpuset or taskset limits this process "
            "to %s",
            cpu, fby_cpus_show(allowed).text);
    }
    return FBY_OK;
}

static fby_err read_online(cpu_set_t *out)
{
    char           line[LINE_SIZE];
    struct fby_why why;
    FILE          *file = fopen("/sys/devices/system/cpu/online", "re");
    if (file == NULL) {
        return FBY_NOT_FOUND;
    }
    bool got = fgets(line, sizeof(line), file) != NULL;
    fclose(file);
    return got ? fby_cpus_parse(line, out, &why) : FBY_NOT_FOUND;
}

fby_err fby_cpus_usable(const char *text, cpu_set_t *out, struct fby_why *why)
{
    cpu_set_t allowed;
    cpu_set_t online;
    fby_err   err = fby_cpus_parse(text, out, why);
    if (err != FBY_OK) {
        return err;
    }
    if (fby_cpus_allowed(&allowed) != FBY_OK) {
        return FBY_OK; /* sched_setaffinity will report what it refuses */
    }
    if (read_online(&online) != FBY_OK) {
        online = allowed;
    }
    return fby_cpus_check(out, &allowed, &online, why);
}

fby_err fby_cpus_allowed(cpu_set_t *out)
{
    return sched_getaffinity(0, sizeof(*out), out) == 0 ? FBY_OK : FBY_SYS;
}

fby_err fby_cpus_confine(const cpu_set_t *set, struct fby_why *why)
{
    if (sched_setaffinity(0, sizeof(*set), set) == 0) {
        return FBY_OK;
    }
    return fby_because(why, FBY_SYS, "cannot run on the CPUs %s: %s",
        fby_cpus_show(set).text, strerror(errno));
}
