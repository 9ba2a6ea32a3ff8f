/* SPDX-License-Identifier: Apache-2.0 */
/* The coding that is chosen for each field, and learned from earlier chunks. */
#include "tests/test.h"

#include "codec/auto.h"
#include "tests/worker/loop_rig.h"

enum { IMAGE = 1, LABEL = 2 }; /* bits of a request's fields */

static const struct fby_coding stored = {FBY_FILTER_NONE, FBY_CODEC_STORE};
static const struct fby_coding lz4    = {FBY_FILTER_NONE, FBY_CODEC_LZ4};
static const struct fby_coding delta  = {FBY_FILTER_DELTA, FBY_CODEC_LZ4};
static const struct fby_coding photo  = {FBY_FILTER_PHOTO, FBY_CODEC_PACK};

static void assert_coding(struct fby_coding got, struct fby_coding right)
{
    assert_int_equal(got.filter, right.filter);
    assert_int_equal(got.codec, right.codec);
}

/* Request a batch for this session alone; return the job that it started. */
static struct fby_job *begin(struct party *party, struct fby_job_spec *spec)
{
    const struct fby_loop_work *before = party->rig->loop.works;
    spec->seed++;
    party_request(party, spec);
    assert_ptr_not_equal(party->rig->loop.works, before);
    return party->rig->loop.works->job;
}

static void cancel_all(struct party *party)
{
    for (uint64_t id = 1; id <= party->newest; id++) {
        party_cancel(party, (struct fby_request_id){id});
    }
}

/* Make all batches in work, learn from them, and cancel them. */
static void make_all(struct party *party)
{
    rig_make(party->rig);
    cancel_all(party);
    rig_collect_all(party->rig);
}

static void make(struct party *party, struct fby_job_spec *spec)
{
    begin(party, spec);
    make_all(party);
}

static void hello_with(struct party *party, uint64_t features)
{
    party->features = features;
    party_hello(party);
    wire_expect(party, FBY_MSG_WELCOME);
}

/* ---- Learning ------------------------------------------------------------ */

/* Pictures shrink to less than half with the first coding; labels of eight
 * bytes never shrink, so every coding is tried before they are stored. */
static void each_field_is_tried_by_itself(void **state)
{
    struct rig rig;
    rig_open(&rig, state);
    struct party        a    = party_of(&rig, 1);
    struct fby_job_spec spec = rig_spec(&rig, 0);
    party_open(&a);
    for (int i = 0; i < 3 * FBY_AUTO_TRIAL + 1; i++) {
        const struct fby_coding labels[] = {
            lz4, delta, {FBY_FILTER_BIT_SHUFFLE, FBY_CODEC_LZ4}, stored};
        const struct fby_job *job = begin(&a, &spec);
        assert_coding(job->coding[0], photo);
        assert_coding(job->coding[1], labels[i / FBY_AUTO_TRIAL]);
        make_all(&a);
    }
    rig_close(&rig);
}

/* Joined work has the coding that was chosen for another client. */
static void a_request_that_joins_teaches_no_coding(void **state)
{
    struct rig rig;
    rig_open(&rig, state);
    struct party        a    = party_of(&rig, 1);
    struct party        b    = party_of(&rig, 2);
    struct fby_job_spec spec = rig_spec(&rig, 0);
    party_open(&a);
    party_open(&b);
    for (int i = 0; i < FBY_AUTO_TRIAL; i++) {
        begin(&a, &spec);
        party_request(&b, &spec);
        rig_make(&rig);
        cancel_all(&b);
        make_all(&a);
    }
    assert_int_equal(rig.loop.counts.joined, FBY_AUTO_TRIAL);
    assert_coding(begin(&b, &spec)->coding[1], lz4);
    assert_coding(begin(&a, &spec)->coding[1], delta);
    rig_close(&rig);
}

static void other_fields_are_learned_again(void **state)
{
    struct rig rig;
    rig_open(&rig, state);
    struct party        a    = party_of(&rig, 1);
    struct fby_job_spec spec = rig_spec(&rig, 0);
    party_open(&a);
    spec.fields = IMAGE;
    assert_coding(begin(&a, &spec)->coding[0], photo);
    spec.fields = LABEL;
    assert_coding(begin(&a, &spec)->coding[0], lz4);
    make_all(&a);
    for (int i = 1; i < FBY_AUTO_TRIAL; i++) {
        make(&a, &spec);
    }
    assert_coding(begin(&a, &spec)->coding[0], delta);
    spec.fields = 0;
    assert_coding(begin(&a, &spec)->coding[1], lz4);
    rig_close(&rig);
}

