/* SPDX-License-Identifier: Apache-2.0 */
/* worker.c - starts, runs and ends a worker, which makes batches for clients.
 *
 * A component starts after the components that it needs. A component that holds
 * memory of another one ends before it. The loop is the thread that owns the
 * sockets; the stages have the threads that fetch, transform and encode. */
#include "worker/worker.h"

#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "codec/codec.h"
#include "common/cgroup.h"
#include "common/clock.h"
#include "common/cores.h"
#include "common/exposure.h"
#include "common/limits.h"
#include "common/log.h"
#include "common/ready.h"
#include "common/timer.h"
#include "worker/cpu_placement.h"
#include "worker/loop/loop.h"
#include "worker/transform/self_check/jpeg_parts.h"

enum {
    RECEIVE_MESSAGES = 1000, /* limit of received messages queued per client */
    SEND_MESSAGES    = 100000,  /* limit per client; the send window (bytes) is
                                reached first */
    KNOWN_PLANS      = 8,       /* loaded datasets that are kept */
    LOAD_THREADS     = 2,       /* threads that load datasets */
    WAITING_LOADS    = 16,      /* datasets that may wait to be loaded */
    MMAP_BYTES       = 1 << 20, /* malloc maps blocks of at least 1 MiB */
    LINGER_MS        = 1000,    /* time for ZeroMQ to send the last messages */
    /* Compute threads run at a lower priority than the network threads and a
     * trainer on the same machine. On an idle machine this costs nothing. */
    COMPUTE_NICE = 5
};

enum {                       /* checked at the start, see common/limits.h */
    OWN_FILES     = 18,      /* descriptors of the loop and of ZeroMQ */
    CONNECTIONS   = 16,      /* of trainers, at least */
    SPARE_THREADS = 4,       /* two of ZeroMQ, one that scans files, and one
                                that looks up the server */
    SPARE_BYTES   = 16 << 20 /* for ZeroMQ and plans, at least */
};

struct fby_worker_options fby_worker_defaults(void)
{
    return (struct fby_worker_options){
        .numa              = FBY_NUMA_AUTO,
        .nice              = COMPUTE_NICE,
        .send_window_bytes = UINT64_C(16) << 20,
        .ready_fd          = -1,
        .stop_fd           = -1,
        .heartbeat_ns      = FBY_NS_PER_S,
        .register_ns       = FBY_NS_PER_S,
        .drain_ns          = 25 * FBY_NS_PER_S,
        .progress_ns       = FBY_NS_PER_S / 2,
        .idle_ns           = 10 * FBY_NS_PER_S,
    };
}

uint64_t fby_worker_default_memory(uint64_t cgroup_bytes)
{
    const uint64_t most = UINT64_C(1) << 30;
    return cgroup_bytes / 2 < most ? cgroup_bytes / 2 : most;
}

uint64_t fby_worker_max_sample_bytes(uint64_t memory_bytes)
{
    return memory_bytes / 8;
}

/* ---- The start ----------------------------------------------------------- */

static uint32_t value_or_default(uint32_t value, uint32_t default_value)
{
    return value > 0 ? value : default_value;
}

static void choose_memory(struct fby_worker_options *options)
{
    uint64_t limit        = fby_cgroup_memory("");
    options->memory_bytes = fby_worker_default_memory(limit);
    uint64_t mib          = options->memory_bytes >> 20;
    if (options->memory_bytes == limit / 2) {
        fby_info("MEMORY",
            "%" PRIu64 " MiB for samples and batches, half of the cgroup's "
            "limit; choose with --memory",
            mib);
    } else {
        fby_info("MEMORY",
            "%" PRIu64 " MiB for samples and batches; choose with --memory",
            mib);
    }
}

/* Replace counts of 0 by their defaults, and scale the times (for tests). */
static void resolve_defaults(struct fby_worker_options *options)
{
    if (options->transform_threads > 0) {
        fby_limit_cores(options->transform_threads);
    }
    uint32_t cores = fby_usable_cores();
    options->transform_threads =
        value_or_default(options->transform_threads, cores);
    options->fetch_threads =
        value_or_default(options->fetch_threads, 2 * cores > 4 ? 2 * cores : 4);
    options->encode_threads =
        value_or_default(options->encode_threads, (cores + 1) / 2);
    if (options->memory_bytes == 0) {
        choose_memory(options);
    }
    options->heartbeat_ns = fby_scaled_timeout_ns(options->heartbeat_ns);
    options->register_ns  = fby_scaled_timeout_ns(options->register_ns);
    options->drain_ns     = fby_scaled_timeout_ns(options->drain_ns);
    options->progress_ns  = fby_scaled_timeout_ns(options->progress_ns);
    options->idle_ns      = fby_scaled_timeout_ns(options->idle_ns);
}

