/* Runs of rows of columns, from files to chunks. Fields of other widths have
 * chunks of other rows, so a run begins and ends within chunks. */
#include "tests/test.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "common/pipeline/parse.h"
#include "tests/worker/source/sandbox.h"
#include "tests/worker/transform/npy_file.h"
#include "worker/stages.h"

enum {
    ROWS    = 4500,
    WIDE    = 700, /* bytes: 2995 rows a chunk, 1473 rows a run */
    LONGEST = 9,
    CLASSES = 7,
    BAD     = 77, /* a sample whose label is none */
    LARGE   = (2 << 20) + 5,
    MEMORY  = 64 << 20
};

struct bench { /* the stages without the loop, over a table */
    struct fby_prepared *prepared;
    struct fby_memory   *memory;
    struct fby_arenas   *arenas;
    struct fby_stages   *stages;
};

/* ---- The table ----------------------------------------------------------- */

static uint8_t wide_at(uint64_t sample, uint32_t i)
{
    return (uint8_t)(sample * 31 + sample / 256 + i);
}

static uint32_t length_of(uint64_t sample)
{
    return (uint32_t)(sample % (LONGEST + 1));
}

static uint64_t label_of(uint64_t sample)
{
    return sample == BAD ? CLASSES : sample % CLASSES;
}

static void write_column(const struct sandbox *sb, const char *name,
    const char *descr, const char *shape, struct fby_buffer *values)
{
    char              path[64];
    struct fby_buffer file = {0};
    snprintf(path, sizeof(path), "data/t/%s.npy", name);
    put_npy_header(&file, descr, shape);
    fby_put_bytes(&file, values->data, values->size);
    sandbox_write(sb, path, file.data, file.size);
    fby_buffer_fini(&file);
    fby_buffer_fini(values);
}

static void write_table(const struct sandbox *sb)
{
    struct fby_buffer wide   = {0};
    struct fby_buffer label  = {0};
    struct fby_buffer ends   = {0};
    struct fby_buffer values = {0};
    char              shape[32];
    uint64_t          end = 0;
    fby_put_u64(&ends, 0);
    for (uint64_t sample = 0; sample < ROWS; sample++) {
        for (uint32_t i = 0; i < WIDE; i++) {
            fby_put_u8(&wide, wide_at(sample, i));
        }
        for (uint32_t i = 0; i < length_of(sample); i++) {
            fby_put_u64(&values, sample * 16 + i);
        }
        fby_put_u64(&label, label_of(sample));
        end += length_of(sample);
        fby_put_u64(&ends, end);
    }
    write_column(sb, "wide", "|u1", "(4500, 700)", &wide);
    write_column(sb, "label", "<u8", "(4500,)", &label);
    write_column(sb, "list.offsets", "<i8", "(4501,)", &ends);
    snprintf(shape, sizeof(shape), "(%llu,)", (unsigned long long)end);
    write_column(sb, "list.values", "<i8", shape, &values);
}

static struct fby_content *content_of(const char *text)
{
    struct fby_pipeline           *pipeline = NULL;
    struct fby_split              *split    = NULL;
    struct fby_why                 why      = {{0}};
    struct fby_content            *content  = fby_zalloc(sizeof(*content));
    const struct fby_pipeline_text source   = {
          text, strlen(text), "runs.yaml", "/"};
    if (fby_pipeline_parse(&source, &pipeline, &why) != FBY_OK ||
        fby_pipeline_split(pipeline, NULL, &split, &why) != FBY_OK) {
        fail_msg("%s", why.text);
    }
    *content = split->content;
    fby_split_destroy(&split);
    fby_pipeline_destroy(&pipeline);
    return content;
}

static void bench_open(struct bench *bench, const struct sandbox *sb,
    const char *pattern, const char *text)
{
    struct fby_why                 why     = {{0}};
    struct fby_content            *content = content_of(text);
    struct fby_dataset_spec        spec    = sandbox_shards(sb, pattern);
    const struct fby_stages_config config  = {.fetch_threads = 2,
         .transform_threads                                  = 2,
         .encode_threads                                     = 2,
         .fetch_bytes                                        = 1 << 20,
         .scratch_bytes                                      = 1 << 20,
         .encode_bytes                                       = 1 << 20};
    spec.kind                              = FBY_SOURCE_COLUMNS;
    struct fby_dataset *dataset            = sandbox_dataset(&spec);
    *bench = (struct bench){.memory = fby_memory_create(MEMORY)};
    if (fby_prepared_create(content, &dataset, &bench->prepared, &why) !=
        FBY_OK) {
        fail_msg("%s", why.text);
    }
    assert_ok(fby_arenas_create(bench->memory, &bench->arenas));
    assert_ok(fby_stages_create(&config, &bench->stages));
    free(content);
}

