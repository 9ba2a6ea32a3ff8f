/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/test.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/plan/draw.h"
#include "tests/worker/kit.h"
#include "worker/stages/stages.h"

enum { MEMORY = 64 << 20 };

struct bench { /* the stages without the loop */
    struct kit         kit;
    struct fby_memory *memory;
    struct fby_arenas *arenas;
    struct fby_stages *stages;
};

static void start_stages_with(
    struct bench *bench, size_t scratch_bytes, size_t fetch_bytes)
{
    const struct fby_stages_config config = {.fetch_threads = 2,
        .transform_threads                                  = 2,
        .encode_threads                                     = 2,
        .fetch_bytes                                        = fetch_bytes,
        .scratch_bytes                                      = scratch_bytes,
        .encode_bytes                                       = 8 << 20};
    assert_ok(fby_stages_create(&config, &bench->stages));
}

static void start_stages(struct bench *bench, size_t scratch_bytes)
{
    start_stages_with(bench, scratch_bytes, 1 << 20);
}

static void bench_open(
    struct bench *bench, void **state, const char *more, const char *rule)
{
    kit_open(&bench->kit, *state, more, rule);
    bench->memory = fby_memory_create(MEMORY);
    assert_ok(fby_arenas_create(bench->memory, &bench->arenas));
    start_stages(bench, 1 << 20);
}

static void bench_close(struct bench *bench)
{
    fby_stages_destroy(&bench->stages);
    fby_arenas_destroy(&bench->arenas);
    assert_int_equal(fby_memory_counts(bench->memory).used, 0);
    fby_memory_destroy(&bench->memory);
    kit_close(&bench->kit);
}

static struct fby_job_spec spec_of(const struct bench *bench, uint64_t step)
{
    return (struct fby_job_spec){.dataset_plan = bench->kit.dataset_plan,
        .seed                                  = 5,
        .epoch                                 = 1,
        .step                                  = step,
        .rows                                  = KIT_BATCH};
}

static const struct fby_session_id session = {7};
static const struct fby_request_id request = {9};

static struct fby_job *create(
    struct bench *bench, const struct fby_job_spec *spec)
{
    struct fby_job         *job = NULL;
    struct fby_error_detail why = {{0}};
    assert_ok(fby_job_create(spec, bench->arenas, NULL, &job, &why));
    job->prefix_session = session;
    job->prefix_request = request;
    return job;
}

static struct fby_job *start(
    struct bench *bench, const struct fby_job_spec *spec)
{
    struct fby_job *job = create(bench, spec);
    fby_stages_start_job(bench->stages, job);
    return job;
}

/* Wait for the next event; bounded by CTest's time-out. */
static struct fby_stages_event next_event(struct bench *bench)
{
    struct fby_stages_event event;
    struct pollfd           ready = {
                  .fd = fby_stages_fd(bench->stages), .events = POLLIN};
    while (!fby_stages_next_event(bench->stages, &event)) {
        poll(&ready, 1, -1);
        fby_stages_clear_wakeup(bench->stages);
    }
    return event;
}

/* Check that the encode threads wrote the prefix, for the job's request. */
static void check_prefix(const struct fby_job_chunk *chunk)
{
    const uint8_t          *frame = chunk->payload - FBY_CHUNK_PREFIX;
    size_t                  size  = FBY_CHUNK_PREFIX + chunk->wire_bytes;
    struct fby_chunk        read  = {.field = 0};
    struct fby_error_detail why   = {{0}};
    assert_ok(fby_chunk_read_prefix(frame, size, &read, &why));
    assert_true(fby_chunk_is_intact(frame, size));
    assert_true(fby_session_equal(read.session, session));
    assert_true(fby_request_equal(read.request, request));
    assert_true(fby_session_equal(chunk->session, session));
    assert_true(fby_request_equal(chunk->request, request));
}

/* Take all chunks of `job` and compare each with the direct computation. */
static void check_job(struct bench *bench, struct fby_job *job)
{
    struct fby_buffer expected = kit_expect(&job->spec, &job->layout);
    for (uint32_t i = 0; i < job->layout.n_chunks; i++) {
        struct fby_stages_event event = next_event(bench);
        assert_ptr_equal(event.job, job);
        assert_non_null(event.chunk);
        struct fby_chunk head =
            fby_job_chunk_head(event.chunk, session, request);
        check_prefix(event.chunk);
        kit_check_chunk(&job->layout, &expected, &head, event.chunk->payload);
        fby_job_release(&event.job);
    }
    fby_buffer_fini(&expected);
}

