/* rows.c - batches of many small rows from columns of NumPy files.
 *
 * Batches of 65,536 shuffled rows, as in recommendation: 13 f32, 26 i32 and a
 * label of one byte, from files of 1.5 million rows in the page cache. Compares
 * all of Forebay (worker, loopback TCP, checks, tensors of the client) with
 * NumPy alone in a process: the same files mapped and as many random rows
 * gathered by np.take into existing arrays, its fastest way. `array[index]` is
 * shown too. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "bench/bench.h"
#include "bench/stream.h"
#include "common/bytes.h"
#include "common/clock.h"
#include "common/mem.h"

enum { DENSE = 13, IDS = 26, ROW = DENSE * 4 + IDS * 4 + 1 };

static uint64_t pairs   = 7;
static uint64_t batch   = 65536;
static uint64_t rows    = 1500000;
static uint64_t batches = 64; /* of a run */

static const char gather[] =
    "import sys, time\n"
    "import numpy as np\n"
    "folder, batch, batches, how = sys.argv[1:]\n"
    "batch, batches = int(batch), int(batches)\n"
    "columns = [np.load(f'{folder}/{name}.npy', mmap_mode='r')\n"
    "           for name in ('dense', 'ids', 'click')]\n"
    "rows = len(columns[0])\n"
    "outs = [np.empty((batch,) + c.shape[1:], c.dtype) for c in columns]\n"
    "order = np.random.default_rng(1).permutation(rows)\n"
    "def run(n):\n"
    "    for k in range(n):\n"
    "        first = k * batch % (rows - batch + 1)\n"
    "        index = order[first:first + batch]\n"
    "        for column, out in zip(columns, outs):\n"
    "            if how == 'take':\n"
    "                np.take(column, index, axis=0, out=out, mode='clip')\n"
    "            else:\n"
    "                column[index]\n"
    "run(batches)\n"
    "begun = time.perf_counter()\n"
    "run(batches)\n"
    "taken = time.perf_counter() - begun\n"
    "print(batches * sum(out.nbytes for out in outs) / taken)\n";

struct fixture {
    struct bench_farm farm;
    struct forebay   *stream;
    char              script[128];
    const char       *how;
};

/* ---- the files ----------------------------------------------------------- */

/* Write a NumPy header: magic, version, length of the text, text. */
static void put_header(char out[128], const char *type, unsigned width)
{
    static const uint8_t magic[]   = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0};
    char                 shape[48] = "";
    if (width > 1) {
        snprintf(shape, sizeof(shape), "%u", width);
    }
    memset(out, ' ', 128);
    memcpy(out, magic, sizeof(magic));
    fby_store_le((uint8_t *)out + 8, 118, 2);

    int n = snprintf(out + 10, 117,
        "{'descr': '%s', 'fortran_order': False, 'shape': (%" PRIu64 ", %s)}",
        type, rows, shape);

    out[10 + n] = ' ';
    out[127]    = '\n';
}

/* Write rows of `width` numbers below `most`; 0: f32 in [0, 1). Numbers have 4
 * bytes, or 1 if `most` is 2. */
static void make_column(
    const struct fixture *self, const char *name, unsigned width, uint32_t most)
{
    char     path[160];
    char     head[128];
    uint64_t state = width;
    snprintf(path, sizeof(path), "%s/t/%s.npy", self->farm.photos, name);
    put_header(head, most == 0 ? "<f4" : most == 2 ? "|u1" : "<i4", width);
    FILE *file = fopen(path, "wb");
    bool  ok   = file != NULL && fwrite(head, sizeof(head), 1, file) == 1;
    for (uint64_t i = 0; ok && i < rows * width; i++) {
        uint32_t drawn  = (uint32_t)(bench_random(&state) >> 32);
        float    real   = (float)drawn * 0x1p-32F;
        uint32_t number = most > 0 ? drawn % most : 0;
        size_t   bytes  = most == 2 ? 1 : 4;
        ok = fwrite(most > 0 ? (void *)&number : (void *)&real, bytes, 1,
                 file) == 1;
    }
    if (!ok || fclose(file) != 0) {
        bench_die("%s: %s", path, strerror(errno));
    }
}

static void write_script(struct fixture *self)
{
    snprintf(
        self->script, sizeof(self->script), "%s/gather.py", self->farm.dir);
    FILE *file = fopen(self->script, "w");
    if (file == NULL || fputs(gather, file) < 0 || fclose(file) != 0) {
        bench_die("%s: %s", self->script, strerror(errno));
    }
}

