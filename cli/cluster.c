/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cluster.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/temporary_keys.h"
#include "common/cgroup.h"
#include "common/clock.h"
#include "common/cores.h"
#include "common/cpus.h"
#include "common/log.h"
#include "common/mem.h"
#include "common/service_manager.h"
#include "common/socket.h"
#include "secure/key_file.h"
#include "worker/worker.h"

static const int64_t start_timeout_ns     = 60 * FBY_NS_PER_S;
static const int64_t max_restart_delay_ns = 30 * FBY_NS_PER_S;
/* Time between SIGTERM and SIGKILL; a worker has 25 s (--drain) to end. */
static const int64_t grace_ns = 26 * FBY_NS_PER_S;
/* The same without a trainer. A worker does not know that one was killed. */
static const int64_t unused_grace_ns = 1 * FBY_NS_PER_S;

struct restart {            /* the restart state of one child */
    unsigned starts;        /* number of starts, including the first */
    int64_t  restart_at_ns; /* 0: no restart is due */
    bool     leaves;        /* it got SIGTERM, since it is not wanted */
};

struct fby_cluster {
    unsigned                  n_children; /* that may run */
    uint32_t                  workers;    /* that are wanted now */
    struct fby_child         *children; /* [0]: the server; then the workers */
    struct restart           *restarts; /* [i]: of children[i] */
    struct fby_child_program  server;
    struct fby_child_program  worker; /* the same for all workers */
    struct fby_temporary_keys temporary_keys;
    char                     *keys; /* see fby_cluster_keys() */
    char                     *keys_by_pid;
    char                     *worker_keys; /* NULL: no keys */
};

static fby_err start_child(
    struct fby_cluster *self, unsigned i, struct fby_error_detail *why)
{
    char                            name[64] = "the server";
    const struct fby_child_program *program  = &self->server;
    if (i > 0) {
        snprintf(name, sizeof(name), "worker %u", i);
        program = &self->worker;
    }
    self->restarts[i].starts++;
    return fby_child_start(&self->children[i], name, program, why);
}

/* Append `name` and `value`, unless `value` is NULL. */
static void add_option(
    struct fby_words *args, const char *name, const char *value)
{
    if (value != NULL) {
        fby_words_add(args, name);
        fby_words_add(args, value);
    }
}

/* Make a child inherit `fd`, and append the option that names it. */
static void inherit_file(
    struct fby_child_program *program, unsigned i, const char *name, int fd)
{
    program->inherited[i] = fd;
    add_option(&program->args, name, fby_temporary_key_path(fd).text);
}

/* What is sent over loopback can be read or changed by root only, so chunks are
 * not sealed there. */
static void add_server_keys(
    struct fby_cluster *self, const char *keys, const char *listen)
{
    if (self->temporary_keys.server >= 0) {
        inherit_file(&self->server, 0, "--keys", self->temporary_keys.server);
        inherit_file(
            &self->server, 1, "--allowed", self->temporary_keys.allowed);
    } else {
        add_option(&self->server.args, "--keys", keys);
    }
    if (self->keys[0] != '\0' && fby_endpoint_is_loopback(listen)) {
        add_option(&self->server.args, "--secure", "auth");
    }
}

static void build_server_args(struct fby_cluster *self,
    const struct fby_cluster_options *options, const char *listen)
{
    fby_words_add(&self->server.args, "server");
    add_option(&self->server.args, "--listen", listen);
    add_server_keys(self, options->keys, listen);
    if (options->is_insecure) {
        fby_words_add(&self->server.args, "--insecure");
    }
}

/* The workers that may run at the same time. */
static uint32_t most_workers(const struct fby_cluster_options *options)
{
    return options->most_workers > options->workers ? options->most_workers
                                                    : options->workers;
}

