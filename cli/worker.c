/* worker.c - `forebay worker`: run one worker process. */
#include "worker/worker.h"

#include <sched.h>
#include <string.h>

#include "cli/child.h"
#include "cli/command.h"
#include "cli/served.h"
#include "cli/signals.h"
#include "common/log.h"

enum option_key {
    KEY_SERVER    = 's',
    KEY_DATA      = 'd',
    KEY_LISTEN    = 'l',
    KEY_THREADS   = 't',
    KEY_MEMORY    = 'm',
    KEY_ADVERTISE = 0x100,
    KEY_SEND_WINDOW,
    KEY_CACHE,
    KEY_FETCH_THREADS,
    KEY_ENCODE_THREADS,
    KEY_CPUS,
    KEY_NUMA,
    KEY_NICE,
    KEY_READY_FD,
    KEY_PARENT
};

struct worker_command {
    struct fby_worker_options worker;
    struct fby_words          data;
    pid_t                     parent;
};

static const struct argp_option options[] = {
    {"server", KEY_SERVER, "ADDR", 0,
        "The server to register at, tcp://HOST:PORT (required)", 0},
    {"data", KEY_DATA, "NAME=DIR", 0,
        "Serve the data below DIR to pipelines that say NAME:path "
        "(required, repeatable); nothing else is ever opened",
        0},
    {"listen", KEY_LISTEN, "ADDR", 0,
        "Where trainers connect (default tcp://127.0.0.1:*, any port); beyond "
        "loopback it says what that exposes",
        0},
    {"advertise", KEY_ADVERTISE, "ADDR", 0,
        "The numeric address to tell the server, where trainers see another",
        0},
    {NULL, 0, NULL, 0, "Resources:", 1},
    {"threads", KEY_THREADS, "N", 0,
        "Threads that decode and transform (default: one a usable core)", 1},
    {"fetch-threads", KEY_FETCH_THREADS, "N", 0, "Threads that read", 1},
    {"encode-threads", KEY_ENCODE_THREADS, "N", 0, "Threads that compress", 1},
    {"cpus", KEY_CPUS, "LIST", 0,
        "Run on these CPUs alone, as 0-3,8 (default: all that are allowed)", 1},
    {"numa", KEY_NUMA, "auto|off|N", 0,
        "Run on the CPUs of node N alone; auto (default): network threads "
        "prefer the node of the card that --listen names",
        1},
    {"nice", KEY_NICE, "N", 0,
        "Nice value of the threads that compute, 0 to 19 (default 5)", 1},
    {"memory", KEY_MEMORY, "SIZE", 0,
        "For samples and batches, all trainers together, as 512M or 2G "
        "(default "
        "1G)",
        1},
    {"send-window", KEY_SEND_WINDOW, "SIZE", 0,
        "Bytes sent ahead of a trainer's credit (default 16M)", 1},
    {"cache", KEY_CACHE, "DIR", 0, "Where manifests are kept", 1},
    {"ready-fd", KEY_READY_FD, "N", 0,
        "Write the endpoint to this descriptor once it listens", 1},
    {"parent", KEY_PARENT, "PID", OPTION_HIDDEN, "End with this process", 1},
    {0},
};

static int parse_numa(const struct argp_state *state, const char *arg)
{
    if (strcmp(arg, "auto") == 0) {
        return FBY_NUMA_AUTO;
    }
    if (strcmp(arg, "off") == 0) {
        return FBY_NUMA_OFF;
    }
    if (arg[0] == '\0' || arg[strspn(arg, "0123456789")] != '\0') {
        argp_error(
            state, "--numa: '%s' is not auto, off or a node's number", arg);
    }
    return (int)fby_option_u64(state, "--numa", arg, 0, CPU_SETSIZE - 1);
}

/* Options for the CPUs and the priority of the threads. */
static bool parse_scheduling(int key, const char *arg,
    const struct argp_state *state, struct fby_worker_options *o)
{
    switch (key) {
    case KEY_CPUS:
        fby_option_cpus(state, "--cpus", arg);
        o->cpus = arg;
        return true;
    case KEY_NUMA:
        o->numa = parse_numa(state, arg);
        return true;
    case KEY_NICE:
        o->nice = (int)fby_option_u64(state, "--nice", arg, 0, 19);
        return true;
    default:
        return false;
    }
}