static void a_batch_is_what_the_direct_computation_makes(void **state)
{
    struct bench bench;
    bench_open(&bench, state, "", "");
    for (uint64_t step = 0; step < KIT_SAMPLES / KIT_BATCH; step++) {
        struct fby_job_spec spec = spec_of(&bench, step);
        struct fby_job     *job  = start(&bench, &spec);
        check_job(&bench, job);
        assert_true(atomic_load(&job->transform_ns) > 0);
        assert_true(atomic_load(&job->cpu_ns) > 0);
        fby_job_release(&job);
    }
    struct fby_stages_counts counts;
    do { /* a task is counted after its results are visible */
        counts = fby_stages_counts(bench.stages);
    } while (counts.fetch.tasks < KIT_SAMPLES ||
             counts.transform.tasks < KIT_SAMPLES);
    assert_int_equal(counts.fetch.tasks, KIT_SAMPLES);
    assert_int_equal(counts.transform.tasks, KIT_SAMPLES);
    assert_true(counts.fetched_bytes > 0);
    bench_close(&bench);
}

static void rows_and_fields_can_be_chosen(void **state)
{
    struct bench bench;
    bench_open(&bench, state, "", "");
    struct fby_job_spec spec = spec_of(&bench, 1);
    spec.first_row           = 3;
    spec.rows                = 2;
    spec.fields              = 2; /* the label alone */
    struct fby_job *job      = start(&bench, &spec);
    assert_int_equal(job->layout.raw_bytes, 2);
    check_job(&bench, job);
    fby_job_release(&job);
    bench_close(&bench);
}

static void compressed_chunks_decode_to_the_same_bytes(void **state)
{
    struct bench bench;
    bench_open(&bench, state, "      - resize: {size: 128}\n", "");
    struct fby_job_spec spec = spec_of(&bench, 0);
    struct fby_job     *job  = create(&bench, &spec);
    job->coding[0] = (struct fby_coding){FBY_FILTER_BIT_SHUFFLE, FBY_CODEC_LZ4};
    fby_stages_start_job(bench.stages, job);
    check_job(&bench, job);
    assert_int_equal(job->chunks[0].coding.codec, FBY_CODEC_LZ4);
    assert_true(job->chunks[0].wire_bytes < job->chunks[0].span.raw_bytes);
    fby_job_release(&job);
    bench_close(&bench);
}

/* A chunk that compression does not shrink is sent as it is. */
static void a_chunk_that_does_not_shrink_is_stored(void **state)
{
    struct bench bench;
    bench_open(&bench, state, "", "");
    struct fby_job_spec spec = spec_of(&bench, 0);
    struct fby_job     *job  = create(&bench, &spec);
    job->coding[1] = (struct fby_coding){FBY_FILTER_NONE, FBY_CODEC_LZ4};
    fby_stages_start_job(bench.stages, job);
    check_job(&bench, job);
    assert_int_equal(job->chunks[1].coding.filter, FBY_FILTER_NONE);
    assert_int_equal(job->chunks[1].coding.codec, FBY_CODEC_STORE);
    assert_int_equal(job->chunks[1].wire_bytes, KIT_BATCH);
    fby_job_release(&job);
    bench_close(&bench);
}

static uint64_t bytes_of_samples(const struct fby_job *job)
{
    static const char         jpg[1][FBY_NAME_SIZE] = {"jpg"};
    const struct fby_dataset *dataset = job->spec.dataset_plan->dataset;
    uint64_t                  bytes   = 0;
    for (uint32_t i = 0; i < job->spec.rows; i++) {
        struct fby_member member;
        assert_ok(
            fby_dataset_find_member(dataset, job->samples[i], jpg, 1, &member));
        bytes += member.size;
    }
    return bytes;
}

static void a_member_of_two_fields_is_read_once(void **state)
{
    struct bench bench;
    bench_open(&bench, state,
        "  again: {from: [jpg], decode: rgb8, ops: [{resize: {size: 16}}]}\n",
        "");
    struct fby_job_spec spec = spec_of(&bench, 0);
    struct fby_job     *job  = start(&bench, &spec);
    check_job(&bench, job);
    assert_int_equal(
        fby_stages_counts(bench.stages).fetched_bytes, bytes_of_samples(job));
    fby_job_release(&job);
    bench_close(&bench);
}

