/* payload.c - bytes per sample on the wire, for seven kinds of training.
 *
 * Each pipeline, those of docs/pipeline.md, "Six kinds of training", and one of
 * sparse rows, runs an epoch of `forebay pull` with its own server and worker
 * and `codec: auto`. The data are made here: pictures of the album, masks of
 * ellipses, captions of words, random columns and tokens. Compares the bytes
 * that a worker sent, with prefixes, to the usual form: all numbers in 32 bits,
 * one-hot labels, lists padded to the longest, sparse rows with their zeros; an
 * id counts as one number. */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "bench/bench.h"
#include "bench/csr_file.h"
#include "bench/farm.h"
#include "common/bytes.h"
#include "common/mem.h"

enum {
    SIDE     = BENCH_CROP,
    PIXELS   = SIDE * SIDE,
    MAPS     = 8,
    CLASSES  = 1000,
    CAPTION  = 256, /* max. bytes */
    DENSE    = 13,
    IDS      = 26,
    SEEN     = 200, /* max. ids */
    SEQUENCE = 2048,
    ITEMS    = 100000, /* that a user can rate */
    RATED    = 200,    /* max. that a user has rated */
    BATCH    = 64
};

#define NUMBER  UINT64_C(4) /* bytes of a number in the usual form */
#define PICTURE (NUMBER * PIXELS * 3)

static uint64_t samples = 1024; /* of a workload; of columns 16 times as many */

/* ---- data ---------------------------------------------------------------- */

static void write_file(const char *path, const void *head, size_t head_size,
    const void *data, size_t size)
{
    FILE *file = fopen(path, "wb");
    bool  ok = file != NULL && fwrite(head, 1, head_size, file) == head_size &&
              fwrite(data, 1, size, file) == size;
    if (!ok || fclose(file) != 0) {
        bench_die("%s: %s", path, strerror(errno));
    }
}

/* Write a NumPy file: magic, version, length of the text, text, data. */
static void write_npy(const char *path, const char *type, const char *shape,
    const void *data, size_t size)
{
    static const uint8_t magic[] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0};
    char                 head[128];
    memset(head, ' ', sizeof(head));
    memcpy(head, magic, sizeof(magic));
    fby_store_le((uint8_t *)head + 8, 118, 2);

    int n = snprintf(head + 10, 117,
        "{'descr': '%s', 'fortran_order': False, 'shape': (%s)}", type, shape);

    head[10 + n] = ' ';
    head[127]    = '\n';
    write_file(path, head, sizeof(head), data, size);
}

/* Write eight masks, an ellipse each. */
static void write_maps(const char *path, uint64_t *state)
{
    static uint8_t maps[PIXELS * MAPS];
    for (uint32_t k = 0; k < MAPS; k++) {
        int64_t x = (int64_t)(bench_random(state) % SIDE);
        int64_t y = (int64_t)(bench_random(state) % SIDE);
        int64_t a = 10 + (int64_t)(bench_random(state) % 80);
        int64_t b = 10 + (int64_t)(bench_random(state) % 80);
        for (int64_t i = 0; i < PIXELS; i++) {
            int64_t u          = (i % SIDE - x) * b;
            int64_t v          = (i / SIDE - y) * a;
            maps[i * MAPS + k] = u * u + v * v < a * a * b * b;
        }
    }
    write_npy(path, "|u1", "224, 224, 8", maps, sizeof(maps));
}

static void write_caption(const char *path, uint64_t *state)
{
    static const char *const words[] = {"a ", "the ", "of ", "with ", "dog ",
        "street ", "mountain ", "red ", "standing ", "beside ", "photograph "};
    char                     text[CAPTION] = "";
    size_t                   most          = 20 + bench_random(state) % 180;
    size_t                   n             = 0;
    while (n < most) {
        const char *word = words[bench_random(state) % 11];
        n += (size_t)snprintf(text + n, sizeof(text) - n, "%s", word);
    }
    write_file(path, "", 0, text, n - 1);
}

/* Make the folder that all workloads of pictures share. */
static void make_pictures(
    const struct bench_farm *farm, const struct bench_album *album)
{
    char     path[192];
    uint64_t state = 1;
    snprintf(path, sizeof(path), "%s/c", farm->photos);
    mkdir(path, 0777);
    for (uint64_t i = 0; i < samples; i++) {
        const struct bench_file *file = &album->files[i % album->n];
        int                      n =
            snprintf(path, sizeof(path), "%s/c/%06" PRIu64, farm->photos, i);
        snprintf(path + n, 8, ".jpg");
        write_file(path, "", 0, file->bytes, file->size);
        snprintf(path + n, 8, ".npy");
        write_maps(path, &state);
        snprintf(path + n, 8, ".txt");
        write_caption(path, &state);
    }
}

struct column {
    const char *name, *type;
    unsigned    width; /* values of a row */
};

