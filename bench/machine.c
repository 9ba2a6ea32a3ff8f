/* machine.c - functions of bench.h that describe the machine and decide whether
 * its figures can be trusted. */
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "bench/process.h"
#include "common/clock.h"
#include "common/cores.h"
#include "common/simd.h"

enum { SAMPLE_MS = 300 };

/* Limits of trustworthy figures, in percent; see bench_print_trust(). */
static const double max_noise  = 10;
static const double max_others = 10;
static const double max_stolen = 2;

struct cpu_times { /* ticks of all processors since boot */
    uint64_t busy, stolen, all;
};

static struct cpu_times begun; /* times at the end of bench_begin() */
static double others; /* percent of CPU time, of other processes before that */

static struct cpu_times read_cpu_times(void)
{
    struct cpu_times now       = {0};
    char             line[512] = "";
    FILE            *file      = fopen("/proc/stat", "r");
    if (file == NULL || fgets(line, sizeof(line), file) == NULL) {
        bench_die("/proc/stat cannot be read");
    }
    fclose(file);
    char *rest = line + strlen("cpu");
    enum { USER, NICE, SYSTEM, IDLE, IOWAIT, IRQ, SOFTIRQ, STEAL, N };
    for (int i = USER; i < N; i++) {
        uint64_t ticks = strtoull(rest, &rest, 10);
        now.all += ticks;
        now.busy += i == IDLE || i == IOWAIT || i == STEAL ? 0 : ticks;
        now.stolen += i == STEAL ? ticks : 0;
    }
    return now;
}

static double percent(uint64_t part, uint64_t all)
{
    return all > 0 ? 100 * (double)part / (double)all : 0;
}

static void read_model(char out[80])
{
    char  line[256];
    FILE *file = fopen("/proc/cpuinfo", "r");
    snprintf(out, 80, "unknown processor");
    while (file != NULL && fgets(line, sizeof(line), file) != NULL &&
           sscanf(line, "model name : %79[^\n]", out) != 1) {
    }
    if (file != NULL) {
        fclose(file);
    }
}

void bench_begin(const char *name)
{
    char             model[80];
    struct cpu_times before = read_cpu_times();
    /* As in `forebay`: the heap keeps the memory of large messages, instead of
     * mapping memory anew for each message. */
    mallopt(M_MMAP_THRESHOLD, 1 << 30);
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
    mallopt(M_TOP_PAD, 64 << 20);
    bench_sleep_until(fby_now_ns() + SAMPLE_MS * FBY_NS_PER_MS);
    begun  = read_cpu_times();
    others = percent(begun.busy - before.busy, begun.all - before.all);
    read_model(model);
    bench_row(name, "%" PRIu32 " cores, %s, SIMD %s; others use %.0f %%",
        fby_usable_cores(), model, fby_simd_name(fby_simd_level()), others);
}

void bench_print_trust(double noise, uint32_t min_cores)
{
    struct cpu_times now = read_cpu_times();
    double stolen = percent(now.stolen - begun.stolen, now.all - begun.all);
    if (noise <= max_noise && (min_cores == 0 || others <= max_others) &&
        stolen <= max_stolen && fby_usable_cores() >= min_cores) {
        bench_row("trust", "yes: noise %.1f %%, stolen %.1f %%", noise, stolen);
        return;
    }
    bench_row("NOT TO BE TRUSTED",
        "noise %.1f %% (<= %.0f), others %.0f %% (<= %.0f), stolen %.1f %% "
        "(<= %.0f), %" PRIu32 " cores (>= %" PRIu32 ")",
        noise, max_noise, others, max_others, stolen, max_stolen,
        fby_usable_cores(), min_cores);
}

void bench_wait_idle(void)
{
    int64_t before = INT64_MIN / 2; /* so that the first difference is large */
    while (bench_cpu_ns(0) - before > FBY_NS_PER_MS / 2) {
        before = bench_cpu_ns(0);
        bench_sleep_until(fby_now_ns() + 20 * FBY_NS_PER_MS);
    }
}
