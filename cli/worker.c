/* SPDX-License-Identifier: Apache-2.0 */
/* worker.c - `forebay worker`: run one worker process. */
#include "worker/worker.h"

#include "cli/child.h"
#include "cli/command.h"
#include "cli/served.h"
#include "cli/signals.h"
#include "cli/variables.h"
#include "common/log.h"

struct worker_command {
    struct fby_worker_options worker;
    struct fby_words          data;
    uint32_t                  parent; /* process id of --parent; 0: none */
};

#define VALUE(kind, member) FBY_VALUE(kind, struct worker_command, member)
#define NUMBER(member, min, max) \
    FBY_RANGE(FBY_NUMBER, struct worker_command, member, min, max)

const struct fby_option fby_worker_settings[] = {
    {"data", 'd', "NAME=DIR",
        "Serve the data below DIR to pipelines that say NAME:path "
        "(required, repeatable); the worker opens no other files",
        FBY_REQUIRED(FBY_WORDS, struct worker_command, data,
            "a worker opens only files below it")},
    {"server", 's', "ADDR",
        "The server to register at, tcp://HOST:PORT (required); a name is "
        "looked up again while the server is silent",
        VALUE(FBY_TEXT, worker.server)},
    {"server-file", 0, "PATH",
        "In place of --server: a file whose first line is the address; read "
        "again while the server is silent, and waited for",
        VALUE(FBY_TEXT, worker.server_file)},
    {"listen", 'l', "ADDR",
        "Where trainers connect (default: any port of 127.0.0.1 if the server "
        "is on loopback, else of the address on the route to it); beyond "
        "loopback only with --keys, or --insecure",
        VALUE(FBY_TEXT, worker.listen)},
    {"insecure", 0, NULL,
        "Listen beyond loopback without keys: for trusted networks",
        VALUE(FBY_FLAG, worker.is_insecure)},
    {"advertise", 0, "ADDR",
        "The numeric address at which trainers reach the worker, if it is not "
        "that of --listen",
        VALUE(FBY_TEXT, worker.advertise)},
    {"keys", 0, "PATH",
        "The worker's key: a key file, or a folder with worker.key, as forebay "
        "keys writes them",
        VALUE(FBY_TEXT, worker.keys)},
    {.help = "Resources:"},
    {"threads", 't', "N",
        "Threads that decode and transform; of more cores, only so many count "
        "as "
        "usable (default: one per usable core)",
        NUMBER(worker.transform_threads, 1, 1024)},
    {"fetch-threads", 0, "N", "Threads that read",
        NUMBER(worker.fetch_threads, 1, 1024)},
    {"encode-threads", 0, "N", "Threads that compress",
        NUMBER(worker.encode_threads, 1, 1024)},
    {"cpus", 0, "LIST",
        "Run only on these CPUs, as 0-3,8 (default: all that are allowed)",
        VALUE(FBY_CPUS_AS_TEXT, worker.cpus)},
    {"numa", 0, "auto|off|N",
        "Run only on the CPUs of node N; auto (default): network threads "
        "prefer the node of the network card that has the --listen address",
        VALUE(FBY_NUMA, worker.numa)},
    {"nice", 0, "N",
        "Nice value of the threads that compute, 0 to 19 (default 5)",
        NUMBER(worker.nice, 0, 19)},
    {"memory", 'm', "SIZE",
        "For samples and batches, all trainers together, as 512M or 2G "
        "(default: half of the cgroup's limit, at most 1G)",
        VALUE(FBY_SIZE, worker.memory_bytes)},
    {"send-window", 0, "SIZE",
        "Bytes sent ahead of a trainer's credit (default 16M)",
        VALUE(FBY_SIZE, worker.send_window_bytes)},
    {"cache", 0, "DIR", "Where manifests are kept",
        VALUE(FBY_TEXT, worker.cache_dir)},
    {.help = "Looking at it:"},
    {"http", 0, "ADDR:PORT",
        "Answer HTTP on this numeric address, as 127.0.0.1:9464: /healthz, "
        "/readyz, /metrics (default: no HTTP)",
        VALUE(FBY_TEXT, worker.http.listen)},
    {"http-token-file", 0, "PATH",
        "Ask for the token in this file, for /metrics and /; required beyond "
        "loopback",
        VALUE(FBY_TEXT, worker.http.token_file)},
    {"ready-fd", 0, "N",
        "Write the endpoint to this descriptor once the worker listens",
        NUMBER(worker.ready_fd, 0, 1 << 20)},
    {"ready-file", 0, "PATH",
        "Write the endpoint to this file once the worker listens; it is "
        "removed at the end",
        VALUE(FBY_TEXT, worker.ready_file)},
    {"drain", 0, "S",
        "Seconds to finish open batches after SIGTERM (default 25)",
        FBY_RANGE(
            FBY_SECONDS, struct worker_command, worker.drain_ns, 0, 86400)},
    {"parent", 0, "PID", "", NUMBER(parent, 1, INT32_MAX)},
    {0},
};