/* Late results of another content are not counted. */
static void another_content_is_learned_again(void **state)
{
    struct rig rig;
    struct kit kit;
    rig_open(&rig, state);
    kit_open(&kit, *state, "      - resize: {size: 16}\n", "");
    kit_reopen(&rig.kit);
    struct party        a     = party_of(&rig, 1);
    struct fby_job_spec spec  = rig_spec(&rig, 0);
    struct fby_job_spec other = spec;
    other.dataset_plan        = kit.dataset_plan;
    party_open(&a);
    party_ask_open(&a, &(struct fby_open){.session = a.session,
                           .open_id                = {2},
                           .content  = {kit.content.data, kit.content.size},
                           .location = kit.location});
    wire_expect(&a, FBY_MSG_OPENED);
    for (int i = 0; i < FBY_AUTO_TRIAL; i++) {
        begin(&a, &spec);
    }
    assert_coding(begin(&a, &other)->coding[1], lz4);
    make_all(&a);
    assert_coding(begin(&a, &other)->coding[1], lz4);
    for (int i = 1; i < FBY_AUTO_TRIAL; i++) {
        make(&a, &other);
    }
    assert_coding(begin(&a, &other)->coding[1], delta);
    assert_coding(begin(&a, &spec)->coding[1], lz4);
    rig_close(&rig);
    kit_close(&kit);
}

/* ---- Features of the client ---------------------------------------------- */

static void a_client_gets_only_codings_that_it_supports(void **state)
{
    const struct {
        uint64_t          features;
        struct fby_coding image, label;
    } cases[] = {
        {FBY_FEATURES, photo, lz4},
        {FBY_FEATURES & ~FBY_FEATURE_CODEC(FBY_CODEC_PACK), lz4, lz4},
        {FBY_FEATURES & ~FBY_FEATURE_FILTER(FBY_FILTER_PHOTO), lz4, lz4},
        {FBY_FEATURES & ~FBY_FEATURE_CODEC(FBY_CODEC_LZ4), photo, stored},
        {0, stored, stored},
    };
    struct rig rig;
    rig_open(&rig, state);
    struct fby_job_spec spec = rig_spec(&rig, 0);
    struct party        a    = party_of(&rig, 100);
    party_open(&a); /* so that the content is known */
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct party b = party_of(&rig, i + 1);
        hello_with(&b, cases[i].features);
        const struct fby_job *job = begin(&b, &spec);
        assert_coding(job->coding[0], cases[i].image);
        assert_coding(job->coding[1], cases[i].label);
        make_all(&b);
    }
    rig_close(&rig);
}

/* A client that connects again may be another version. */
static void a_client_with_fewer_features_gets_fewer_codings(void **state)
{
    struct rig rig;
    rig_open(&rig, state);
    struct fby_job_spec spec = rig_spec(&rig, 0);
    struct party        a    = party_of(&rig, 1);
    struct party        b    = party_of(&rig, 2);
    party_open(&a);
    party_open(&b);
    const struct fby_job *job = begin(&b, &spec);
    assert_coding(job->coding[0], photo);
    hello_with(&a, FBY_FEATURES & ~FBY_FEATURE_CODEC(FBY_CODEC_PACK));
    party_request(&a, &spec); /* it cannot join the work of b */
    assert_int_equal(rig.loop.counts.joined, 0);
    assert_coding(rig.loop.works->job->coding[0], lz4);
    hello_with(&a, FBY_FEATURES & ~FBY_FEATURE_CODEC(FBY_CODEC_LZ4));
    job = begin(&a, &spec);
    assert_coding(job->coding[0], stored);
    assert_coding(job->coding[1], stored);
    rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SANDBOX(each_field_is_tried_by_itself),
        IN_SANDBOX(a_request_that_joins_teaches_no_coding),
        IN_SANDBOX(other_fields_are_learned_again),
        IN_SANDBOX(another_content_is_learned_again),
        IN_SANDBOX(a_client_gets_only_codings_that_it_supports),
        IN_SANDBOX(a_client_with_fewer_features_gets_fewer_codings),
    };
    return cmocka_run_group_tests_name(
        "worker.encoding_choice", tests, NULL, NULL);
}