static void bench_close(struct bench *bench)
{
    fby_stages_destroy(&bench->stages);
    fby_arenas_destroy(&bench->arenas);
    assert_int_equal(fby_memory_counts(bench->memory).used, 0);
    fby_memory_destroy(&bench->memory);
    fby_prepared_release(&bench->prepared);
}

/* ---- A batch ------------------------------------------------------------- */

/* All its chunks, or until it failed; CTest's time-out guards. */
static struct fby_job *make(struct bench *bench, uint32_t rows)
{
    struct fby_job           *job  = NULL;
    struct fby_why            why  = {{0}};
    const struct fby_job_spec spec = {
        .prepared = bench->prepared, .seed = 3, .rows = rows};
    assert_ok(fby_job_create(&spec, bench->arenas, NULL, &job, &why));
    fby_stages_start(bench->stages, job);
    uint32_t chunks = 0;
    while (chunks < job->layout.n_chunks && fby_job_is_working(job)) {
        struct fby_stages_event event;
        struct pollfd           ready = {
                      .fd = fby_stages_fd(bench->stages), .events = POLLIN};
        poll(&ready, 1, -1);
        fby_stages_clear(bench->stages);
        while (fby_stages_next(bench->stages, &event)) {
            chunks += event.chunk != NULL ? 1 : 0;
            fby_job_release(&event.job);
        }
    }
    return job;
}

/* The sample whose values row `row` must have. */
static uint64_t sample_of(const struct fby_job *job, uint32_t row)
{
    for (size_t i = 0; i < job->n_substituted; i++) {
        if (job->substituted[i].row == row) {
            return job->substituted[i].substitute;
        }
    }
    return job->samples[row];
}

static void check_wide(
    const struct fby_job *job, const struct fby_job_chunk *chunk)
{
    assert_int_equal(chunk->raw_bytes, chunk->span.rows * WIDE);
    for (uint32_t i = 0; i < chunk->span.rows; i++) {
        uint64_t sample = sample_of(job, chunk->span.first_row + i);
        for (uint32_t k = 0; k < WIDE; k++) {
            assert_int_equal(chunk->payload[i * WIDE + k], wide_at(sample, k));
        }
    }
}

static void check_labels(
    const struct fby_job *job, const struct fby_job_chunk *chunk)
{
    assert_int_equal(chunk->raw_bytes, chunk->span.rows);
    for (uint32_t i = 0; i < chunk->span.rows; i++) {
        assert_int_equal(chunk->payload[i],
            label_of(sample_of(job, chunk->span.first_row + i)));
    }
}

static uint64_t number_at(const uint8_t *at, uint32_t width)
{
    struct fby_reader r = fby_reader(at, width);
    return fby_read_le(&r, width);
}

/* Lengths, zeros, then the values without gaps. */
static void check_lists(
    const struct fby_job *job, const struct fby_job_chunk *chunk)
{
    const struct fby_raw_field *field = &job->layout.fields[chunk->field];
    uint32_t                    width = field->length_bytes;
    const uint8_t              *at =
        chunk->payload + fby_varying_values(field, chunk->span.rows);
    for (uint32_t i = 0; i < chunk->span.rows; i++) {
        uint64_t sample = sample_of(job, chunk->span.first_row + i);
        assert_int_equal(number_at(chunk->payload + (size_t)i * width, width),
            length_of(sample));
        for (uint32_t k = 0; k < length_of(sample); k++, at += 4) {
            assert_int_equal(number_at(at, 4), sample * 16 + k);
        }
    }
    assert_int_equal(chunk->raw_bytes, at - chunk->payload);
}

/* Fields stand in the order of their names. */
static void check_batch(const struct fby_job *job)
{
    static void (*const checks[])(const struct fby_job *,
        const struct fby_job_chunk *) = {check_labels, check_lists, check_wide};
    for (uint32_t i = 0; i < job->layout.n_chunks; i++) {
        const struct fby_job_chunk *chunk = &job->chunks[i];
        checks[chunk->field](job, chunk);
        assert_int_equal(chunk->wire_bytes, chunk->raw_bytes);
        assert_int_equal(
            chunk->raw_hash, fby_xxh64(chunk->payload, chunk->raw_bytes));
    }
}

