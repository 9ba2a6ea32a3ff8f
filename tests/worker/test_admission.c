/* SPDX-License-Identifier: Apache-2.0 */
/* Requests that are accepted, that are answered BUSY, and that are answered
 * CANNOT. */
#include "tests/test.h"

#include <string.h>

#include "tests/worker/loop_rig.h"
#include "worker/stages/stages_state.h"

/* ---- No room ------------------------------------------------------------- */

/* The bytes that a batch of the kit is charged with. */
static uint64_t batch_bytes(struct rig *rig)
{
    struct fby_raw_layout     layout;
    struct fby_error_detail   why  = {{0}};
    const struct fby_job_spec spec = rig_spec(rig, 0);
    assert_ok(fby_job_layout(&spec, &layout, &why));
    assert_int_equal(fby_job_arena_bytes(&layout), 24576 + 64 + 64 + 64);
    return fby_job_arena_bytes(&layout);
}

static void check_busy(const struct fby_busy *busy, struct fby_request_id id)
{
    assert_int_equal(busy->request.value, id.value);
    assert_int_equal(busy->retry_ms, 50);
}

static void expect_busy(const struct party *to, struct fby_request_id id)
{
    check_busy(&wire_expect(to, FBY_MSG_BUSY)->busy, id);
}

static void beyond_the_budget_a_request_is_answered_busy(void **state)
{
    struct rig rig;
    rig_open_limited(&rig, state, (struct rig_limits){.budget = 70000});
    struct party        a    = party_of(&rig, 1);
    struct fby_job_spec spec = rig_spec(&rig, 0);
    a.max_bytes              = 24584;
    party_open(&a);
    for (spec.step = 0; spec.step < 2; spec.step++) {
        party_request(&a, &spec);
    }
    struct fby_request_id third = party_request(&a, &spec);
    expect_busy(&a, third);
    assert_int_equal(rig.loop.counts.busy, 1);
    assert_int_equal(rig.loop.counts.requests, 2);
    assert_int_equal(party_state(&a).charged, 2 * batch_bytes(&rig));
    spec.step                  = 1; /* it joins work, which takes no memory */
    struct fby_request_id join = party_request(&a, &spec);
    assert_int_equal(rig.loop.counts.joined, 1);
    party_cancel(&a, join);
    assert_int_equal(party_state(&a).open, 2);
    rig_close(&rig);
}

/* The budget has room, but the pool has none, as reused blocks are larger. */
static void a_batch_without_memory_is_answered_busy(void **state)
{
    struct rig rig;
    rig_open_limited(&rig, state, (struct rig_limits){.memory = 7 << 12});
    struct party        a    = party_of(&rig, 1);
    struct fby_job_spec spec = rig_spec(&rig, 0);
    party_open(&a);
    party_request(&a, &spec);
    spec.step++;
    struct fby_request_id second = party_request(&a, &spec);
    expect_busy(&a, second);
    assert_int_equal(party_state(&a).open, 1);
    assert_int_equal(party_state(&a).charged, batch_bytes(&rig));
    assert_null(rig.loop.works->next);
    rig_close(&rig);
}

static void a_batch_beyond_all_budget_names_both_numbers(void **state)
{
    struct rig rig;
    rig_open_limited(&rig, state, (struct rig_limits){.budget = 24767});
    struct party        a    = party_of(&rig, 1);
    struct fby_job_spec spec = rig_spec(&rig, 0);
    a.max_bytes              = UINT64_MAX;
    party_open(&a);
    struct fby_request_id    id     = party_request(&a, &spec);
    const struct fby_cannot *cannot = &wire_expect(&a, FBY_MSG_CANNOT)->cannot;
    assert_int_equal(cannot->request.value, id.value);
    assert_int_equal(cannot->code, FBY_CANNOT_MEMORY);
    assert_string_equal(cannot->text,
        "the batch takes 24768 bytes, this worker has 24767 for batches; "
        "raise its --memory or make the batch smaller");
    assert_int_equal(rig.loop.counts.cannot, 1);
    rig.loop.budget.total = 24768 + 65536;
    party_request(&a, &spec);
    assert_int_equal(rig.loop.counts.requests, 1);
    rig_close(&rig);
}