static struct fby_session_config session_config(
    const struct fby_worker_options *options)
{
    struct fby_session_config config = fby_session_defaults();
    config.send_window               = options->send_window_bytes;
    config.retry_ns                  = fby_scaled_timeout_ns(config.retry_ns);
    config.lease_ns                  = fby_scaled_timeout_ns(config.lease_ns);
    config.stall_limit_ns = fby_scaled_timeout_ns(config.stall_limit_ns);
    return config;
}

static fby_err open_roots(struct fby_loop *self, struct fby_error_detail *why)
{
    fby_err err = FBY_OK;
    self->roots = fby_roots_create();
    for (size_t i = 0; err == FBY_OK && i < self->options.n_roots; i++) {
        err = fby_roots_add(self->roots, self->options.roots[i], why);
    }
    return err;
}

/* The files that are open when all threads read or scan at the same time, the
 * loop's own descriptors and a few connections. With fewer, the worker would
 * start and then answer BUSY forever. */
static fby_err check_files(
    const struct fby_worker_options *options, struct fby_error_detail *why)
{
    uint32_t scanned = LOAD_THREADS * (fby_usable_cores() + 1);
    return fby_limits_check_files("a worker",
        OWN_FILES + CONNECTIONS + (uint32_t)options->n_roots +
            options->fetch_threads + scanned +
            (options->http.listen != NULL ? FBY_HTTP_FILES : 0),
        why);
}

/* Check the threads and memory that are needed beyond those of the stages.
 * Memory for batches is mapped when it is used, so a limit that is too low
 * would be found only then. */
static fby_err check_threads_and_memory(
    const struct fby_worker_options *options, struct fby_error_detail *why)
{
    uint32_t http = options->http.listen != NULL ? FBY_HTTP_THREADS : 0;
    fby_err  err =
        fby_limits_check_threads("a worker", SPARE_THREADS + http, why);
    return err == FBY_OK ? fby_limits_check_memory("a worker (see --memory)",
                               (size_t)options->memory_bytes + SPARE_BYTES, why)
                         : err;
}

/* Divide memory_bytes: 1/8 for the bytes read, 1/4 for decoding pictures, at
 * most 1/16 for compressing, and the rest for batches. */
static struct fby_stages_config stages_config(
    const struct fby_worker_options *options)
{
    size_t max_encode = fby_stages_max_encode_bytes(options->encode_threads);
    size_t sixteenth  = options->memory_bytes / 16;
    return (struct fby_stages_config){
        .fetch_threads     = options->fetch_threads,
        .transform_threads = options->transform_threads,
        .encode_threads    = options->encode_threads,
        .nice              = options->nice,
        .fetch_bytes       = fby_worker_max_sample_bytes(options->memory_bytes),
        .scratch_bytes     = options->memory_bytes / 4,
        .encode_bytes      = max_encode < sixteenth ? max_encode : sixteenth,
    };
}

static fby_err check_memory(
    const struct fby_worker_options *options, struct fby_error_detail *why)
{
    if (options->memory_bytes >= FBY_WORKER_MIN_MEMORY) {
        return FBY_OK;
    }
    return fby_error_set(why, FBY_USAGE,
        "%" PRIu64 " bytes of memory are too few for a worker; give it %d MiB "
        "or more (--memory)",
        options->memory_bytes, FBY_WORKER_MIN_MEMORY >> 20);
}

static fby_err open_memory_and_stages(
    struct fby_loop *self, struct fby_error_detail *why)
{
    const struct fby_stages_config config = stages_config(&self->options);

