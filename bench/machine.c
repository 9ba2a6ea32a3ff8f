/* SPDX-License-Identifier: Apache-2.0 */
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

enum { LOAD_SAMPLE_MS = 300 }; /* for the load of other processes */

/* Limits of trustworthy figures, in percent; see bench_print_reliability(). */
static const double max_noise  = 10;
static const double max_load   = 10;
static const double max_stolen = 2;

struct cpu_times { /* clock ticks of all processors since boot */
    uint64_t busy, total;
    uint64_t stolen; /* taken by the host of a virtual machine */
};

static struct cpu_times begin_times; /* at the end of bench_begin() */
static double           other_load;  /* of other processes, percent */

static struct cpu_times read_cpu_times(void)
{
    struct cpu_times now       = {0};
    char             line[512] = "";
    FILE            *file      = fopen("/proc/stat", "r");
    if (file == NULL || fgets(line, sizeof(line), file) == NULL) {
        bench_die("/proc/stat cannot be read");
    }
    fclose(file);
    enum { USER, NICE, SYSTEM, IDLE, IOWAIT, IRQ, SOFTIRQ, STEAL, N_KINDS };
    char *next = line + strlen("cpu");
    for (int kind = USER; kind < N_KINDS; kind++) {
        bool     is_idle = kind == IDLE || kind == IOWAIT;
        uint64_t ticks   = strtoull(next, &next, 10);
        now.total += ticks;
        now.stolen += kind == STEAL ? ticks : 0;
        now.busy += is_idle || kind == STEAL ? 0 : ticks;
    }
    return now;
}

static double percent(uint64_t part, uint64_t total)
{
    return total > 0 ? 100 * (double)part / (double)total : 0;
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
    bench_sleep_until(fby_now_ns() + LOAD_SAMPLE_MS * FBY_NS_PER_MS);
    begin_times = read_cpu_times();
    other_load  = percent(
         begin_times.busy - before.busy, begin_times.total - before.total);
    read_model(model);
    bench_print(name, "%" PRIu32 " cores, %s, SIMD %s; others use %.0f %%",
        fby_usable_cores(), model, fby_simd_name(fby_simd_level()), other_load);
}

void bench_print_reliability(double noise, uint32_t min_cores)
{
    struct cpu_times now = read_cpu_times();
    double           stolen =
        percent(now.stolen - begin_times.stolen, now.total - begin_times.total);
    bool is_quiet = min_cores == BENCH_ANY_CORES || other_load <= max_load;
    if (is_quiet && noise <= max_noise && stolen <= max_stolen &&
        fby_usable_cores() >= min_cores) {
        bench_print(
            "trust", "yes: noise %.1f %%, stolen %.1f %%", noise, stolen);
        return;
    }
    bench_print("NOT TO BE TRUSTED",
        "noise %.1f %% (<= %.0f), others %.0f %% (<= %.0f), stolen %.1f %% "
        "(<= %.0f), %" PRIu32 " cores (>= %" PRIu32 ")",
        noise, max_noise, other_load, max_load, stolen, max_stolen,
        fby_usable_cores(), min_cores);
}

void bench_wait_idle(void)
{
    int64_t before  = 0;
    int64_t used_ns = 0;
    do {
        before = bench_cpu_ns(BENCH_THIS_PROCESS);
        bench_sleep_until(fby_now_ns() + 20 * FBY_NS_PER_MS);
        used_ns = bench_cpu_ns(BENCH_THIS_PROCESS) - before;
    } while (used_ns > FBY_NS_PER_MS / 2);
}
