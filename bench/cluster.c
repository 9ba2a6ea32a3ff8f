/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/cluster.h"

#include <errno.h>
#include <ftw.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/bench.h"
#include "common/clock.h"
#include "common/mem.h"

void bench_cluster_init(struct bench_cluster *self)
{
    *self           = (struct bench_cluster){0};
    const char *tmp = getenv("TMPDIR");
    int n = snprintf(self->dir, sizeof(self->dir), "%s/forebay-bench-XXXXXX",
        tmp != NULL ? tmp : "/tmp");
    if (n >= (int)sizeof(self->dir)) {
        bench_die("TMPDIR=%s is too long", tmp);
    }
    bool has_dir = mkdtemp(self->dir) != NULL;
    snprintf(self->data_dir, sizeof(self->data_dir), "%s/photos", self->dir);
    snprintf(self->pipeline_path, sizeof(self->pipeline_path), "%s/p.yaml",
        self->dir);
    snprintf(self->log_path, sizeof(self->log_path), "%s/log", self->dir);
    if (!has_dir || mkdir(self->data_dir, 0777) != 0) {
        bench_die("%s: %s", self->dir, strerror(errno));
    }
    setenv("FOREBAY_CACHE_DIR", self->dir, 1);
    setenv("FOREBAY_LOG", "error", 0); /* unless the user has set it */
}

void bench_cluster_write_pipeline(
    struct bench_cluster *self, const char *format, ...)
{
    va_list args;
    FILE   *file = fopen(self->pipeline_path, "w");
    if (file == NULL) {
        bench_die("%s: %s", self->pipeline_path, strerror(errno));
    }
    va_start(args, format);
    vfprintf(file, format, args);
    va_end(args);
    fclose(file);
}

/* Run `forebay keys ACTION` on the folder, with two more words or NULL. */
static void run_keys(const struct bench_cluster *self, const char *action,
    const char *role, const char *name)
{
    char output[1024];
    bench_process_run(self->log_path,
        (const char *const[]){
            "forebay", "keys", action, self->keys_dir, role, name, NULL},
        output, sizeof(output));
}

void bench_cluster_init_keys(struct bench_cluster *self)
{
    snprintf(self->keys_dir, sizeof(self->keys_dir), "%s/keys", self->dir);
    run_keys(self, "init", NULL, NULL);
    run_keys(self, "add", "worker", NULL);
    run_keys(self, "add", "trainer", "bench");
}

void bench_cluster_export_keys(const struct bench_cluster *self)
{
    if (self->keys_dir[0] != '\0') {
        setenv("FOREBAY_KEYS", self->keys_dir, 1);
    } else {
        unsetenv("FOREBAY_KEYS");
    }
}

static int remove_entry(
    const char *path, const struct stat *stat, int kind, struct FTW *walk)
{
    (void)stat;
    (void)kind;
    (void)walk;
    return remove(path);
}

void bench_cluster_remove(struct bench_cluster *self)
{
    bench_cluster_stop(self);
    if (nftw(self->dir, remove_entry, 16, FTW_DEPTH | FTW_PHYS) != 0) {
        bench_die("%s: %s", self->dir, strerror(errno));
    }
}

static void start_worker(
    struct bench_cluster *self, unsigned threads, const char *memory)
{
    char                  root[128];
    char                  number[16];
    char                  endpoint[256];
    struct bench_process *worker = &self->workers[self->n_workers++];
    snprintf(root, sizeof(root), "d=%s", self->data_dir);
    snprintf(number, sizeof(number), "%u", threads);
    bench_process_start(worker, self->log_path,
        (const char *const[]){"forebay", "worker", "--server", self->endpoint,
            "--data", root, "--memory", memory, "--ready-fd", "1",
            /* With BENCH_ALL_CORES, the first NULL ends the arguments. */
            threads != BENCH_ALL_CORES ? "--threads" : NULL, number, NULL});
    bench_process_read_endpoint(worker, endpoint, sizeof(endpoint));
}

