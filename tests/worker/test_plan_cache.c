/* SPDX-License-Identifier: Apache-2.0 */
/* The plan cache: loads that several requests share, plans that are found, and
 * the order in which plans are dropped. */
#include "tests/test.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/canon.h"
#include "tests/worker/kit.h"
#include "worker/plan/plan_cache.h"

enum { PATIENCE_MS = 20000 };

struct table {
    struct kit             kit;
    struct fby_plan_cache *plans;
};

/* Without threads no load ends. */
static struct table open_table(void **state, uint32_t threads, uint32_t known)
{
    struct table t;
    kit_open(&t.kit, *state, "", "");
    assert_ok(fby_plan_cache_create(
        &(struct fby_plan_cache_config){.roots = t.kit.sandbox->roots,
            .cache_dir                         = "",
            .max_running                       = threads,
            .max_waiting                       = 3,
            .max_plans                         = known},
        &t.plans));
    return t;
}

static void close_table(struct table *t)
{
    fby_plan_cache_destroy(&t->plans);
    assert_null(t->plans);
    fby_plan_cache_destroy(&t->plans);
    kit_close(&t->kit);
}

static fby_err try_begin(struct table *t, const char *location,
    struct fby_plan_load **out, struct fby_error_detail *why)
{
    const struct fby_open open = {
        .content          = {t->kit.content.data, t->kit.content.size},
        .location         = location,
        .classes_location = "",
    };
    return fby_plan_cache_open(t->plans, &open, out, why);
}

static struct fby_plan_load *begin(struct table *t, const char *location)
{
    struct fby_plan_load *load = NULL;
    assert_ok(try_begin(t, location, &load, NULL));
    return load;
}

static struct fby_plan_load_state wait_for(
    struct table *t, const struct fby_plan_load *load)
{
    struct pollfd              ended = {fby_plan_cache_fd(t->plans), POLLIN, 0};
    struct fby_plan_load_state state = fby_plan_load_state(load);
    while (!state.ended) {
        assert_int_equal(poll(&ended, 1, PATIENCE_MS), 1);
        fby_plan_cache_collect(t->plans);
        state = fby_plan_load_state(load);
    }
    fby_plan_cache_collect(t->plans);
    return state;
}

/* Open `location`, wait, and return the plan. */
static struct fby_dataset_plan *learn(struct table *t, const char *location)
{
    struct fby_plan_load      *load  = begin(t, location);
    struct fby_plan_load_state state = wait_for(t, load);
    struct fby_dataset_plan   *is    = state.dataset_plan;
    assert_ok(state.err);
    assert_true(state.done == state.total);
    fby_plan_load_release(&load);
    assert_null(load);
    return is;
}

static fby_err find(struct table *t, const struct fby_dataset_plan *wanted,
    struct fby_dataset_plan **nearest)
{
    return fby_plan_cache_find(t->plans, &wanted->content_digest,
        &wanted->data_digest, &wanted->fingerprint, NULL, nearest);
}

static void an_opened_content_is_found_by_all_of_its_digests(void **state)
{
    struct table             t       = open_table(state, 2, 4);
    struct fby_dataset_plan *nearest = NULL;
    struct fby_dataset_plan  wanted  = {0};
    assert_int_equal(find(&t, t.kit.dataset_plan, &nearest), FBY_NOT_FOUND);
    assert_null(nearest);
    struct fby_dataset_plan *known = learn(&t, t.kit.location);
    assert_ok(find(&t, t.kit.dataset_plan, &nearest));
    assert_ptr_equal(nearest, known);
    for (int i = 0; i < 3; i++) {
        wanted.content_digest        = known->content_digest;
        wanted.data_digest           = known->data_digest;
        wanted.fingerprint           = known->fingerprint;
        struct fby_digest *digests[] = {
            &wanted.content_digest, &wanted.data_digest, &wanted.fingerprint};
        digests[i]->bytes[31] ^= 1;
        assert_int_equal(find(&t, &wanted, &nearest), FBY_NOT_FOUND);
        assert_ptr_equal(nearest, i == 0 ? NULL : known);
    }
    close_table(&t);
}

