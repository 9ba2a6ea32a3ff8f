/* What is being opened and what is known, of one content at several places. */
#include "tests/test.h"

#include <poll.h>

#include "tests/worker/kit.h"
#include "worker/contents.h"

enum { KNOWN = 2, PATIENCE_MS = 20000 };

struct bench {
    struct kit           kit;
    struct fby_contents *contents;
};

/* Without a thread no opening ever ends. */
static void bench_open(struct bench *bench, void **state, uint32_t threads)
{
    struct sandbox *sb = *state;
    sandbox_write_text(sb, "data/one/a/1.jpg", "1");
    sandbox_write_text(sb, "data/two/a/1.jpg", "1");
    sandbox_write_text(sb, "data/two/a/2.jpg", "2");
    kit_open(&bench->kit, sb, "", "");
    const struct fby_contents_config config = {.roots = sb->roots,
        .cache_dir                                    = "",
        .threads                                      = threads,
        .waiting                                      = 3,
        .known                                        = KNOWN};
    assert_ok(fby_contents_create(&config, &bench->contents));
}

static void bench_close(struct bench *bench)
{
    fby_contents_destroy(&bench->contents);
    assert_null(bench->contents);
    fby_contents_destroy(&bench->contents);
    kit_close(&bench->kit);
}

static fby_err try_open(struct bench *bench, const char *location,
    struct fby_opening **out, struct fby_why *why)
{
    const struct fby_blob blob = {
        bench->kit.content.data, bench->kit.content.size};
    return fby_contents_open(bench->contents, &blob, location, out, why);
}

static struct fby_opening *begin(struct bench *bench, const char *location)
{
    struct fby_opening *opening = NULL;
    struct fby_why      why     = {{0}};
    assert_ok(try_open(bench, location, &opening, &why));
    return opening;
}

/* Wait for its end, and let the contents take notice. */
static struct fby_opening_state end_of(
    struct bench *bench, const struct fby_opening *opening)
{
    struct pollfd ended = {
        .fd = fby_contents_fd(bench->contents), .events = POLLIN};
    do {
        assert_int_equal(poll(&ended, 1, PATIENCE_MS), 1);
        fby_contents_clear(bench->contents);
    } while (!fby_opening_state(opening).ended);
    assert_int_equal(poll(&ended, 1, 0), 0);
    return fby_opening_state(opening);
}

/* ---- sharing ------------------------------------------------------------- */

static void only_who_asks_for_the_same_at_the_same_place_shares(void **state)
{
    struct bench        bench;
    struct fby_why      why = {{0}};
    struct fby_opening *other;
    bench_open(&bench, state, 0);
    struct fby_opening *one  = begin(&bench, "data:one");
    struct fby_opening *two  = begin(&bench, "data:two");
    struct fby_opening *join = begin(&bench, "data:one");
    assert_ptr_not_equal(one, two);
    assert_ptr_equal(one, join);
    kit_close(&bench.kit);
    kit_open(&bench.kit, *state, "      - resize: {size: 16}\n", "");
    assert_ok(try_open(&bench, "data:one", &other, &why));
    assert_ptr_not_equal(other, one);
    fby_opening_release(&one);
    assert_null(one);
    fby_opening_release(&one);
    fby_opening_release(&join);
    fby_opening_release(&two);
    fby_opening_release(&other);
    bench_close(&bench);
}

/* One that somebody still waits for is not given up; else it is, and whoever
 * asks then begins anew. */
static void an_opening_is_given_up_with_its_last_waiter(void **state)
{
    struct bench bench;
    bench_open(&bench, state, 0);
    struct fby_opening *one   = begin(&bench, "data:one");
    struct fby_opening *first = one;
    struct fby_opening *join  = begin(&bench, "data:one");
    fby_opening_release(&join);
    join = begin(&bench, "data:one");
    assert_ptr_equal(join, first);
    fby_opening_release(&join);
    fby_opening_release(&one);
    one = begin(&bench, "data:one");
    assert_ptr_not_equal(one, first);
    assert_false(fby_opening_state(one).ended);
    fby_opening_release(&one);
    bench_close(&bench);
}