static void start_server(struct bench_cluster *self, const char *listen)
{
    bench_cluster_export_keys(self);
    bench_process_start(&self->server, self->log_path,
        (const char *const[]){
            "forebay", "server", "--listen", listen, "--ready-fd", "1", NULL});
    bench_process_read_endpoint(
        &self->server, self->endpoint, sizeof(self->endpoint));
}

void bench_cluster_start_again(struct bench_cluster *self)
{
    char listen[sizeof(self->endpoint)];
    memcpy(listen, self->endpoint, sizeof(listen));
    start_server(self, listen);
}

void bench_cluster_start(struct bench_cluster *self, unsigned workers,
    unsigned threads, const char *memory)
{
    start_server(self, "tcp://127.0.0.1:*");
    for (unsigned i = 0; i < workers; i++) {
        start_worker(self, threads, memory);
    }
}

void bench_cluster_stop(struct bench_cluster *self)
{
    while (self->n_workers > 0) {
        bench_process_kill(&self->workers[--self->n_workers]);
    }
    bench_process_kill(&self->server);
}

struct bench_pull_result bench_cluster_run_pull(
    const struct bench_cluster *self, const char *const *args)
{
    char                     text[16384];
    json_int_t               images = 0;
    json_int_t               raw    = 0;
    json_int_t               wire   = 0;
    struct bench_pull_result result = {0};
    bench_process_run(self->log_path, args, text, sizeof(text));
    json_t *object = json_loads(text, 0, NULL);
    if (json_unpack(object, "{s:I, s:I, s:I, s:F}", "images", &images,
            "raw_bytes", &raw, "wire_bytes", &wire, "seconds",
            &result.seconds) != 0 ||
        images <= 0 || result.seconds <= 0) {
        bench_die("unexpected output of forebay pull --json: %s", text);
    }
    json_decref(object);
    result.images     = (uint64_t)images;
    result.raw_bytes  = (uint64_t)raw;
    result.wire_bytes = (uint64_t)wire;
    return result;
}

void bench_consumer_start(struct bench_process *self,
    const struct bench_cluster *cluster, const char *step_ms)
{
    char root[128];
    snprintf(root, sizeof(root), "d=%s", cluster->data_dir);
    bench_cluster_export_keys(cluster);
    bench_process_start(self, cluster->log_path,
        (const char *const[]){"forebay", "pull", "--pipeline",
            cluster->pipeline_path, "--server", cluster->endpoint, "--data",
            root, "--epochs", "1000000000", "--step-ms", step_ms, "--digests",
            "/dev/stdout", NULL});
}

/* Count the consumer's new lines as steps. Returns false if there are none. */
static bool read_steps(struct bench_process *self, int64_t until_ns)
{
    char   text[65536];
    size_t n = bench_process_read(self, text, sizeof(text), until_ns);
    for (size_t i = 0; i < n; i++) {
        self->steps += text[i] == '\n';
    }
    return n > 0;
}

void bench_consumer_wait(struct bench_process *self, uint64_t steps)
{
    while (self->steps < steps) {
        if (!read_steps(self, fby_now_ns() + BENCH_TIMEOUT_NS)) {
            bench_die("a consumer took no step within a minute; see %s",
                self->log_path);
        }
    }
}

double bench_consumer_rate(struct bench_process *self, int64_t duration_ns)
{
    bench_consumer_wait(self, self->steps + 1); /* begin just after a step */
    int64_t  begun_ns     = fby_now_ns();
    uint64_t steps        = self->steps;
    int64_t  last_step_ns = begun_ns;
    while (fby_now_ns() < begun_ns + duration_ns) {
        if (read_steps(self, begun_ns + duration_ns)) {
            last_step_ns = fby_now_ns();
        }
    }
    return last_step_ns > begun_ns ? 1e9 * (double)(self->steps - steps) /
                                         (double)(last_step_ns - begun_ns)
                                   : 0;
}