static void the_end_of_a_load_is_signalled_once(void **state)
{
    struct table          t     = open_table(state, 1, 4);
    struct fby_plan_load *load  = begin(&t, t.kit.location);
    struct pollfd         ended = {fby_plan_cache_fd(t.plans), POLLIN, 0};
    assert_int_equal(poll(&ended, 1, PATIENCE_MS), 1);
    fby_plan_cache_collect(t.plans);
    assert_int_equal(poll(&ended, 1, 0), 0);
    fby_plan_cache_collect(t.plans); /* no event is left */
    struct fby_plan_load_state is = fby_plan_load_state(load);
    assert_true(is.ended);
    assert_ok(is.err);
    assert_int_equal(is.total, KIT_CLASSES);
    assert_int_equal(
        fby_dataset_sample_count(is.dataset_plan->dataset), KIT_SAMPLES);
    assert_true(fby_digest_equal(
        &is.dataset_plan->fingerprint, &t.kit.dataset_plan->fingerprint));
    fby_plan_load_release(&load);
    close_table(&t);
}

static void a_failed_load_has_a_reason_and_is_not_known(void **state)
{
    struct table               t       = open_table(state, 1, 4);
    struct fby_dataset_plan   *nearest = NULL;
    struct fby_plan_load      *load    = begin(&t, "data:none");
    struct fby_plan_load_state is      = wait_for(&t, load);
    assert_int_equal(is.err, FBY_NOT_FOUND);
    assert_null(is.dataset_plan);
    assert_string_equal(is.why.text, "data:none is not there");
    fby_plan_load_release(&load);
    load = begin(&t, "/etc");
    assert_int_equal(wait_for(&t, load).err, FBY_USAGE);
    fby_plan_load_release(&load);
    assert_int_equal(find(&t, t.kit.dataset_plan, &nearest), FBY_NOT_FOUND);
    assert_null(nearest);
    load = NULL;
    fby_plan_load_release(&load); /* NULL is fine */
    close_table(&t);
}

/* ---- Openings under way -------------------------------------------------- */

static void loads_of_one_content_at_one_location_are_shared(void **state)
{
    struct table          t      = open_table(state, 0, 4);
    struct fby_plan_load *first  = begin(&t, "data:photos");
    struct fby_plan_load *second = begin(&t, "data:photos");
    struct fby_plan_load *other  = begin(&t, "data:other");
    assert_ptr_equal(first, second);
    assert_ptr_not_equal(first, other);
    assert_false(fby_plan_load_state(first).ended);
    assert_null(fby_plan_load_state(first).dataset_plan);
    fby_plan_load_release(&first); /* the other still waits */
    first = begin(&t, "data:photos");
    assert_ptr_equal(first, second);
    fby_plan_load_release(&first);
    struct fby_plan_load *given_up = second;
    fby_plan_load_release(&second);
    second = begin(&t, "data:photos");
    assert_ptr_not_equal(second, given_up);
    fby_plan_load_release(&second);
    fby_plan_load_release(&other);
    close_table(&t);
}

static void another_content_is_another_load(void **state)
{
    struct table          t       = open_table(state, 0, 4);
    struct fby_plan_load *first   = begin(&t, "data:photos");
    struct fby_plan_load *second  = NULL;
    struct fby_content   *content = calloc(1, sizeof(*content));
    struct fby_buffer     bytes   = {0};
    assert_ok(fby_content_decode(
        t.kit.content.data, t.kit.content.size, content, NULL));
    content->global_batch++;
    fby_content_encode(content, &bytes);
    const struct fby_open open = {.content = {bytes.data, bytes.size},
        .location                          = "data:photos",
        .classes_location                  = ""};
    assert_ok(fby_plan_cache_open(t.plans, &open, &second, NULL));
    assert_ptr_not_equal(first, second);
    fby_plan_load_release(&first);
    fby_plan_load_release(&second);
    fby_buffer_fini(&bytes);
    free(content);
    close_table(&t);
}

static void other_classes_are_another_load(void **state)
{
    struct table          t      = open_table(state, 0, 4);
    struct fby_plan_load *first  = begin(&t, "data:photos");
    struct fby_plan_load *second = NULL;
    struct fby_plan_load *third  = NULL;
    const struct fby_open open   = {
          .content          = {t.kit.content.data, t.kit.content.size},
          .location         = "data:photos",
          .classes_location = "data:train",
    };
    assert_ok(fby_plan_cache_open(t.plans, &open, &second, NULL));
    assert_ptr_not_equal(first, second);
    assert_ok(fby_plan_cache_open(t.plans, &open, &third, NULL));
    assert_ptr_equal(second, third);
    fby_plan_load_release(&first);
    fby_plan_load_release(&second);
    fby_plan_load_release(&third);
    close_table(&t);
}