    uint64_t batch_bytes = self->options.memory_bytes - config.fetch_bytes -
                           config.scratch_bytes - config.encode_bytes;
    /* Return large blocks of libraries (the coefficients of a progressive JPEG)
     * to the system when they are freed. */
    mallopt(M_MMAP_THRESHOLD, MMAP_BYTES);
    /* Batches may use 13/16 of the pool. A reused block may be 1/8 larger than
     * its batch (13/16 * 9/8 < 15/16). The last 1/16 is for copied chunks. With
     * keys each chunk that is being sent is a sealed copy: 10/16 and 4/16. */
    self->memory = fby_memory_create(batch_bytes);
    fby_budget_init(
        &self->budget, batch_bytes / 16 * (self->keys != NULL ? 10 : 13));
    self->copy_bytes = batch_bytes - self->budget.total / 8 * 9;
    fby_err err      = fby_arenas_create(self->memory, &self->arenas);
    if (err != FBY_OK) {
        return fby_error_set(
            why, err, "cannot create an eventfd: %s", strerror(errno));
    }
    err = fby_stages_create(&config, &self->stages);
    if (err == FBY_OK) {
        err = fby_plan_cache_create(
            &(struct fby_plan_cache_config){.roots = self->roots,
                .cache_dir                         = self->options.cache_dir,
                .max_running                       = LOAD_THREADS,
                .max_waiting                       = WAITING_LOADS,
                .max_plans                         = KNOWN_PLANS},
            &self->plans);
    }
    return err == FBY_OK ? check_threads_and_memory(&self->options, why)
                         : fby_error_set(why, err,
                               "cannot start %u threads: %s; raise the limits "
                               "on processes and memory (ulimit -u, ulimit -v, "
                               "or those of the container), or give fewer "
                               "--threads",
                               config.fetch_threads + config.transform_threads +
                                   config.encode_threads + LOAD_THREADS,
                               strerror(errno));
}

static fby_err open_sockets(struct fby_loop *self, struct fby_error_detail *why)
{
    const struct fby_socket_limits limits = {
        .max_message_bytes = FBY_MESSAGE_MAX,
        .receive_messages  = RECEIVE_MESSAGES,
        .send_messages     = SEND_MESSAGES,
        /* TCP keeps a dead connection no longer than the worker keeps its
         * session. */
        .dead_peer_ms = (int)(self->session_config.lease_ns / FBY_NS_PER_MS),
    };
    self->zmq = zmq_ctx_new();
    if (self->zmq == NULL) {
        return fby_error_set(
            why, FBY_SYS, "no ZeroMQ context: %s", zmq_strerror(errno));
    }
    FBY_TRY(fby_socket_bind(self->zmq, self->options.listen, &limits,
        self->bound, &self->router, why));
    FBY_TRY(
        fby_handshakes_watch(&self->handshakes, self->zmq, self->router, why));
    /* Nothing is received before this check. */
    FBY_TRY(fby_exposure_check(
        self->bound, self->keys != NULL, self->options.is_insecure, why));
    return fby_loop_registry_connect(self, why);
}

/* Receive SIGTERM and SIGINT through signal_fd. All threads created later
 * inherit the signal mask, so no thread is interrupted by these signals. */
static fby_err open_signals(struct fby_loop *self, struct fby_error_detail *why)
{
    sigset_t signals;
    if (!self->options.handles_signals) {
        return FBY_OK;
    }
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    self->signal_fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
    return self->signal_fd >= 0 ? FBY_OK
                                : fby_error_set(why, FBY_SYS, "no signalfd: %s",
                                      strerror(errno));
}

static fby_err start_http(struct fby_loop *self, struct fby_error_detail *why)
{
    const struct fby_http_config config = {
        .options = self->options.http,
        .pages   = fby_worker_pages,
        .n_pages = FBY_WORKER_PAGES,
        .destroy = free,
    };
    return fby_http_start(&config, &self->http, why);
}

static fby_err announce_ready(
    struct fby_loop *self, struct fby_error_detail *why)
{
    FBY_TRY(fby_ready_announce(
        self->options.ready_fd, self->options.ready_file, self->bound, why));
    fby_info("WORKER-READY", "%s", self->bound);
    fby_service_manager_tell(&self->manager, "READY=1");
    if (self->keys == NULL && !fby_endpoint_is_loopback(self->bound)) {
        fby_warn("LISTENS-OPENLY",
            "%s, with --insecure: any host that reaches this port can read all "
            "files below the --data directories as pictures, labels and bytes; "
            "it has no keys (--keys), so keep the port in a trusted network",
            self->bound);
    }
    return FBY_OK;
}

