/* SPDX-License-Identifier: Apache-2.0 */
/* The memory of a transform: counted, kept, borrowed and returned. */
#include "tests/test.h"

#include <string.h>

#include "worker/transform/transform_private.h"

enum { SHARE = 12800, LIMIT = 5000 };

struct bench {
    struct fby_shared_quota *quota;
    struct fby_transform    *transform;
    struct fby_error_detail  why;
};

static struct bench new_bench(void)
{
    struct bench bench = {.quota = fby_shared_quota_create(LIMIT)};
    bench.transform    = fby_transform_create(
           &(struct fby_transform_limits){.share = SHARE, .quota = bench.quota});
    return bench;
}

static uint64_t used(const struct bench *bench)
{
    return fby_shared_quota_counts(bench->quota).used;
}

static void end_bench(struct bench *bench)
{
    fby_transform_destroy(&bench->transform);
    assert_null(bench->transform);
    assert_int_equal(used(bench), 0);
    fby_shared_quota_destroy(&bench->quota);
}

static fby_err reserve(struct bench *bench, const struct fby_need *need)
{
    return fby_transform_reserve(bench->transform, need, &bench->why);
}

static void all_that_is_needed_is_counted(void **state)
{
    (void)state;
    struct bench          bench = new_bench();
    const struct fby_need need  = {.decoded = {6801, 302},
         .results                           = {2003, 1004},
         .before_yuv                        = 905,
         .step_memory                       = 806,
         .resizer                           = 707,
         .library_bytes                     = 609};
    assert_ok(reserve(&bench, &need)); /* 13,137 bytes */
    assert_int_equal(used(&bench), 337);
    assert_int_equal(bench.transform->borrowed, 337);
    fby_transform_release(bench.transform);
    assert_int_equal(used(&bench), 0);
    assert_int_equal(bench.transform->borrowed, 0);
    end_bench(&bench);
}

static void the_share_is_free_and_what_goes_beyond_is_borrowed(void **state)
{
    (void)state;
    struct bench    bench = new_bench();
    struct fby_need need  = {.library_bytes = SHARE};
    assert_ok(reserve(&bench, &need));
    assert_int_equal(used(&bench), 0);
    need.library_bytes = SHARE + 1;
    assert_ok(reserve(&bench, &need));
    assert_int_equal(used(&bench), 1);
    fby_transform_release(bench.transform);
    need.library_bytes = SHARE + LIMIT;
    assert_ok(reserve(&bench, &need));
    assert_int_equal(used(&bench), LIMIT);
    fby_transform_release(bench.transform);
    need.library_bytes = SHARE + LIMIT + 1;
    assert_int_equal(reserve(&bench, &need), FBY_FULL);
    assert_string_equal(bench.why.text,
        "decoding the sample takes 17801 bytes, this worker has 17800 "
        "for it; raise its --memory");
    assert_int_equal(used(&bench), 0);
    assert_int_equal(bench.transform->borrowed, 0);
    fby_shared_quota_close(bench.quota);
    need.library_bytes = SHARE; /* from its own share */
    assert_ok(reserve(&bench, &need));
    need.library_bytes = SHARE + 1;
    assert_int_equal(reserve(&bench, &need), FBY_GONE);
    end_bench(&bench);
}

/* Memory that it already holds counts, and is freed if it does not fit. */
static void kept_memory_is_freed_before_any_is_borrowed(void **state)
{
    (void)state;
    struct bench          bench  = new_bench();
    struct fby_transform *t      = bench.transform;
    struct fby_scratch   *kept[] = {&t->decoded[0], &t->decoded[1],
          &t->results[0], &t->results[1], &t->before_yuv, &t->step_memory,
          &t->resizer.memory};
    for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
        struct fby_need need = {.library_bytes = SHARE - 7040};
        assert_ok(fby_scratch_grow(kept[i], 7040));
        assert_int_equal(kept[i]->size_bytes, 7040);
        assert_ok(reserve(&bench, &need));
        assert_int_equal(kept[i]->size_bytes, 7040);
        need.library_bytes++;
        assert_ok(reserve(&bench, &need));
        assert_int_equal(kept[i]->size_bytes, 0);
        assert_int_equal(used(&bench), 0);
    }
    end_bench(&bench);
}

static void kept_memory_is_used_again_for_the_same_purpose(void **state)
{
    (void)state;
    struct bench          bench = new_bench();
    struct fby_transform *t     = bench.transform;
    struct fby_need       need  = {.decoded = {0, 6400}, .results = {0, 6399}};
    assert_ok(fby_scratch_grow(&t->decoded[1], 6400));
    assert_ok(fby_scratch_grow(&t->results[1], 6400));
    assert_ok(reserve(&bench, &need));
    assert_int_equal(t->decoded[1].size_bytes, 6400);
    assert_int_equal(t->results[1].size_bytes, 6400);
    need.decoded[1] = 6401; /* a byte too much with what is kept */
    assert_ok(reserve(&bench, &need));
    assert_int_equal(t->results[1].size_bytes, 0);
    assert_int_equal(used(&bench), 0);
    end_bench(&bench);
}

/* A stack's plane stays while its files are decoded. */
static void the_plane_of_a_stack_counts_and_is_kept(void **state)
{
    (void)state;
    struct bench    bench = new_bench();
    struct fby_need need  = {.library_bytes = SHARE - 512 + 20};
    assert_ok(fby_scratch_grow(&bench.transform->mask, 512));
    assert_ok(reserve(&bench, &need));
    assert_int_equal(used(&bench), 20);
    assert_int_equal(bench.transform->mask.size_bytes, 512);
    fby_transform_release(bench.transform);
    assert_int_equal(bench.transform->mask.size_bytes, 512);
    end_bench(&bench);
}

static void between_samples_no_more_than_the_share_is_kept(void **state)
{
    (void)state;
    struct bench          bench = new_bench();
    struct fby_transform *t     = bench.transform;
    assert_ok(fby_scratch_grow(&t->before_yuv, SHARE));
    fby_transform_release(t);
    assert_int_equal(t->before_yuv.size_bytes, SHARE);
    assert_ok(fby_scratch_grow(&t->step_memory, 1));
    fby_transform_release(t);
    assert_int_equal(t->before_yuv.size_bytes, 0);
    assert_int_equal(t->step_memory.size_bytes, 0);
    end_bench(&bench);
}

static void destroy_accepts_null(void **state)
{
    (void)state;
    struct fby_transform *t = fby_transform_create(NULL);
    fby_transform_destroy(&t);
    assert_null(t);
    fby_transform_destroy(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_that_is_needed_is_counted),
        cmocka_unit_test(the_share_is_free_and_what_goes_beyond_is_borrowed),
        cmocka_unit_test(kept_memory_is_freed_before_any_is_borrowed),
        cmocka_unit_test(kept_memory_is_used_again_for_the_same_purpose),
        cmocka_unit_test(the_plane_of_a_stack_counts_and_is_kept),
        cmocka_unit_test(between_samples_no_more_than_the_share_is_kept),
        cmocka_unit_test(destroy_accepts_null),
    };
    return cmocka_run_group_tests_name(
        "worker.transform.workshop", tests, NULL, NULL);
}
