/* SPDX-License-Identifier: Apache-2.0 */
/* up.c - `forebay up`: run a server and workers here until Ctrl-C, or as long
 * as other processes use them (--while-used).
 *
 * One text, written when the workers are ready, says how to use them: lines for
 * a person, or a line of JSON for the program that started this one. */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/ask.h"
#include "cli/cluster.h"
#include "cli/command.h"
#include "cli/local.h"
#include "cli/lock_watch.h"
#include "cli/served.h"
#include "cli/signals.h"
#include "common/clock.h"
#include "common/exposure.h"
#include "common/log.h"
#include "common/plural.h"
#include "common/service_manager.h"
#include "common/timer.h"
#include "secure/key_file.h"

enum { DEFAULT_WORKERS = 2 };

struct up_options {
    const char                *pipeline;   /* path; "-": standard input */
    const char                *while_used; /* path; NULL: until a signal */
    bool                       json;
    int                        ready_fd; /* -1: standard output */
    struct fby_words           data;
    uint32_t                   least, most; /* workers; most is 0: no scaling */
    struct fby_cluster_options cluster;
};

#define VALUE(kind, member) FBY_VALUE(kind, struct up_options, member)
#define NUMBER(member, min, max) \
    FBY_RANGE(FBY_NUMBER, struct up_options, member, min, max)

static const struct fby_option options[] = {
    {"pipeline", 'p', "FILE",
        "Serve the data of this pipeline file (required); - is standard input",
        FBY_REQUIRED(FBY_TEXT, struct up_options, pipeline, FBY_WHY_PIPELINE)},
    {"workers", 'w', "N", "Worker processes (default 2)",
        NUMBER(cluster.workers, 1, 256)},
    {"max", 0, "N",
        "Run as many workers as the trainers need ('forebay scale'), at most N",
        NUMBER(most, 1, 256)},
    {"min", 0, "N", "With --max: never fewer than N (default 1)",
        NUMBER(least, 1, 256)},
    {"threads", 't', "N",
        "Threads of each worker (default: an equal share of the cores, among "
        "--max workers if given)",
        NUMBER(cluster.threads, 1, 1024)},
    {"memory", 'm', "SIZE",
        "Memory of each worker for samples and batches, as 512M or 2G "
        "(default: of half of the cgroup's limit an equal share, at most 1G)",
        VALUE(FBY_SIZE_AS_TEXT, cluster.memory)},
    {"cpus", 0, "LIST",
        "Run the workers only on these CPUs, as 0-3,8 (default: all allowed)",
        VALUE(FBY_CPUS_AS_TEXT, cluster.cpus)},
    {"nice", 0, "N",
        "Nice value of the workers' threads that compute, 0 to 19 (default 5)",
        FBY_RANGE(FBY_NUMBER_AS_TEXT, struct up_options, cluster.nice, 0, 19)},
    {"listen", 'l', "ADDR",
        "Where the server listens (default tcp://127.0.0.1:7070); beyond "
        "loopback only with --keys, or --insecure",
        VALUE(FBY_TEXT, cluster.listen)},
    {"keys", 0, "DIR",
        "A folder of keys that forebay keys wrote (default: new keys, which "
        "are in memory and end with the cluster)",
        VALUE(FBY_TEXT, cluster.keys)},
    {"insecure", 0, NULL, "No keys, also beyond loopback: for trusted networks",
        VALUE(FBY_FLAG, cluster.is_insecure)},
    {"data", 'd', "NAME=DIR", "A further root of the workers (repeatable)",
        VALUE(FBY_WORDS, data)},
    {.help = "For a program that starts the cluster:"},
    {"json", 0, NULL,
        "When the workers are ready, print one line of JSON: server, keys, "
        "roots, workers, pid",
        VALUE(FBY_FLAG, json)},
    {"ready-fd", 0, "FD",
        "Write this line to the descriptor FD instead, and close it; closed "
        "without a line, the start failed",
        NUMBER(ready_fd, 3, 1 << 20)},
    {"while-used", 0, "FILE",
        "End when no other process has a POSIX read lock (fcntl, F_RDLCK) on "
        "this file; one must be taken within 5 s after the workers are ready",
        VALUE(FBY_TEXT, while_used)},
    {0},
};