static void too_many_loads_at_once_are_refused(void **state)
{
    static const char *const places[] = {"data:a", "data:b", "data:c"};
    struct table             t        = open_table(state, 0, 4);
    struct fby_plan_load    *going_on[3];
    struct fby_plan_load    *none = NULL;
    struct fby_error_detail  why  = {{0}};
    for (int i = 0; i < 3; i++) {
        going_on[i] = begin(&t, places[i]);
    }
    assert_int_equal(try_begin(&t, "data:d", &none, &why), FBY_FULL);
    assert_string_equal(
        why.text, "this worker is opening 3 datasets already; try again later");
    assert_null(none);
    assert_ok(try_begin(&t, "data:c", &none, &why)); /* joins a running load */
    assert_ptr_equal(none, going_on[2]);
    fby_plan_load_release(&none);
    for (int i = 0; i < 3; i++) {
        fby_plan_load_release(&going_on[i]);
    }
    close_table(&t);
}

static void bytes_that_are_no_content_are_refused(void **state)
{
    struct table            t       = open_table(state, 0, 4);
    struct fby_plan_load   *none    = NULL;
    struct fby_error_detail why     = {{0}};
    const struct fby_open   garbage = {
          .content          = {(const uint8_t *)"garbage", 7},
          .location         = "data:photos",
          .classes_location = "",
    };
    for (int i = 0; i < 5; i++) { /* without using a load */
        assert_int_equal(
            fby_plan_cache_open(t.plans, &garbage, &none, &why), FBY_PROTO);
        assert_null(none);
    }
    assert_true(why.text[0] != '\0');
    struct fby_plan_load *one = begin(&t, "data:photos");
    fby_plan_load_release(&one);
    close_table(&t);
}

/* ---- Known plans --------------------------------------------------------- */

static struct fby_dataset_plan names_of(
    const struct fby_dataset_plan *dataset_plan)
{
    struct fby_dataset_plan names = {
        .content_digest = dataset_plan->content_digest,
        .data_digest    = dataset_plan->data_digest,
        .fingerprint    = dataset_plan->fingerprint};
    return names;
}

/* Add a file to the folder, which makes it other data, and load it. */
static struct fby_dataset_plan learn_more(struct table *t, const char *path)
{
    sandbox_write_text(t->kit.sandbox, path, "x");
    return names_of(learn(t, t->kit.location));
}

static void the_least_recently_used_is_forgotten_first(void **state)
{
    struct table             t       = open_table(state, 1, 2);
    struct fby_dataset_plan *nearest = NULL;
    struct fby_dataset_plan  a       = names_of(learn(&t, t.kit.location));
    struct fby_dataset_plan  b       = learn_more(&t, "data/photos/c00/b.jpg");
    assert_ok(find(&t, &a, &nearest)); /* the most recent use */
    struct fby_dataset_plan c = learn_more(&t, "data/photos/c00/c.jpg");
    assert_ok(find(&t, &a, &nearest));
    assert_ok(find(&t, &c, &nearest));
    struct fby_dataset_plan *newest = nearest;
    assert_int_equal(find(&t, &b, &nearest), FBY_NOT_FOUND);
    assert_ptr_equal(nearest, newest);
    struct fby_dataset_plan d = learn_more(&t, "data/photos/c00/d.jpg");
    assert_int_equal(find(&t, &a, &nearest), FBY_NOT_FOUND);
    assert_ok(find(&t, &c, &nearest));
    assert_ok(find(&t, &d, &nearest));
    close_table(&t);
}

static void a_load_that_is_still_held_is_recorded_once(void **state)
{
    struct table             t       = open_table(state, 1, 2);
    struct fby_dataset_plan *nearest = NULL;
    struct fby_plan_load    *load    = begin(&t, t.kit.location);
    assert_ok(wait_for(&t, load).err);
    struct fby_dataset_plan a =
        names_of(fby_plan_load_state(load).dataset_plan);
    learn_more(&t, "data/photos/c00/b.jpg");
    learn_more(&t, "data/photos/c00/c.jpg");
    assert_int_equal(find(&t, &a, &nearest), FBY_NOT_FOUND);
    assert_true(fby_digest_equal(/* the load is still held */
        &fby_plan_load_state(load).dataset_plan->data_digest, &a.data_digest));
    fby_plan_load_release(&load);
    close_table(&t);
}

static void a_newer_load_of_the_same_data_replaces_the_older(void **state)
{
    struct table             t       = open_table(state, 1, 2);
    struct fby_dataset_plan *nearest = NULL;
    struct fby_dataset_plan  a       = names_of(learn(&t, t.kit.location));
    struct fby_dataset_plan *b       = NULL;
    sandbox_write_text(t.kit.sandbox, "data/photos/c00/b.jpg", "x");
    b                              = learn(&t, t.kit.location);
    struct fby_dataset_plan *again = learn(&t, t.kit.location);
    assert_ptr_not_equal(again, b);
    assert_ok(find(&t, again, &nearest));
    assert_ptr_equal(nearest, again);
    assert_ok(find(&t, &a, &nearest)); /* b uses one entry, not two */
    close_table(&t);
}

