/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/plan/fixed.h"

#include <math.h>

#include "tests/pipeline/plan/chance.h"
#include "tests/pipeline/plan/golden.h"
#include "tests/test.h"

static void a_real_becomes_q32_by_truncation(void **state)
{
    (void)state;
    assert_int_equal(fby_q32(0.5), UINT64_C(1) << 31);
    assert_int_equal(fby_q32(1), FBY_Q32_ONE);
    assert_int_equal(fby_q32(0.08), 343597383); /* 343597383.68 */
    assert_int_equal(fby_q32(0x1p-32), 1);
    assert_int_equal(fby_q32(0x1.ffffp-33), 0);
    assert_int_equal(fby_q32(-0.0), 0);
    assert_int_equal(fby_q32(-1), 0);
    assert_int_equal(fby_q32(NAN), 0);
    assert_int_equal(fby_q32(-INFINITY), 0);
    assert_int_equal(fby_q32(INFINITY), UINT64_C(1) << 63);
    assert_int_equal(fby_q32(2147483648.0), UINT64_C(1) << 63);
}

static void isqrt_is_the_floor_of_the_root(void **state)
{
    (void)state;
    uint64_t random = 1;
    for (uint64_t i = 0; i < 20000; i++) {
        uint64_t root = i < 10000 ? i : scramble(&random) >> 32;
        assert_int_equal(fby_isqrt(root * root), root);
        assert_int_equal(fby_isqrt(root * root + 2 * root), root);
        if (root > 0) {
            assert_int_equal(fby_isqrt(root * root - 1), root - 1);
        }
    }
    assert_int_equal(fby_isqrt(UINT64_MAX), UINT32_MAX);
}

static void div_round_rounds_halves_up(void **state)
{
    (void)state;
    assert_int_equal(fby_div_round(7, 2), 4);
    assert_int_equal(fby_div_round(10, 4), 3);
    assert_int_equal(fby_div_round(9, 4), 2);
    assert_int_equal(fby_div_round(10, 3), 3);
    assert_int_equal(fby_div_round(11, 3), 4);
    assert_int_equal(fby_div_round(0, 3), 0);
}

static void log2_is_near_the_true_one(void **state)
{
    (void)state;
    uint64_t random = 2;
    for (int i = 0; i < 10000; i++) {
        uint64_t x     = (scramble(&random) >> (scramble(&random) % 63)) + 1;
        double   right = log2((double)x) - 32;
        double   ours  = (double)fby_log2_q32(x) * 0x1p-32;
        assert_true(fabs(ours - right) < 0x1p-28);
    }
    assert_int_equal(fby_log2_q32(0), fby_log2_q32(1));
}

static void log2_of_a_power_of_two_is_exact(void **state)
{
    (void)state;
    for (int bit = 0; bit < 64; bit++) {
        int64_t right = (bit - 32) * (int64_t)FBY_Q32_ONE;
        assert_int_equal(fby_log2_q32(UINT64_C(1) << bit), right);
    }
}

static void exp2_is_near_the_true_one(void **state)
{
    (void)state;
    uint64_t random = 3;
    for (int i = 0; i < 10000; i++) {
        int64_t x     = (int64_t)(scramble(&random) >> 28) - (INT64_C(1) << 35);
        double  right = exp2((double)x * 0x1p-32) * 0x1p32;
        double  ours  = (double)fby_exp2_q32(x);
        assert_true(fabs(ours - right) <= 1e-6 * right + 1);
    }
}

static void exp2_of_a_whole_number_is_exact(void **state)
{
    (void)state;
    for (int n = -32; n < 31; n++) {
        uint64_t right = UINT64_C(1) << (32 + n);
        assert_int_equal(fby_exp2_q32(n * (int64_t)FBY_Q32_ONE), right);
    }
}

static void exp2_never_falls(void **state)
{
    (void)state;
    uint64_t before = 0;
    for (int64_t x = -(INT64_C(2) << 32); x < INT64_C(2) << 32; x += 99991) {
        uint64_t here = fby_exp2_q32(x);
        assert_true(here >= before);
        before = here;
    }
}

static void exp2_stays_within_its_ends(void **state)
{
    (void)state;
    assert_int_equal(fby_exp2_q32(INT64_MIN), 0);
    assert_int_equal(fby_exp2_q32(-(INT64_C(32) << 32) - 1), 0);
    uint64_t most = fby_exp2_q32((INT64_C(31) << 32) - 1);
    assert_true(most < UINT64_C(1) << 63 && most > UINT64_C(1) << 62);
    assert_int_equal(fby_exp2_q32(INT64_C(31) << 32), most);
    assert_int_equal(fby_exp2_q32(INT64_MAX), most);
}

static void both_are_those_of_the_model(void **state)
{
    (void)state;
    struct golden g = golden_open("fixed.txt");
    while (golden_next(&g)) {
        bool log = strcmp(golden_word(&g), "log2") == 0;
        if (log) {
            uint64_t x = golden_u64(&g);
            assert_int_equal(fby_log2_q32(x), golden_i64(&g));
        } else {
            int64_t x = golden_i64(&g);
            assert_int_equal(fby_exp2_q32(x), golden_u64(&g));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_real_becomes_q32_by_truncation),
        cmocka_unit_test(isqrt_is_the_floor_of_the_root),
        cmocka_unit_test(div_round_rounds_halves_up),
        cmocka_unit_test(log2_is_near_the_true_one),
        cmocka_unit_test(log2_of_a_power_of_two_is_exact),
        cmocka_unit_test(exp2_is_near_the_true_one),
        cmocka_unit_test(exp2_of_a_whole_number_is_exact),
        cmocka_unit_test(exp2_never_falls),
        cmocka_unit_test(exp2_stays_within_its_ends),
        cmocka_unit_test(both_are_those_of_the_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