/* True for an endpoint on all interfaces: trainers cannot connect to it. */
static bool is_wildcard(const char *endpoint)
{
    return strstr(endpoint, "//*:") != NULL ||
           strstr(endpoint, "//0.0.0.0:") != NULL ||
           strstr(endpoint, "//[::]:") != NULL;
}

/* With --max, the number of workers begins within its limits. */
static void check_limits(
    const struct argp_state *state, struct up_options *self)
{
    if (self->least > 0 && self->most == 0) {
        argp_error(state, "--min needs --max");
    }
    self->least = self->least > 0 ? self->least : 1;
    if (self->most == 0) {
        self->cluster.workers =
            self->cluster.workers > 0 ? self->cluster.workers : DEFAULT_WORKERS;
        return;
    }
    if (self->least > self->most) {
        argp_error(state, "--min is above --max");
    }
    if (self->cluster.workers > self->most) {
        argp_error(state, "--workers is above --max");
    }
    if (self->cluster.workers > 0 && self->cluster.workers < self->least) {
        argp_error(state, "--workers is below --min");
    }
    if (self->cluster.workers == 0) {
        self->cluster.workers = self->least;
    }
    self->cluster.most_workers = self->most;
}

/* Also keep the descriptor of --ready-fd from the children, so that its reader
 * sees the end of the pipe when this process closes it. */
static void check_options(const struct argp_state *state, void *values)
{
    struct up_options *self   = values;
    const char        *listen = self->cluster.listen;
    check_limits(state, self);
    if (is_wildcard(listen)) {
        argp_error(state,
            "--listen %s: name one address of this machine, "
            "as in tcp://10.0.0.1:7070",
            listen);
    }
    struct fby_error_detail why      = {""};
    bool                    has_keys = self->cluster.keys != NULL;
    if (has_keys && self->cluster.is_insecure) {
        argp_error(state, "--keys and --insecure exclude each other");
    }
    /* Keys in memory cannot reach another host, so they do not count here. */
    if (fby_exposure_check(listen, has_keys, self->cluster.is_insecure, &why) !=
        FBY_OK) {
        argp_error(state, "%s", why.text);
    }
    if (self->ready_fd >= 0 && fcntl(self->ready_fd, F_SETFD, FD_CLOEXEC) < 0) {
        argp_error(state,
            "--ready-fd %d: %s: open it in the process that starts forebay",
            self->ready_fd, strerror(errno));
    }
}

static const struct fby_usage usage = {.options = options,
    .finish                                     = check_options,
    .help = "Run a whole cluster on this machine until Ctrl-C.\v"
            "Examples:\n"
            "  forebay up --pipeline p.yaml --workers 4\n"
            "  forebay up --pipeline p.yaml --max 8\n"
            "  forebay up --pipeline - --json --while-used lock < p.yaml\n"
            "It prints the options that a trainer needs: --server, --keys, "
            "--data."};

static bool reads_stdin(const struct up_options *self)
{
    return strcmp(self->pipeline, "-") == 0;
}

static void print_example(const struct up_options *values,
    const struct fby_cluster *cluster, const struct fby_served_roots *served,
    FILE *out)
{
    fprintf(out, "forebay up: %s; use it with\n  forebay pull --pipeline ",
        fby_plural(values->cluster.workers, "worker").text);
    fby_option_print_word(out, reads_stdin(values) ? "FILE" : values->pipeline);
    fprintf(out, " --server %s", fby_cluster_server_endpoint(cluster));
    const char *keys = fby_cluster_keys_by_pid(cluster);
    if (keys[0] != '\0') {
        fprintf(out, " --keys ");
        fby_option_print_word(out, keys);
    }
    for (unsigned i = 0; i < served->n_roots; i++) {
        fprintf(out, " --data ");
        fby_option_print_word(out, served->data_options.items[i]);
    }
    fputc('\n', out);
}

