/* SPDX-License-Identifier: Apache-2.0 */
/* Runs of rows of columns, from files to chunks. Fields of other widths have
 * chunks of other rows, so a run begins and ends within chunks. */
#include "tests/test.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/plan/draw.h"
#include "tests/worker/kit.h"
#include "tests/worker/table.h"
#include "worker/stages/stages.h"

enum {
    ROWS    = 4500,
    WIDE    = 700, /* bytes: 2995 rows a chunk, 1473 rows a run */
    LONGEST = 9,
    CLASSES = 7,
    BAD     = 77, /* this sample and the next have no valid label */
    LARGE   = (2 << 20) + 5,
    THIRDS  = 48,
    SEED    = 3,
    MEMORY  = 64 << 20
};

struct bench { /* the stages without the loop, over a table */
    struct fby_dataset_plan *dataset_plan;
    struct fby_memory       *memory;
    struct fby_arenas       *arenas;
    struct fby_stages       *stages;
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
    return sample == BAD || sample == BAD + 1 ? CLASSES : sample % CLASSES;
}

/* CSR: entry k of a sample has the value, and the index, sample + k. */
static void write_words(const struct sandbox *sb)
{
    const int64_t     shape[2] = {ROWS, 9000};
    struct npz_file   file     = {.n = 0};
    struct fby_buffer numbers  = {0};
    struct fby_buffer ends     = {0};
    char              text[32];
    uint64_t          n = 0;
    fby_put_u64(&ends, 0);
    for (uint64_t sample = 0; sample < ROWS; sample++) {
        for (uint32_t k = 0; k < length_of(sample); k++, n++) {
            fby_put_u64(&numbers, sample + k);
        }
        fby_put_u64(&ends, n);
    }
    snprintf(text, sizeof(text), "(%llu,)", (unsigned long long)n);
    put_npz_array(&file, "data", "<i8", text, numbers.data, numbers.size);
    put_npz_array(&file, "indices", "<i8", text, numbers.data, numbers.size);
    put_npz_array(&file, "indptr", "<i8", "(4501,)", ends.data, ends.size);
    put_npz_array(&file, "format", "|S3", "()", "csr", 3);
    put_npz_array(&file, "shape", "<i8", "(2,)", shape, sizeof(shape));
    end_npz(&file);
    sandbox_write(sb, "data/t/words.npz", file.bytes.data, file.bytes.size);
    npz_fini(&file);
    fby_buffer_fini(&numbers);
    fby_buffer_fini(&ends);
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
    write_column(sb, "t/wide", "|u1", "(4500, 700)", &wide);
    write_column(sb, "t/label", "<u8", "(4500,)", &label);
    write_column(sb, "t/list.offsets", "<i8", "(4501,)", &ends);
    snprintf(shape, sizeof(shape), "(%llu,)", (unsigned long long)end);
    write_column(sb, "t/list.values", "<i8", shape, &values);
    write_words(sb);
}