/* Returns a worker's equal share of the usable cores, at least 1. */
static unsigned cores_per_worker(const struct fby_cluster_options *options)
{
    cpu_set_t allowed;
    unsigned  cores = fby_usable_cores();
    if (options->cpus != NULL &&
        fby_cpus_parse_usable(options->cpus, &allowed, NULL) == FBY_OK &&
        (unsigned)CPU_COUNT(&allowed) < cores) {
        cores = (unsigned)CPU_COUNT(&allowed);
    }
    uint32_t n     = most_workers(options);
    unsigned share = n > 0 ? cores / n : 0;
    return share > 0 ? share : 1;
}

/* The workers share what one worker would take of the cgroup's limit. Returns
 * false if there is enough for the default of each. */
static bool choose_memory(unsigned workers, char out[24])
{
    uint64_t limit = fby_cgroup_memory("") / (workers > 0 ? workers : 1);
    uint64_t bytes = fby_worker_default_memory(limit);
    snprintf(out, 24, "%" PRIu64, bytes);
    return bytes < fby_worker_default_memory(UINT64_MAX);
}

static void build_worker_args(
    struct fby_cluster *self, const struct fby_cluster_options *options)
{
    struct fby_words *args   = &self->worker.args;
    const char       *server = self->children[0].endpoint;
    char              threads[16];
    char              share[24];
    const char       *memory = options->memory;
    char              listen[520]; /* the server's host, with port "*": any */
    snprintf(listen, sizeof(listen), "%.*s:*",
        (int)(strrchr(server, ':') - server), server);
    snprintf(threads, sizeof(threads), "%u",
        options->threads > 0 ? options->threads : cores_per_worker(options));
    if (memory == NULL && choose_memory(most_workers(options), share)) {
        memory = share;
    }
    fby_words_add(args, "worker");
    add_option(args, "--server", server);
    add_option(args, "--listen", listen);
    add_option(args, "--threads", threads);
    add_option(args, "--cpus", options->cpus);
    add_option(args, "--nice", options->nice);
    add_option(args, "--memory", memory);
    add_option(args, "--cache", options->cache);
    if (self->temporary_keys.worker >= 0) {
        inherit_file(&self->worker, 0, "--keys", self->temporary_keys.worker);
    } else {
        add_option(args, "--keys", options->keys);
    }
    if (options->is_insecure) {
        fby_words_add(args, "--insecure");
    }
    for (unsigned i = 0; options->roots[i] != NULL; i++) {
        add_option(args, "--data", options->roots[i]);
    }
}

static fby_err start_server(struct fby_cluster *self,
    const struct fby_cluster_options *options, struct fby_error_detail *why)
{
    build_server_args(self, options,
        options->listen != NULL ? options->listen : "tcp://127.0.0.1:*");
    fby_err err = start_child(self, 0, why);
    if (err == FBY_OK) {
        err = fby_child_wait_ready(
            &self->children[0], fby_now_ns() + start_timeout_ns, why);
    }
    return err;
}

static fby_err start_workers(struct fby_cluster *self,
    const struct fby_cluster_options *options, struct fby_error_detail *why)
{
    fby_err err = FBY_OK;
    build_worker_args(self, options);
    self->workers = options->workers;
    for (unsigned i = 1; i <= self->workers && err == FBY_OK; i++) {
        err = start_child(self, i, why);
    }
    int64_t deadline_ns = fby_now_ns() + start_timeout_ns;
    for (unsigned i = 1; i <= self->workers && err == FBY_OK; i++) {
        err = fby_child_wait_ready(&self->children[i], deadline_ns, why);
    }
    return err;
}

/* The absolute path of the trainer's key in a folder; a pattern of it if it has
 * the keys of several. The caller frees it. */
static char *find_trainer_key(const char *folder)
{
    struct fby_error_detail unused;
    char                    file[FBY_KEY_PATH_SIZE];
    char                   *path = realpath(folder, NULL);
    const char             *real = path != NULL ? path : folder;
    if (fby_key_file_find(real, FBY_ROLE_TRAINER, file, &unused) != FBY_OK) {
        snprintf(file, sizeof(file), "%.4000s/trainer-NAME.key", real);
    }
    free(path);
    return fby_strdup(file);
}

