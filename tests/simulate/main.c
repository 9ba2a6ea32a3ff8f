/* SPDX-License-Identifier: Apache-2.0 */
/* simulate - many schedules of window and session, each from its seed.
 *
 *     simulate --schedules 1000000 --seed 1 --jobs 2
 *     simulate --one SEED --trace            repeat one, and print all events
 *     simulate --one SEED --kind slow-worker --trace
 *     simulate --bounds 50                   check the bounds on waiting
 *     simulate_mutants --mutate NAME ...     exit 0 if the checks find this
 *                                            deliberate mistake */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/mutant.h"
#include "tests/simulate/sim.h"

#ifdef FBY_MUTATIONS
const char *fby_mutant;
#endif

struct options {
    uint64_t    schedules;
    uint64_t    seed;
    uint64_t    jobs;
    uint64_t    one;
    uint64_t    bounds;
    bool        trace;
    const char *mutate;
    const char *kind; /* of --one */
};

typedef bool run_fn(struct sim *sim, uint64_t seed, bool trace);

static uint64_t seed_of(const struct options *o, uint64_t i)
{
    return (o->seed + i) * UINT64_C(0x9e3779b97f4a7c15) | 1;
}

static const struct kind {
    const char *name;
    run_fn     *run;
} kinds[] = {
    {"schedule", sim_run},
    {"paused-worker", sim_paused_worker},
    {"slow-worker", sim_slow_worker},
    {"paused-client", sim_paused_client},
    {"mute-workers", sim_mute_workers},
};
enum { N_KINDS = sizeof(kinds) / sizeof(kinds[0]) };

static bool run_one(
    struct sim *sim, const struct kind *kind, uint64_t seed, bool trace)
{
    if (kind->run(sim, seed, trace)) {
        return true;
    }
    printf("%s, seed %llu: %s\n", kind->name, (unsigned long long)seed,
        sim->failure);
    return false;
}

/* Run the schedules first, first + jobs, ...; false after one that fails. */
static bool run_share(const struct options *o, uint64_t first)
{
    static struct sim sim;
    for (uint64_t i = first; i < o->schedules; i += o->jobs) {
        if (!run_one(&sim, &kinds[0], seed_of(o, i), false)) {
            return false;
        }
    }
    return true;
}

static bool run_bounds(const struct options *o)
{
    static struct sim sim;
    bool              good = true;
    for (uint64_t i = 0; i < o->bounds && good; i++) {
        for (int kind = 1; kind < N_KINDS && good; kind++) {
            good = run_one(&sim, &kinds[kind], seed_of(o, i), false);
        }
    }
    return good;
}

static bool run_jobs(const struct options *o)
{
    for (uint64_t i = 1; i < o->jobs; i++) {
        fflush(stdout);
        if (fork() == 0) {
            bool good = run_share(o, i);
            fflush(stdout);
            _exit(good ? 0 : 1);
        }
    }
    bool good   = run_share(o, 0);
    int  status = 0;
    while (wait(&status) > 0) {
        good = good && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    }
    return good;
}

static bool run_traced(const struct options *o)
{
    static struct sim sim;
    for (int i = 0; i < N_KINDS; i++) {
        if (strcmp(kinds[i].name, o->kind) == 0) {
            return run_one(&sim, &kinds[i], o->one, o->trace);
        }
    }
    return false;
}

static void print_help(const char *program)
{
    printf(
        "Usage: %s [OPTION...]\n"
        "Run window and session against each other through random faults, "
        "in virtual time.\n\n"
        "  --schedules N     how many schedules (default 20000)\n"
        "  --seed S          the first one's seed (default 1)\n"
        "  --jobs N          processes (default 1)\n"
        "  --bounds N        instead: N of each kind with a bound on waits\n"
        "  --one SEED        instead: this one, as a failure printed it\n"
        "  --kind NAME       of --one: schedule, paused-worker, slow-worker, "
        "paused-client or mute-workers\n"
        "  --trace           of --one: print every event\n"
        "  --mutate NAME     simulate_mutants only: make this mistake; exit 0 "
        "when it is found\n\n"
        "Examples:\n"
        "  simulate --schedules 1000000 --jobs 2\n"
        "  simulate --one 11400714819323198485 --trace\n"
        "  simulate_mutants --mutate forget_credit --schedules 20000\n",
        program);
}

static const struct option known[] = {
    {"schedules", required_argument, NULL, 'n'},
    {"seed", required_argument, NULL, 's'},
    {"jobs", required_argument, NULL, 'j'},
    {"one", required_argument, NULL, 'o'},
    {"bounds", required_argument, NULL, 'b'},
    {"mutate", required_argument, NULL, 'm'},
    {"kind", required_argument, NULL, 'k'},
    {"trace", no_argument, NULL, 't'},
    {"help", no_argument, NULL, 'h'},
    {0},
};

static void parse(int argc, char **argv, struct options *o)
{
    int option = 0;
    while ((option = getopt_long(argc, argv, "", known, NULL)) != -1) {
        uint64_t number = optarg != NULL ? strtoull(optarg, NULL, 10) : 0;
        switch (option) {
        case 'n':
            o->schedules = number;
            break;
        case 's':
            o->seed = number;
            break;
        case 'j':
            o->jobs = number > 0 ? number : 1;
            break;
        case 'o':
            o->one = number;
            break;
        case 'b':
            o->bounds = number;
            break;
        case 'm':
            o->mutate = optarg;
            break;
        case 'k':
            o->kind = optarg;
            break;
        case 't':
            o->trace = true;
            break;
        case 'h':
            print_help(argv[0]);
            exit(0);
        default:
            exit(2);
        }
    }
}

static bool run(const struct options *o)
{
    if (o->one != 0) {
        return run_traced(o);
    }
    return o->bounds != 0 ? run_bounds(o) : run_jobs(o);
}

int main(int argc, char **argv)
{
    struct options o = {
        .schedules = 20000, .seed = 1, .jobs = 1, .kind = "schedule"};
    parse(argc, argv, &o);
    /* A route's key is replaced after 50 frames, not after 64 GiB. */
    setenv("FOREBAY_FAULT", "secure.key:bytes=400", 1);
#ifdef FBY_MUTATIONS
    fby_mutant = o.mutate;
#else
    if (o.mutate != NULL) {
        fprintf(stderr, "--mutate: only simulate_mutants has this option\n");
        return 2;
    }
#endif
    printf("%llu schedules from seed %llu\n", (unsigned long long)o.schedules,
        (unsigned long long)o.seed);
    bool good = run(&o);
    printf("%s\n", good ? "all passed" : "failed");
    return good == (o.mutate == NULL) ? 0 : 1;
}
