#include "bench/bench.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "cli/option.h"
#include "common/clock.h"

enum { FIRST_KEY = 0x100 };

/* ---- options ------------------------------------------------------------- */

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    const struct bench_option *options = state->input;
    if (key == ARGP_KEY_ARG) {
        argp_error(state, "'%s': a bench takes options only", arg);
    }
    if (key < FIRST_KEY || key >= FIRST_KEY + BENCH_MAX_OPTIONS) {
        return ARGP_ERR_UNKNOWN;
    }
    const struct bench_option *o = &options[key - FIRST_KEY];
    if (o->text != NULL) {
        *o->text = arg;
        return 0;
    }
    *o->value = fby_option_u64(state, o->name, arg, o->min, o->max);
    return 0;
}

void bench_options(int argc, char **argv, const struct bench_option *options,
    const char *about)
{
    struct argp_option table[BENCH_MAX_OPTIONS + 1] = {0};
    for (int i = 0; options[i].name != NULL; i++) {
        table[i] = (struct argp_option){.name = options[i].name,
            .key                              = FIRST_KEY + i,
            .arg = options[i].text != NULL ? "DIR" : "N",
            .doc = options[i].help};
    }
    const struct argp argp = {
        table, parse_option, NULL, about, NULL, NULL, NULL};
    struct bench_option copy[BENCH_MAX_OPTIONS];
    for (int i = 0; options[i].name != NULL; i++) {
        copy[i] = options[i];
    }
    fby_option_parse(&argp, argc, argv, copy);
}

void bench_die(const char *format, ...)
{
    va_list args;
    fflush(stdout);
    fputs("bench: ", stderr);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    exit(1);
}

/* ---- figures ------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
    const double *x = a;
    const double *y = b;
    return (*x > *y) - (*x < *y);
}

double bench_percentile(double *values, size_t n, unsigned percent)
{
    qsort(values, n, sizeof(*values), compare);
    size_t at = (n * percent + 99) / 100;
    return values[at > 0 ? at - 1 : 0];
}

double bench_median(double *values, size_t n)
{
    return bench_percentile(values, n, 50);
}

double bench_noise(double *values, size_t n)
{
    double median = bench_median(values, n);
    double spread =
        bench_percentile(values, n, 75) - bench_percentile(values, n, 25);
    return median > 0 ? 100 * spread / 2 / median : 0;
}

struct bench_figure bench_figure(double *values, size_t n)
{
    return (struct bench_figure){
        .median = bench_median(values, n), .noise = bench_noise(values, n)};
}

struct bench_pairs bench_pairs(
    uint64_t n, double (*a)(void *), double (*b)(void *), void *arg)
{
    double as[BENCH_MAX_PAIRS];
    double bs[BENCH_MAX_PAIRS];
    double ratios[BENCH_MAX_PAIRS];
    for (uint64_t i = 0; i < n; i++) {
        bool   a_first = i % 2 == 0;
        double first   = a_first ? a(arg) : b(arg);
        double other   = a_first ? b(arg) : a(arg);
        as[i]          = a_first ? first : other;
        bs[i]          = a_first ? other : first;
        ratios[i]      = as[i] / bs[i];
    }
    return (struct bench_pairs){.a = bench_figure(as, n),
        .b                         = bench_figure(bs, n),
        .ratio                     = bench_figure(ratios, n)};
}

/* splitmix64 */
uint64_t bench_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z          = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z          = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

void bench_sleep_until(int64_t until_ns)
{
    const struct timespec until = {
        .tv_sec  = (time_t)(until_ns / FBY_NS_PER_S),
        .tv_nsec = (long)(until_ns % FBY_NS_PER_S),
    };
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) != 0) {
    }
}

/* ---- output -------------------------------------------------------------- */

void bench_row(const char *name, const char *format, ...)
{
    va_list args;
    printf("  %-26s ", name);
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    putchar('\n');
    fflush(stdout);
}

void bench_goal(
    const char *name, double value, enum bench_sense sense, double goal)
{
    bool met = sense == BENCH_AT_MOST ? value <= goal : value >= goal;
    printf("%s ratio %.3g goal %s %.3g %s\n", name, value,
        sense == BENCH_AT_MOST ? "<=" : ">=", goal, met ? "met" : "missed");
    fflush(stdout);
}