/* Locations are UTF-8, as JSON needs it. */
static void print_json(const struct up_options *values,
    const struct fby_cluster *cluster, const struct fby_served_roots *served,
    FILE *out)
{
    json_t *roots = json_object();
    for (unsigned i = 0; i < served->n_roots; i++) {
        const struct forebay_root *root = &served->roots[i];
        json_object_set_new(roots, root->name, json_string(root->directory));
    }
    json_t *line = json_pack("{s:s, s:s, s:o, s:i, s:i}", "server",
        fby_cluster_server_endpoint(cluster), "keys",
        fby_cluster_keys_by_pid(cluster), "roots", roots, "workers",
        (int)values->cluster.workers, "pid", (int)getpid());
    json_dumpf(line, out, JSON_COMPACT | JSON_PRESERVE_ORDER);
    fputc('\n', out);
    json_decref(line);
}

static fby_err write_all(
    int fd, const char *text, size_t size, struct fby_error_detail *why)
{
    while (size > 0) {
        ssize_t n = write(fd, text, size);
        if (n < 0 && errno != EINTR) {
            return fby_error_set(why, FBY_IO, "cannot write to %s: %s",
                fd == STDOUT_FILENO ? "standard output"
                                    : "the descriptor of --ready-fd",
                strerror(errno));
        }
        if (n > 0) {
            text += n;
            size -= (size_t)n;
        }
    }
    return FBY_OK;
}

/* Write how to use the cluster. It is not written with stdio, so that a failure
 * is reported now, and not again when the process ends. */
static fby_err announce_ready(const struct up_options *values,
    const struct fby_cluster *cluster, const struct fby_served_roots *served,
    struct fby_error_detail *why)
{
    char  *text = NULL;
    size_t size = 0;
    int    fd   = values->ready_fd >= 0 ? values->ready_fd : STDOUT_FILENO;
    FILE  *out  = open_memstream(&text, &size);
    if (out == NULL) {
        return fby_error_set(why, FBY_SYS, "no memory for a line of text");
    }
    if (values->json || values->ready_fd >= 0) {
        print_json(values, cluster, served, out);
    } else {
        print_example(values, cluster, served, out);
    }
    fclose(out);
    fby_err err = write_all(fd, text, size, why);
    if (values->ready_fd >= 0) {
        close(values->ready_fd);
    }
    free(text);
    return err;
}

enum { NOTICE_TIME_MS = 2000 }; /* for all splits together */

static bool has_time(void *arg, uint64_t done, uint64_t total)
{
    const int64_t *until_ns = arg;
    (void)done;
    (void)total;
    return fby_now_ns() < *until_ns && fby_signals_caught() == 0;
}

/* Print a line for each split without a step. Data that cannot be opened, or
 * not in time, is skipped: trainers and `forebay doctor` report it. */
static void notice_splits_without_steps(const struct up_options *values)
{
    int64_t until_ns = fby_now_ns() + NOTICE_TIME_MS * FBY_NS_PER_MS;
    const struct fby_progress progress = {.fn = has_time, .arg = &until_ns};
    struct fby_pipeline      *pipeline = NULL;
    struct fby_error_detail   why      = {{0}};
    fby_err err = fby_pipeline_load(values->pipeline, &pipeline, &why);
    size_t  n   = err == FBY_OK ? fby_pipeline_n_splits(pipeline) : 0;
    for (size_t i = 0; i < n && fby_signals_caught() == 0; i++) {
        const struct fby_local_options split = {.pipeline = values->pipeline,
            .split = fby_pipeline_split_name(pipeline, i),
            .data  = values->data};
        struct fby_local               local;
        if (fby_local_load(&local, &split, &why) == FBY_OK &&
            fby_local_open_data(&local, &split, progress, &why) == FBY_OK &&
            fby_local_check_steps(&local, &why) != FBY_OK) {
            fprintf(
                stderr, "forebay up: split %s: %s\n", split.split, why.text);
        }
        fby_local_close(&local);
    }
    fby_pipeline_destroy(&pipeline);
}