static fby_err open_loop(struct fby_loop *self, struct fby_error_detail *why)
{
    self->instance       = fby_instance_random();
    self->session_config = session_config(&self->options);
    self->now_ns         = fby_now_ns();
    fby_err err          = fby_ready_prepare(self->options.ready_file, why);
    if (err == FBY_OK) {
        err = fby_codec_self_test(why);
    }
    if (err == FBY_OK) {
        err = fby_jpeg_parts_check(why);
    }
    if (err == FBY_OK) {
        err = check_files(&self->options, why);
    }
    if (err == FBY_OK) {
        err = open_signals(self, why);
    }
    if (err == FBY_OK) {
        err = open_roots(self, why);
    }
    if (err == FBY_OK) {
        err = check_memory(&self->options, why);
    }
    if (err == FBY_OK) {
        err = fby_loop_keys_open(self, why);
    }
    if (err == FBY_OK) {
        err = open_memory_and_stages(self, why);
    }
    if (err == FBY_OK) {
        err = fby_loop_registry_open(self, why);
    }
    if (err == FBY_OK) {
        err = fby_loop_choose_listen(self, why);
    }
    if (err != FBY_OK || self->done) {
        return err;
    }
    /* Move this thread, and the threads of ZeroMQ that are created next, near
     * the network card. The threads of the stages exist already and are not
     * moved. */
    fby_cpu_placement_near_nic(&self->options);
    err = open_sockets(self, why);
    if (err == FBY_OK) {
        err = start_http(self, why);
    }
    return err == FBY_OK ? announce_ready(self, why) : err;
}

/* ---- The end ------------------------------------------------------------- */

static void close_sockets(struct fby_loop *self)
{
    const int linger_ms = LINGER_MS;
    if (self->router != NULL) {
        zmq_setsockopt(self->router, ZMQ_LINGER, &linger_ms, sizeof(linger_ms));
        zmq_close(self->router);
    }
    fby_handshakes_fini(&self->handshakes);
    if (self->registry.socket != NULL) {
        zmq_setsockopt(
            self->registry.socket, ZMQ_LINGER, &linger_ms, sizeof(linger_ms));
    }
    fby_loop_registry_close(self);
    if (self->zmq != NULL) {
        zmq_ctx_term(self->zmq);
    }
}

static void log_totals(const struct fby_loop *self)
{
    const struct fby_loop_counts *counts = &self->counts;
    fby_info("WORKER-ENDED",
        "batches %" PRIu64 ", messages refused %" PRIu64
        ", clients refused %" PRIu64,
        counts->batches, counts->malformed + counts->out_of_place,
        counts->refused_clients);
}

/* End the requests first, then the threads that may work on them, then the
 * sockets that may hold their memory. After that no batch memory is in use. */
static void close_loop(struct fby_loop *self)
{
    for (struct fby_loop_peer *peer = self->peers; peer != NULL;
         peer                       = peer->next) {
        fby_loop_peer_end(self, peer);
    }
    fby_stages_destroy(&self->stages);
    close_sockets(self);
    if (self->arenas != NULL) {
        /* Frees the requests that are still charged with memory. */
        fby_arenas_free_released(self->arenas, fby_loop_request_free, self);
    }
    fby_loop_peers_sweep(self);
    fby_loop_keys_close(self);
    fby_plan_cache_destroy(&self->plans);
    fby_arenas_destroy(&self->arenas);
    fby_memory_destroy(&self->memory);
    fby_roots_destroy(&self->roots);
    fby_buffer_fini(&self->frame);
    if (self->signal_fd >= 0) {
        close(self->signal_fd);
    }
    fby_http_stop(&self->http); /* until now /readyz said that it leaves */
    fby_loop_end_in_order(self);
}

fby_err fby_worker_run(
    const struct fby_worker_options *options, struct fby_error_detail *why)
{
    struct fby_loop self = {.options = *options, .signal_fd = -1};
    fby_err         err  = fby_cpu_placement_confine(options, why);
    if (err != FBY_OK) {
        return err;
    }
    self.manager = fby_service_manager_open();
    resolve_defaults(&self.options); /* counts the CPUs that are left */
    err = open_loop(&self, why);
    while (err == FBY_OK && !self.done) {
        fby_loop_turn(&self);
    }
    if (err == FBY_OK) {
        fby_ready_withdraw(self.options.ready_file);
        log_totals(&self);
    }
    close_loop(&self);
    fby_service_manager_close(&self.manager);
    return err;
}
