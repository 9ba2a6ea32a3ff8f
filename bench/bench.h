/* bench.h - options, statistics and output of every bench.
 *
 * A bench measures on the machine on which it runs and prints a short table,
 * then one line for each goal:
 *     NAME ratio VALUE goal OP GOAL met|missed
 * A missed goal is a result, not a failure: the exit code is 0 unless the
 * bench could not measure. */
#ifndef FBY_BENCH_BENCH_H
#define FBY_BENCH_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- options ------------------------------------------------------------- */

/* The option --NAME N, a whole number, or --NAME DIR if `text` is not NULL.
 * *value or *text before parsing is the default. */
struct bench_option {
    const char  *name;
    uint64_t    *value;
    uint64_t     min;
    uint64_t     max;
    const char  *help;
    const char **text;
};

enum { BENCH_MAX_OPTIONS = 8 };

/* Parse the command line. `options` has at most BENCH_MAX_OPTIONS entries and
 * ends with one without a name. `about` is the text of --help. Ends the program
 * on --help and, with code 2, on wrong usage. */
void bench_options(int argc, char **argv, const struct bench_option *options,
    const char *about);

/* Print a message and exit with code 1, since the bench cannot measure. */
_Noreturn void bench_die(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

/* ---- figures ------------------------------------------------------------- */

/* The value that `percent` of the n >= 1 values do not exceed. Sorts them. */
double bench_percentile(double *values, size_t n, unsigned percent);
double bench_median(double *values, size_t n);

/* The spread of equal runs: half of the interquartile range, in percent of the
 * median. Sorts the values. */
double bench_noise(double *values, size_t n);

struct bench_figure { /* of many runs */
    double median;
    double noise; /* see bench_noise() */
};

/* The median and noise of `n` runs. Sorts the values. */
struct bench_figure bench_figure(double *values, size_t n);

enum { BENCH_MAX_PAIRS = 99 };
struct bench_pairs {
    struct bench_figure a, b, ratio;
};

/* Run `a` and `b` in turn, so that other load affects both alike; they also
 * alternate in running first. `ratio` is the median of the pairs' a / b. */
struct bench_pairs bench_pairs(
    uint64_t n, double (*a)(void *), double (*b)(void *), void *arg);

/* The next number of a random sequence; the initial `state` is its seed. */
uint64_t bench_random(uint64_t *state);

/* Sleep until this time of fby_now_ns(). For benches only: a test must not
 * sleep. */
void bench_sleep_until(int64_t until_ns);

/* ---- the machine --------------------------------------------------------- */

/* Print the machine on which the bench `name` runs, and sample its other load.
 * Call it first, while the bench itself is idle. Sets the heap's thresholds as
 * `forebay` does. */
void bench_begin(const char *name);

/* Print whether figures with this noise can be trusted. They cannot if the
 * noise is above 10 %, if more than 2 % of the CPU time since bench_begin() was
 * stolen by the host, if other processes used more than 10 % of it just before,
 * or if the machine has fewer than `cores`. With `cores` 0 (CPU time was
 * measured) the load of other processes does not count. */
void bench_trust(double noise, uint32_t cores);

/* CPU time of this process, all threads. */
int64_t bench_own_cpu_ns(void);

/* Wait until the threads of this process are idle: it used at most 0.5 ms of
 * CPU time in 20 ms. */
void bench_wait_idle(void);

/* ---- output -------------------------------------------------------------- */

/* Print "  name    text" on standard output. */
void bench_row(const char *name, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

enum bench_sense { BENCH_AT_MOST, BENCH_AT_LEAST };

/* Print the line of a goal. */
void bench_goal(
    const char *name, double value, enum bench_sense sense, double goal);

#endif
