/* The loop's answers to what clients say, message by message. */
#include "tests/test.h"

#include <string.h>

#include "common/clock.h"
#include "tests/worker/loop_rig.h"

#define S FBY_NS_PER_S

static const struct rig_limits plenty = {0};

static void a_batch_is_sent_and_counted(void **state)
{
    struct rig rig;
    rig_open(&rig, state, "", "", plenty);
    struct party        a    = party_of(&rig, 1);
    struct fby_job_spec spec = rig_spec(&rig, 1);
    party_open(&a);
    struct fby_request_id id = party_request(&a, &spec);
    rig_make(&rig);
    wire_hear_batch(&a, &spec, id);
    wire_expect_nothing(&rig);
    const struct shell_counts *n = &rig.shell.counts;
    assert_int_equal(n->batches, 1);
    assert_int_equal(n->requests, 1);
    assert_int_equal(n->chunks, 2);
    assert_int_equal(n->raw_bytes, KIT_BATCH * (32 * 32 * 3 + 1));
    assert_true(n->wire_bytes > 0);
    assert_int_equal(n->joined + n->copied_chunks, 0);
    rig_close(&rig);
}

#define IN_SANDBOX(test) \
    cmocka_unit_test_setup_teardown(test, sandbox_open, sandbox_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SANDBOX(a_batch_is_sent_and_counted),
    };
    return cmocka_run_group_tests_name("worker.loop", tests, NULL, NULL);
}
