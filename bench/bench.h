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

/* --NAME N, a whole number, or, where there is a `text`, --NAME DIR; what
 * stands there before parsing is the default. */
struct bench_option {
    const char  *name;
    uint64_t    *value;
    uint64_t     min;
    uint64_t     max;
    const char  *help;
    const char **text;
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

struct bench_figure { /* of many runs */
    double median;
    double noise; /* as above */
};
struct bench_figure bench_figure(double *values, size_t n);

/* Two ways measured in turn, so that what else the machine does meets both;
 * who begins takes turns. `ratio` is the median of a / b of each pair. */
enum { BENCH_MAX_PAIRS = 99 };
struct bench_pairs {
    struct bench_figure a, b, ratio;
};
struct bench_pairs bench_pairs(
    uint64_t n, double (*a)(void *), double (*b)(void *), void *arg);

/* The next number of a sequence that `state` (the seed) decides. */
uint64_t bench_random(uint64_t *state);

/* Wait; a bench waits on purpose, a test must not. */
void bench_sleep_until(int64_t until_ns);

/* ---- the machine --------------------------------------------------------- */

/* Say on what machine the bench `name` runs, and look for a moment at what
 * else it does. Call it first, while the bench itself does nothing. Sets the
 * heap's thresholds as `forebay` does. */
void bench_begin(const char *name);

/* Say whether figures with this noise can be trusted: not when it is above
 * 10 %, when the host took more than 2 % of the machine's time since we began,
 * when others used more than a tenth of it just before, or when it has fewer
 * than `cores`. 0: CPU time was measured, which others hardly change. */
void bench_trust(double noise, uint32_t cores);

/* CPU time of this process, all threads. */
int64_t bench_own_cpu_ns(void);

/* Wait until this process has used hardly any for 20 ms: what its threads had
 * to do is done. */
void bench_settle(void);

/* ---- what is printed ----------------------------------------------------- */

/* "  name    text" on standard output. */
void bench_row(const char *name, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

enum bench_sense { BENCH_AT_MOST, BENCH_AT_LEAST };
void bench_goal(
    const char *name, double value, enum bench_sense sense, double goal);

#endif
