/* up.c - `forebay up`: run a server and workers here until Ctrl-C. */
#include <stdio.h>
#include <string.h>

#include "cli/cluster.h"
#include "cli/command.h"
#include "cli/served.h"
#include "cli/signals.h"
#include "common/clock.h"
#include "common/plural.h"

enum option_key {
    KEY_PIPELINE = 'p',
    KEY_WORKERS  = 'w',
    KEY_LISTEN   = 'l',
    KEY_THREADS  = 't',
    KEY_MEMORY   = 'm',
    KEY_DATA     = 'd',
    KEY_CPUS     = 0x100,
    KEY_NICE
};

struct up_options {
    const char      *pipeline;
    const char      *listen;
    const char      *memory; /* of a worker; NULL: its default */
    struct fby_words data;
    unsigned         workers;
    unsigned         threads;
    const char      *cpus;
    unsigned         n_cpus;
    const char      *nice;
};

static const struct argp_option options[] = {
    {"pipeline", KEY_PIPELINE, "FILE", 0,
        "Serve the data of this pipeline file (required)", 0},
    {"workers", KEY_WORKERS, "N", 0, "Worker processes (default 2)", 0},
    {"threads", KEY_THREADS, "N", 0,
        "Threads of each worker (default: the cores shared out)", 0},
    {"memory", KEY_MEMORY, "SIZE", 0,
        "Memory of each worker for samples and batches, as 512M or 2G (default "
        "1G)",
        0},
    {"cpus", KEY_CPUS, "LIST", 0,
        "Run the workers on these CPUs alone, as 0-3,8 (default: all allowed)",
        0},
    {"nice", KEY_NICE, "N", 0,
        "Nice value of the workers' threads that compute, 0 to 19 (default 5)",
        0},
    {"listen", KEY_LISTEN, "ADDR", 0,
        "Where the server listens (default tcp://127.0.0.1:7070)", 0},
    {"data", KEY_DATA, "NAME=DIR", 0,
        "A further root of the workers (repeatable)", 0},
    {0},
};

/* The address is passed to trainers, so it must not be a wildcard. */
static bool is_wildcard(const char *endpoint)
{
    return strstr(endpoint, "//*:") != NULL ||
           strstr(endpoint, "//0.0.0.0:") != NULL ||
           strstr(endpoint, "//[::]:") != NULL;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct up_options *o = state->input;
    switch (key) {
    case KEY_PIPELINE:
        o->pipeline = arg;
        return 0;
    case KEY_WORKERS:
        o->workers = (unsigned)fby_option_u64(state, "--workers", arg, 1, 256);
        return 0;
    case KEY_THREADS:
        o->threads = (unsigned)fby_option_u64(state, "--threads", arg, 1, 1024);
        return 0;
    case KEY_MEMORY:
        o->memory = fby_option_size_text(state, "--memory", arg);
        return 0;
    case KEY_CPUS:
        o->n_cpus = fby_option_cpus(state, "--cpus", arg);
        o->cpus   = arg;
        return 0;
    case KEY_NICE:
        (void)fby_option_u64(state, "--nice", arg, 0, 19);
        o->nice = arg;
        return 0;
    case KEY_LISTEN:
        o->listen = arg;
        return 0;
    case KEY_DATA:
        fby_words_add(&o->data, arg);
        return 0;
    case ARGP_KEY_ARG:
        fby_option_unexpected(state, arg, "--pipeline");
        return 0;
    case ARGP_KEY_END:
        if (o->pipeline == NULL) {
            argp_error(state, "--pipeline FILE is required; 'forebay init "
                              "DIR' writes one");
        }
        if (is_wildcard(o->listen)) {
            argp_error(state,
                "--listen %s: name one address of this machine, "
                "as in tcp://10.0.0.1:7070",
                o->listen);
        }
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {options, parse_option, NULL,
    "Run a whole cluster on this machine until Ctrl-C.\v"
    "Examples:\n"
    "  forebay up --pipeline p.yaml --workers 4\n"
    "  forebay pull --pipeline p.yaml --server tcp://127.0.0.1:7070 \\\n"
    "      --data data0=/photos\n"
    "It prints the --data options that a trainer's --server needs.",
    NULL, NULL, NULL};

static void say_how_to_use(const struct up_options *o,
    const struct fby_cluster *cluster, const struct fby_served *served)
{
    printf("forebay up: %s; use it with\n  forebay pull --pipeline ",
        fby_plural(o->workers, "worker").text);
    fby_option_print_word(stdout, o->pipeline);
    printf(" --server %s", fby_cluster_server(cluster));
    for (unsigned i = 0; i < served->n; i++) {
        printf(" --data ");
        fby_option_print_word(stdout, served->words.words[i]);
    }
    printf("\n");
    fflush(stdout);
}

static fby_err up(const struct up_options *o, struct fby_why *why)
{
    struct fby_served   served  = {0};
    struct fby_cluster *cluster = NULL;
    fby_err err = fby_served_collect(&served, &o->data, o->pipeline, why);
    if (err == FBY_OK) {
        struct fby_cluster_options options_of = {
            .listen  = o->listen,
            .workers = o->workers,
            .threads = o->threads,
            .memory  = o->memory,
            .cpus    = o->cpus,
            .n_cpus  = o->n_cpus,
            .nice    = o->nice,
            .roots   = served.words.words,
        };
        fby_signals_catch();
        err = fby_cluster_start(&options_of, &cluster, why);
    }
    if (err == FBY_OK) {
        say_how_to_use(o, cluster, &served);
        while (fby_signals_caught() == 0) {
            fby_signals_wait(500);
            fby_cluster_watch(cluster, fby_now_ns());
        }
    }
    fby_cluster_stop(&cluster);
    fby_served_fini(&served);
    return err;
}

static int run(int argc, char **argv)
{
    struct up_options o   = {.workers = 2, .listen = "tcp://127.0.0.1:7070"};
    struct fby_why    why = {{0}};
    fby_option_parse(&argp, argc, argv, &o);
    fby_err err = up(&o, &why);
    fby_words_fini(&o.data);
    return fby_command_end("up", err, &why);
}

const struct fby_command fby_command_up = {
    .name    = "up",
    .summary = "run a server and workers on this machine until Ctrl-C",
    .run     = run,
};
