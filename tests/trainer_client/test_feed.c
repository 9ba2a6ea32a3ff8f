/* A feed that cannot be opened, or whose memory cannot be pinned. */
#include "tests/trainer_client/feed_rig.h"

static void what_fails_while_opening_leaves_nothing_behind(void **state)
{
    (void)state;
    static const char *const calls[] = {"cudaSetDevice",
        "cudaFuncGetAttributes", "cudaMalloc", "cudaEventCreateWithFlags"};
    for (uint32_t i = 0; i < 4; i++) {
        struct fby_feed             *feed   = NULL;
        struct fby_why               why    = {""};
        const struct fby_feed_config config = {.cuda = fby_cuda(),
            .n_arenas                                = 1,
            .arena_bytes                             = ARENA,
            .n_outs                                  = 1,
            .out_bytes                               = BYTES};
        fake_cuda_begin(1);
        fake_cuda_fail(calls[i]);
        assert_int_equal(fby_feed_create(&config, &feed, &why), FBY_SYS);
        assert_null(feed);
        assert_non_null(strstr(why.text, calls[i]));
        fake_cuda_end();
        assert_int_equal(fake_cuda_counts().live, 0);
    }
}

static void memory_that_cannot_be_pinned_fails_the_batch(void **state)
{
    (void)state;
    struct fby_feed             *feed   = NULL;
    struct fby_why               why    = {""};
    const struct fby_feed_config config = {.cuda = fby_cuda(),
        .n_arenas                                = 1,
        .arena_bytes                             = ARENA,
        .n_outs                                  = 1,
        .out_bytes                               = BYTES};
    fake_cuda_begin(1);
    fake_cuda_fail("cudaHostRegister");
    assert_ok(fby_feed_create(&config, &feed, &why));
    struct rig           rig = {.feed = feed};
    struct fby_feed_out *out = fby_feed_take(feed, false);
    assert_int_equal(send_batch(&rig, 0, out, &why), FBY_SYS);
    assert_non_null(strstr(why.text, "CUDA: cudaHostRegister failed with 719"));
    assert_non_null(strstr(why.text, "ulimit -l"));
    fby_feed_give(feed, out);
    fby_feed_destroy(&feed);
    fake_cuda_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_fails_while_opening_leaves_nothing_behind),
        cmocka_unit_test(memory_that_cannot_be_pinned_fails_the_batch),
    };
    return cmocka_run_group_tests_name(
        "trainer_client.feed", tests, NULL, NULL);
}