/* Wait until the job failed; other events are released. */
static void wait_for_failure(struct bench *bench, const struct fby_job *job)
{
    struct fby_stages_event event;
    do {
        event = next_event(bench);
        fby_job_release(&event.job);
    } while (event.chunk != NULL);
    assert_true(fby_job_is_aborted(job));
}

static void samples_beyond_what_may_be_read_are_named_with_their_size(
    void **state)
{
    struct bench bench;
    bench_open(&bench, state, "", "");
    struct fby_job_spec spec = spec_of(&bench, 0);
    spec.rows                = 1;
    struct fby_job *first    = start(&bench, &spec);
    check_job(&bench, first);
    char     text[128];
    uint64_t bytes = bytes_of_samples(first);
    fby_stages_destroy(&bench.stages);
    start_stages_with(&bench, 1 << 20, bytes - 1);
    struct fby_job *job = start(&bench, &spec);
    wait_for_failure(&bench, job);
    snprintf(text, sizeof(text),
        "the sample has %llu bytes, this worker can read at most %llu; raise "
        "its --memory",
        (unsigned long long)bytes, (unsigned long long)bytes - 1);
    assert_int_equal(job->failure.err, FBY_FULL);
    assert_non_null(strstr(job->failure.why.text, text));
    fby_job_release(&job);
    fby_stages_destroy(&bench.stages);

    start_stages_with(&bench, 1 << 20, (bytes + 4095) / 4096 * 4096);
    job = start(&bench, &spec);
    check_job(&bench, job);
    fby_job_release(&job);
    fby_stages_destroy(&bench.stages);
    fby_job_release(&first);
    start_stages(&bench, 1 << 20);
    bench_close(&bench);
}

static void the_last_of_eight_substitutes_is_named(void **state)
{
    struct bench bench;
    char         text[64];
    bench_open(
        &bench, state, "", "on_bad_sample: {do: substitute, limit: 9}\n");
    kit_corrupt_all(&bench.kit);
    kit_reopen(&bench.kit);
    struct fby_job_spec spec = spec_of(&bench, 0);
    spec.rows                = 1;
    struct fby_job *job      = start(&bench, &spec);
    wait_for_failure(&bench, job);
    snprintf(text, sizeof(text),
        "it is the last of 8 substitutes of sample %u,",
        (unsigned)job->samples[0]);
    assert_int_equal(job->failure.err, FBY_BAD_SAMPLE);
    assert_non_null(strstr(job->failure.why.text, text));
    assert_int_equal(job->failure.sample,
        fby_plan_substitute(5, 1, job->samples[0], 8, KIT_SAMPLES));
    assert_int_equal(fby_stages_counts(bench.stages).substituted, 0);
    fby_job_release(&job);
    bench_close(&bench);
}

/* Rows above 2 MiB are split, with room for a prefix before each part. */
static void large_images_are_split_into_chunks(void **state)
{
    struct bench bench;
    bench_open(&bench, state, "      - resize: {size: [1000, 1100]}\n", "");
    struct fby_job_spec spec = spec_of(&bench, 0);
    spec.rows                = 3;
    struct fby_job *job      = start(&bench, &spec);
    assert_true(job->layout.fields[0].rows_per_chunk == 0);
    assert_true(job->layout.fields[0].chunks_per_row > 1);
    check_job(&bench, job);
    fby_job_release(&job);
    bench_close(&bench);
}

static void a_bad_sample_fails_the_batch_and_names_its_location(void **state)
{
    struct bench bench;
    bench_open(&bench, state, "", "");
    kit_corrupt(&bench.kit, 1, 2);
    kit_reopen(&bench.kit);
    uint64_t failed = 0;
    for (uint64_t step = 0; step < KIT_SAMPLES / KIT_BATCH; step++) {
        struct fby_job_spec     spec = spec_of(&bench, step);
        struct fby_job         *job  = start(&bench, &spec);
        struct fby_stages_event event;
        uint32_t                chunks = 0;
        do {
            event = next_event(&bench);
            fby_job_release(&event.job);
        } while (event.chunk != NULL && ++chunks < job->layout.n_chunks);
        if (event.chunk == NULL) {
            failed++;
            assert_int_equal(job->failure.err, FBY_BAD_SAMPLE);
            assert_int_equal(job->failure.sample, KIT_EACH + 2);
            assert_non_null(strstr(job->failure.why.text, "c01/0002.jpg"));
        }
        fby_job_release(&job);
    }
    assert_int_equal(failed, 1);
    bench_close(&bench);
}