static void a_batch_beyond_the_slot_names_both_numbers(void **state)
{
    struct rig rig;
    rig_open(&rig, state);
    struct party        a    = party_of(&rig, 1);
    struct fby_job_spec spec = rig_spec(&rig, 0);
    party_open(&a);
    a.max_bytes                     = 24583;
    struct fby_request_id    id     = party_request(&a, &spec);
    const struct fby_cannot *cannot = &wire_expect(&a, FBY_MSG_CANNOT)->cannot;
    assert_int_equal(cannot->request.value, id.value);
    assert_int_equal(cannot->code, FBY_CANNOT_FIT);
    assert_string_equal(cannot->text,
        "the batch takes 24584 bytes, the client has room for 24583");
    a.max_bytes = 24584;
    party_request(&a, &spec);
    assert_int_equal(rig.loop.counts.requests, 1);
    wire_expect(&a, FBY_MSG_HEADER);
    wire_expect_nothing(&rig);
    rig_close(&rig);
}

/* A session beyond its share makes room for another that is below its share:
 * the session furthest beyond sheds its last batch. */
static void a_surplus_is_shed_for_a_session_below_its_share(void **state)
{
    static const int who[] = {0, 0, 0, 1, 1, 1, 1, 1, 2, 2};
    struct rig       rig;
    struct party     a[3];
    rig_open_limited(&rig, state, (struct rig_limits){.budget = 400000});
    struct fby_job_spec spec = rig_spec(&rig, 0);
    for (uint64_t i = 0; i < 3; i++) {
        a[i]           = party_of(&rig, i + 1);
        a[i].max_bytes = 1; /* its share is two batches and a half */
        party_open(&a[i]);
        a[i].max_bytes = 1 << 20;
    }
    for (spec.epoch = 0; spec.epoch < 10; spec.epoch++) {
        party_request(&a[who[spec.epoch]], &spec);
    }
    assert_int_equal(rig.loop.counts.requests, 10);
    rig.loop.budget.total      = 11 * batch_bytes(&rig) - 1;
    struct fby_request_id want = party_request(&a[2], &spec);
    expect_busy(&a[2], want);
    const struct fby_lost *lost = &wire_expect(&a[1], FBY_MSG_LOST)->lost;
    assert_int_equal(lost->request.value, 5);
    assert_int_equal(rig.loop.counts.lost, 1);
    assert_int_equal(party_state(&a[1]).open, 4);
    assert_int_equal(party_state(&a[0]).open, 3);
    rig_close(&rig);
}

/* ---- Requests ------------------------------------------------------------ */

static void other_content_data_and_fingerprint_have_their_own_answers(
    void **state)
{
    struct rig rig;
    rig_open(&rig, state);
    struct party        a    = party_of(&rig, 1);
    struct fby_job_spec spec = rig_spec(&rig, 0);
    party_open(&a);
    struct fby_dataset_plan *own = rig.kit.dataset_plan;
    own->content_digest.bytes[3] ^= 1;
    struct fby_request_id          id = party_request(&a, &spec);
    const struct fby_send_content *send =
        &wire_expect(&a, FBY_MSG_SEND_CONTENT)->send_content;
    assert_int_equal(send->request.value, id.value);
    assert_true(fby_digest_equal(&send->content, &own->content_digest));
    own->content_digest.bytes[3] ^= 1;

    own->data_digest.bytes[3] ^= 1;
    id = party_request(&a, &spec);
    own->data_digest.bytes[3] ^= 1;
    const struct fby_stale_data *stale =
        &wire_expect(&a, FBY_MSG_STALE_DATA)->stale_data;
    assert_int_equal(stale->request.value, id.value);
    assert_true(stale->data.known);
    assert_true(fby_digest_equal(&stale->data.digest, &own->data_digest));
    assert_string_equal(stale->shard, "");

    own->fingerprint.bytes[3] ^= 1;
    id = party_request(&a, &spec);
    own->fingerprint.bytes[3] ^= 1;
    const struct fby_wrong_fingerprint *wrong =
        &wire_expect(&a, FBY_MSG_WRONG_FINGERPRINT)->wrong_fingerprint;
    assert_int_equal(wrong->request.value, id.value);
    assert_true(fby_digest_equal(&wrong->fingerprint, &own->fingerprint));
    assert_int_equal(rig.loop.counts.requests, 0);
    rig_close(&rig);
}

