/* SPDX-License-Identifier: Apache-2.0 */
/* OPENED for datasets of several shards, and of class folders. */
#include "tests/test.h"

#include "pipeline/canon.h"
#include "tests/says.h"
#include "tests/worker/loop_rig.h"
#include "tests/worker/table.h"

/* OPEN of the shards at `location`, until it is answered. */
static void open_shards(struct party *party, const char *location)
{
    struct fby_buffer   bytes   = {0};
    struct fby_content *content = content_of(
        "{forebay: 1, global_batch: 1, splits: {s: {shards: \"data:s.tar\"}}, "
        "fields: {x: {from: cls, decode: label, classes: 10}}}");
    fby_content_encode(content, &bytes);
    party_ask_open(party, &(struct fby_open){.session = party->session,
                              .open_id                = {6},
                              .content  = {bytes.data, bytes.size},
                              .location = location});
    fby_buffer_fini(&bytes);
    free(content);
}

static void each_shard_is_listed_with_its_digest_and_samples(void **state)
{
    struct rig rig;
    rig_open(&rig, state);
    sandbox_shard(*state, "data/s-0.tar", 0, 3);
    sandbox_shard(*state, "data/s-1.tar", 3, 1);
    sandbox_shard(*state, "data/s-2.tar", 4, 2);
    struct fby_dataset_spec spec = sandbox_shards(*state, "data:s-*.tar");
    struct fby_dataset     *own  = sandbox_dataset(&spec);
    struct party            a    = party_of(&rig, 1);
    party_hello(&a);
    wire_expect(&a, FBY_MSG_WELCOME);
    open_shards(&a, "data:s-*.tar");
    const struct fby_opened *opened = &wire_expect(&a, FBY_MSG_OPENED)->opened;
    assert_int_equal(opened->open_id.value, 6);
    assert_int_equal(opened->samples, 6);
    assert_int_equal(opened->n_shards, 3);
    assert_int_equal(opened->classes.size, 0);
    for (uint32_t i = 0; i < 3; i++) {
        static const uint32_t        samples[] = {3, 1, 2};
        const struct fby_shard_info *shard     = &opened->shards[i];
        struct fby_digest            digest = fby_dataset_shard_digest(own, i);
        assert_string_equal(shard->name, fby_dataset_shard_name(own, i));
        assert_true(fby_digest_equal(&shard->digest, &digest));
        assert_int_equal(shard->samples, samples[i]);
    }
    fby_dataset_destroy(&own);
    rig_close(&rig);
}

/* OPENED of the kit's content over the class folders at `location`. */
static const struct fby_opened *open_folders(
    struct party *party, const char *location)
{
    const struct fby_buffer *content = &party->rig->kit.content;
    party_hello(party);
    wire_expect(party, FBY_MSG_WELCOME);
    party_ask_open(party, &(struct fby_open){.session = party->session,
                              .open_id                = {6},
                              .content  = {content->data, content->size},
                              .location = location});
    return &wire_expect(party, FBY_MSG_OPENED)->opened;
}

static void classes_have_the_names_of_their_folders(void **state)
{
    struct rig rig;
    rig_open(&rig, state);
    sandbox_write_text(*state, "data/n/zebra/1.jpg", "z");
    sandbox_write_text(*state, "data/n/Ant/1.jpg", "a");
    sandbox_write_text(*state, "data/n/b\xc3\xa9/1.jpg", "b");
    struct party             a      = party_of(&rig, 1);
    const struct fby_opened *opened = open_folders(&a, "data:n");
    assert_int_equal(opened->samples, 3);
    assert_int_equal(opened->classes.size, 14);
    assert_memory_equal(opened->classes.data, "Ant\0b\xc3\xa9\0zebra", 14);
    rig_close(&rig);
}

static void names_of_classes_that_do_not_fit_are_left_out(void **state)
{
    (void)state;
    enum { EACH = 128, ROOM = FBY_MESSAGE_MAX / EACH };
    const struct fby_digest digest = {{1}};
    char                   *names  = calloc(ROOM, EACH);
    memset(names, 'x', (size_t)ROOM * EACH);
    for (size_t i = 1; i <= ROOM; i++) {
        names[i * EACH - 1] = '\0';
    }
    for (size_t n = ROOM - 2; n <= ROOM; n++) {
        struct fby_message *m =
            FBY_MESSAGE(OPENED, opened, .session = {1}, .open_id = {2},
                .content = digest, .data = digest, .fingerprint = digest,
                .classes = {(const uint8_t *)names, n * EACH});
        struct fby_error_detail why = {{0}};
        assert_true(fby_loop_fit_opened(m, &why));
        assert_int_equal(m->opened.classes.size, n == ROOM - 2 ? n * EACH : 0);
        m->opened.samples = 1; /* but there is no shard */
        assert_false(fby_loop_fit_opened(m, &why));
    }
    free(names);
}

static void fails(struct party *party, const char *location,
    enum fby_open_failed_code code, const char *words)
{
    open_shards(party, location);
    const struct fby_open_failed *failed =
        &wire_expect(party, FBY_MSG_OPEN_FAILED)->open_failed;
    assert_int_equal(failed->open_id.value, 6);
    assert_int_equal(failed->code, code);
    assert_false(failed->data.known || failed->fingerprint.known);
    assert_text_says(failed->text, words);
}

static void a_failed_open_has_the_code_of_its_reason(void **state)
{
    struct rig rig;
    rig_open(&rig, state);
    sandbox_write_text(*state, "data/bad.tar", "this is no tar at all");
    struct party a = party_of(&rig, 1);
    party_hello(&a);
    wire_expect(&a, FBY_MSG_WELCOME);
    fails(&a, "data:no-*.tar", FBY_OPEN_NOT_FOUND, "no-*.tar");
    fails(&a, "away:s.tar", FBY_OPEN_BAD_LOCATION, "away");
    fails(&a, "data:bad.tar", FBY_OPEN_BAD_DATA, "bad.tar");
    rig_close(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SANDBOX(each_shard_is_listed_with_its_digest_and_samples),
        IN_SANDBOX(classes_have_the_names_of_their_folders),
        cmocka_unit_test(names_of_classes_that_do_not_fit_are_left_out),
        IN_SANDBOX(a_failed_open_has_the_code_of_its_reason),
    };
    return cmocka_run_group_tests_name(
        "worker.open_request", tests, NULL, NULL);
}