#define FIELDS                                                     \
    "fields: {"                                                    \
    "wide: {from: wide, decode: array, shape: [700], wire: u8}, "  \
    "label: {from: label, decode: label, classes: 7}, "            \
    "list: {from: list, decode: array, shape: [], max_length: 9, " \
    "wire: i32}}}"
#define SPLIT \
    "{forebay: 1, splits: {s: {columns: t, shuffle: full, last: drop}}, "

static void a_run_ends_where_the_chunk_of_a_field_does(void **state)
{
    struct bench bench;
    write_table(*state);
    bench_open(&bench, *state, "data:t",
        SPLIT "global_batch: 4500, on_bad_sample: substitute, " FIELDS);
    struct fby_job             *job = make(&bench, ROWS);
    const struct fby_raw_field *f   = job->layout.fields;
    assert_int_equal(f[2].rows_per_chunk, 2995);
    assert_int_equal(f[0].n_chunks, 1);
    assert_int_equal(f[1].n_chunks, 1);
    assert_true(job->run_rows > 1 && job->run_rows < 2995);
    assert_true(2995 % job->run_rows != 0);
    assert_int_equal(job->n_substituted, 1);
    assert_int_equal(job->substituted[0].original, BAD);
    assert_int_equal(job->samples[job->substituted[0].row], BAD);
    assert_true(job->substituted[0].substitute != BAD);
    check_batch(job);
    fby_job_release(&job);
    bench_close(&bench);
}

static void a_row_that_is_refused_is_named(void **state)
{
    struct bench bench;
    write_table(*state);
    bench_open(&bench, *state, "data:t", SPLIT "global_batch: 4500, " FIELDS);
    struct fby_job *job = make(&bench, ROWS);
    assert_int_equal(job->failure.err, FBY_BAD_SAMPLE);
    assert_int_equal(job->failure.sample, BAD);
    assert_int_equal(job->failure.shard, 0);
    assert_int_equal(job->failure.offset, 0);
    assert_says(&job->failure.why, "row 77");
    assert_says(&job->failure.why, "field label");
    assert_says(&job->failure.why, "7");
    fby_job_release(&job);
    bench_close(&bench);
}

/* A row that is larger than a chunk is cut: each is made by itself. */
static void rows_larger_than_a_chunk_are_made_one_by_one(void **state)
{
    enum { N = 3 };
    struct bench      bench;
    struct fby_buffer large = {0};
    struct fby_buffer label = {0};
    for (uint64_t sample = 0; sample < N; sample++) {
        for (uint32_t i = 0; i < LARGE; i++) {
            fby_put_u8(&large, (uint8_t)(i + i / 256 + sample));
        }
        fby_put_u64(&label, sample);
    }
    write_column(*state, "large", "|u1", "(3, 2097157)", &large);
    write_column(*state, "label", "<u8", "(3,)", &label);
    bench_open(&bench, *state, "data:t",
        SPLIT "global_batch: 3, fields: {large: {from: large, decode: array, "
              "shape: [2097157], wire: u8}, label: {from: label, decode: "
              "label, classes: 7}}}");
    struct fby_job             *job = make(&bench, N);
    const struct fby_raw_field *cut = &job->layout.fields[1];
    assert_int_equal(cut->rows_per_chunk, 0);
    assert_int_equal(job->run_rows, 1);
    for (uint32_t i = 0; i < cut->n_chunks; i++) {
        const struct fby_job_chunk *chunk = &job->chunks[1 + i];
        uint32_t at     = (uint32_t)(chunk->span.raw_offset % LARGE);
        uint64_t sample = job->samples[chunk->span.raw_offset / LARGE];
        for (uint32_t k = at; k < at + chunk->raw_bytes; k++) {
            assert_int_equal(
                chunk->payload[k - at], (uint8_t)(k + k / 256 + sample));
        }
    }
    check_labels(job, &job->chunks[0]);
    fby_job_release(&job);
    bench_close(&bench);
}

#define IN_SANDBOX(test) \
    cmocka_unit_test_setup_teardown(test, sandbox_open, sandbox_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SANDBOX(a_run_ends_where_the_chunk_of_a_field_does),
        IN_SANDBOX(a_row_that_is_refused_is_named),
        IN_SANDBOX(rows_larger_than_a_chunk_are_made_one_by_one),
    };
    return cmocka_run_group_tests_name("worker.runs", tests, NULL, NULL);
}