/* Each client gets CANNOT, and no memory of the batch stays in use. */
static void a_failed_batch_is_reported_to_all_its_clients(void **state)
{
    struct rig rig;
    rig_open(&rig, state);
    kit_corrupt_all(&rig.kit);
    kit_reopen(&rig.kit);
    struct party        a[2] = {party_of(&rig, 1), party_of(&rig, 2)};
    struct fby_job_spec spec = rig_spec(&rig, 0);
    spec.rows                = 1;
    for (int i = 0; i < 2; i++) {
        party_open(&a[i]);
        party_request(&a[i], &spec);
    }
    uint64_t sample = rig.loop.works->job->samples[0];
    wire_expect(&a[1], FBY_MSG_HEADER);
    wire_expect(&a[0], FBY_MSG_HEADER);
    rig_make(&rig);
    for (int i = 1; i >= 0; i--) {
        const struct fby_cannot *cannot =
            &wire_expect(&a[i], FBY_MSG_CANNOT)->cannot;
        assert_int_equal(cannot->request.value, 1);
        assert_int_equal(cannot->code, FBY_CANNOT_SAMPLE);
        assert_int_equal(cannot->sample, sample);
        assert_true(strlen(cannot->shard) > 0);
        assert_non_null(strstr(cannot->text, cannot->key));
        assert_int_equal(party_state(&a[i]).open, 0);
    }
    assert_int_equal(rig.loop.counts.cannot, 2);
    assert_null(rig.loop.works);
    rig_collect_all(&rig);
    wire_expect_nothing(&rig);
    rig_close(&rig);
}

static void end_names_the_rows_that_were_replaced(void **state)
{
    struct rig rig;
    rig_open_content(
        &rig, state, "", "on_bad_sample: {do: substitute, limit: 9}\n");
    kit_corrupt(&rig.kit, 1, 2);
    kit_corrupt(&rig.kit, 2, 3);
    kit_reopen(&rig.kit);
    struct party a = party_of(&rig, 1);
    party_open(&a);
    size_t replaced = 0;
    for (uint64_t step = 0; step < KIT_SAMPLES / KIT_BATCH; step++) {
        struct fby_job_spec spec = rig_spec(&rig, step);
        party_request(&a, &spec);
        rig_make(&rig);
        uint64_t samples[KIT_BATCH];
        memcpy(samples, rig.loop.works->job->samples, sizeof(samples));
        wire_expect(&a, FBY_MSG_HEADER);
        wire_expect_chunk(&a);
        wire_expect_chunk(&a);
        const struct fby_end *end = &wire_expect(&a, FBY_MSG_END)->end;
        for (size_t i = 0; i < end->n_substituted; i++) {
            const struct fby_substituted *one = &end->substituted[i];
            assert_int_equal(one->original, samples[one->row]);
            assert_true(one->original == 10 || one->original == 19);
            const char *place = one->original == 10 ? "c01/0002" : "c02/0003";
            assert_non_null(strstr(one->text, place));
            assert_non_null(strstr(place, one->key));
            assert_true(strlen(one->shard) > 0);
        }
        assert_int_equal(end->n_samples, 0);
        replaced += end->n_substituted;
    }
    assert_int_equal(replaced, 2);
    rig_close(&rig);
}

/* ---- Failures ------------------------------------------------------------ */