/* Check that the workers' key in the folder is of the server whose key is there:
 * else they would wait for its answer. */
static fby_err check_keys(const char *folder, struct fby_error_detail *why)
{
    struct fby_key_file server = {0};
    struct fby_key_file worker = {0};
    if (folder == NULL) {
        return FBY_OK;
    }
    fby_err err = fby_key_file_load(folder, FBY_ROLE_SERVER, &server, why);
    if (err == FBY_OK) {
        err = fby_key_file_load(folder, FBY_ROLE_WORKER, &worker, why);
    }
    if (err == FBY_OK && sodium_memcmp(&worker.server_key, &server.public_key,
                             sizeof(server.public_key)) != 0) {
        err = fby_error_set(why, FBY_CONFIG,
            "%s: worker.key is of another server than server.key; make a new "
            "one: forebay keys add DIR worker",
            folder);
    }
    sodium_memzero(&server, sizeof(server));
    sodium_memzero(&worker, sizeof(worker));
    return err;
}

/* ---- the number of workers ------------------------------------------------ */

static const int64_t scale_period_ns = 5 * FBY_NS_PER_S;

struct scaling {
    struct fby_ask *ask;    /* NULL: the number of workers stays */
    bool            failed; /* the last question; it was logged */
    uint32_t        workers;
    int64_t         due_ns;
};

static fby_err start_scaling(struct scaling *self,
    const struct up_options *values, const struct fby_cluster *cluster,
    struct fby_error_detail *why)
{
    struct fby_key_file key  = {0};
    const char         *keys = fby_cluster_worker_keys(cluster);
    fby_err             err  = FBY_OK;
    self->workers            = values->cluster.workers;
    if (values->most == 0) {
        return FBY_OK;
    }
    if (keys != NULL) {
        err = fby_key_file_load(keys, FBY_ROLE_WORKER, &key, why);
    }
    if (err == FBY_OK) {
        err = fby_ask_open(fby_cluster_server_endpoint(cluster),
            keys != NULL ? &key : NULL, &self->ask, why);
    }
    sodium_memzero(&key, sizeof(key));
    return err;
}

static void tell_number(
    const struct scaling *self, const struct fby_ask_answer *answer)
{
    fprintf(
        stderr, "forebay up: %s\n", fby_plural(self->workers, "worker").text);
    for (unsigned i = 0; i < answer->reasons.n; i++) {
        fprintf(stderr, "  %s\n", answer->reasons.items[i]);
    }
}

/* Ask the server. A server that has just started, or restarts, is asked again
 * later. Returns false if there is no number. */
static bool ask(struct scaling *self, struct fby_ask_answer *answer)
{
    struct fby_error_detail why = {""};
    fby_err                 err = fby_ask_workers(
                        self->ask, fby_now_ns() + FBY_NS_PER_S, false, answer, &why);
    bool failed = err == FBY_TIMEOUT || err == FBY_CONFIG;
    if (failed && !self->failed) {
        fby_warn("SCALE-FAILED", "%s; the workers stay, and it is tried again",
            why.text);
    }
    self->failed = failed;
    return err == FBY_OK;
}

