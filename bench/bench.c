/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/bench.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/option.h"
#include "common/clock.h"

/* Keys above all characters, since the options have no short form. */
enum { DATA_KEY = 0x100, FIRST_KEY };

struct command_line {
    const struct bench_option *options;
    const char **data; /* set by --data DIR; NULL: no such option */
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    const struct command_line *self = state->input;
    if (key == ARGP_KEY_ARG) {
        argp_error(state, "'%s': a bench takes options only", arg);
    }
    if (key == DATA_KEY) {
        *self->data = arg;
        return 0;
    }
    if (key < FIRST_KEY || key >= FIRST_KEY + BENCH_MAX_OPTIONS) {
        return ARGP_ERR_UNKNOWN;
    }
    const struct bench_option *option = &self->options[key - FIRST_KEY];
    *option->value                    = fby_option_parse_u64(
                           state, option->name, arg, option->min, option->max);
    return 0;
}

void bench_parse_options(int argc, char **argv,
    const struct bench_option *options, const char *about, const char **data)
{
    struct argp_option  table[BENCH_MAX_OPTIONS + 2] = {0}; /* --data, end */
    struct command_line command_line                 = {options, data};
    int                 n                            = 0;
    for (; options[n].name != NULL; n++) {
        table[n] = (struct argp_option){
            options[n].name, FIRST_KEY + n, "N", 0, options[n].help, 0};
    }
    if (data != NULL) {
        table[n] = (struct argp_option){"data", DATA_KEY, "DIR", 0,
            "A folder of photographs (JPEG), at any depth; without one the "
            "pictures are synthetic and no goal is judged",
            0};
    }
    const struct argp argp = {
        table, parse_option, NULL, about, NULL, NULL, NULL};
    fby_option_parse(&argp, argc, argv, &command_line);
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

static int compare_doubles(const void *a, const void *b)
{
    const double *x = a;
    const double *y = b;
    return (*x > *y) - (*x < *y);
}

double bench_percentile(double *values, size_t n, unsigned percent)
{
    qsort(values, n, sizeof(*values), compare_doubles);
    size_t rank = (n * percent + 99) / 100; /* rounded up; the lowest is 1 */
    return values[rank > 0 ? rank - 1 : 0];
}

double bench_median(double *values, size_t n)
{
    return bench_percentile(values, n, 50);
}

struct bench_figure bench_figure_of(double *values, size_t n)
{
    double median = bench_median(values, n);
    double quartile_range =
        bench_percentile(values, n, 75) - bench_percentile(values, n, 25);
    double noise = median > 0 ? 100 * (quartile_range / 2) / median : 0;
    return (struct bench_figure){.median = median, .noise = noise};
}

struct bench_pairs bench_run_pairs(
    uint64_t n, double (*a)(void *), double (*b)(void *), void *arg)
{
    double a_values[BENCH_MAX_PAIRS];
    double b_values[BENCH_MAX_PAIRS];
    double ratios[BENCH_MAX_PAIRS];
    for (uint64_t i = 0; i < n; i++) {
        bool   a_first = i % 2 == 0;
        double first   = a_first ? a(arg) : b(arg);
        double second  = a_first ? b(arg) : a(arg);
        a_values[i]    = a_first ? first : second;
        b_values[i]    = a_first ? second : first;
        ratios[i]      = a_values[i] / b_values[i];
    }
    return (struct bench_pairs){n, bench_figure_of(a_values, n),
        bench_figure_of(b_values, n), bench_figure_of(ratios, n)};
}

bool bench_is_warm(double elapsed_s, const double *times, size_t n)
{
    if (elapsed_s < 0.5 || n < BENCH_STEADY_RUNS) {
        return false;
    }
    double least = times[n - 1];
    double most  = least;
    for (size_t i = n - BENCH_STEADY_RUNS; i < n; i++) {
        least = times[i] < least ? times[i] : least;
        most  = times[i] > most ? times[i] : most;
    }
    return most <= least * 1.01;
}

void bench_warm_up(const char *name, double (*measure)(void *), void *arg)
{
    enum { LIMIT_S = 5 };
    double  times[BENCH_STEADY_RUNS] = {0}; /* the last ones */
    double  elapsed_s                = 0;
    int64_t begun_ns                 = fby_now_ns();
    size_t  n                        = 0;
    while (elapsed_s < LIMIT_S) {
        memmove(times, times + 1, sizeof(times) - sizeof(times[0]));
        times[BENCH_STEADY_RUNS - 1] = measure(arg);
        n         = n < BENCH_STEADY_RUNS ? n + 1 : BENCH_STEADY_RUNS;
        elapsed_s = (double)(fby_now_ns() - begun_ns) / 1e9;
        if (bench_is_warm(elapsed_s, times, n)) {
            return;
        }
    }
    printf("%s: do not trust these figures: after %d s of warming up, runs "
           "still differ by more than 1 %%\n",
        name, LIMIT_S);
}

uint64_t bench_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z          = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z          = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

void bench_sleep_until(int64_t until_ns)
{
    const struct timespec until = {
        .tv_sec  = (time_t)(until_ns / FBY_NS_PER_S),
        .tv_nsec = (long)(until_ns % FBY_NS_PER_S),
    };
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) != 0) {
        /* a signal interrupted the sleep: go on */
    }
}

void bench_print(const char *name, const char *format, ...)
{
    va_list args;
    printf("  %-26s ", name);
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
    putchar('\n');
    fflush(stdout);
}

void bench_print_ratio(const struct bench_pairs *pairs)
{
    bench_print("ratio", "%.3f, noise %.1f %%, %" PRIu64 " pairs",
        pairs->ratio.median, pairs->ratio.noise, pairs->n);
}

void bench_judge(
    const char *name, double value, enum bench_bound bound, double goal)
{
    bool met = bound == BENCH_AT_MOST ? value <= goal : value >= goal;
    printf("%s ratio %.3g goal %s %.3g %s\n", name, value,
        bound == BENCH_AT_MOST ? "<=" : ">=", goal, met ? "met" : "missed");
    fflush(stdout);
}