/* ---- Several locations --------------------------------------------------- */

/* Folders with one file and with two. */
static void write_folders(const struct sandbox *sandbox)
{
    sandbox_write_text(sandbox, "data/one/a/1.jpg", "1");
    sandbox_write_text(sandbox, "data/two/a/1.jpg", "1");
    sandbox_write_text(sandbox, "data/two/a/2.jpg", "2");
}

static uint64_t samples_of(const struct fby_dataset_plan *dataset_plan)
{
    return fby_dataset_sample_count(dataset_plan->dataset);
}

static void each_location_has_its_own_data(void **state)
{
    struct table t = open_table(state, 1, 2);
    write_folders(*state);
    struct fby_plan_load      *one = begin(&t, "data:one");
    struct fby_plan_load_state a   = wait_for(&t, one);
    struct fby_plan_load      *two = begin(&t, "data:two");
    struct fby_plan_load_state b   = wait_for(&t, two);
    assert_ok(a.err);
    assert_ok(b.err);
    assert_int_equal(samples_of(a.dataset_plan), 1);
    assert_int_equal(samples_of(b.dataset_plan), 2);
    assert_int_equal(a.total, 1);
    assert_int_equal(a.done, 1);
    fby_plan_load_release(&one);
    fby_plan_load_release(&two);
    close_table(&t);
}

/* The next load sees the data as it is now. */
static void changed_data_is_loaded_again(void **state)
{
    struct table             t       = open_table(state, 1, 2);
    struct fby_dataset_plan *nearest = NULL;
    write_folders(*state);
    struct fby_plan_load      *before = begin(&t, "data:one");
    struct fby_plan_load_state old    = wait_for(&t, before);
    sandbox_write_text(*state, "data/one/a/9.jpg", "9");
    struct fby_plan_load *after = begin(&t, "data:one");
    assert_ptr_not_equal(after, before);
    struct fby_plan_load_state new = wait_for(&t, after);
    assert_int_equal(samples_of(old.dataset_plan), 1);
    assert_int_equal(samples_of(new.dataset_plan), 2);
    assert_ok(find(&t, old.dataset_plan, &nearest));
    assert_int_equal(samples_of(nearest), 1);
    assert_ok(find(&t, new.dataset_plan, &nearest));
    assert_int_equal(samples_of(nearest), 2);
    fby_plan_load_release(&before);
    fby_plan_load_release(&after);
    close_table(&t);
}

static void two_contents_over_the_same_data_are_both_known(void **state)
{
    struct table             t       = open_table(state, 1, 2);
    struct fby_dataset_plan *nearest = NULL;
    write_folders(*state);
    struct fby_dataset_plan a = names_of(learn(&t, "data:one"));
    kit_close(&t.kit);
    kit_open(&t.kit, *state, "      - resize: {size: 16}\n", "");
    struct fby_dataset_plan b = names_of(learn(&t, "data:one"));
    assert_true(fby_digest_equal(&a.data_digest, &b.data_digest));
    assert_ok(find(&t, &b, &nearest));
    assert_int_equal(samples_of(nearest), 1);
    assert_ok(find(&t, &a, &nearest));
    assert_true(fby_digest_equal(&nearest->content_digest, &a.content_digest));
    close_table(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SANDBOX(an_opened_content_is_found_by_all_of_its_digests),
        IN_SANDBOX(the_end_of_a_load_is_signalled_once),
        IN_SANDBOX(a_failed_load_has_a_reason_and_is_not_known),
        IN_SANDBOX(loads_of_one_content_at_one_location_are_shared),
        IN_SANDBOX(another_content_is_another_load),
        IN_SANDBOX(other_classes_are_another_load),
        IN_SANDBOX(too_many_loads_at_once_are_refused),
        IN_SANDBOX(bytes_that_are_no_content_are_refused),
        IN_SANDBOX(the_least_recently_used_is_forgotten_first),
        IN_SANDBOX(a_load_that_is_still_held_is_recorded_once),
        IN_SANDBOX(a_newer_load_of_the_same_data_replaces_the_older),
        IN_SANDBOX(each_location_has_its_own_data),
        IN_SANDBOX(changed_data_is_loaded_again),
        IN_SANDBOX(two_contents_over_the_same_data_are_both_known),
    };
    return cmocka_run_group_tests_name("worker.plan_cache", tests, NULL, NULL);
}