static void more_openings_than_may_wait_are_refused(void **state)
{
    struct bench        bench;
    struct fby_why      why    = {{0}};
    struct fby_opening *none   = NULL;
    struct fby_opening *all[3] = {NULL};
    bench_open(&bench, state, 0);
    all[0] = begin(&bench, "data:one");
    all[1] = begin(&bench, "data:two");
    all[2] = begin(&bench, "data:photos");
    assert_int_equal(try_open(&bench, "data:no", &none, &why), FBY_FULL);
    assert_null(none);
    assert_string_equal(
        why.text, "this worker is opening 3 datasets already; ask again later");
    struct fby_opening *join = begin(&bench, "data:two");
    assert_ptr_equal(join, all[1]);
    fby_opening_release(&join);
    for (int i = 0; i < 3; i++) {
        fby_opening_release(&all[i]);
    }
    bench_close(&bench);
}

/* ---- ends ---------------------------------------------------------------- */

static void each_place_has_its_own_data(void **state)
{
    struct bench bench;
    bench_open(&bench, state, 1);
    struct fby_opening      *one = begin(&bench, "data:one");
    struct fby_opening_state a   = end_of(&bench, one);
    struct fby_opening      *two = begin(&bench, "data:two");
    struct fby_opening_state b   = end_of(&bench, two);
    assert_ok(a.err);
    assert_ok(b.err);
    assert_int_equal(fby_dataset_samples(a.prepared->dataset), 1);
    assert_int_equal(fby_dataset_samples(b.prepared->dataset), 2);
    assert_int_equal(a.total, 1);
    assert_int_equal(a.done, 1);
    fby_opening_release(&one);
    fby_opening_release(&two);
    bench_close(&bench);
}

static void what_cannot_be_opened_says_why(void **state)
{
    struct bench          bench;
    struct fby_why        why   = {{0}};
    struct fby_opening   *none  = NULL;
    const struct fby_blob wrong = {(const uint8_t *)"no content", 10};
    bench_open(&bench, state, 1);
    struct fby_opening      *away = begin(&bench, "data:away");
    struct fby_opening_state end  = end_of(&bench, away);
    assert_int_equal(end.err, FBY_NOT_FOUND);
    assert_null(end.prepared);
    assert_says(&end.why, "away");
    fby_opening_release(&away);
    assert_int_equal(
        fby_contents_open(bench.contents, &wrong, "data:one", &none, &why),
        FBY_PROTO);
    assert_null(none);
    assert_true(strlen(why.text) > 0);
    bench_close(&bench);
}

/* ---- what is known ------------------------------------------------------- */

/* Open and let go; what was found there stays known, maybe. */
static struct fby_digest learn(struct bench *bench, const char *location)
{
    struct fby_opening      *opening = begin(bench, location);
    struct fby_opening_state end     = end_of(bench, opening);
    assert_ok(end.err);
    struct fby_digest data = end.prepared->data_digest;
    fby_opening_release(&opening);
    return data;
}

/* How many samples what is found has; 0: it is not known. */
static uint64_t found(struct bench *bench, const struct fby_digest *data)
{
    const struct fby_prepared *own     = bench->kit.prepared;
    struct fby_prepared       *nearest = NULL;
    fby_err err = fby_contents_find(bench->contents, &own->content_digest, data,
        &own->fingerprint, &nearest);
    return err == FBY_OK ? fby_dataset_samples(nearest->dataset) : 0;
}

static void what_was_used_longest_ago_is_forgotten(void **state)
{
    struct bench bench;
    bench_open(&bench, state, 1);
    struct fby_digest one = learn(&bench, "data:one");
    struct fby_digest two = learn(&bench, "data:two");
    assert_int_equal(found(&bench, &one), 1);
    struct fby_digest all = learn(&bench, "data:photos");
    assert_int_equal(found(&bench, &two), 0);
    assert_int_equal(found(&bench, &all), KIT_SAMPLES);
    assert_int_equal(found(&bench, &one), 1);
    learn(&bench, "data:photos"); /* known: nothing has to go */
    assert_int_equal(found(&bench, &one), 1);
    assert_int_equal(found(&bench, &all), KIT_SAMPLES);
    learn(&bench, "data:two");
    assert_int_equal(found(&bench, &one), 0);
    assert_int_equal(found(&bench, &all), KIT_SAMPLES);
    assert_int_equal(found(&bench, &two), 2);
    bench_close(&bench);
}

