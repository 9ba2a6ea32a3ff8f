#include "bench/farm.h"

#include <errno.h>
#include <ftw.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/bench.h"
#include "common/clock.h"

static const char pipeline_format[] =
    "forebay: 1\n"
    "splits:\n"
    "  train: {%s, shuffle: full, last: drop}\n"
    "global_batch: %" PRIu64 "\n"
    "seed: 42\n"
    "fields:\n"
    "  image:\n"
    "    from: [jpg]\n"
    "    decode: rgb8\n"
    "%s"
    "    ops:\n"
    "      - random_resized_crop: {size: %" PRIu64 "}\n"
    "      - horizontal_flip: {p: 0.5}\n"
    "%s"
    "  label: {from: %s}\n";

/* ---- the farm ------------------------------------------------------------ */

static void make_photos(
    const struct bench_farm *self, const struct bench_pictures *pictures)
{
    struct bench_part part;
    char              number[24];
    char              side[24];
    int               status = 0;
    snprintf(number, sizeof(number), "%" PRIu64, pictures->number);
    snprintf(side, sizeof(side), "%" PRIu64, pictures->side);
    bench_part_start(&part, self->log,
        (const char *const[]){"forebay", "photos", self->photos, "--number",
            number, "--side", side, NULL});
    waitpid(part.pid, &status, 0);
    close(part.out);
    if (status != 0) {
        bench_die("forebay photos failed; see %s", self->log);
    }
}

void bench_farm_begin(struct bench_farm *self)
{
    *self           = (struct bench_farm){0};
    const char *tmp = getenv("TMPDIR");
    int n = snprintf(self->dir, sizeof(self->dir), "%s/forebay-bench-XXXXXX",
        tmp != NULL ? tmp : "/tmp");
    if (n >= (int)sizeof(self->dir)) {
        bench_die("TMPDIR=%s is too long", tmp);
    }
    if (mkdtemp(self->dir) == NULL) {
        bench_die("%s: %s", self->dir, strerror(errno));
    }
    snprintf(self->photos, sizeof(self->photos), "%s/photos", self->dir);
    snprintf(self->pipeline, sizeof(self->pipeline), "%s/p.yaml", self->dir);
    snprintf(self->log, sizeof(self->log), "%s/log", self->dir);
    setenv("FOREBAY_CACHE_DIR", self->dir, 1);
    setenv("FOREBAY_LOG", "error", 0);
}

void bench_farm_pipeline(struct bench_farm *self, const char *format, ...)
{
    va_list args;
    FILE   *file = fopen(self->pipeline, "w");
    if (file == NULL) {
        bench_die("%s: %s", self->pipeline, strerror(errno));
    }
    va_start(args, format);
    vfprintf(file, format, args);
    va_end(args);
    fclose(file);
}

void bench_farm_make_folder(struct bench_farm *self)
{
    if (mkdir(self->photos, 0777) != 0) {
        bench_die("%s: %s", self->photos, strerror(errno));
    }
}

void bench_farm_make(
    struct bench_farm *self, const struct bench_pictures *pictures)
{
    char source[128];
    bench_farm_begin(self);
    snprintf(source, sizeof(source), "folder: \"%s\"", self->photos);
    bench_farm_pipeline(self, pipeline_format, source, pictures->batch,
        "    dct_scale: off\n", pictures->crop, "", "folder");
    make_photos(self, pictures);
}

void bench_farm_make_shards(struct bench_farm *self,
    const struct bench_album *album, const struct bench_shards *how)
{
    char source[160];
    bench_farm_begin(self);
    bench_farm_make_folder(self);
    snprintf(source, sizeof(source), "shards: \"%s/train-{0..%u}.tar\"",
        self->photos, how->shards - 1);
    bench_farm_pipeline(self, pipeline_format, source, how->batch, "",
        how->crop, "    wire: {codec: auto}\n", "cls");
    bench_album_shards(album, self->photos, how->shards, how->times);
}

static int remove_entry(
    const char *path, const struct stat *stat, int kind, struct FTW *walk)
{
    (void)stat;
    (void)kind;
    (void)walk;
    return remove(path);
}

