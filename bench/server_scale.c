/* SPDX-License-Identifier: Apache-2.0 */
/* server_scale.c - the server with many workers and trainers, all with keys.
 *
 * A real server, and 1,000 workers and 256 trainers that talk only to it
 * (light_peers.h), each with a key of its own from `forebay keys`. Measures the
 * time until each trainer has a ticket for each worker; then the server's CPU
 * time while all renew their leases, and its memory after some hundred messages
 * of each peer; then the time after the server was killed and started again
 * until all are back. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "bench/bench.h"
#include "bench/cluster.h"
#include "bench/light_peers.h"
#include "cli/keys/folder.h"
#include "common/clock.h"
#include "common/limits.h"

enum { FILES_OF_PEER = 2, SPARE_FILES = 64, HURRY = 10 };

static const double mib     = 1 << 20;
static const double lease_s = 10; /* the server's default */

static uint64_t workers  = 1000;
static uint64_t trainers = 256;
static uint64_t run_s    = 30;
static uint64_t messages = 600;
static uint64_t down_s   = 5;

struct scale_bench {
    struct bench_cluster      cluster; /* the server, without workers */
    struct bench_light_peers *peers;
    double                    most_bytes; /* of all servers so far */
};

/* ---- keys ---------------------------------------------------------------- */

/* As `forebay keys add`, without a process for each key. */
static void add_key(
    const struct bench_cluster *cluster, enum fby_role role, const char *name)
{
    char                      path[4096];
    struct fby_error_detail   why = {""};
    const struct fby_keys_new key = {.role = role, .name = name};
    if (fby_keys_add(cluster->keys_dir, &key, path, &why) != FBY_OK) {
        bench_die("%s", why.text);
    }
}

static void make_keys(struct bench_cluster *cluster)
{
    char name[32];
    bench_cluster_init_keys(cluster);
    for (uint64_t i = 0; i < workers; i++) {
        snprintf(name, sizeof(name), "w%" PRIu64, i);
        add_key(cluster, FBY_ROLE_WORKER, name);
    }
    for (uint64_t i = 0; i < trainers; i++) {
        snprintf(name, sizeof(name), "t%" PRIu64, i);
        add_key(cluster, FBY_ROLE_TRAINER, name);
    }
}

/* ---- phases -------------------------------------------------------------- */

/* Run the peers until each trainer that has joined the server, which is not
 * `former`, has tickets for all workers. Returns the seconds. */
static double run_until_all_known(
    struct scale_bench *self, struct fby_instance_id former, int64_t begun_ns)
{
    struct bench_light_state state = {.server = former};
    while (state.server.value == former.value || state.registered < workers ||
           state.informed < trainers) {
        if (fby_now_ns() > begun_ns + BENCH_TIMEOUT_NS) {
            bench_die("after a minute %u workers are registered, %u trainers "
                      "have joined and %u know all workers",
                state.registered, state.joined, state.informed);
        }
        bench_light_turn(self->peers);
        state = bench_light_state(self->peers);
    }
    return (double)(fby_now_ns() - begun_ns) / 1e9;
}

static void run_for(struct scale_bench *self, int64_t duration_ns)
{
    int64_t until_ns = fby_now_ns() + duration_ns;
    while (fby_now_ns() < until_ns) {
        bench_light_turn(self->peers);
    }
}

static void note_bytes(struct scale_bench *self, double bytes)
{
    if (bytes > self->most_bytes) {
        self->most_bytes = bytes;
    }
}

static void note_peak(struct scale_bench *self)
{
    note_bytes(self, (double)bench_peak_rss_bytes(self->cluster.server.pid));
}

/* Start the server and the peers. Returns the seconds until all know all. */
static double start(struct scale_bench *self)
{
    bench_cluster_start(&self->cluster, 0, 0, NULL);
    const struct bench_light_config config = {
        .server   = self->cluster.endpoint,
        .keys     = self->cluster.keys_dir,
        .workers  = (unsigned)workers,
        .trainers = (unsigned)trainers,
    };
    int64_t begun_ns = fby_now_ns();
    self->peers      = bench_light_create(&config);
    double seconds =
        run_until_all_known(self, (struct fby_instance_id){0}, begun_ns);
    bench_print("all known to all", "%.1f s; %.2f s of the server's CPU",
        seconds, (double)bench_cpu_ns(self->cluster.server.pid) / 1e9);
    return seconds;
}

