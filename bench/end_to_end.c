/* end_to_end.c - images per second of a trainer on one machine, all cores.
 *
 * `forebay pull` runs its own server and workers: random resized crops of
 * 224 x 224, mirrored half of the time, checked, `codec: auto`, over loopback
 * TCP, delivered as u8. The baseline decodes the same files to full-size RGB on
 * one thread per core and drops the pixels. Neither figure includes start-up.
 */
#include <inttypes.h>
#include <jansson.h>
#include <pthread.h>
#include <stdio.h>

#include "bench/bench.h"
#include "bench/farm.h"
#include "common/clock.h"
#include "common/cores.h"

enum { BATCH = 64, SHARDS = 8, MAX_THREADS = 256 };

static uint64_t pairs  = 7;
static uint64_t images = 9600;

struct fixture {
    struct bench_farm         farm;
    const struct bench_album *album;
    uint64_t                  steps; /* per run */
    double                    wire;  /* wire bytes / raw bytes, last run */
};

/* ---- forebay pull -------------------------------------------------------- */

static double read_result(struct fixture *self, const char *text)
{
    json_int_t   count = 0;
    json_int_t   raw   = 0;
    json_int_t   wire  = 0;
    double       seconds;
    json_error_t error;
    json_t      *object = json_loads(text, 0, &error);
    if (json_unpack(object, "{s:I, s:I, s:I, s:F}", "images", &count,
            "raw_bytes", &raw, "wire_bytes", &wire, "seconds", &seconds) != 0 ||
        count == 0 || seconds <= 0) {
        bench_die("unexpected output of forebay pull --json: %s", text);
    }
    json_decref(object);
    self->wire = (double)wire / (double)raw;
    return (double)count / seconds;
}

static double pull(void *arg)
{
    struct fixture *self = arg;
    char            text[16384];
    char            steps[24];
    snprintf(steps, sizeof(steps), "%" PRIu64, self->steps);
    bench_farm_run(&self->farm,
        (const char *const[]){"forebay", "pull", "--pipeline",
            self->farm.pipeline, "--steps", steps, "--json", NULL},
        text, sizeof(text));
    return read_result(self, text);
}

/* ---- the decoding loop --------------------------------------------------- */

struct share { /* files that one thread decodes */
    const struct bench_album *album;
    size_t                    first, n;
};

static void *decode_share(void *arg)
{
    const struct share *share = arg;
    bench_album_decode(share->album, share->first, share->n);
    return NULL;
}

static double decode(void *arg)
{
    const struct fixture *self = arg;
    uint32_t     n     = fby_cores() < MAX_THREADS ? fby_cores() : MAX_THREADS;
    uint64_t     total = self->steps * BATCH;
    pthread_t    threads[MAX_THREADS];
    struct share shares[MAX_THREADS];
    int64_t      begun = fby_now_ns();
    for (uint32_t i = 0; i < n; i++) {
        shares[i] = (struct share){.album = self->album,
            .first                        = total * i / n,
            .n = total * (i + 1) / n - total * i / n};
        if (pthread_create(&threads[i], NULL, decode_share, &shares[i]) != 0) {
            bench_die("a thread cannot be created");
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        pthread_join(threads[i], NULL);
    }
    return 1e9 * (double)total / (double)(fby_now_ns() - begun);
}

/* ---- the run ------------------------------------------------------------- */

static void run(const struct bench_album *album)
{
    struct fixture fixture = {
        .album = album, .steps = (images + BATCH - 1) / BATCH};
    bench_farm_make_shards(&fixture.farm, album,
        &(struct bench_shards){
            .shards = SHARDS, .times = 8, .crop = BENCH_CROP, .batch = BATCH});
    pull(&fixture); /* warm: makes the manifest, fills the page cache */
    struct bench_pairs result = bench_pairs(pairs, pull, decode, &fixture);
    bench_farm_remove(&fixture.farm);
    bench_row("forebay pull", "%8.1f images/s, noise %.1f %%; %.2f of u8 sent",
        result.a.median, result.a.noise, fixture.wire);
    bench_row("decoding in full", "%8.1f images/s, noise %.1f %%",
        result.b.median, result.b.noise);
    bench_row("ratio", "%.3f, noise %.1f %%, %" PRIu64 " pairs",
        result.ratio.median, result.ratio.noise, pairs);
    bench_trust(result.ratio.noise, 2);
    bench_album_goal(
        album, "end_to_end", result.ratio.median, BENCH_AT_LEAST, 0.85);
}

int main(int argc, char **argv)
{
    const struct bench_option options[] = {
        {"pairs", &pairs, 1, BENCH_MAX_PAIRS, "Pairs of runs (7)", NULL},
        {"images", &images, BATCH, 100000000, "Images per run (9600)", NULL},
        {0},
    };
    const struct bench_program program = {"end_to_end",
        "Images a second of forebay pull with its own workers, against a loop "
        "that only decodes, both on all cores.",
        options};
    return bench_album_main(&program, argc, argv, run);
}