static void write_column(const struct bench_farm *farm, struct column column,
    const uint32_t *values, uint64_t n)
{
    char path[192];
    char shape[48];
    snprintf(path, sizeof(path), "%s/t/%s.npy", farm->photos, column.name);
    snprintf(shape, sizeof(shape),
        column.width > 1 ? "%" PRIu64 ", %u" : "%" PRIu64 ",", n / column.width,
        column.width);
    write_npy(path, column.type, shape, values, n * sizeof(*values));
}

static void make_numbers(const struct bench_farm *farm, uint32_t *values,
    uint64_t rows, uint64_t *state)
{
    for (uint64_t i = 0; i < rows * DENSE; i++) {
        float real = (float)(bench_random(state) >> 40) * 0x1p-24F;
        memcpy(&values[i], &real, sizeof(real));
    }
    write_column(
        farm, (struct column){"dense", "<f4", DENSE}, values, rows * DENSE);
    for (uint64_t i = 0; i < rows * IDS; i++) { /* features of all sizes */
        values[i] = (uint32_t)(bench_random(state) >> (33 + i % IDS));
    }
    write_column(farm, (struct column){"ids", "<i4", IDS}, values, rows * IDS);
    for (uint64_t i = 0; i < rows; i++) {
        values[i] = bench_random(state) % 30 == 0;
    }
    write_column(farm, (struct column){"click", "<i4", 1}, values, rows);
}

/* Make lists, most of them short and some up to the longest. */
static void make_lists(const struct bench_farm *farm, uint32_t *values,
    uint64_t rows, uint64_t *state)
{
    uint64_t  n    = 0;
    uint32_t *ends = fby_zalloc((rows + 1) * sizeof(*ends));
    for (uint64_t i = 0; i < rows; i++) {
        uint64_t most = bench_random(state) % 4 == 0 ? SEEN : SEEN / 4;
        uint64_t end  = n + bench_random(state) % (most + 1);
        while (n < end) {
            values[n++] = (uint32_t)(bench_random(state) >> 43);
        }
        ends[i + 1] = (uint32_t)n;
    }
    write_column(farm, (struct column){"seen.values", "<i4", 1}, values, n);
    write_column(
        farm, (struct column){"seen.offsets", "<i4", 1}, ends, rows + 1);
    free(ends);
}

static void make_columns(
    const struct bench_farm *farm, const struct bench_album *album)
{
    char      path[160];
    uint64_t  rows   = samples * 16;
    uint64_t  state  = 2;
    uint32_t *values = fby_zalloc(rows * SEEN * sizeof(*values));
    (void)album;
    snprintf(path, sizeof(path), "%s/t", farm->photos);
    mkdir(path, 0777);
    make_numbers(farm, values, rows, &state);
    make_lists(farm, values, rows, &state);
    free(values);
}

/* Draw ratings: like the lists, most rows are short. */
static void rate(struct bench_csr *csr, float *values, uint64_t *state)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < csr->rows; i++) {
        uint64_t most = bench_random(state) % 4 == 0 ? RATED : RATED / 4;
        uint64_t left = 1 + bench_random(state) % most;
        uint64_t gap  = UINT64_C(2) * ITEMS / left;
        uint64_t item = bench_random(state) % gap;
        for (; left > 0 && item < ITEMS; left--) {
            csr->indices[n] = (uint32_t)item;
            values[n++]     = (float)(1 + bench_random(state) % 5);
            item += 1 + bench_random(state) % (gap - 1);
        }
        csr->indptr[i + 1] = n;
    }
}

static void make_ratings(
    const struct bench_farm *farm, const struct bench_album *album)
{
    char     path[192];
    uint64_t state       = 4;
    uint32_t rows        = (uint32_t)samples * 16;
    float   *values      = fby_zalloc((uint64_t)rows * RATED * sizeof(*values));
    struct bench_csr csr = {.rows = rows, .columns = ITEMS, .values = values};
    (void)album;
    csr.indptr  = fby_zalloc((rows + UINT64_C(1)) * sizeof(*csr.indptr));
    csr.indices = fby_zalloc((uint64_t)rows * RATED * sizeof(*csr.indices));
    rate(&csr, values, &state);
    snprintf(path, sizeof(path), "%s/s", farm->photos);
    mkdir(path, 0777);
    snprintf(path, sizeof(path), "%s/s/rated.npz", farm->photos);
    bench_csr_write(&csr, path);
    free(csr.indptr);
    free(csr.indices);
    free(values);
}

/* Small ids are more frequent, as in vocabularies. */
static void make_tokens(
    const struct bench_farm *farm, const struct bench_album *album)
{
    char      path[160];
    uint64_t  n      = samples * SEQUENCE + 1;
    uint64_t  state  = 3;
    uint16_t *tokens = fby_zalloc(n * sizeof(*tokens));
    (void)album;
    for (uint64_t i = 0; i < n; i++) {
        uint64_t drawn = bench_random(&state) >> 48;
        tokens[i]      = (uint16_t)(drawn * (bench_random(&state) >> 48) >> 16);
    }
    snprintf(path, sizeof(path), "%s/t.bin", farm->photos);
    write_file(path, "", 0, tokens, n * sizeof(*tokens));
    free(tokens);
}