static void a_bad_sample_is_substituted_when_that_is_the_rule(void **state)
{
    struct bench bench;
    bench_open(
        &bench, state, "", "on_bad_sample: {do: substitute, limit: 9}\n");
    kit_corrupt(&bench.kit, 1, 2);
    kit_reopen(&bench.kit);
    size_t substituted = 0;
    for (uint64_t step = 0; step < KIT_SAMPLES / KIT_BATCH; step++) {
        struct fby_job_spec spec = spec_of(&bench, step);
        struct fby_job     *job  = start(&bench, &spec);
        for (uint32_t i = 0; i < job->layout.n_chunks; i++) {
            struct fby_stages_event event = next_event(&bench);
            assert_non_null(event.chunk);
            fby_job_release(&event.job);
        }
        if (job->n_substituted > 0) {
            const struct fby_job_substituted *one = &job->substituted[0];
            assert_int_equal(one->original, KIT_EACH + 2);
            assert_int_equal(one->original, job->samples[one->row]);
            assert_true(one->substitute != one->original);
            assert_non_null(strstr(one->text, "c01/0002.jpg"));
        }
        substituted += job->n_substituted;
        fby_job_release(&job);
    }
    assert_int_equal(substituted, 1);
    assert_int_equal(fby_stages_counts(bench.stages).substituted, 1);
    bench_close(&bench);
}

/* There is room for 16 at a time. */
static void a_bad_sample_leaves_its_memory_to_others(void **state)
{
    struct bench bench;
    bench_open(
        &bench, state, "", "on_bad_sample: {do: substitute, limit: 99}\n");
    kit_corrupt(&bench.kit, 1, 2);
    kit_reopen(&bench.kit);
    for (uint64_t i = 0; i < 20 * KIT_SAMPLES / KIT_BATCH; i++) {
        struct fby_job_spec spec = spec_of(&bench, 0);
        spec.epoch               = i / (KIT_SAMPLES / KIT_BATCH);
        spec.step                = i % (KIT_SAMPLES / KIT_BATCH);
        struct fby_job *job      = start(&bench, &spec);
        for (uint32_t k = 0; k < job->layout.n_chunks; k++) {
            struct fby_stages_event event = next_event(&bench);
            assert_non_null(event.chunk);
            fby_job_release(&event.job);
        }
        fby_job_release(&job);
    }
    assert_int_equal(fby_stages_counts(bench.stages).substituted, 20);
    bench_close(&bench);
}

/* Another worker may have the memory, so the sample is not substituted. */
static void a_picture_that_takes_too_much_memory_is_no_bad_sample(void **state)
{
    struct bench bench;
    bench_open(
        &bench, state, "", "on_bad_sample: {do: substitute, limit: 9}\n");
    fby_stages_destroy(&bench.stages);
    start_stages(&bench, 1 << 10);
    struct fby_job_spec     spec  = spec_of(&bench, 0);
    struct fby_job         *job   = start(&bench, &spec);
    struct fby_stages_event event = next_event(&bench);
    assert_null(event.chunk);
    assert_int_equal(job->failure.err, FBY_FULL);
    assert_non_null(strstr(job->failure.why.text, ".jpg"));
    assert_non_null(strstr(job->failure.why.text, "--memory"));
    fby_job_release(&event.job);
    fby_job_release(&job);
    bench_close(&bench);
}

