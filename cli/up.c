/* up.c - `forebay up`: run a server and workers here until Ctrl-C. */
#include <stdio.h>
#include <string.h>

#include "cli/cluster.h"
#include "cli/command.h"
#include "cli/served.h"
#include "cli/signals.h"
#include "common/clock.h"
#include "common/plural.h"

struct up_options {
    const char                *pipeline;
    struct fby_words           data;
    struct fby_cluster_options cluster;
};

#define VALUE(kind, member) FBY_VALUE(kind, struct up_options, member)
#define NUMBER(member, min, max) \
    FBY_RANGE(FBY_NUMBER, struct up_options, member, min, max)

static const struct fby_option options[] = {
    {"pipeline", 'p', "FILE", "Serve the data of this pipeline file (required)",
        FBY_REQUIRED(FBY_TEXT, struct up_options, pipeline, FBY_WHY_PIPELINE)},
    {"workers", 'w', "N", "Worker processes (default 2)",
        NUMBER(cluster.workers, 1, 256)},
    {"threads", 't', "N",
        "Threads of each worker (default: an equal share of the cores)",
        NUMBER(cluster.threads, 1, 1024)},
    {"memory", 'm', "SIZE",
        "Memory of each worker for samples and batches, as 512M or 2G (default "
        "1G)",
        VALUE(FBY_SIZE_AS_TEXT, cluster.memory)},
    {"cpus", 0, "LIST",
        "Run the workers only on these CPUs, as 0-3,8 (default: all allowed)",
        VALUE(FBY_CPUS_AS_TEXT, cluster.cpus)},
    {"nice", 0, "N",
        "Nice value of the workers' threads that compute, 0 to 19 (default 5)",
        FBY_RANGE(FBY_NUMBER_AS_TEXT, struct up_options, cluster.nice, 0, 19)},
    {"listen", 'l', "ADDR",
        "Where the server listens (default tcp://127.0.0.1:7070)",
        VALUE(FBY_TEXT, cluster.listen)},
    {"data", 'd', "NAME=DIR", "A further root of the workers (repeatable)",
        VALUE(FBY_WORDS, data)},
    {0},
};

/* True for an endpoint on all interfaces: trainers cannot connect to it. */
static bool is_wildcard(const char *endpoint)
{
    return strstr(endpoint, "//*:") != NULL ||
           strstr(endpoint, "//0.0.0.0:") != NULL ||
           strstr(endpoint, "//[::]:") != NULL;
}

static void check_listen(const struct argp_state *state, void *values)
{
    const char *listen = ((const struct up_options *)values)->cluster.listen;
    if (is_wildcard(listen)) {
        argp_error(state,
            "--listen %s: name one address of this machine, "
            "as in tcp://10.0.0.1:7070",
            listen);
    }
}

static const struct fby_usage usage = {.options = options,
    .finish                                     = check_listen,
    .help =
        "Run a whole cluster on this machine until Ctrl-C.\v"
        "Examples:\n"
        "  forebay up --pipeline p.yaml --workers 4\n"
        "  forebay pull --pipeline p.yaml --server tcp://127.0.0.1:7070 \\\n"
        "      --data data0=/photos\n"
        "It prints the --data options that a trainer's --server needs."};

static void print_example(const struct up_options *values,
    const struct fby_cluster *cluster, const struct fby_served_roots *roots)
{
    printf("forebay up: %s; use it with\n  forebay pull --pipeline ",
        fby_plural(values->cluster.workers, "worker").text);
    fby_option_print_word(stdout, values->pipeline);
    printf(" --server %s", fby_cluster_server_endpoint(cluster));
    for (unsigned i = 0; i < roots->n_roots; i++) {
        printf(" --data ");
        fby_option_print_word(stdout, roots->data_options.items[i]);
    }
    printf("\n");
    fflush(stdout);
}

static fby_err serve(struct up_options *values, struct fby_error_detail *why)
{
    struct fby_served_roots roots   = {0};
    struct fby_cluster     *cluster = NULL;
    fby_err                 err =
        fby_served_collect(&roots, &values->data, values->pipeline, why);
    if (err == FBY_OK) {
        values->cluster.roots = roots.data_options.items;
        fby_signals_catch();
        err = fby_cluster_start(&values->cluster, &cluster, why);
    }
    if (err == FBY_OK) {
        print_example(values, cluster, &roots);
        while (fby_signals_caught() == 0) { /* a signal ends it without error */
            fby_signals_wait(500);
            fby_cluster_restart_ended(cluster, fby_now_ns());
        }
    }
    fby_cluster_stop(&cluster);
    fby_served_fini(&roots);
    return err;
}

static int run(int argc, char **argv)
{
    struct up_options values = {
        .cluster = {.workers = 2, .listen = "tcp://127.0.0.1:7070"}};
    struct fby_error_detail why = {{0}};
    fby_usage_parse(&usage, argc, argv, &values);
    fby_err err = serve(&values, &why);
    fby_words_fini(&values.data);
    return fby_command_end("up", err, &why);
}

const struct fby_command fby_command_up = {
    .name    = "up",
    .summary = "run a server and workers on this machine until Ctrl-C",
    .run     = run,
};