/* ---- workloads ----------------------------------------------------------- */

struct workload {
    const char *name;
    void (*make)(const struct bench_farm *, const struct bench_album *);
    const char *before, *after; /* the folder, in the source */
    const char *fields;
    uint64_t    batch;
    uint64_t    usual; /* bytes of a sample */
};

#define CROPPED                                                         \
    "{from: jpg, ops: [{random_resized_crop: {size: 224}}, "            \
    "horizontal_flip], device: [{normalize: {mean: 0.5, std: 0.25}}], " \
    "out: {dtype: bf16}}\n"

static const struct workload workloads[] = {
    {"classification", make_pictures, "folder: ", "\"",
        "  image: " CROPPED
        "  label: {from: folder, one_hot: {classes: 1000, smoothing: 0.1}}\n",
        BATCH, PICTURE + NUMBER *CLASSES},
    {"two views", make_pictures, "folder: ", "\"",
        "  view_a: " CROPPED "  view_b: " CROPPED, BATCH, 2 * PICTURE},
    {"segmentation", make_pictures, "folder: ", "\"",
        "  image: " CROPPED
        "  things: {from: npy, decode: array, shape: [224, 224, 8], "
        "wire: bits, out: {dtype: bf16, layout: chw}}\n",
        BATCH, PICTURE + NUMBER *PIXELS *MAPS},
    {"image and caption", make_pictures, "folder: ", "\"",
        "  image: " CROPPED
        "  caption: {from: txt, decode: text, max_length: 256, "
        "out: {as: ragged}}\n",
        BATCH, PICTURE + NUMBER *CAPTION},
    {"recommendation", make_columns, "columns: ", "/t\"",
        "  dense: {from: dense, decode: array, shape: [13], wire: f16}\n"
        "  ids: {from: ids, decode: array, shape: [26], wire: i32}\n"
        "  seen: {from: seen, decode: array, shape: [], max_length: 200, "
        "wire: i32, out: {as: ragged}}\n"
        "  click: {from: click, decode: label, classes: 2}\n",
        UINT64_C(16) * BATCH, NUMBER *(DENSE + IDS + SEEN + 2)},
    {"sparse ratings", make_ratings, "columns: ", "/s\"",
        "  rated: {from: rated, decode: sparse, shape: [100000], "
        "max_length: 200, wire: u8, out: {as: csr, dtype: f32}}\n",
        UINT64_C(16) * BATCH, NUMBER *ITEMS},
    {"language modelling", make_tokens, "tokens: {files: ",
        "/t.bin\", format: flat, type: u16, length: 2048, "
        "shift: 1}",
        "  tokens: {from: sequence}\n", BATCH, NUMBER * 2 * SEQUENCE},
};

static void write_pipeline(
    struct bench_farm *farm, const struct workload *workload)
{
    bench_farm_pipeline(farm,
        "forebay: 1\nsplits: {train: {%s\"%s%s}}\nglobal_batch: %" PRIu64
        "\nfields:\n%s",
        workload->before, farm->photos, workload->after, workload->batch,
        workload->fields);
}

/* Of one worker: nothing is asked of two. */
static double bytes_a_sample(const struct bench_farm *farm)
{
    char         text[16384];
    json_int_t   count = 0;
    json_int_t   wire  = 0;
    json_error_t error;
    bench_farm_run(farm,
        (const char *const[]){"forebay", "pull", "--pipeline", farm->pipeline,
            "--workers", "1", "--epochs", "1", "--json", NULL},
        text, sizeof(text));
    json_t *object = json_loads(text, 0, &error);
    if (json_unpack(
            object, "{s:I, s:I}", "images", &count, "wire_bytes", &wire) != 0 ||
        count == 0) {
        bench_die("unexpected output of forebay pull --json: %s", text);
    }
    json_decref(object);
    return (double)wire / (double)count;
}

static void run(const struct bench_album *album)
{
    struct bench_farm farm;
    size_t            n = sizeof(workloads) / sizeof(workloads[0]);
    bench_farm_begin(&farm);
    bench_farm_make_folder(&farm);
    for (size_t i = 0; i < n; i++) {
        const struct workload *workload = &workloads[i];
        if (i == 0 || workload->make != workloads[i - 1].make) {
            workload->make(&farm, album);
        }
        write_pipeline(&farm, workload);
        double bytes = bytes_a_sample(&farm);
        bench_row(workload->name,
            "%9.1f bytes a sample, usual %8" PRIu64 ": %.4f", bytes,
            workload->usual, bytes / (double)workload->usual);
    }
    bench_farm_remove(&farm);
}

int main(int argc, char **argv)
{
    const struct bench_option options[] = {
        {"samples", &samples, BATCH, 1 << 20, "Samples per workload (1024)",
            NULL},
        {0},
    };
    const struct bench_program program = {"payload",
        "Bytes a sample on the wire of seven kinds of training, against "
        "float32, "
        "one-hot, padded and dense ones.",
        options};
    return bench_album_main(&program, argc, argv, run);
}