static bool parse_amount(int key, const char *arg,
    const struct argp_state *state, struct fby_worker_options *o)
{
    switch (key) {
    case KEY_THREADS:
        o->transform_threads =
            (uint32_t)fby_option_u64(state, "--threads", arg, 1, 1024);
        return true;
    case KEY_FETCH_THREADS:
        o->fetch_threads =
            (uint32_t)fby_option_u64(state, "--fetch-threads", arg, 1, 1024);
        return true;
    case KEY_ENCODE_THREADS:
        o->encode_threads =
            (uint32_t)fby_option_u64(state, "--encode-threads", arg, 1, 1024);
        return true;
    case KEY_MEMORY:
        o->memory_bytes = fby_option_size(state, "--memory", arg);
        return true;
    case KEY_SEND_WINDOW:
        o->send_window_bytes = fby_option_size(state, "--send-window", arg);
        return true;
    case KEY_READY_FD:
        o->ready_fd = (int)fby_option_u64(state, "--ready-fd", arg, 0, 1 << 20);
        return true;
    default:
        return false;
    }
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct worker_command *self = state->input;
    switch (key) {
    case KEY_SERVER:
        self->worker.server = arg;
        return 0;
    case KEY_DATA:
        fby_words_add(&self->data, arg);
        return 0;
    case KEY_LISTEN:
        self->worker.listen = arg;
        return 0;
    case KEY_ADVERTISE:
        self->worker.advertise = arg;
        return 0;
    case KEY_CACHE:
        self->worker.cache_dir = arg;
        return 0;
    case KEY_PARENT:
        self->parent =
            (pid_t)fby_option_u64(state, "--parent", arg, 1, INT32_MAX);
        return 0;
    case ARGP_KEY_ARG:
        fby_option_unexpected(state, arg, NULL);
        return 0;
    case ARGP_KEY_END:
        if (self->data.n == 0) {
            argp_error(state, "--data NAME=DIR is required: a worker opens "
                              "only files below it");
        }
        if (self->worker.server == NULL) {
            argp_error(state, "--server ADDR is required: trainers find a "
                              "worker through it");
        }
        if (self->worker.cpus != NULL && self->worker.numa >= 0) {
            argp_error(state,
                "--cpus and --numa N exclude each other: both choose the CPUs");
        }
        return 0;
    default:
        return parse_amount(key, arg, state, &self->worker) ||
                       parse_scheduling(key, arg, state, &self->worker)
                   ? 0
                   : ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {options, parse_option, NULL,
    "Fetch, decode and transform samples for whichever trainer asks.\v"
    "Examples:\n"
    "  forebay worker --server tcp://10.0.0.1:7070 --data in1k=/data/imagenet "
    "\\\n"
    "      --listen 'tcp://10.0.0.2:*'\n"
    "  forebay worker --server tcp://127.0.0.1:7070 --data p=/photos -t 4\n"
    "SIGTERM: it leaves, finishes or gives back its work within 25 s.",
    NULL, NULL, NULL};

static fby_err serve(struct worker_command *self, struct fby_why *why)
{
    struct fby_served served = {0};
    fby_err           err = fby_served_collect(&served, &self->data, NULL, why);
    if (err == FBY_OK) {
        self->worker.roots   = (const char *const *)served.words.words;
        self->worker.n_roots = served.words.n;
        self->worker.signals = true;
        err                  = fby_worker_run(&self->worker, why);
    }
    fby_served_fini(&served);
    return err;
}

static int run(int argc, char **argv)
{
    struct worker_command self = {.worker = fby_worker_defaults()};
    struct fby_why        why  = {{0}};
    fby_signals_block();
    fby_option_parse(&argp, argc, argv, &self);
    fby_log_init("worker", self.parent == 0 ? FBY_LOG_INFO : FBY_LOG_WARN);
    if (fby_child_follow(self.parent) != FBY_OK) {
        return FBY_EXIT_FAILED;
    }
    fby_err err = serve(&self, &why);
    fby_words_fini(&self.data);
    return fby_command_end("worker", err, &why);
}

const struct fby_command fby_command_worker = {
    .name    = "worker",
    .summary = "run one worker: read, decode, transform, send",
    .run     = run,
};