/* Let a batch in work fail with `err`; return the message to its client. */
static const struct fby_message *fail_with(
    struct party *a, fby_err err, enum fby_message_type type)
{
    struct fby_loop             *loop    = &a->rig->loop;
    struct fby_job_spec          spec    = rig_spec(a->rig, 1);
    const struct fby_job_failure failure = {
        .err = err, .sample = 13, .offset = 4567, .why = {"what was wrong"}};
    party_request(a, &spec);
    struct fby_job *job = fby_job_hold(loop->works->job);
    assert_true(fby_job_fail(job, &failure));
    assert_false(fby_job_fail(job, &failure));
    fby_stages_post_event(loop->stages, job, NULL);
    fby_loop_handle_events(loop);
    assert_null(loop->works);
    fby_job_release(&job);
    assert_int_equal(party_state(a).open, 0);
    return wire_expect(a, type);
}

static void the_cause_of_a_failure_decides_the_message(void **state)
{
    static const struct {
        fby_err              err;
        enum fby_cannot_code code;
    } cases[] = {{FBY_BAD_SAMPLE, FBY_CANNOT_SAMPLE},
        {FBY_FULL, FBY_CANNOT_MEMORY}, {FBY_IO, FBY_CANNOT_IO},
        {FBY_SYS, FBY_CANNOT_IO}};
    struct rig rig;
    rig_open(&rig, state);
    struct party a = party_of(&rig, 1);
    party_open(&a);
    const struct fby_dataset *dataset = rig.kit.dataset_plan->dataset;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct fby_row_key       key;
        const struct fby_cannot *cannot =
            &fail_with(&a, cases[i].err, FBY_MSG_CANNOT)->cannot;
        assert_int_equal(cannot->request.value, a.newest);
        assert_int_equal(cannot->code, cases[i].code);
        assert_string_equal(cannot->shard, fby_dataset_shard_name(dataset, 0));
        assert_string_equal(cannot->key, fby_dataset_key(dataset, 13, &key));
        assert_int_equal(cannot->sample, 13);
        assert_int_equal(cannot->offset, 4567);
        assert_string_equal(cannot->text, "what was wrong");
    }
    assert_int_equal(rig.loop.counts.cannot, 4);
    const struct fby_stale_data *stale =
        &fail_with(&a, FBY_STALE, FBY_MSG_STALE_DATA)->stale_data;
    assert_int_equal(stale->request.value, a.newest);
    assert_false(stale->data.known);
    assert_string_equal(stale->shard, fby_dataset_shard_name(dataset, 0));
    assert_string_equal(stale->text, "what was wrong");
    assert_int_equal(rig.loop.counts.cannot, 5);
    const struct fby_busy *busy = &fail_with(&a, FBY_AGAIN, FBY_MSG_BUSY)->busy;
    check_busy(busy, (struct fby_request_id){a.newest});
    assert_string_equal(busy->text, "what was wrong");
    assert_int_equal(rig.loop.counts.cannot, 5);
    assert_int_equal(rig.loop.counts.busy, 1);
    rig_collect_all(&rig);
    rig_close(&rig);
}

/* ---- Codings ------------------------------------------------------------- */

static struct fby_request_id request_coded(struct party *party,
    const struct fby_job_spec *spec, struct fby_coding_choice image)
{
    struct fby_message message = {
        .type = FBY_MSG_REQUEST, .request = party_request_message(party, spec)};
    message.request.request.value = ++party->newest;
    message.request.n_choices     = 2;
    message.request.choices[0]    = image;
    message.request.choices[1] = (struct fby_coding_choice){FBY_AUTO, FBY_AUTO};
    party_send(party, &message);
    return message.request.request;
}

/* A request joins the work of another only if it allows the chosen coding. */
static void chunks_of_another_coding_are_made_for_their_own_client(void **state)
{
    static const struct fby_coding_choice stored = {FBY_AUTO, FBY_CODEC_STORE};
    static const struct fby_coding_choice any    = {FBY_AUTO, FBY_AUTO};
    struct rig                            rig;
    rig_open(&rig, state);
    struct party        a    = party_of(&rig, 1);
    struct fby_job_spec spec = rig_spec(&rig, 0);
    party_open(&a);
    struct fby_request_id first  = request_coded(&a, &spec, any);
    struct fby_request_id second = request_coded(&a, &spec, stored);
    struct fby_request_id third  = request_coded(&a, &spec, any);
    assert_int_equal(rig.loop.counts.joined, 1);
    assert_int_equal(rig.loop.works->job->coding[0].codec, FBY_CODEC_STORE);
    assert_int_equal(
        rig.loop.works->next->job->coding[0].codec, FBY_CODEC_PACK);
    rig_make(&rig);
    wire_expect_batch(&a, &spec, first);
    wire_expect_batch(&a, &spec, second);
    wire_expect_batch(&a, &spec, third);
    rig_close(&rig);
}