static void bench_open(struct bench *bench, const struct sandbox *sb,
    const char *pattern, const char *text)
{
    struct fby_error_detail        why     = {{0}};
    struct fby_content            *content = content_of(text);
    const struct fby_stages_config config  = {.fetch_threads = 2,
         .transform_threads                                  = 2,
         .encode_threads                                     = 2,
         .fetch_bytes                                        = 1 << 20,
         .scratch_bytes                                      = 1 << 20,
         .encode_bytes                                       = 1 << 20};
    struct fby_dataset            *dataset = open_columns(sb, pattern);
    *bench = (struct bench){.memory = fby_memory_create(MEMORY)};
    if (fby_dataset_plan_create(
            content, &dataset, &bench->dataset_plan, &why) != FBY_OK) {
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
    fby_dataset_plan_release(&bench->dataset_plan);
}

/* ---- A batch ------------------------------------------------------------- */

/* Take all chunks of a job, or its failure; bounded by CTest's time-out. */
static struct fby_job *make(struct bench *bench, uint32_t rows)
{
    struct fby_job           *job  = NULL;
    struct fby_error_detail   why  = {{0}};
    const struct fby_job_spec spec = {
        .dataset_plan = bench->dataset_plan, .seed = SEED, .rows = rows};
    assert_ok(fby_job_create(&spec, bench->arenas, NULL, &job, &why));
    fby_stages_start_job(bench->stages, job);
    uint32_t chunks = 0;
    bool     failed = false; /* by the event: job->failed is set earlier */
    while (chunks < job->layout.n_chunks && !failed) {
        struct fby_stages_event event;
        struct pollfd           ready = {
                      .fd = fby_stages_fd(bench->stages), .events = POLLIN};
        poll(&ready, 1, -1);
        fby_stages_clear_wakeup(bench->stages);
        while (fby_stages_next_event(bench->stages, &event)) {
            chunks += event.chunk != NULL ? 1 : 0;
            failed = failed || event.chunk == NULL;
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

/* The entries of all rows; their lengths begin the chunk. */
static uint64_t check_lengths(
    const struct fby_job *job, const struct fby_job_chunk *chunk)
{
    uint32_t width = job->layout.fields[chunk->field].length_bytes;
    uint64_t n     = 0;
    for (uint32_t i = 0; i < chunk->span.rows; i++) {
        uint32_t length = length_of(sample_of(job, chunk->span.first_row + i));
        assert_int_equal(
            number_at(chunk->payload + (size_t)i * width, width), length);
        n += length;
    }
    return n;
}

/* Lengths, zeros, then the values without gaps. */
static void check_lists(
    const struct fby_job *job, const struct fby_job_chunk *chunk)
{
    const struct fby_raw_field *field = &job->layout.fields[chunk->field];
    const uint8_t              *at =
        chunk->payload + fby_ragged_lengths_end(field, chunk->span.rows);
    check_lengths(job, chunk);
    for (uint32_t i = 0; i < chunk->span.rows; i++) {
        uint64_t sample = sample_of(job, chunk->span.first_row + i);
        for (uint32_t k = 0; k < length_of(sample); k++, at += 4) {
            assert_int_equal(number_at(at, 4), sample * 16 + k);
        }
    }
    assert_int_equal(chunk->raw_bytes, at - chunk->payload);
}

static float float_at(const uint8_t *at)
{
    float value = 0;
    memcpy(&value, at, sizeof(value));
    return value;
}

/* Behind the lengths the indices, then the values, without gaps. */
static void check_words(
    const struct fby_job *job, const struct fby_job_chunk *chunk)
{
    const struct fby_raw_field *field = &job->layout.fields[chunk->field];
    uint64_t                    n     = check_lengths(job, chunk);
    uint32_t                    rows  = chunk->span.rows;
    const uint8_t *index = chunk->payload + fby_ragged_lengths_end(field, rows);
    const uint8_t *value =
        chunk->payload + fby_sparse_values_offset(field, rows, n);
    for (uint32_t i = 0; i < rows; i++) {
        uint64_t sample = sample_of(job, chunk->span.first_row + i);
        for (uint32_t k = 0; k < length_of(sample); k++) {
            assert_int_equal(number_at(index, field->index_bytes), sample + k);
            assert_true(float_at(value) == (float)(sample + k));
            index += field->index_bytes;
            value += sizeof(float);
        }
    }
    assert_int_equal(chunk->raw_bytes, value - chunk->payload);
}

/* Fields are in the order of their names. */
static void check_batch(const struct fby_job *job)
{
    static void (*const checks[])(
        const struct fby_job *, const struct fby_job_chunk *) = {
        check_labels, check_lists, check_wide, check_words};
    for (uint32_t i = 0; i < job->layout.n_chunks; i++) {
        const struct fby_job_chunk *chunk = &job->chunks[i];
        checks[chunk->field](job, chunk);
        assert_int_equal(chunk->wire_bytes, chunk->raw_bytes);
        assert_int_equal(
            chunk->raw_hash, fby_xxh3_64(chunk->payload, chunk->raw_bytes));
    }
}

#define FIELDS                                                       \
    "fields: {"                                                      \
    "wide: {from: wide, decode: array, shape: [700], wire: u8}, "    \
    "label: {from: label, decode: label, classes: 7}, "              \
    "list: {from: list, decode: array, shape: [], max_length: 700, " \
    "wire: i32}, "                                                   \
    "words: {from: words, decode: sparse, shape: [9000], "           \
    "max_length: 350, wire: f32}}}"
#define SPLIT \
    "{forebay: 1, splits: {s: {columns: t, shuffle: full, last: drop}}, "

/* Both bad samples are replaced, each by the first of its own substitutes. */
static void check_substituted(const struct fby_job *job)
{
    assert_int_equal(job->n_substituted, 2);
    for (size_t i = 0; i < 2; i++) {
        const struct fby_job_substituted *one = &job->substituted[i];
        assert_int_equal(job->samples[one->row], one->original);
        assert_true(one->original == BAD || one->original == BAD + 1);
        assert_int_equal(one->substitute,
            fby_plan_substitute(SEED, 0, one->original, 1, ROWS));
    }
    assert_true(job->substituted[0].row < job->substituted[1].row);
}

static void a_run_ends_where_the_chunk_of_a_field_does(void **state)
{
    struct bench bench;
    write_table(*state);
    bench_open(&bench, *state, "data:t",
        SPLIT "global_batch: 4500, on_bad_sample: substitute, " FIELDS);
    struct fby_job             *job = make(&bench, ROWS);
    const struct fby_raw_field *f   = job->layout.fields;
    assert_true(job->run_rows > 1);
    for (uint32_t i = 1; i < job->layout.n_fields; i++) {
        assert_true(f[i].n_chunks > 1);
        assert_true(f[i].rows_per_chunk % job->run_rows != 0);
    }
    check_substituted(job);
    check_batch(job);
    fby_job_release(&job);
    bench_close(&bench);
}

static void count_chunk(void *context, struct fby_job_chunk *chunk)
{
    uint32_t *counts = context;
    counts[chunk->number]++;
}

/* 4500 wide rows make two chunks, the first of 2995 rows. */
static void a_chunk_is_done_once_with_its_last_row(void **state)
{
    enum { FIRST = 2995 };
    static const struct {
        uint32_t row, n, done[2];
    } steps[] = {
        {FIRST, ROWS - FIRST - 1, {0, 0}},
        {ROWS - 1, 1, {0, 1}},
        {1, FIRST - 1, {0, 1}},
        {0, 1, {1, 1}},
    };
    struct bench            bench;
    struct fby_job         *job = NULL;
    struct fby_error_detail why = {{0}};
    write_table(*state);
    bench_open(&bench, *state, "data:t", SPLIT "global_batch: 4500, " FIELDS);
    const struct fby_job_spec spec      = {.dataset_plan = bench.dataset_plan,
             .seed                                       = SEED,
             .fields                                     = 4,
             .rows                                       = ROWS};
    uint32_t                  counts[2] = {0};
    const struct fby_job_sink sink      = {count_chunk, counts};
    assert_ok(fby_job_create(&spec, bench.arenas, NULL, &job, &why));
    assert_int_equal(job->layout.n_chunks, 2);
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        fby_job_record_written(job, steps[i].row, steps[i].n, &sink);
        assert_memory_equal(counts, steps[i].done, sizeof(counts));
    }
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
    assert_in_range(job->failure.sample, BAD, BAD + 1);
    assert_int_equal(job->failure.shard, 0);
    assert_int_equal(job->failure.offset, 0);
    assert_says(
        &job->failure.why, job->failure.sample == BAD ? "row 77" : "row 78");
    assert_says(&job->failure.why, "field label");
    assert_says(&job->failure.why, "7");
    fby_job_release(&job);
    bench_close(&bench);
}

/* Rows larger than a chunk are split, and are made one by one. */
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
    write_column(*state, "t/large", "|u1", "(3, 2097157)", &large);
    write_column(*state, "t/label", "<u8", "(3,)", &label);
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

#define LABELS_OF(batch)                                                  \
    "{forebay: 1, splits: {s: {columns: t, shuffle: none, last: drop}}, " \
    "global_batch: " batch ", on_bad_sample: substitute, "                \
    "fields: {label: {from: label, decode: label, classes: 7}}}"
#define LABELS LABELS_OF("4")

/* Two folders of two labels each. */
static void write_labels(
    const struct sandbox *sb, const char *name, uint64_t label)
{
    struct fby_buffer labels = {0};
    fby_put_u64(&labels, label);
    fby_put_u64(&labels, label);
    write_column(sb, name, "<u8", "(2,)", &labels);
}

static void a_row_without_any_good_substitute_fails_the_batch(void **state)
{
    struct bench bench;
    write_labels(*state, "u-0/label", CLASSES);
    write_labels(*state, "u-1/label", CLASSES);
    bench_open(&bench, *state, "data:u-*", LABELS);
    struct fby_job *job = make(&bench, 4);
    assert_int_equal(job->failure.err, FBY_BAD_SAMPLE);
    assert_says(&job->failure.why, "too many samples are bad");
    assert_says(&job->failure.why, "substitutes of sample 0");
    fby_job_release(&job);
    bench_close(&bench);
}

/* Every third of 48 labels is not a label. */
static uint64_t third_is_bad(uint64_t sample)
{
    return sample % 3 == 0 ? CLASSES : sample % CLASSES;
}

static void write_thirds(const struct sandbox *sb)
{
    struct fby_buffer labels = {0};
    for (uint64_t sample = 0; sample < THIRDS; sample++) {
        fby_put_u64(&labels, third_is_bad(sample));
    }
    write_column(sb, "t/label", "<u8", "(48,)", &labels);
}

static uint64_t first_good_substitute(uint64_t sample)
{
    uint64_t good = sample;
    for (uint32_t n = 1; third_is_bad(good) == CLASSES; n++) {
        good = fby_plan_substitute(SEED, 0, sample, n, THIRDS);
    }
    return good;
}

static void every_bad_row_of_a_run_has_substitutes_of_its_own(void **state)
{
    struct bench bench;
    char         text[64];
    write_thirds(*state);
    bench_open(&bench, *state, "data:t", LABELS_OF("48"));
    struct fby_job *job = make(&bench, THIRDS);
    assert_int_equal(job->layout.n_chunks, 1); /* and one run */
    assert_int_equal(job->n_substituted, THIRDS / 3);
    for (uint32_t i = 0; i < THIRDS / 3; i++) {
        const struct fby_job_substituted *one = &job->substituted[i];
        const uint32_t                    row = 3 * i;
        assert_int_equal(one->row, row);
        assert_int_equal(one->original, row);
        assert_int_equal(one->substitute, first_good_substitute(row));
        snprintf(text, sizeof(text), "t, row %u (", row);
        assert_non_null(strstr(one->text, text));
    }
    for (uint32_t row = 0; row < THIRDS; row++) {
        assert_int_equal(
            job->chunks[0].payload[row], first_good_substitute(row) % CLASSES);
    }
    assert_int_equal(fby_stages_counts(bench.stages).substituted, THIRDS / 3);
    fby_job_release(&job);
    bench_close(&bench);
}

static void fails_as_stale(struct bench *bench)
{
    struct fby_job *job = make(bench, 4);
    assert_int_equal(job->failure.err, FBY_STALE);
    assert_int_equal(job->failure.sample, 2);
    assert_int_equal(job->failure.shard, 1);
    assert_says(&job->failure.why, "u-1");
    fby_job_release(&job);
}

static void a_file_that_changed_is_named_with_its_first_sample(void **state)
{
    struct bench bench;
    write_labels(*state, "u-0/label", 1);
    write_labels(*state, "u-1/label", 2);
    bench_open(&bench, *state, "data:u-*", LABELS);
    sandbox_append(*state, "data/u-1/label.npy", "more", 4);
    fails_as_stale(&bench);
    sandbox_remove(*state, "data/u-1/label.npy");
    fails_as_stale(&bench);
    bench_close(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SANDBOX(a_run_ends_where_the_chunk_of_a_field_does),
        IN_SANDBOX(a_chunk_is_done_once_with_its_last_row),
        IN_SANDBOX(a_row_that_is_refused_is_named),
        IN_SANDBOX(rows_larger_than_a_chunk_are_made_one_by_one),
        IN_SANDBOX(a_row_without_any_good_substitute_fails_the_batch),
        IN_SANDBOX(every_bad_row_of_a_run_has_substitutes_of_its_own),
        IN_SANDBOX(a_file_that_changed_is_named_with_its_first_sample),
    };
    return cmocka_run_group_tests_name("worker.runs", tests, NULL, NULL);
}
