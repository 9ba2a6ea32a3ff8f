/* SPDX-License-Identifier: Apache-2.0 */
/* rows.c - batches of many small rows from columns of NumPy files.
 *
 * Batches have 65,536 shuffled rows, as in recommendation: 13 f32, 26 i32 and
 * a label of one byte. They come from files of 1.5 million rows in the page
 * cache. Compares all of Forebay (worker, loopback TCP, checks, tensors of the
 * client) with a NumPy process, which maps the same files. The process gathers
 * as many random rows by np.take into existing arrays, which is NumPy's fastest
 * way. Also shows the speed of NumPy's `array[index]`. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "bench/data_files.h"
#include "bench/stream.h"
#include "common/clock.h"
#include "common/mem.h"

enum { DENSE = 13, IDS = 26, ROW_BYTES = DENSE * 4 + IDS * 4 + 1 };

static uint64_t pairs   = 7;
static uint64_t batch   = 65536;
static uint64_t rows    = 1500000;
static uint64_t batches = 64; /* per run */

static const char gather_program[] = /* prints bytes per second */
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

struct rows_bench {
    struct bench_cluster cluster;
    struct forebay      *stream;
    const char          *numpy_way; /* "take" or "index" */
};

/* Write random integers below `limit`: bytes if `limit` is 2, else 32 bits. If
 * `limit` is 0, write f32 in [0, 1). */
static void write_column(
    const char *dir, const struct bench_column *column, uint32_t limit)
{
    uint64_t state       = column->width;
    uint64_t n           = rows * column->width;
    size_t   value_bytes = limit == 2 ? 1 : 4;
    uint8_t *values      = fby_zalloc(n * value_bytes);
    for (uint64_t i = 0; i < n; i++) {
        uint32_t random = (uint32_t)(bench_random(&state) >> 32);
        float    real   = (float)random * 0x1p-32F;
        uint32_t number = limit > 0 ? random % limit : 0;
        memcpy(values + i * value_bytes,
            limit > 0 ? (const void *)&number : (const void *)&real,
            value_bytes);
    }
    bench_write_column(dir, column, values, rows);
    free(values);
}

static void make_data(struct rows_bench *self)
{
    char dir[BENCH_PATH_SIZE];
    bench_cluster_init(&self->cluster);
    bench_make_dir(self->cluster.data_dir, "t", dir);
    write_column(dir, &(struct bench_column){"dense", "<f4", DENSE}, 0);
    write_column(dir, &(struct bench_column){"ids", "<i4", IDS}, 1U << 20);
    write_column(dir, &(struct bench_column){"click", "|u1", 1}, 2);
    bench_cluster_write_pipeline(&self->cluster,
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

/* Bytes per second of a Forebay stream. */
static double forebay_rate(void *arg)
{
    const struct rows_bench *self = arg;
    bench_stream_take_many(self->stream, batches / 2); /* received earlier */
    int64_t begun = fby_now_ns();
    bench_stream_take_many(self->stream, batches);
    return 1e9 * (double)(batches * batch * ROW_BYTES) /
           (double)(fby_now_ns() - begun);
}

/* Bytes per second of NumPy; 0 if it is not installed. */
static double numpy_rate(void *arg)
{
    const struct rows_bench *self = arg;
    char                     command[512];
    char                     line[64] = "";
    setenv("BENCH_GATHER", gather_program, 1);
    snprintf(command, sizeof(command),
        "/usr/bin/python3 -c \"$BENCH_GATHER\" '%s/t' %" PRIu64 " %" PRIu64
        " %s 2>/dev/null",
        self->cluster.data_dir, batch, batches, self->numpy_way);
    FILE *output = popen(command, "re");
    if (output == NULL) {
        return 0;
    }
    bool has_line = fgets(line, sizeof(line), output) != NULL;
    pclose(output);
    return has_line ? strtod(line, NULL) : 0;
}

static void print_rate(const char *name, struct bench_figure figure)
{
    bench_print(
        name, "%8.2f GB/s, noise %.1f %%", figure.median / 1e9, figure.noise);
}

static void compare(struct rows_bench *self)
{
    self->numpy_way = "index";
    double indexed  = numpy_rate(self);
    self->numpy_way = "take";
    struct bench_pairs result =
        bench_run_pairs(pairs, forebay_rate, numpy_rate, self);
    print_rate("Forebay, in tensors", result.a);
    print_rate("np.take", result.b);
    bench_print("array[index]", "%8.2f GB/s, once", indexed / 1e9);
    bench_print_ratio(&result);
    bench_print_reliability(result.ratio.noise, BENCH_NEEDS_TWO_CORES);
    bench_judge("rows", result.ratio.median, BENCH_AT_LEAST, 0.5);
}

static void run(void)
{
    struct rows_bench            bench   = {.numpy_way = "take"};
    const struct forebay_options options = forebay_options();
    make_data(&bench);
    bench_cluster_start(&bench.cluster, 1, BENCH_ALL_CORES, "1G");
    bench.stream = bench_stream_open(&bench.cluster, &options);
    bench_stream_take_many(bench.stream, rows / batch); /* read all rows */
    if (numpy_rate(&bench) > 0) {
        compare(&bench);
    } else {
        bench_print(
            "Forebay, in tensors", "%8.2f GB/s", forebay_rate(&bench) / 1e9);
        bench_print("np.take", "/usr/bin/python3 has no NumPy: no goal");
    }
    forebay_close(&bench.stream);
    bench_cluster_remove(&bench.cluster);
}

int main(int argc, char **argv)
{
    const struct bench_option options[] = {
        {"pairs", &pairs, 1, BENCH_MAX_PAIRS, "Pairs of runs (7)"},
        {"batch", &batch, 1, 65536, "Rows per batch (65536)"},
        {"rows", &rows, 1, 1000000000, "Rows in the files (1500000)"},
        {"batches", &batches, 1, 1000000, "Batches per run (64)"},
        {0},
    };
    bench_parse_options(argc, argv, options,
        "Bytes a second of batches of many rows from columns of NumPy files, "
        "against NumPy's own gather of as many.",
        NULL);
    if (rows < batch) {
        bench_die(
            "--rows %" PRIu64 " is less than --batch %" PRIu64, rows, batch);
    }
    bench_begin("rows");
    run();
    return 0;
}