static fby_err choose_keys(struct fby_cluster *self,
    const struct fby_cluster_options *options, struct fby_error_detail *why)
{
    if (options->is_insecure) {
        self->keys        = fby_strdup("");
        self->keys_by_pid = fby_strdup("");
        return FBY_OK;
    }
    if (options->keys != NULL) {
        self->keys        = find_trainer_key(options->keys);
        self->keys_by_pid = fby_strdup(self->keys);
        self->worker_keys = fby_strdup(options->keys);
        return FBY_OK;
    }
    FBY_TRY(fby_temporary_keys_create(&self->temporary_keys, why));
    int fd            = self->temporary_keys.trainer;
    self->keys        = fby_strdup(fby_temporary_key_path(fd).text);
    self->keys_by_pid = fby_strdup(fby_temporary_key_path_by_pid(fd).text);
    self->worker_keys =
        fby_strdup(fby_temporary_key_path(self->temporary_keys.worker).text);
    return FBY_OK;
}

fby_err fby_cluster_start(const struct fby_cluster_options *options,
    struct fby_cluster **out, struct fby_error_detail *why)
{
    struct fby_cluster *self = fby_zalloc(sizeof(*self));
    self->n_children         = most_workers(options) + 1;
    self->children = fby_zalloc(self->n_children * sizeof(*self->children));
    self->restarts = fby_zalloc(self->n_children * sizeof(*self->restarts));
    for (unsigned i = 0; i < self->n_children; i++) {
        self->children[i].ready_fd = -1;
    }
    fby_service_manager_hide(); /* the children are no services of their own */
    self->temporary_keys = FBY_NO_TEMPORARY_KEYS;
    self->server         = (struct fby_child_program){.inherited = {-1, -1}};
    self->worker         = self->server;
    fby_err err          = choose_keys(self, options, why);
    if (err == FBY_OK) {
        err = start_server(self, options, why);
    }
    if (err == FBY_OK) {
        err = start_workers(self, options, why);
    }
    if (err != FBY_OK) {
        fby_cluster_stop(&self);
        return err;
    }
    /* A restarted server must listen on the same port. */
    fby_words_fini(&self->server.args);
    build_server_args(self, options, self->children[0].endpoint);
    *out = self;
    return FBY_OK;
}

static void stop(struct fby_cluster **self_p, int64_t worker_grace_ns)
{
    struct fby_cluster *self = *self_p;
    if (self == NULL) {
        return;
    }
    *self_p = NULL;
    fby_children_stop(
        self->children + 1, self->n_children - 1, worker_grace_ns);
    fby_children_stop(self->children, 1, grace_ns);
    free(self->children);
    free(self->restarts);
    fby_words_fini(&self->worker.args);
    fby_words_fini(&self->server.args);
    fby_temporary_keys_close(&self->temporary_keys);
    free(self->keys);
    free(self->keys_by_pid);
    free(self->worker_keys);
    free(self);
}

void fby_cluster_stop(struct fby_cluster **self_p)
{
    stop(self_p, grace_ns);
}

void fby_cluster_stop_unused(struct fby_cluster **self_p)
{
    stop(self_p, unused_grace_ns);
}

const char *fby_cluster_server_endpoint(const struct fby_cluster *self)
{
    return self->children[0].endpoint;
}

const char *fby_cluster_keys(const struct fby_cluster *self)
{
    return self->keys;
}

const char *fby_cluster_keys_by_pid(const struct fby_cluster *self)
{
    return self->keys_by_pid;
}

const char *fby_cluster_worker_keys(const struct fby_cluster *self)
{
    return self->worker_keys;
}

/* Plan the next restart: in 1, 2, 4, 8, 16, then always 30 s, since a shift by
 * 5 gives 32 s. Returns these seconds. */
static long long plan_restart(struct restart *restart, int64_t now_ns)
{
    unsigned shift         = restart->starts < 6 ? restart->starts - 1 : 5;
    int64_t  delay_ns      = FBY_NS_PER_S << shift;
    delay_ns               = fby_earlier_ns(delay_ns, max_restart_delay_ns);
    restart->restart_at_ns = now_ns + delay_ns;
    return delay_ns / FBY_NS_PER_S;
}