void bench_farm_remove(struct bench_farm *self)
{
    bench_farm_stop(self);
    if (nftw(self->dir, remove_entry, 16, FTW_DEPTH | FTW_PHYS) != 0) {
        bench_die("%s: %s", self->dir, strerror(errno));
    }
}

static void start_worker(
    struct bench_farm *self, unsigned threads, const char *memory)
{
    char               root[128];
    char               number[16];
    char               endpoint[256];
    struct bench_part *worker = &self->workers[self->n_workers++];
    snprintf(root, sizeof(root), "d=%s", self->photos);
    snprintf(number, sizeof(number), "%u", threads);
    bench_part_start(worker, self->log,
        (const char *const[]){"forebay", "worker", "--server", self->server,
            "--data", root, "--memory", memory, "--ready-fd", "1",
            threads > 0 ? "--threads" : NULL, number, NULL});
    bench_part_endpoint(worker, endpoint, sizeof(endpoint));
}

void bench_farm_start_server(struct bench_farm *self)
{
    bench_part_start(&self->directory, self->log,
        (const char *const[]){"forebay", "server", "--listen",
            "tcp://127.0.0.1:*", "--ready-fd", "1", NULL});
    bench_part_endpoint(&self->directory, self->server, sizeof(self->server));
}

void bench_farm_start(struct bench_farm *self, unsigned workers,
    unsigned threads, const char *memory)
{
    bench_farm_start_server(self);
    for (unsigned i = 0; i < workers; i++) {
        start_worker(self, threads, memory);
    }
}

void bench_farm_stop(struct bench_farm *self)
{
    while (self->n_workers > 0) {
        bench_part_kill(&self->workers[--self->n_workers]);
    }
    bench_part_kill(&self->directory);
}

void bench_farm_run(const struct bench_farm *self, const char *const *args,
    char *out, size_t size)
{
    struct bench_part part;
    size_t            used   = 0;
    int               status = 0;
    ssize_t           n      = 1;
    bench_part_start(&part, self->log, args);
    while (n > 0 && used + 1 < size) {
        n = read(part.out, out + used, size - used - 1);
        used += n > 0 ? (size_t)n : 0;
    }
    out[used] = '\0';
    waitpid(part.pid, &status, 0);
    close(part.out);
    if (status != 0) {
        bench_die("forebay %s failed; see %s", args[1], self->log);
    }
}

/* ---- consumers ----------------------------------------------------------- */

void bench_pull_start(
    struct bench_part *self, const struct bench_farm *farm, const char *step_ms)
{
    char root[128];
    snprintf(root, sizeof(root), "d=%s", farm->photos);
    bench_part_start(self, farm->log,
        (const char *const[]){"forebay", "pull", "--pipeline", farm->pipeline,
            "--server", farm->server, "--data", root, "--epochs", "1000000000",
            "--step-ms", step_ms, "--digests", "/dev/stdout", NULL});
}

/* Count the lines that the consumer wrote; false if it wrote none in time. */
static bool read_steps(struct bench_part *self, int64_t until_ns)
{
    char   text[65536];
    size_t n = bench_part_read(self, text, sizeof(text), until_ns);
    for (size_t i = 0; i < n; i++) {
        self->steps += text[i] == '\n';
    }
    return n > 0;
}

void bench_pull_until(struct bench_part *self, uint64_t steps)
{
    while (self->steps < steps) {
        if (!read_steps(self, fby_now_ns() + BENCH_TIMEOUT_NS)) {
            bench_die("no step within a minute; see %s", self->log);
        }
    }
}

double bench_pull_rate(struct bench_part *self, int64_t for_ns)
{
    bench_pull_until(self, self->steps + 1);
    int64_t  begun_ns = fby_now_ns();
    uint64_t first    = self->steps;
    int64_t  last_ns  = begun_ns;
    while (fby_now_ns() < begun_ns + for_ns) {
        if (read_steps(self, begun_ns + for_ns)) {
            last_ns = fby_now_ns();
        }
    }
    return last_ns > begun_ns ? 1e9 * (double)(self->steps - first) /
                                    (double)(last_ns - begun_ns)
                              : 0;
}