static void more_substitutes_than_end_can_name_are_refused(void **state)
{
    struct bench bench;
    bench_open(&bench, state, "", "");
    struct fby_job_spec           spec  = spec_of(&bench, 0);
    struct fby_job               *job   = NULL;
    struct fby_error_detail       why   = {{0}};
    const struct fby_error_detail cause = {"c01/0002.jpg: truncated"};
    assert_ok(fby_job_create(&spec, bench.arenas, NULL, &job, &why));
    for (uint32_t i = 0; i < FBY_SUBSTITUTED_MAX; i++) {
        assert_ok(
            fby_job_record_substitute(job, i % KIT_BATCH, 1, &cause, &why));
    }
    assert_int_equal(
        fby_job_record_substitute(job, 0, 1, &cause, &why), FBY_FULL);
    assert_non_null(strstr(why.text, "more than 1024 rows of this request"));
    assert_non_null(strstr(why.text, "a smaller global_batch or more ranks"));
    assert_non_null(strstr(why.text, "c01/0002.jpg"));
    assert_int_equal(job->n_substituted, FBY_SUBSTITUTED_MAX);
    for (size_t i = 1; i < FBY_SUBSTITUTED_MAX; i++) { /* the order of END */
        assert_true(job->substituted[i - 1].row <= job->substituted[i].row);
    }
    assert_int_equal(job->substituted[0].row, 0);
    assert_int_equal(
        job->substituted[FBY_SUBSTITUTED_MAX - 1].row, KIT_BATCH - 1);
    fby_job_release(&job);
    bench_close(&bench);
}

/* With the longest names and texts, END has room for fewer substitutes. All
 * names here have the same length. */
static void substitutes_are_refused_before_end_is_too_long(void **state)
{
    struct bench bench;
    bench_open(&bench, state, "", "");
    struct fby_job_spec           spec  = spec_of(&bench, 0);
    struct fby_job               *job   = NULL;
    struct fby_error_detail       why   = {{0}};
    const struct fby_error_detail cause = {"c01/0002.jpg: truncated"};
    const size_t                  each =
        strlen("part-0000000") + strlen("c01/0002") + strlen(cause.text) + 64;
    assert_ok(fby_job_create(&spec, bench.arenas, NULL, &job, &why));
    assert_ok(fby_job_record_substitute(job, 3, 1, &cause, &why));
    assert_int_equal(job->substituted_bytes, each);
    job->substituted_bytes = FBY_MESSAGE_MAX / 2 - each;
    assert_ok(fby_job_record_substitute(job, 2, 1, &cause, &why));
    assert_int_equal(job->substituted_bytes, FBY_MESSAGE_MAX / 2);
    job->substituted_bytes = FBY_MESSAGE_MAX / 2 - each + 1;
    assert_int_equal(
        fby_job_record_substitute(job, 1, 1, &cause, &why), FBY_FULL);
    assert_non_null(strstr(why.text, "more than 2 rows of this request"));
    assert_int_equal(job->n_substituted, 2);
    fby_job_release(&job);
    bench_close(&bench);
}

static void a_job_has_no_pages_until_its_work_begins(void **state)
{
    struct bench bench;
    bench_open(&bench, state, "", "");
    struct fby_job_spec     spec = spec_of(&bench, 0);
    struct fby_job         *job  = NULL;
    struct fby_error_detail why  = {{0}};
    assert_ok(fby_job_create(&spec, bench.arenas, NULL, &job, &why));
    size_t reserved = fby_memory_counts(bench.memory).reserved;
    assert_true(reserved >= fby_job_arena_bytes(&job->layout));
    assert_null(job->chunks[0].payload);
    assert_ok(fby_job_commit(job, &why));
    const uint8_t *payload = job->chunks[0].payload;
    assert_non_null(payload);
    assert_int_equal(fby_memory_counts(bench.memory).reserved, 0);
    assert_ok(fby_job_commit(job, &why));
    assert_ptr_equal(job->chunks[0].payload, payload);
    fby_job_release(&job);
    bench_close(&bench);
}

static void a_file_that_changed_fails_as_stale(void **state)
{
    struct bench bench;
    bench_open(&bench, state, "", "");
    kit_corrupt_all(&bench.kit);
    struct fby_job_spec     spec  = spec_of(&bench, 0);
    struct fby_job         *job   = start(&bench, &spec);
    struct fby_stages_event event = next_event(&bench);
    assert_null(event.chunk);
    assert_int_equal(job->failure.err, FBY_STALE);
    fby_job_release(&event.job);
    fby_job_release(&job);
    bench_close(&bench);
}

static void write_for_each(
    const struct bench *bench, const char *extension, const char *text)
{
    for (unsigned n = 0; n < KIT_SAMPLES; n++) {
        char path[64];
        snprintf(path, sizeof(path), "data/photos/c%02u/%04u.%s", n / KIT_EACH,
            n % KIT_EACH, extension);
        sandbox_write_text(bench->kit.sandbox, path, text);
    }
}

