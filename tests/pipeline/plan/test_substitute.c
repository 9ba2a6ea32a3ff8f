/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/plan/draw.h"

#include "tests/pipeline/plan/chance.h"
#include "tests/pipeline/plan/golden.h"
#include "tests/test.h"

static void a_substitute_is_another_sample(void **state)
{
    (void)state;
    for (uint64_t n = 2; n < 30; n++) {
        for (uint64_t sample = 0; sample < n; sample++) {
            for (uint32_t k = 1; k <= FBY_MAX_SUBSTITUTES; k++) {
                uint64_t other = fby_plan_substitute(1, 2, sample, k, n);
                assert_true(other < n && other != sample);
            }
        }
    }
}

static void a_lone_sample_has_no_other(void **state)
{
    (void)state;
    assert_int_equal(fby_plan_substitute(1, 2, 0, 1, 1), 0);
}

static void all_others_are_as_likely(void **state)
{
    (void)state;
    uint32_t counts[10] = {0};
    for (uint64_t seed = 0; seed < 20000; seed++) {
        counts[fby_plan_substitute(seed, 0, 10, 1, 11)]++;
    }
    assert_true(looks_even(counts, 10, 9));
}

static void seed_epoch_sample_and_k_each_make_another(void **state)
{
    (void)state;
    const uint64_t n        = UINT64_C(1) << 50;
    const uint64_t others[] = {
        fby_plan_substitute(1, 2, 3, 1, n),
        fby_plan_substitute(0, 2, 3, 1, n),
        fby_plan_substitute(1, 3, 3, 1, n),
        fby_plan_substitute(1, 2, 4, 1, n),
        fby_plan_substitute(1, 2, 3, 2, n),
    };
    for (size_t i = 1; i < 5; i++) {
        assert_int_not_equal(others[i], others[0]);
    }
}

static void substitutes_are_those_of_the_model(void **state)
{
    (void)state;
    struct golden g = golden_open("substitute.txt");
    while (golden_next(&g)) {
        uint64_t seed   = golden_u64(&g);
        uint64_t epoch  = golden_u64(&g);
        uint64_t sample = golden_u64(&g);
        uint32_t k      = golden_u32(&g);
        uint64_t n      = golden_u64(&g);
        assert_int_equal(
            fby_plan_substitute(seed, epoch, sample, k, n), golden_u64(&g));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_substitute_is_another_sample),
        cmocka_unit_test(a_lone_sample_has_no_other),
        cmocka_unit_test(all_others_are_as_likely),
        cmocka_unit_test(seed_epoch_sample_and_k_each_make_another),
        cmocka_unit_test(substitutes_are_those_of_the_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
