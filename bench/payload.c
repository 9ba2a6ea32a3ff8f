/* SPDX-License-Identifier: Apache-2.0 */
/* payload.c - bytes per sample on the wire, for seven kinds of training.
 *
 * The pipelines are those of docs/pipeline.md, "Six kinds of training", and one
 * of sparse rows. For each pipeline `forebay pull` runs an epoch with its own
 * server and worker and `codec: auto`. The data are photographs, masks of
 * ellipses, captions of words, random columns and tokens. Compares the bytes
 * that the worker sent, including prefixes, with the usual form: each number or
 * id takes 32 bits, labels are one-hot, lists are padded to the longest, and
 * sparse rows are stored with their zeros. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/archives.h"
#include "bench/bench.h"
#include "bench/cluster.h"
#include "bench/data_files.h"
#include "common/mem.h"

enum {
    SIDE        = BENCH_CROP,
    PIXELS      = SIDE * SIDE,
    MASKS       = 8, /* per picture */
    MASK_PIXELS = PIXELS * MASKS,
    CLASSES     = 1000,
    CAPTION     = 256,    /* longest caption, bytes */
    DENSE       = 13,     /* values per row of column "dense" */
    IDS         = 26,     /* values per row of column "ids" */
    CLICKS      = 2,      /* classes of column "click" */
    SEEN        = 200,    /* longest list in column "seen", ids */
    SEQUENCE    = 2048,   /* tokens per sample */
    ITEMS       = 100000, /* columns of the matrix of ratings */
    RATED       = 200,    /* most ratings in a row of the matrix */
    BATCH       = 64
};

/* Bytes of `n` numbers, and of a picture, in the usual form. */
#define NUMBERS(n) (UINT64_C(4) * (uint64_t)(n))
#define PICTURE    NUMBERS(PIXELS * 3)

static uint64_t samples = 1024; /* per workload */
enum { ROWS_PER_SAMPLE = 16 };  /* in workloads of small rows */

/* Write MASKS masks, each an ellipse with centre (x, y) and half axes a, b. */
static void write_masks(const char *path, uint64_t *state)
{
    static uint8_t masks[MASK_PIXELS];
    for (uint32_t k = 0; k < MASKS; k++) {
        int64_t x = (int64_t)(bench_random(state) % SIDE);
        int64_t y = (int64_t)(bench_random(state) % SIDE);
        int64_t a = 10 + (int64_t)(bench_random(state) % 80);
        int64_t b = 10 + (int64_t)(bench_random(state) % 80);
        for (int64_t i = 0; i < PIXELS; i++) {
            int64_t dx_b         = (i % SIDE - x) * b;
            int64_t dy_a         = (i / SIDE - y) * a;
            masks[i * MASKS + k] = dx_b * dx_b + dy_a * dy_a < a * a * b * b;
        }
    }
    bench_write_npy(path,
        &(struct bench_array){"|u1", "224, 224, 8", masks, sizeof(masks)});
}

static void write_caption(const char *path, uint64_t *state)
{
    static const char *const words[] = {"a ", "the ", "of ", "with ", "dog ",
        "street ", "mountain ", "red ", "standing ", "beside ", "photograph "};
    char                     text[CAPTION] = "";
    size_t                   n_words       = sizeof(words) / sizeof(words[0]);
    size_t                   min_length    = 20 + bench_random(state) % 180;
    size_t                   n             = 0; /* bytes written */
    while (n < min_length) {
        const char *word = words[bench_random(state) % n_words];
        n += (size_t)snprintf(text + n, sizeof(text) - n, "%s", word);
    }
    bench_write_file(path, text, n - 1); /* without the last space */
}

/* Write pictures, masks and captions, for all workloads of pictures. */
static void make_pictures(
    const char *data_dir, const struct bench_photos *photos)
{
    char     dir[BENCH_PATH_SIZE];
    char     path[BENCH_PATH_SIZE + 16];
    uint64_t state = 1;
    bench_make_dir(data_dir, "c", dir);
    for (uint64_t i = 0; i < samples; i++) {
        const struct bench_photo *photo = &photos->photos[i % photos->n];
        int n = snprintf(path, sizeof(path), "%s/%06" PRIu64, dir, i);
        snprintf(path + n, 8, ".jpg");
        bench_write_file(path, photo->bytes, photo->size);
        snprintf(path + n, 8, ".npy");
        write_masks(path, &state);
        snprintf(path + n, 8, ".txt");
        write_caption(path, &state);
    }
}