/* That somebody still waits for it is no use of it. */
static void an_opening_is_taken_notice_of_once(void **state)
{
    struct bench bench;
    bench_open(&bench, state, 1);
    struct fby_opening *held = begin(&bench, "data:one");
    struct fby_digest   one  = end_of(&bench, held).prepared->data_digest;
    struct fby_digest   two  = learn(&bench, "data:two");
    fby_contents_clear(bench.contents);
    learn(&bench, "data:photos");
    assert_int_equal(found(&bench, &one), 0);
    assert_int_equal(found(&bench, &two), 2);
    assert_int_equal(
        fby_dataset_samples(fby_opening_state(held).prepared->dataset), 1);
    fby_opening_release(&held);
    assert_int_equal(found(&bench, &one), 0);
    bench_close(&bench);
}

/* Whoever opens it next sees what lies there now. */
static void data_that_changed_is_opened_anew(void **state)
{
    struct bench bench;
    bench_open(&bench, state, 1);
    struct fby_opening      *before = begin(&bench, "data:one");
    struct fby_opening_state old    = end_of(&bench, before);
    sandbox_write_text(*state, "data/one/a/9.jpg", "9");
    struct fby_opening *after = begin(&bench, "data:one");
    assert_ptr_not_equal(after, before);
    struct fby_opening_state new = end_of(&bench, after);
    assert_int_equal(fby_dataset_samples(old.prepared->dataset), 1);
    assert_int_equal(fby_dataset_samples(new.prepared->dataset), 2);
    assert_int_equal(found(&bench, &old.prepared->data_digest), 1);
    assert_int_equal(found(&bench, &new.prepared->data_digest), 2);
    fby_opening_release(&before);
    fby_opening_release(&after);
    bench_close(&bench);
}

static void what_is_nearest_is_told(void **state)
{
    struct bench         bench;
    struct fby_prepared *nearest = NULL;
    bench_open(&bench, state, 1);
    const struct fby_prepared *own   = bench.kit.prepared;
    struct fby_digest          one   = learn(&bench, "data:one");
    struct fby_digest          two   = learn(&bench, "data:two");
    struct fby_digest          other = own->content_digest;
    other.bytes[31] ^= 1;
    assert_int_equal(fby_contents_find(bench.contents, &other, &one,
                         &own->fingerprint, &nearest),
        FBY_NOT_FOUND);
    assert_null(nearest);
    assert_int_equal(fby_contents_find(bench.contents, &own->content_digest,
                         &other, &own->fingerprint, &nearest),
        FBY_NOT_FOUND);
    assert_true(fby_digest_equal(&nearest->data_digest, &two)); /* newest */
    assert_int_equal(fby_contents_find(bench.contents, &own->content_digest,
                         &one, &other, &nearest),
        FBY_NOT_FOUND);
    assert_true(fby_digest_equal(&nearest->data_digest, &one));
    assert_int_equal(found(&bench, &one), 1);
    assert_int_equal(found(&bench, &two), 2);
    bench_close(&bench);
}

static void two_contents_over_the_same_data_are_both_known(void **state)
{
    struct bench bench;
    bench_open(&bench, state, 1);
    struct fby_digest    data     = learn(&bench, "data:one");
    struct fby_digest    content  = bench.kit.prepared->content_digest;
    struct fby_digest    decoding = bench.kit.prepared->fingerprint;
    struct fby_prepared *nearest  = NULL;
    kit_close(&bench.kit);
    kit_open(&bench.kit, *state, "      - resize: {size: 16}\n", "");
    learn(&bench, "data:one");
    assert_int_equal(found(&bench, &data), 1);
    assert_ok(fby_contents_find(
        bench.contents, &content, &data, &decoding, &nearest));
    assert_true(fby_digest_equal(&nearest->content_digest, &content));
    bench_close(&bench);
}

#define IN_SANDBOX(test) \
    cmocka_unit_test_setup_teardown(test, sandbox_open, sandbox_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SANDBOX(only_who_asks_for_the_same_at_the_same_place_shares),
        IN_SANDBOX(an_opening_is_given_up_with_its_last_waiter),
        IN_SANDBOX(more_openings_than_may_wait_are_refused),
        IN_SANDBOX(each_place_has_its_own_data),
        IN_SANDBOX(what_cannot_be_opened_says_why),
        IN_SANDBOX(what_was_used_longest_ago_is_forgotten),
        IN_SANDBOX(an_opening_is_taken_notice_of_once),
        IN_SANDBOX(data_that_changed_is_opened_anew),
        IN_SANDBOX(what_is_nearest_is_told),
        IN_SANDBOX(two_contents_over_the_same_data_are_both_known),
    };
    return cmocka_run_group_tests_name("worker.contents", tests, NULL, NULL);
}