/* Returns the share of a core that the server uses. */
static double run_steadily(struct scale_bench *self)
{
    pid_t   server   = self->cluster.server.pid;
    int64_t begun_ns = fby_now_ns();
    int64_t cpu_ns   = bench_cpu_ns(server);
    run_for(self, (int64_t)run_s * FBY_NS_PER_S);
    double share = (double)(bench_cpu_ns(server) - cpu_ns) /
                   (double)(fby_now_ns() - begun_ns);
    note_peak(self);
    bench_print("leases renewed",
        "for %" PRIu64 " s: %.1f %% of a core; %.1f MiB, at its peak %.1f",
        run_s, 100 * share, (double)bench_rss_bytes(server) / mib,
        self->most_bytes / mib);
    return share;
}

/* Let each peer send `messages` messages, soon: libzmq's memory for a connection
 * grows until its queues have had some hundred. The peak meanwhile does not
 * count, because no real peers send so much. */
static void age(struct scale_bench *self)
{
    pid_t server = self->cluster.server.pid;
    bench_light_hurry(self->peers, HURRY);
    run_for(self, (int64_t)messages * FBY_NS_PER_S / HURRY);
    bench_light_hurry(self->peers, 1);
    double bytes = (double)bench_rss_bytes(server);
    note_bytes(self, bytes);
    bench_print("after more messages", "%" PRIu64 " of each peer: %.1f MiB",
        messages, bytes / mib);
}

/* Kill the server, and start it again at the same endpoint. Returns the seconds
 * from then on until all know all. */
static double restart(struct scale_bench *self)
{
    struct fby_instance_id former = bench_light_state(self->peers).server;
    bench_process_kill(&self->cluster.server);
    run_for(self, (int64_t)down_s * FBY_NS_PER_S);
    int64_t begun_ns = fby_now_ns();
    bench_cluster_start_again(&self->cluster);
    double seconds = run_until_all_known(self, former, begun_ns);
    note_peak(self);
    bench_print("all back",
        "%.1f s after a restart, down for %" PRIu64
        " s; %.2f s of the server's CPU",
        seconds, down_s, (double)bench_cpu_ns(self->cluster.server.pid) / 1e9);
    return seconds;
}

/* ---- the run ------------------------------------------------------------- */

/* The server inherits the limit. */
static void raise_file_limit(void)
{
    struct rlimit           files;
    struct fby_error_detail why = {""};
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    if (fby_limits_check_files("server_scale",
            (uint32_t)(workers + trainers) * FILES_OF_PEER + SPARE_FILES,
            &why) != FBY_OK) {
        bench_die("%s", why.text);
    }
}

static void run(void)
{
    struct scale_bench self = {.peers = NULL};
    bench_cluster_init(&self.cluster);
    make_keys(&self.cluster);
    bench_print("peers",
        "%" PRIu64 " workers, %" PRIu64 " trainers, "
        "each with a key of its own",
        workers, trainers);
    double known_s = start(&self);
    double share   = run_steadily(&self);
    age(&self);
    double back_s = restart(&self);
    bench_light_destroy(&self.peers);
    bench_cluster_remove(&self.cluster);
    bench_print_reliability(0, BENCH_NEEDS_TWO_CORES);
    bench_judge("server_scale.known_s", known_s, BENCH_AT_MOST, 10);
    bench_judge("server_scale.core", share, BENCH_AT_MOST, 0.1);
    bench_judge("server_scale.mib", self.most_bytes / mib, BENCH_AT_MOST, 64);
    bench_judge("server_scale.back_s", back_s, BENCH_AT_MOST, 2 * lease_s);
}

int main(int argc, char **argv)
{
    const struct bench_option options[] = {
        {"workers", &workers, 1, BENCH_MAX_LIGHT, "Workers (1000)"},
        {"trainers", &trainers, 1, BENCH_MAX_LIGHT, "Trainers (256)"},
        {"run-s", &run_s, 1, 100000, "Seconds in which all only renew (30)"},
        {"messages", &messages, 10, 100000,
            "Messages of each peer until the memory is measured (600)"},
        {"down-s", &down_s, 0, 30, "Seconds without a server (5)"},
        {0},
    };
    bench_parse_options(argc, argv, options,
        "CPU time and memory of a server with many workers and trainers.",
        NULL);
    bench_begin("server_scale");
    raise_file_limit();
    run();
    return 0;
}