/* Set the number of workers to the one that is wanted, if that is due. */
static void scale(struct scaling *self, const struct up_options *values,
    struct fby_cluster *cluster)
{
    struct fby_ask_answer answer = {.wanted = 0};
    int64_t               now_ns = fby_now_ns();
    if (self->ask == NULL || now_ns < self->due_ns) {
        return;
    }
    self->due_ns = now_ns + fby_scaled_timeout_ns(scale_period_ns);
    if (!ask(self, &answer)) {
        return;
    }
    fby_ask_limit(&answer, values->least, values->most);
    if (answer.wanted != self->workers) {
        self->workers = answer.wanted;
        fby_cluster_set_workers(cluster, self->workers);
        tell_number(self, &answer);
    }
    fby_words_fini(&answer.reasons);
}

/* ---- from the start to the end -------------------------------------------- */

static fby_err prepare(struct up_options *values,
    struct fby_served_roots *served, struct fby_lock_watch *users,
    struct fby_error_detail *why)
{
    fby_err err =
        reads_stdin(values)
            ? fby_served_collect_from_stdin(served, &values->data, why)
            : fby_served_collect(served, &values->data, values->pipeline, why);
    if (err == FBY_OK) {
        err = check_keys(values->cluster.keys, why);
    }
    if (err == FBY_OK && values->while_used != NULL) {
        err = fby_lock_watch_open(users, values->while_used, why);
    }
    return err;
}

/* Keep the cluster as it should be until a signal, or until its last user has
 * ended. */
static void supervise(const struct up_options *values,
    struct fby_cluster *cluster, struct scaling *scaling,
    struct fby_lock_watch *users, struct fby_service_manager *manager)
{
    while (fby_signals_caught() == 0 &&
           !fby_lock_watch_has_ended(users, fby_now_ns())) {
        fby_signals_wait(500);
        scale(scaling, values, cluster);
        fby_cluster_tick(cluster, fby_now_ns());
        fby_service_manager_tick(manager, fby_now_ns());
    }
}

static fby_err serve(struct up_options *values, struct fby_error_detail *why)
{
    struct fby_served_roots    served  = {0};
    struct fby_lock_watch      users   = {.fd = -1};
    struct fby_cluster        *cluster = NULL;
    struct scaling             scaling = {.ask = NULL};
    struct fby_service_manager manager = fby_service_manager_open();
    fby_err                    err     = prepare(values, &served, &users, why);
    if (err == FBY_OK) {
        values->cluster.roots = served.data_options.items;
        fby_signals_catch();
        err = fby_cluster_start(&values->cluster, &cluster, why);
    }
    if (err == FBY_OK) {
        err = start_scaling(&scaling, values, cluster, why);
    }
    if (err == FBY_OK) {
        err = announce_ready(values, cluster, &served, why);
    }
    if (err == FBY_OK && values->ready_fd < 0 && !values->json &&
        !reads_stdin(values)) {
        notice_splits_without_steps(values);
    }
    if (err == FBY_OK) {
        fby_service_manager_tell(&manager, "READY=1");
        supervise(values, cluster, &scaling, &users, &manager);
        if (fby_signals_caught() == 0) {
            fby_cluster_stop_unused(&cluster);
        }
    }
    fby_service_manager_tell(&manager, "STOPPING=1");
    fby_service_manager_close(&manager);
    fby_ask_close(&scaling.ask);
    fby_cluster_stop(&cluster);
    fby_lock_watch_close(&users);
    fby_served_fini(&served);
    return err;
}

static int run(int argc, char **argv)
{
    struct up_options values = {
        .ready_fd = -1,
        .cluster  = {.listen = "tcp://127.0.0.1:7070"},
    };
    struct fby_error_detail why = {{0}};
    fby_usage_parse(&usage, argc, argv, &values);
    /* If the reader of the output or of the log ends first, write() fails and
     * the cluster ends in order. The children inherit this. */
    signal(SIGPIPE, SIG_IGN);
    fby_err err = serve(&values, &why);
    fby_words_fini(&values.data);
    return fby_command_end("up", err, &why);
}

const struct fby_command fby_command_up = {
    .name    = "up",
    .summary = "run a server and workers on this machine until Ctrl-C",
    .run     = run,
};