static void finish_options(const struct argp_state *state, void *values)
{
    const struct worker_command *self       = values;
    bool                         has_server = self->worker.server != NULL;
    if (has_server == (self->worker.server_file != NULL)) {
        argp_error(state,
            has_server ? "--server and --server-file exclude each other: both "
                         "say where the server is"
                       : "--server ADDR is required: trainers find a worker "
                         "through it");
    }
    bool numa_is_node = self->worker.numa >= 0; /* else FBY_NUMA_AUTO or _OFF */
    if (self->worker.cpus != NULL && numa_is_node) {
        argp_error(state,
            "--cpus and --numa N exclude each other: both choose the CPUs");
    }
}

static const char about[] =
    "Fetch, decode and transform samples for any trainer that asks.\v"
    "Examples:\n"
    "  forebay worker --server tcp://10.0.0.1:7070 --data in1k=/data/imagenet "
    "\\\n"
    "      --listen tcp://10.0.0.2:7071 --keys worker.key\n"
    "  forebay worker --server tcp://127.0.0.1:7070 --data p=/photos -t "
    "4\n" FBY_VARIABLES_HELP
    "On SIGTERM the worker takes no new work, finishes or returns the rest,\n"
    "and ends within the seconds of --drain.";

/* A worker that `up` or `pull` started has only the options from there. */
static bool reads_variables(const void *values)
{
    return ((const struct worker_command *)values)->parent == 0;
}

static const struct fby_usage usage = {.options = fby_worker_settings,
    .reads_variables                            = reads_variables,
    .finish                                     = finish_options,
    .help                                       = about};

static fby_err serve(struct worker_command *self, struct fby_error_detail *why)
{
    struct fby_served_roots roots = {0};
    fby_err                 err =
        fby_served_collect(&roots, &self->data, /* pipeline */ NULL, why);
    if (err == FBY_OK) {
        self->worker.roots   = (const char *const *)roots.data_options.items;
        self->worker.n_roots = roots.data_options.n;
        /* The loop of the worker handles SIGTERM and SIGINT. */
        self->worker.handles_signals = true;
        err                          = fby_worker_run(&self->worker, why);
    }
    fby_served_fini(&roots);
    return err;
}

static int run(int argc, char **argv)
{
    struct worker_command   self = {.worker = fby_worker_defaults()};
    struct fby_error_detail why  = {{0}};
    fby_signals_block();
    fby_usage_parse(&usage, argc, argv, &self);
    fby_log_init("worker", self.parent == 0 ? FBY_LOG_INFO : FBY_LOG_WARN);
    if (reads_variables(&self)) {
        fby_variables_warn_unknown();
    }
    int status = FBY_EXIT_FAILED;
    if (fby_child_end_with_parent((pid_t)self.parent) == FBY_OK) {
        const struct fby_parent_pipe pipe =
            fby_parent_pipe((pid_t)self.parent, self.worker.ready_fd);
        status = fby_child_end(&pipe, "worker", serve(&self, &why), &why);
    }
    fby_words_fini(&self.data);
    return status;
}

const struct fby_command fby_command_worker = {
    .name    = "worker",
    .summary = "run one worker: read, decode, transform, send",
    .run     = run,
};