static void make_farm(struct fixture *self)
{
    char folder[128];
    bench_farm_begin(&self->farm);
    bench_farm_make_folder(&self->farm);
    snprintf(folder, sizeof(folder), "%s/t", self->farm.photos);
    if (mkdir(folder, 0777) != 0) {
        bench_die("%s: %s", folder, strerror(errno));
    }
    make_column(self, "dense", DENSE, 0);
    make_column(self, "ids", IDS, 1U << 20);
    make_column(self, "click", 1, 2);
    write_script(self);
    bench_farm_pipeline(&self->farm,
        "forebay: 1\n"
        "splits: {train: {columns: \"d:t\", shuffle: full}}\n"
        "global_batch: %" PRIu64 "\n"
        "fields:\n"
        "  dense: {from: dense, decode: array, shape: [%d], "
        "wire: {type: f32, filter: none, codec: store}}\n"
        "  ids: {from: ids, decode: array, shape: [%d], "
        "wire: {type: i32, filter: none, codec: store}}\n"
        "  click: {from: click, decode: label, classes: 2, "
        "wire: {filter: none, codec: store}, out: {dtype: u8}}\n",
        batch, DENSE, IDS);
}

/* ---- both sides ---------------------------------------------------------- */

static double deliver(void *arg)
{
    const struct fixture *self = arg;
    bench_stream_skip(self->stream, batches / 2); /* already received */
    int64_t begun = fby_now_ns();
    bench_stream_skip(self->stream, batches);
    return 1e9 * (double)(batches * batch * ROW) /
           (double)(fby_now_ns() - begun);
}

/* Bytes per second of NumPy; 0 if it is not installed. */
static double take(void *arg)
{
    const struct fixture *self = arg;
    char                  command[512];
    char                  line[64] = "";
    snprintf(command, sizeof(command),
        "/usr/bin/python3 '%s' '%s/t' %" PRIu64 " %" PRIu64 " %s 2>/dev/null",
        self->script, self->farm.photos, batch, batches, self->how);
    FILE *said = popen(command, "re");
    if (said == NULL || fgets(line, sizeof(line), said) == NULL) {
        line[0] = '\0';
    }
    if (said != NULL) {
        pclose(said);
    }
    return strtod(line, NULL);
}

/* ---- the run ------------------------------------------------------------- */

static void show(const char *name, struct bench_figure figure)
{
    bench_row(
        name, "%8.2f GB/s, noise %.1f %%", figure.median / 1e9, figure.noise);
}

static void compare(struct fixture *self)
{
    self->how                 = "index";
    double indexed            = take(self);
    self->how                 = "take";
    struct bench_pairs result = bench_pairs(pairs, deliver, take, self);
    show("Forebay, in tensors", result.a);
    show("np.take", result.b);
    bench_row("array[index]", "%8.2f GB/s, once", indexed / 1e9);
    bench_row("ratio", "%.3f, noise %.1f %%, %" PRIu64 " pairs",
        result.ratio.median, result.ratio.noise, pairs);
    bench_trust(result.ratio.noise, 2);
    bench_goal("rows", result.ratio.median, BENCH_AT_LEAST, 0.5);
}

static void run(void)
{
    struct fixture               fixture = {.how = "take"};
    const struct forebay_options options = forebay_options();
    make_farm(&fixture);
    bench_farm_start(&fixture.farm, 1, 0, "1G");
    fixture.stream = bench_stream_open(&fixture.farm, &options);
    bench_stream_skip(fixture.stream, rows / batch); /* read every page */
    if (take(&fixture) > 0) {
        compare(&fixture);
    } else {
        bench_row("Forebay, in tensors", "%8.2f GB/s", deliver(&fixture) / 1e9);
        bench_row("np.take", "/usr/bin/python3 has no NumPy: no goal");
    }
    forebay_close(&fixture.stream);
    bench_farm_remove(&fixture.farm);
}

int main(int argc, char **argv)
{
    const struct bench_option options[] = {
        {"pairs", &pairs, 1, BENCH_MAX_PAIRS, "Pairs of runs (7)", NULL},
        {"batch", &batch, 1, 65536, "Rows per batch (65536)", NULL},
        {"rows", &rows, 1, 1000000000, "Rows in the files (1500000)", NULL},
        {"batches", &batches, 1, 1000000, "Batches per run (64)", NULL},
        {0},
    };
    bench_options(argc, argv, options,
        "Bytes a second of batches of many rows from columns of NumPy files, "
        "against NumPy's own gather of as many.");
    if (rows < batch) {
        bench_die(
            "--rows %" PRIu64 " is less than --batch %" PRIu64, rows, batch);
    }
    bench_begin("rows");
    run();
    return 0;
}