/* Write the columns whose rows have equal length. `values` is a buffer. */
static void write_equal_columns(
    const char *dir, uint32_t *values, uint64_t rows, uint64_t *state)
{
    for (uint64_t i = 0; i < rows * DENSE; i++) {
        float real = (float)(bench_random(state) >> 40) * 0x1p-24F; /* < 1 */
        memcpy(&values[i], &real, sizeof(real));
    }
    bench_write_column(
        dir, &(struct bench_column){"dense", "<f4", DENSE}, values, rows);
    for (uint64_t i = 0; i < rows * IDS; i++) { /* ids of 31 to 6 bits */
        values[i] = (uint32_t)(bench_random(state) >> (33 + i % IDS));
    }
    bench_write_column(
        dir, &(struct bench_column){"ids", "<i4", IDS}, values, rows);
    for (uint64_t i = 0; i < rows; i++) {
        values[i] = bench_random(state) % 30 == 0;
    }
    bench_write_column(
        dir, &(struct bench_column){"click", "<i4", 1}, values, rows);
}

/* Write lists of up to SEEN ids; three quarters of the lists are short. */
static void write_lists(
    const char *dir, uint32_t *values, uint64_t rows, uint64_t *state)
{
    uint64_t  n       = 0; /* ids so far */
    uint32_t *offsets = fby_zalloc((rows + 1) * sizeof(*offsets));
    for (uint64_t i = 0; i < rows; i++) {
        uint64_t limit = bench_random(state) % 4 == 0 ? SEEN : SEEN / 4;
        uint64_t end   = n + bench_random(state) % (limit + 1);
        while (n < end) {
            values[n++] = (uint32_t)(bench_random(state) >> 43); /* 21 bits */
        }
        offsets[i + 1] = (uint32_t)n;
    }
    bench_write_column(
        dir, &(struct bench_column){"seen.values", "<i4", 1}, values, n);
    bench_write_column(dir, &(struct bench_column){"seen.offsets", "<i4", 1},
        offsets, rows + 1);
    free(offsets);
}

static void make_columns(
    const char *data_dir, const struct bench_photos *photos)
{
    char      dir[BENCH_PATH_SIZE];
    uint64_t  rows   = samples * ROWS_PER_SAMPLE;
    uint64_t  state  = 2;
    uint32_t *values = fby_zalloc(rows * SEEN * sizeof(*values));
    (void)photos;
    bench_make_dir(data_dir, "t", dir);
    write_equal_columns(dir, values, rows, &state);
    write_lists(dir, values, rows, &state);
    free(values);
}

/* Fill the matrix. Three quarters of the rows are short. The gaps between the
 * items of a row are random, so that the items spread over all columns. */
static void fill_ratings(struct bench_csr *csr, uint64_t *state)
{
    uint32_t n = 0; /* ratings so far */
    for (uint32_t i = 0; i < csr->rows; i++) {
        uint64_t limit   = bench_random(state) % 4 == 0 ? RATED : RATED / 4;
        uint64_t left    = 1 + bench_random(state) % limit;
        uint64_t max_gap = UINT64_C(2) * ITEMS / left; /* twice the mean */
        uint64_t item    = bench_random(state) % max_gap;
        for (; left > 0 && item < ITEMS; left--) {
            csr->indices[n]  = (uint32_t)item;
            csr->values[n++] = (float)(1 + bench_random(state) % 5);
            item += 1 + bench_random(state) % (max_gap - 1);
        }
        csr->indptr[i + 1] = n;
    }
}

static void make_ratings(
    const char *data_dir, const struct bench_photos *photos)
{
    char             dir[BENCH_PATH_SIZE];
    char             path[BENCH_PATH_SIZE + 16];
    uint64_t         state = 4;
    uint64_t         rows  = samples * ROWS_PER_SAMPLE;
    struct bench_csr csr   = {.rows = (uint32_t)rows,
          .columns                  = ITEMS,
          .indptr  = fby_zalloc((rows + 1) * sizeof(*csr.indptr)),
          .indices = fby_zalloc(rows * RATED * sizeof(*csr.indices)),
          .values  = fby_zalloc(rows * RATED * sizeof(*csr.values))};
    (void)photos;
    fill_ratings(&csr, &state);
    bench_make_dir(data_dir, "s", dir);
    snprintf(path, sizeof(path), "%s/rated.npz", dir);
    bench_write_csr(path, &csr);
    free(csr.indptr);
    free(csr.indices);
    free(csr.values);
}

/* Write random tokens of 16 bits. Each is a product of two random numbers,
 * which makes small ids more frequent, as in vocabularies. */
static void make_tokens(const char *data_dir, const struct bench_photos *photos)
{
    char      path[BENCH_PATH_SIZE];
    uint64_t  n      = samples * SEQUENCE + 1;
    uint64_t  state  = 3;
    uint16_t *tokens = fby_zalloc(n * sizeof(*tokens));
    (void)photos;
    for (uint64_t i = 0; i < n; i++) {
        uint64_t random = bench_random(&state) >> 48;
        tokens[i] = (uint16_t)(random * (bench_random(&state) >> 48) >> 16);
    }
    snprintf(path, sizeof(path), "%s/t.bin", data_dir);
    bench_write_file(path, tokens, n * sizeof(*tokens));
    free(tokens);
}

