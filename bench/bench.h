/* bench.h - what every bench prints and how it reads its options.
 *
 * A bench measures on the machine it runs on and prints what it found: a short
 * table, then one line a goal:
 *     NAME ratio VALUE goal OP GOAL met|missed
 * A missed goal is a result, not a failure: the exit code is 0 unless the
 * bench could not measure. */
#ifndef FBY_BENCH_BENCH_H
#define FBY_BENCH_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- options ------------------------------------------------------------- */

/* --NAME N, a whole number; the value before parsing is the default. */
struct bench_option {
    const char *name;
    uint64_t   *value;
    uint64_t    min;
    uint64_t    max;
    const char *help;
};

/* Read the command line; at most BENCH_MAX_OPTIONS, the last one without a
 * name. `about` is the text of --help. Ends the program on --help and, with
 * code 2, on wrong usage. */
enum { BENCH_MAX_OPTIONS = 8 };
void bench_options(int argc, char **argv, const struct bench_option *options,
    const char *about);

/* End the program with a message and code 1: it cannot measure. */
_Noreturn void bench_die(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

/* ---- figures ------------------------------------------------------------- */

/* The value that `percent` of the n >= 1 values do not exceed; sorts them. */
double bench_percentile(double *values, size_t n, unsigned percent);
double bench_median(double *values, size_t n);

/* Half of what lies between the quartiles, in percent of the median: how far
 * runs of the same thing lie apart. Sorts. */
double bench_noise(double *values, size_t n);

/* The next number of a sequence that `state` (the seed) decides. */
uint64_t bench_random(uint64_t *state);

/* Wait; a bench waits on purpose, a test must not. */
void bench_sleep_until(int64_t until_ns);

/* ---- what is printed ----------------------------------------------------- */

/* "  name    text" on standard output. */
void bench_row(const char *name, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

enum bench_sense { BENCH_AT_MOST, BENCH_AT_LEAST };
void bench_goal(
    const char *name, double value, enum bench_sense sense, double goal);

#endif
