/* SPDX-License-Identifier: Apache-2.0 */
/* bench.h - options, statistics and output of every bench.
 *
 * A bench measures on the machine on which it runs and prints a short table,
 * then one line for each goal:
 *     NAME ratio VALUE goal OP GOAL met|missed
 * The word "ratio" stands before values with a unit too. A missed goal is a
 * result, not a failure: the exit code is 0 if the bench could measure. */
#ifndef FBY_BENCH_BENCH_H
#define FBY_BENCH_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- options ------------------------------------------------------------- */

struct bench_option { /* --NAME N, a whole number */
    const char *name;
    uint64_t   *value; /* holds the default; parsing writes N to it */
    uint64_t    min;
    uint64_t    max;
    const char *help;
};

enum { BENCH_MAX_OPTIONS = 8 };

/* Parse the command line. `options` has at most BENCH_MAX_OPTIONS entries and
 * ends with an entry without a name. `about` is the text of --help. If
 * `data` is not NULL, --data DIR is an option too and sets *data. Ends the
 * program on --help and, with code 2, on wrong usage. */
void bench_parse_options(int argc, char **argv,
    const struct bench_option *options, const char *about, const char **data);

/* Print a message and exit with code 1, since the bench cannot measure. */
void bench_die(const char *format, ...)
    __attribute__((noreturn, format(printf, 1, 2)));

/* ---- figures ------------------------------------------------------------- */

/* The percentile of n >= 1 values (nearest-rank method). Sorts the values. */
double bench_percentile(double *values, size_t n, unsigned percent);
double bench_median(double *values, size_t n);

struct bench_figure { /* statistics of several runs */
    double median;
    double noise; /* half of the interquartile range, percent of the median */
};

/* The median and noise of `n` runs. Sorts the values. */
struct bench_figure bench_figure_of(double *values, size_t n);

enum { BENCH_MAX_PAIRS = 99 };
struct bench_pairs {
    uint64_t            n;     /* number of pairs */
    struct bench_figure a, b;  /* of the values that a() and b() returned */
    struct bench_figure ratio; /* of the quotients a / b of the pairs */
};

/* Call a(arg) and b(arg) in n pairs. Every second pair calls b first, so that
 * other load on the machine affects both alike. */
struct bench_pairs bench_run_pairs(
    uint64_t n, double (*a)(void *), double (*b)(void *), void *arg);

/* True if a bench has warmed up after `elapsed_s` seconds: at least half a
 * second has passed, and the last BENCH_STEADY_RUNS of its `n` times differ by
 * at most 1 %, so the clock of the device is stable. */
enum { BENCH_STEADY_RUNS = 5 };
bool bench_is_warm(double elapsed_s, const double *times, size_t n);

/* Call measure(arg), which returns a time, until the bench has warmed up. If it
 * has not after 5 s, print that the figures of `name` cannot be trusted. */
void bench_warm_up(const char *name, double (*measure)(void *), void *arg);

/* The next number of the generator splitmix64. Its seed is the first *state. */
uint64_t bench_random(uint64_t *state);

/* Sleep until fby_now_ns() has reached until_ns. For benches only: a test must
 * not sleep. */
void bench_sleep_until(int64_t until_ns);

/* ---- the machine --------------------------------------------------------- */

/* Print the machine on which the bench `name` runs, and measure the load of
 * other processes. Call it first, while the bench itself is idle. Also sets
 * malloc()'s thresholds to those of the program `forebay`. */
void bench_begin(const char *name);

/* Print whether figures with this noise can be trusted. They cannot if the
 * noise is above 10 %, if the host of a virtual machine took more than 2 % of
 * the CPU time since bench_begin(), if other processes used more than 10 % of
 * the CPU time just before bench_begin(), or if the machine has fewer than
 * `min_cores` cores. Benches of CPU time pass BENCH_ANY_CORES, with which the
 * load of other processes does not count. */
enum {
    BENCH_ANY_CORES       = 0,
    BENCH_NEEDS_ONE_CORE  = 1,
    BENCH_NEEDS_TWO_CORES = 2 /* for a client and a worker */
};
void bench_print_reliability(double noise, uint32_t min_cores);

/* Wait until the threads of this process are idle, that is, use at most 0.5 ms
 * of CPU time in 20 ms. */
void bench_wait_idle(void);

/* ---- output -------------------------------------------------------------- */

/* Print "  name    text" on standard output. */
void bench_print(const char *name, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Print the row "ratio": its median and noise, and the number of pairs. */
void bench_print_ratio(const struct bench_pairs *pairs);

enum bench_bound { BENCH_AT_MOST, BENCH_AT_LEAST };

/* Judge a value by its goal: print NAME ratio VALUE goal OP GOAL met|missed. */
void bench_judge(
    const char *name, double value, enum bench_bound bound, double goal);

#endif
