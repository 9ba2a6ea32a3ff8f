/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/plan/draw.h"

#include "pipeline/plan/fixed.h"
#include "tests/pipeline/plan/chance.h"
#include "tests/pipeline/plan/golden.h"
#include "tests/test.h"

static void philox_gives_the_known_words(void **state)
{
    (void)state;
    struct golden g = golden_open("philox.txt"); /* Random123's kat_vectors */
    int           lines = 0;
    for (; golden_next(&g); lines++) {
        uint32_t counter[4];
        uint32_t key[2];
        uint32_t out[4];
        for (int i = 0; i < 4; i++) {
            counter[i] = golden_u32(&g);
        }
        key[0] = golden_u32(&g);
        key[1] = golden_u32(&g);
        fby_philox(counter, key, out);
        for (int i = 0; i < 4; i++) {
            assert_int_equal(out[i], golden_u32(&g));
        }
    }
    assert_int_equal(lines, 3);
}

static void draws_are_those_of_the_model(void **state)
{
    (void)state;
    struct golden g = golden_open("draw.txt");
    while (golden_next(&g)) {
        uint64_t        seed   = golden_u64(&g);
        uint64_t        epoch  = golden_u64(&g);
        uint64_t        sample = golden_u64(&g);
        char           *group  = golden_word(&g);
        char           *op     = golden_word(&g);
        struct fby_draw draw =
            fby_draw_begin(seed, epoch, sample, group, op, golden_u32(&g));
        for (int i = 0; i < 6; i++) {
            assert_int_equal(fby_draw_u32(&draw), golden_u32(&g));
        }
        uint64_t n = golden_u64(&g);
        for (int i = 0; i < 3; i++) {
            assert_int_equal(fby_draw_below(&draw, n), golden_u64(&g));
        }
    }
}

static struct fby_draw some_draw(uint64_t sample)
{
    return fby_draw_begin(1, 2, sample, "image", "random_crop", 0);
}

static void words_do_not_depend_on_who_drew_before(void **state)
{
    (void)state;
    struct fby_draw first  = some_draw(4);
    struct fby_draw other  = some_draw(5);
    struct fby_draw second = some_draw(4);
    for (int i = 0; i < 100; i++) {
        uint32_t word = fby_draw_u32(&first);
        assert_int_not_equal(fby_draw_u32(&other), word);
        assert_int_equal(fby_draw_u32(&second), word);
    }
}

static void each_part_of_the_name_makes_another_draw(void **state)
{
    (void)state;
    struct fby_draw draws[] = {
        fby_draw_begin(1, 2, 3, "ab", "c", 0),
        fby_draw_begin(0, 2, 3, "ab", "c", 0),
        fby_draw_begin(1, 1, 3, "ab", "c", 0),
        fby_draw_begin(1, 2, 4, "ab", "c", 0),
        fby_draw_begin(1, 2, 3 + FBY_Q32_ONE, "ab", "c", 0),
        fby_draw_begin(1, 2, 3, "a", "bc", 0),
        fby_draw_begin(1, 2, 3, "", "abc", 0),
        fby_draw_begin(1, 2, 3, "ab", "c", 1),
    };
    uint32_t words[8];
    for (int i = 0; i < 8; i++) {
        words[i] = fby_draw_u32(&draws[i]);
        for (int k = 0; k < i; k++) {
            assert_int_not_equal(words[i], words[k]);
        }
    }
}

static void below_is_even(void **state)
{
    (void)state;
    const uint64_t  ns[] = {2, 3, 7, 100, 1000};
    struct fby_draw draw = some_draw(0);
    for (size_t k = 0; k < 5; k++) {
        uint32_t counts[1000] = {0};
        for (int i = 0; i < 50000; i++) {
            uint64_t value = fby_draw_below(&draw, ns[k]);
            assert_true(value < ns[k]);
            counts[value]++;
        }
        assert_true(looks_even(counts, ns[k], (double)ns[k] - 1));
    }
}

/* n = 3 * 2^30 rejects a quarter of the words, and 3 * 2^62 of the pairs; if
 * it did not, every third value would be twice as likely as the others. */
static void below_is_even_where_it_must_reject(void **state)
{
    (void)state;
    const uint64_t  ns[] = {UINT64_C(3) << 30, UINT64_C(3) << 62};
    struct fby_draw draw = some_draw(1);
    for (size_t k = 0; k < 2; k++) {
        uint32_t thirds[3] = {0};
        uint32_t every[3]  = {0};
        for (int i = 0; i < 60000; i++) {
            uint64_t value = fby_draw_below(&draw, ns[k]);
            assert_true(value < ns[k]);
            thirds[value / (ns[k] / 3)]++;
            every[value % 3]++;
        }
        assert_true(looks_even(thirds, 3, 2));
        assert_true(looks_even(every, 3, 2));
    }
}

static uint32_t words_taken(const struct fby_draw *draw)
{
    return draw->counter[0] * 4 - (4 - draw->used);
}

static void below_takes_one_word_or_two(void **state)
{
    (void)state;
    struct fby_draw draw = some_draw(2);
    assert_int_equal(fby_draw_below(&draw, 1), 0);
    assert_int_equal(words_taken(&draw), 1);
    struct fby_draw same = draw;
    uint64_t        word = fby_draw_u32(&same);
    assert_int_equal(fby_draw_below(&draw, FBY_Q32_ONE), word);
    assert_int_equal(words_taken(&draw), 2);
    (void)fby_draw_below(&draw, FBY_Q32_ONE * 2);
    assert_int_equal(words_taken(&draw), 4);
}

static void between_has_both_its_ends(void **state)
{
    (void)state;
    struct fby_draw draw      = some_draw(3);
    uint32_t        counts[5] = {0};
    for (int i = 0; i < 10000; i++) {
        int64_t value = fby_draw_between(&draw, -2, 2);
        assert_true(value >= -2 && value <= 2);
        counts[value + 2]++;
    }
    assert_true(looks_even(counts, 5, 4));
    assert_int_equal(fby_draw_between(&draw, -9, -9), -9);
    assert_int_equal(fby_draw_between(&draw, 5, -9), 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(philox_gives_the_known_words),
        cmocka_unit_test(draws_are_those_of_the_model),
        cmocka_unit_test(words_do_not_depend_on_who_drew_before),
        cmocka_unit_test(each_part_of_the_name_makes_another_draw),
        cmocka_unit_test(below_is_even),
        cmocka_unit_test(below_is_even_where_it_must_reject),
        cmocka_unit_test(below_takes_one_word_or_two),
        cmocka_unit_test(between_has_both_its_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
