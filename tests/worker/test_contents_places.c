/* One content at several places: which openings are shared, and which data is
 * known. */
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

/* An opening ends with its last waiter; the next request starts a new one. */
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

/* ---- what is known ------------------------------------------------------- */

/* Open and release; the data found there may stay known. */
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

/* The next opening sees the data as it is now. */
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
        IN_SANDBOX(an_opening_is_given_up_with_its_last_waiter),
        IN_SANDBOX(each_place_has_its_own_data),
        IN_SANDBOX(data_that_changed_is_opened_anew),
        IN_SANDBOX(two_contents_over_the_same_data_are_both_known),
    };
    return cmocka_run_group_tests_name(
        "worker.contents_places", tests, NULL, NULL);
}