struct workload {
    const char *name;
    void (*make_data)(const char *data_dir, const struct bench_photos *photos);
    const char *source_begin, *source_end; /* the text around data_dir */
    const char *fields;                    /* of the pipeline */
    uint64_t    batch;                     /* samples per batch */
    uint64_t    usual_bytes;               /* of a sample in the usual form */
};

#define CROPPED                                                         \
    "{from: jpg, ops: [{random_resized_crop: {size: 224}}, "            \
    "horizontal_flip], device: [{normalize: {mean: 0.5, std: 0.25}}], " \
    "out: {dtype: bf16}}\n"

static const struct workload workloads[] = {
    {"classification", make_pictures, "folder: \"", "\"",
        "  image: " CROPPED
        "  label: {from: folder, one_hot: {classes: 1000, smoothing: 0.1}}\n",
        BATCH, PICTURE + NUMBERS(CLASSES)},
    {"two views", make_pictures, "folder: \"", "\"",
        "  view_a: " CROPPED "  view_b: " CROPPED, BATCH, 2 * PICTURE},
    {"segmentation", make_pictures, "folder: \"", "\"",
        "  image: " CROPPED
        "  things: {from: npy, decode: array, shape: [224, 224, 8], "
        "wire: bits, out: {dtype: bf16, layout: chw}}\n",
        BATCH, PICTURE + NUMBERS(MASK_PIXELS)},
    {"image and caption", make_pictures, "folder: \"", "\"",
        "  image: " CROPPED
        "  caption: {from: txt, decode: text, max_length: 256, "
        "out: {as: ragged}}\n",
        BATCH, PICTURE + NUMBERS(CAPTION)},
    {"recommendation", make_columns, "columns: \"", "/t\"",
        "  dense: {from: dense, decode: array, shape: [13], wire: f16}\n"
        "  ids: {from: ids, decode: array, shape: [26], wire: i32}\n"
        "  seen: {from: seen, decode: array, shape: [], max_length: 200, "
        "wire: i32, out: {as: ragged}}\n"
        "  click: {from: click, decode: label, classes: 2}\n",
        UINT64_C(16) * BATCH, NUMBERS(DENSE + IDS + SEEN + CLICKS)},
    {"sparse ratings", make_ratings, "columns: \"", "/s\"",
        "  rated: {from: rated, decode: sparse, shape: [100000], "
        "max_length: 200, wire: u8, out: {as: csr, dtype: f32}}\n",
        UINT64_C(16) * BATCH, NUMBERS(ITEMS)},
    {"language modelling", make_tokens, "tokens: {files: \"",
        "/t.bin\", format: flat, type: u16, length: 2048, "
        "shift: 1}",
        "  tokens: {from: sequence}\n", BATCH, NUMBERS(2 * SEQUENCE)},
};

static double bytes_per_sample(const struct bench_cluster *cluster)
{
    struct bench_pull_result result = bench_cluster_run_pull(
        cluster, (const char *const[]){"forebay", "pull", "--pipeline",
                     cluster->pipeline_path, "--workers", "1", "--epochs", "1",
                     "--json", NULL});
    return (double)result.wire_bytes / (double)result.images;
}

static void run(const struct bench_photos *photos)
{
    struct bench_cluster cluster;
    size_t               n = sizeof(workloads) / sizeof(workloads[0]);
    bench_cluster_init(&cluster);
    for (size_t i = 0; i < n; i++) {
        const struct workload *workload = &workloads[i];
        /* Workloads with the same data stand one after the other. */
        if (i == 0 || workload->make_data != workloads[i - 1].make_data) {
            workload->make_data(cluster.data_dir, photos);
        }
        bench_cluster_write_pipeline(&cluster,
            "forebay: 1\nsplits: {train: {%s%s%s}}\nglobal_batch: %" PRIu64
            "\nfields:\n%s",
            workload->source_begin, cluster.data_dir, workload->source_end,
            workload->batch, workload->fields);
        double bytes = bytes_per_sample(&cluster);
        bench_print(workload->name,
            "%9.1f bytes a sample, usual %8" PRIu64 ": %.4f", bytes,
            workload->usual_bytes, bytes / (double)workload->usual_bytes);
    }
    bench_cluster_remove(&cluster);
}

int main(int argc, char **argv)
{
    const struct bench_option options[] = {
        {"samples", &samples, BATCH, 1 << 20, "Samples per workload (1024)"},
        {0},
    };
    const struct bench_program program = {"payload",
        "Bytes a sample on the wire of seven kinds of training, against "
        "float32, one-hot, padded and dense ones.",
        options};
    return bench_photos_main(&program, argc, argv, run);
}