static void work_is_joined_by_requests_of_the_same_coding(void **state)
{
    static const struct fby_coding_choice choices[] = {
        {FBY_FILTER_PHOTO, FBY_CODEC_PACK}, {FBY_FILTER_PHOTO, FBY_CODEC_PACK},
        {FBY_FILTER_DELTA, FBY_CODEC_LZ4}, {FBY_FILTER_NONE, FBY_CODEC_LZ4},
        {FBY_FILTER_DELTA, FBY_CODEC_LZ4}};
    static const uint64_t joined[] = {0, 1, 1, 1, 2};
    struct rig            rig;
    rig_open(&rig, state);
    struct party        a    = party_of(&rig, 1);
    struct fby_job_spec spec = rig_spec(&rig, 0);
    party_open(&a);
    for (uint64_t i = 0; i < 5; i++) {
        request_coded(&a, &spec, choices[i]);
        assert_int_equal(rig.loop.counts.joined, joined[i]);
    }
    assert_int_equal(rig.loop.works->job->coding[0].filter, FBY_FILTER_NONE);
    rig_make(&rig);
    for (uint64_t i = 0; i < 5; i++) {
        wire_expect_batch(&a, &spec, (struct fby_request_id){i + 1});
    }
    rig_close(&rig);
}

static void choices_must_match_the_fields(void **state)
{
    struct rig rig;
    rig_open(&rig, state);
    struct party        a    = party_of(&rig, 1);
    struct fby_job_spec spec = rig_spec(&rig, 0);
    party_open(&a);
    struct fby_message one = {
        .type = FBY_MSG_REQUEST, .request = party_request_message(&a, &spec)};
    one.request.request.value = ++a.newest;
    one.request.n_choices     = 1;
    one.request.choices[0]    = (struct fby_coding_choice){FBY_AUTO, FBY_AUTO};
    party_send(&a, &one);
    const struct fby_cannot *cannot = &wire_expect(&a, FBY_MSG_CANNOT)->cannot;
    assert_int_equal(cannot->code, FBY_CANNOT_REQUEST);
    assert_string_equal(cannot->text, "1 choices for 2 fields");
    one.request.request.value = ++a.newest;
    one.request.n_choices     = 2;
    one.request.choices[1] =
        (struct fby_coding_choice){FBY_AUTO, FBY_CODEC_PACK};
    party_send(&a, &one);
    cannot = &wire_expect(&a, FBY_MSG_CANNOT)->cannot;
    assert_int_equal(cannot->code, FBY_CANNOT_REQUEST);
    assert_string_equal(cannot->text,
        "filter 255 and codec 2 do not suit field 1 of the request");
    assert_null(rig.loop.works);
    rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SANDBOX(beyond_the_budget_a_request_is_answered_busy),
        IN_SANDBOX(a_batch_without_memory_is_answered_busy),
        IN_SANDBOX(a_batch_beyond_all_budget_names_both_numbers),
        IN_SANDBOX(a_batch_beyond_the_slot_names_both_numbers),
        IN_SANDBOX(a_surplus_is_shed_for_a_session_below_its_share),
        IN_SANDBOX(other_content_data_and_fingerprint_have_their_own_answers),
        IN_SANDBOX(a_failed_batch_is_reported_to_all_its_clients),
        IN_SANDBOX(end_names_the_rows_that_were_replaced),
        IN_SANDBOX(the_cause_of_a_failure_decides_the_message),
        IN_SANDBOX(chunks_of_another_coding_are_made_for_their_own_client),
        IN_SANDBOX(work_is_joined_by_requests_of_the_same_coding),
        IN_SANDBOX(choices_must_match_the_fields),
    };
    return cmocka_run_group_tests_name("worker.admission", tests, NULL, NULL);
}