static void of_several_maps_the_one_that_cannot_be_read_is_named(void **state)
{
    struct bench bench;
    bench_open(&bench, state,
        "  maps: {from: [a.png, b.png, c.png], decode: maps, "
        "ops: [{center_crop: {size: 8}}]}\n",
        "");
    write_for_each(&bench, "a.png", "one");
    write_for_each(&bench, "b.png", "two");
    write_for_each(&bench, "c.png", "three");
    kit_reopen(&bench.kit);
    write_for_each(&bench, "b.png", "changed");
    struct fby_job_spec     spec  = spec_of(&bench, 0);
    struct fby_job         *job   = start(&bench, &spec);
    struct fby_stages_event event = next_event(&bench);
    assert_null(event.chunk);
    assert_int_equal(job->failure.err, FBY_STALE);
    assert_non_null(strstr(job->failure.why.text, ".b.png, sample "));
    fby_job_release(&event.job);
    fby_job_release(&job);
    bench_close(&bench);
}

static void a_cancelled_job_is_forgotten(void **state)
{
    struct bench bench;
    bench_open(&bench, state, "", "");
    for (uint64_t step = 0; step < KIT_SAMPLES / KIT_BATCH; step++) {
        struct fby_job_spec spec = spec_of(&bench, step);
        struct fby_job     *job  = start(&bench, &spec);
        fby_stages_cancel_job(bench.stages, job);
        assert_true(fby_job_is_aborted(job));
        fby_job_release(&job);
    }
    assert_int_equal(fby_stages_counts(bench.stages).backlog_rows, 0);
    bench_close(&bench); /* checks that all memory was returned */
}

static void steps_rows_and_fields_that_do_not_exist_are_refused(void **state)
{
    struct bench bench;
    bench_open(&bench, state, "", "");
    struct fby_job         *job  = NULL;
    struct fby_error_detail why  = {{0}};
    struct fby_job_spec     spec = spec_of(&bench, 3);
    assert_int_equal(
        fby_job_create(&spec, bench.arenas, NULL, &job, &why), FBY_USAGE);
    assert_non_null(strstr(why.text, "step 3"));
    spec           = spec_of(&bench, 0);
    spec.first_row = 4;
    spec.rows      = 5;
    assert_int_equal(
        fby_job_create(&spec, bench.arenas, NULL, &job, &why), FBY_USAGE);
    assert_non_null(strstr(why.text, "rows 4 to 8 of"));
    spec        = spec_of(&bench, 0);
    spec.fields = 4;
    assert_int_equal(
        fby_job_create(&spec, bench.arenas, NULL, &job, &why), FBY_CONFIG);
    bench_close(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SANDBOX(a_batch_is_what_the_direct_computation_makes),
        IN_SANDBOX(rows_and_fields_can_be_chosen),
        IN_SANDBOX(compressed_chunks_decode_to_the_same_bytes),
        IN_SANDBOX(a_chunk_that_does_not_shrink_is_stored),
        IN_SANDBOX(a_member_of_two_fields_is_read_once),
        IN_SANDBOX(samples_beyond_what_may_be_read_are_named_with_their_size),
        IN_SANDBOX(the_last_of_eight_substitutes_is_named),
        IN_SANDBOX(large_images_are_split_into_chunks),
        IN_SANDBOX(a_bad_sample_fails_the_batch_and_names_its_location),
        IN_SANDBOX(a_bad_sample_leaves_its_memory_to_others),
        IN_SANDBOX(a_bad_sample_is_substituted_when_that_is_the_rule),
        IN_SANDBOX(a_picture_that_takes_too_much_memory_is_no_bad_sample),
        IN_SANDBOX(more_substitutes_than_end_can_name_are_refused),
        IN_SANDBOX(substitutes_are_refused_before_end_is_too_long),
        IN_SANDBOX(a_job_has_no_pages_until_its_work_begins),
        IN_SANDBOX(a_file_that_changed_fails_as_stale),
        IN_SANDBOX(of_several_maps_the_one_that_cannot_be_read_is_named),
        IN_SANDBOX(a_cancelled_job_is_forgotten),
        IN_SANDBOX(steps_rows_and_fields_that_do_not_exist_are_refused),
    };
    return cmocka_run_group_tests_name("worker.job", tests, NULL, NULL);
}