static void warn_ended(struct fby_child *child, long long delay_s)
{
    struct fby_error_detail cause;
    bool                    killed = WIFSIGNALED(child->status);
    fby_child_read_cause(child, &cause);
    fby_warn("CHILD-ENDED", "%s %s %d%s%s; started again in %lld s",
        child->name, killed ? "was killed by signal" : "ended with code",
        killed ? WTERMSIG(child->status) : WEXITSTATUS(child->status),
        cause.text[0] != '\0' ? ": " : "", cause.text, delay_s);
}

static void restart_child(struct fby_cluster *self, unsigned i, int64_t now_ns)
{
    struct fby_child        ended = self->children[i];
    struct fby_error_detail why   = {{0}};
    if (ended.ready_fd >= 0) {
        close(ended.ready_fd);
    }
    if (start_child(self, i, &why) != FBY_OK) {
        fby_error("CHILD-LOST", "%s; started again in %lld s", why.text,
            plan_restart(&self->restarts[i], now_ns));
    }
    /* The new endpoint is not read from the pipe: a server keeps its old one,
     * and the endpoint of a worker is used nowhere in this process. */
    memcpy(self->children[i].endpoint, ended.endpoint, sizeof(ended.endpoint));
}

static void restart_ended(struct fby_cluster *self, int64_t now_ns)
{
    for (unsigned i = 0; i < self->n_children; i++) {
        struct fby_child *child   = &self->children[i];
        struct restart   *restart = &self->restarts[i];
        if (!fby_child_reap(child) || restart->starts == 0) {
            continue;
        }
        if (restart->leaves) { /* it is free to start again */
            *restart = (struct restart){.starts = 0};
        } else if (restart->restart_at_ns == 0) {
            warn_ended(child, plan_restart(restart, now_ns));
        } else if (now_ns >= restart->restart_at_ns) {
            restart->restart_at_ns = 0;
            restart_child(self, i, now_ns);
        }
    }
}

/* ---- the number of workers ------------------------------------------------ */

/* True for a worker that runs or will be started again, and does not leave. */
static bool is_active(const struct fby_cluster *self, unsigned i)
{
    return self->restarts[i].starts > 0 && !self->restarts[i].leaves;
}

/* Let the worker end, or end its restarts. */
static void let_leave(struct fby_cluster *self, unsigned i)
{
    self->restarts[i].leaves = true;
    if (self->children[i].pid != 0) {
        kill(self->children[i].pid, SIGTERM);
    }
}

/* The active worker that is to leave first: one without a process, which waits
 * to be started again, else the one that was added last. 0: there is none. */
static unsigned choose_to_leave(const struct fby_cluster *self)
{
    unsigned last = 0;
    for (unsigned i = 1; i < self->n_children; i++) {
        if (is_active(self, i)) {
            last = i;
            if (self->children[i].pid == 0) {
                return i;
            }
        }
    }
    return last;
}

/* Start or stop the workers that are too few or too many. */
static void match_number(struct fby_cluster *self, int64_t now_ns)
{
    uint32_t active = 0;
    for (unsigned i = 1; i < self->n_children; i++) {
        active += is_active(self, i) ? 1 : 0;
    }
    for (; active > self->workers; active--) {
        let_leave(self, choose_to_leave(self));
    }
    for (unsigned i = 1; i < self->n_children && active < self->workers; i++) {
        if (self->restarts[i].starts == 0) {
            restart_child(self, i, now_ns);
            active++;
        }
    }
}

void fby_cluster_set_workers(struct fby_cluster *self, uint32_t workers)
{
    uint32_t most = self->n_children - 1;
    self->workers = workers < most ? workers : most;
}

void fby_cluster_tick(struct fby_cluster *self, int64_t now_ns)
{
    restart_ended(self, now_ns);
    match_number(self, now_ns);
}
