/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/plan/permutation.h"

#include "pipeline/plan/fixed.h"
#include "tests/pipeline/plan/chance.h"
#include "tests/pipeline/plan/golden.h"
#include "tests/test.h"

static struct fby_permutation shuffle_of(uint64_t n, uint64_t epoch)
{
    return fby_permutation_of(fby_permutation_key(7, epoch, "samples"), 0, n);
}

/* The inverse, from the definition: what can be undone is a bijection, also
 * where there are too many elements to try them all. */

static uint64_t turn(uint64_t key, uint64_t half, uint64_t size)
{
    uint64_t z = key + half;
    z          = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z          = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return fby_mul_high(z ^ (z >> 31), size);
}

static uint64_t back(const struct fby_permutation *p, uint64_t cell)
{
    uint64_t row    = cell / p->columns;
    uint64_t column = cell % p->columns;
    for (uint32_t i = p->rounds; i > 0; i -= 2) {
        uint64_t by = turn(p->keys[i - 1], row, p->columns);
        column      = (column + p->columns - by) % p->columns;
        by          = turn(p->keys[i - 2], column, p->rows);
        row         = (row + p->rows - by) % p->rows;
    }
    return row * p->columns + column;
}

static uint64_t position_of(const struct fby_permutation *p, uint64_t element)
{
    do {
        element = back(p, element);
    } while (element >= p->n);
    return element;
}

static void every_size_up_to_2000_is_a_bijection(void **state)
{
    (void)state;
    for (uint64_t n = 1; n <= 2000; n++) {
        struct fby_permutation p          = shuffle_of(n, n);
        bool                   seen[2000] = {false};
        for (uint64_t i = 0; i < n; i++) {
            uint64_t element = fby_permutation_at(&p, i);
            assert_true(element < n && !seen[element]);
            assert_int_equal(position_of(&p, element), i);
            seen[element] = true;
        }
    }
}

static void assert_undone(uint64_t n, uint64_t *random)
{
    struct fby_permutation p = shuffle_of(n, scramble(random));
    for (int i = 0; i < 50; i++) {
        uint64_t position = i == 0 ? n - 1 : scramble(random) % n;
        uint64_t element  = fby_permutation_at(&p, position);
        assert_true(element < n);
        assert_int_equal(position_of(&p, element), position);
        uint64_t before = position_of(&p, position);
        assert_true(before < n);
        assert_int_equal(fby_permutation_at(&p, before), position);
    }
}

static void large_sizes_go_forth_and_back(void **state)
{
    (void)state;
    uint64_t random = 1;
    for (int i = 0; i < 1000; i++) {
        assert_undone(scramble(&random) % (UINT64_C(1) << 40) + 1, &random);
    }
    for (int bits = 40; bits <= 63; bits++) {
        assert_undone(UINT64_C(1) << bits, &random);
        assert_undone((UINT64_C(1) << bits) - 1, &random);
    }
}

static void a_random_large_size_is_a_bijection(void **state)
{
    (void)state;
    uint64_t random = 2;
    for (int i = 0; i < 3; i++) {
        uint64_t               n    = 300000 + scramble(&random) % 100000;
        struct fby_permutation p    = shuffle_of(n, n);
        uint8_t               *seen = calloc(n, 1);
        assert_non_null(seen);
        for (uint64_t k = 0; k < n; k++) {
            uint8_t *mark = &seen[fby_permutation_at(&p, k)];
            assert_int_equal(*mark, 0);
            *mark = 1;
        }
        free(seen);
    }
}

static void a_run_of_positions_is_what_each_of_them_is(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {
        1, 2, 3, 4, 5, 9, 100, 1023, 1025, 5000, FBY_PERMUTATION_MAX};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct fby_permutation p    = shuffle_of(sizes[i], 4);
        uint64_t               most = sizes[i] < 40 ? sizes[i] : 40;
        for (uint64_t n = 0; n <= most; n++) {
            uint64_t elements[41] = {[40] = 0};
            uint64_t first        = sizes[i] - n; /* up to the last */
            elements[n]           = 77;
            fby_permutation_range(&p, first, n, elements);
            assert_int_equal(elements[n], 77); /* and not beyond */
            for (uint64_t k = 0; k < n; k++) {
                assert_int_equal(
                    elements[k], fby_permutation_at(&p, first + k));
            }
        }
    }
}

static void few_cells_lie_beyond_n(void **state)
{
    (void)state;
    uint64_t random = 3;
    for (uint64_t i = 1; i < 20000; i++) {
        uint64_t n = i < 10000 ? i : scramble(&random) % FBY_PERMUTATION_MAX;
        n += n == 0;
        struct fby_permutation p     = shuffle_of(n, 0);
        uint64_t               cells = p.rows * p.columns;
        assert_true(cells >= n && cells - n < p.rows);
        assert_true(cells <= n + n * 3 / 5 + 1); /* walks 1.6 times at most */
    }
}

/* Counts of (position, element) over epochs: each pair is as likely. The
 * statistic's mean is n * (n - 1), as a permutation fills n cells at once. */
