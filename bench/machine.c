/* machine.c - describes the machine and judges whether figures measured on it
 * can be trusted. */
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/bench.h"
#include "common/clock.h"
#include "common/cores.h"
#include "common/simd.h"

enum { SAMPLE_MS = 300 };

static const double max_noise  = 10; /* percent */
static const double max_others = 10;
static const double max_stolen = 2;

struct cpu_times { /* ticks of all processors since boot */
    uint64_t busy, stolen, all;
};

static struct cpu_times begun;
static double           others; /* percent used by others before the bench */

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
    for (int i = 0; i < 8; i++) { /* user nice system idle iowait irq softirq
                                     steal */
        uint64_t ticks = strtoull(rest, &rest, 10);
        bool     idle  = i == 3 || i == 4;
        now.all += ticks;
        now.busy += idle || i == 7 ? 0 : ticks;
        now.stolen += i == 7 ? ticks : 0;
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
    while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
        char *colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) == 0 && colon != NULL) {
            colon[strcspn(colon, "\n")] = '\0';
            snprintf(out, 80, "%.79s", colon + 2);
            break;
        }
    }
    if (file != NULL) {
        fclose(file);
    }
}

/* As `forebay` does: large messages come from the heap, which keeps its memory,
 * and not from a new map for each. */
static void set_heap(void)
{
    mallopt(M_MMAP_THRESHOLD, 1 << 30);
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
    mallopt(M_TOP_PAD, 64 << 20);
}

void bench_begin(const char *name)
{
    char             model[80];
    struct cpu_times before = read_cpu_times();
    set_heap();
    bench_sleep_until(fby_now_ns() + SAMPLE_MS * FBY_NS_PER_MS);
    begun  = read_cpu_times();
    others = percent(begun.busy - before.busy, begun.all - before.all);
    read_model(model);
    bench_row(name, "%" PRIu32 " cores, %s, SIMD %s; others use %.0f %%",
        fby_cores(), model, fby_simd_name(fby_simd()), others);
}

void bench_trust(double noise, uint32_t cores)
{
    struct cpu_times now = read_cpu_times();
    double stolen = percent(now.stolen - begun.stolen, now.all - begun.all);
    if (noise <= max_noise && (cores == 0 || others <= max_others) &&
        stolen <= max_stolen && fby_cores() >= cores) {
        bench_row("trust", "yes: noise %.1f %%, stolen %.1f %%", noise, stolen);
        return;
    }
    bench_row("NOT TO BE TRUSTED",
        "noise %.1f %% (<= %.0f), others %.0f %% (<= %.0f), stolen %.1f %% "
        "(<= %.0f), %" PRIu32 " cores (>= %" PRIu32 ")",
        noise, max_noise, others, max_others, stolen, max_stolen, fby_cores(),
        cores);
}

int64_t bench_own_cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * FBY_NS_PER_S + t.tv_nsec;
}

void bench_wait_idle(void)
{
    int64_t before = INT64_MIN / 2;
    while (bench_own_cpu_ns() - before > FBY_NS_PER_MS / 2) {
        before = bench_own_cpu_ns();
        bench_sleep_until(fby_now_ns() + 20 * FBY_NS_PER_MS);
    }
}