static void assert_positions_even(uint64_t n, uint64_t epochs)
{
    uint32_t *counts = calloc(n * n, sizeof(*counts));
    assert_non_null(counts);
    for (uint64_t epoch = 0; epoch < epochs; epoch++) {
        struct fby_permutation p = shuffle_of(n, epoch);
        for (uint64_t i = 0; i < n; i++) {
            counts[i * n + fby_permutation_at(&p, i)]++;
        }
    }
    assert_true(looks_even(counts, n * n, (double)(n * (n - 1))));
    free(counts);
}

static void every_position_is_as_likely(void **state)
{
    (void)state;
    for (uint64_t n = 2; n <= 20; n++) {
        assert_positions_even(n, 10000);
    }
    assert_positions_even(64, 5000);
    assert_positions_even(200, 3000);
    assert_positions_even(1025, 1000);
}

/* The rank of an order of n <= 8 things among the n! ones. */
static size_t rank_of(const struct fby_permutation *p)
{
    uint64_t things[8];
    size_t   rank = 0;
    for (uint64_t i = 0; i < p->n; i++) {
        things[i] = fby_permutation_at(p, i);
    }
    for (uint64_t i = 0; i < p->n; i++) {
        size_t smaller = 0;
        for (uint64_t j = i + 1; j < p->n; j++) {
            smaller += things[j] < things[i];
        }
        rank = rank * (size_t)(p->n - i) + smaller;
    }
    return rank;
}

static void every_order_of_a_few_things_is_as_likely(void **state)
{
    (void)state;
    size_t orders = 1;
    for (uint64_t n = 2; n <= 7; n++) {
        orders *= (size_t)n;
        uint32_t counts[5040] = {0};
        for (uint64_t epoch = 0; epoch < 30000; epoch++) {
            struct fby_permutation p = shuffle_of(n, epoch);
            counts[rank_of(&p)]++;
        }
        assert_true(looks_even(counts, orders, (double)orders - 1));
    }
}

/* Pairs of neighbours, in coarse cells, within one large permutation. */
static void neighbours_are_unrelated(void **state)
{
    (void)state;
    enum { CELLS = 32, PAIRS = CELLS * CELLS };
    const uint64_t         n             = 1200001;
    struct fby_permutation p             = shuffle_of(n, 5);
    uint32_t               counts[PAIRS] = {0};
    for (uint64_t i = 0; i + 1 < 400000; i += 2) {
        uint64_t a = fby_permutation_at(&p, i) * CELLS / n;
        uint64_t b = fby_permutation_at(&p, i + 1) * CELLS / n;
        counts[a * CELLS + b]++;
    }
    assert_true(looks_even(counts, PAIRS, PAIRS - 1));
}

/* Positions that hold the same element in both: one on average. */
static uint64_t agreements(
    const struct fby_permutation *a, const struct fby_permutation *b)
{
    uint64_t same = 0;
    for (uint64_t i = 0; i < a->n; i++) {
        same += fby_permutation_at(a, i) == fby_permutation_at(b, i);
    }
    return same;
}

static void seed_epoch_purpose_and_index_each_make_another_order(void **state)
{
    (void)state;
    const uint64_t n       = 1500;
    uint64_t       same[4] = {0};
    for (uint64_t i = 0; i < 100; i++) {
        struct fby_permutation_key keys[4] = {
            fby_permutation_key(i, i, "samples"),
            fby_permutation_key(i + 1, i, "samples"),
            fby_permutation_key(i, i + 1, "samples"),
            fby_permutation_key(i, i, "block"),
        };
        struct fby_permutation p = fby_permutation_of(keys[0], 0, n);
        struct fby_permutation q = fby_permutation_of(keys[0], 1, n);
        same[0] += agreements(&p, &q);
        for (int k = 1; k < 4; k++) {
            q = fby_permutation_of(keys[k], 0, n);
            same[k] += agreements(&p, &q);
        }
    }
    for (int k = 0; k < 4; k++) { /* Poisson with mean 100 */
        assert_in_range(same[k], 50, 150);
    }
}

static void permutations_are_those_of_the_model(void **state)
{
    (void)state;
    struct golden g = golden_open("permutation.txt");
    while (golden_next(&g)) {
        uint64_t                   seed  = golden_u64(&g);
        uint64_t                   epoch = golden_u64(&g);
        struct fby_permutation_key key =
            fby_permutation_key(seed, epoch, golden_word(&g));
        uint64_t               index    = golden_u64(&g);
        uint64_t               n        = golden_u64(&g);
        uint64_t               position = golden_u64(&g);
        struct fby_permutation p        = fby_permutation_of(key, index, n);
        assert_int_equal(fby_permutation_at(&p, position), golden_u64(&g));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_size_up_to_2000_is_a_bijection),
        cmocka_unit_test(large_sizes_go_forth_and_back),
        cmocka_unit_test(a_random_large_size_is_a_bijection),
        cmocka_unit_test(a_run_of_positions_is_what_each_of_them_is),
        cmocka_unit_test(few_cells_lie_beyond_n),
        cmocka_unit_test(every_position_is_as_likely),
        cmocka_unit_test(every_order_of_a_few_things_is_as_likely),
        cmocka_unit_test(neighbours_are_unrelated),
        cmocka_unit_test(seed_epoch_purpose_and_index_each_make_another_order),
        cmocka_unit_test(permutations_are_those_of_the_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
