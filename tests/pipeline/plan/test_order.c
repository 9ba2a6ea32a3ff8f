/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/plan/order.h"

#include "tests/pipeline/plan/chance.h"
#include "tests/pipeline/plan/golden.h"
#include "tests/says.h"
#include "tests/test.h"

enum { SHARDS = 12 };

/* 12 shards, one of them empty, of 101 samples together. */
static const uint32_t shards[SHARDS] = {7, 9, 0, 12, 5, 1, 20, 8, 8, 11, 13, 7};

static struct fby_order_spec small_spec(enum fby_shuffle shuffle)
{
    return (struct fby_order_spec){
        .samples       = 101,
        .shard_samples = shards,
        .n_shards      = SHARDS,
        .shuffle       = shuffle,
        .block         = 2,
        .last          = FBY_LAST_SHORT,
        .global_batch  = 12,
        .seed          = 5,
        .epoch         = 1,
    };
}

static struct fby_order *order_of(const struct fby_order_spec *spec)
{
    struct fby_order       *order = NULL;
    struct fby_error_detail why   = {""};
    fby_err                 err   = fby_order_create(spec, &order, &why);
    if (err != FBY_OK) {
        fail_msg("%s", why.text);
    }
    return order;
}

/* How often each sample comes up in the rows of `order` that hold one. */
static void count_samples(const struct fby_order *order, uint32_t *counts)
{
    for (uint64_t step = 0; step < fby_order_steps(order); step++) {
        uint64_t samples[64];
        uint32_t rows = fby_order_rows(order, step);
        fby_order_fill_samples(order, step, 0, rows, samples);
        for (uint32_t i = 0; i < rows; i++) {
            assert_true(samples[i] < 101);
            counts[samples[i]]++;
        }
    }
}

static void assert_epoch_is_the_dataset(const struct fby_order_spec *spec)
{
    struct fby_order *order       = order_of(spec);
    uint32_t          counts[101] = {0};
    uint32_t          seen        = 0;
    count_samples(order, counts);
    for (int i = 0; i < 101; i++) {
        assert_true(counts[i] <= 1);
        seen += counts[i];
    }
    uint32_t whole = 101 - 101 % spec->global_batch;
    assert_int_equal(seen, spec->last == FBY_LAST_DROP ? whole : 101);
    fby_order_destroy(&order);
}

static void an_epoch_is_the_dataset_once(void **state)
{
    (void)state;
    for (int shuffle = FBY_SHUFFLE_NONE; shuffle <= FBY_SHUFFLE_BLOCK;
         shuffle++) {
        for (uint32_t batch = 1; batch <= 64; batch++) {
            struct fby_order_spec spec = small_spec((enum fby_shuffle)shuffle);
            spec.global_batch          = batch;
            spec.last                  = (enum fby_last)(1 + batch % 3);
            spec.block                 = 1 + batch % 14;
            spec.lanes                 = batch % 7;
            assert_epoch_is_the_dataset(&spec);
        }
    }
}

static void without_shuffle_rows_are_consecutive(void **state)
{
    (void)state;
    struct fby_order_spec spec  = small_spec(FBY_SHUFFLE_NONE);
    struct fby_order     *order = order_of(&spec);
    uint64_t              samples[12];
    fby_order_fill_samples(order, 3, 0, 12, samples);
    for (uint64_t i = 0; i < 12; i++) {
        assert_int_equal(samples[i], 36 + i);
    }
    fby_order_destroy(&order);
}

/* Four blocks of ten, two slices of two rows, two lanes: worked by hand from
 * the document. Batch 4, S = 10, runs of 20 places = 10 pieces of 2. Lane 0
 * walks pieces 0..4, lane 1 pieces 5..9. */
static void lanes_walk_along_their_blocks(void **state)
{
    (void)state;
    const uint32_t        tens[] = {10, 10, 10, 10};
    struct fby_order_spec spec   = {.samples = 40,
          .shard_samples                     = tens,
          .n_shards                          = 4,
          .shuffle                           = FBY_SHUFFLE_BLOCK,
          .block                             = 1,
          .lanes                             = 2,
          .slices                            = 2,
          .last                              = FBY_LAST_DROP,
          .global_batch                      = 4};
    struct fby_order     *order  = order_of(&spec);
    uint64_t              blocks[10][2];
    for (uint64_t step = 0; step < 10; step++) {
        blocks[step][0] = fby_order_affinity_key(order, step, 0);
        blocks[step][1] = fby_order_affinity_key(order, step, 2);
        assert_int_equal(
            fby_order_affinity_key(order, step, 1), blocks[step][0]);
        assert_int_equal(
            fby_order_affinity_key(order, step, 3), blocks[step][1]);
        assert_int_equal(blocks[step][0], blocks[step % 2][0]);
        assert_int_equal(blocks[step][1], blocks[step % 2][1]);
    }
    uint64_t all = UINT64_C(1) << blocks[0][0] | UINT64_C(1) << blocks[0][1] |
                   UINT64_C(1) << blocks[1][0] | UINT64_C(1) << blocks[1][1];
    assert_int_equal(all, 15);
    fby_order_destroy(&order);
}

static void locality_is_the_block_of_the_sample(void **state)
{
    (void)state;
    struct fby_order_spec spec  = small_spec(FBY_SHUFFLE_BLOCK);
    spec.last                   = FBY_LAST_PAD;
    struct fby_order *order     = order_of(&spec);
    const uint64_t    begins[7] = {0, 16, 28, 34, 62, 81, 101};
    for (uint64_t step = 0; step < fby_order_steps(order); step++) {
        for (uint32_t row = 0; row < 12; row++) {
            uint64_t sample;
            fby_order_fill_samples(order, step, row, 1, &sample);
            uint64_t block = fby_order_affinity_key(order, step, row);
            assert_true(block < 6);
            assert_true(sample >= begins[block] && sample < begins[block + 1]);
        }
    }
    fby_order_destroy(&order);
}

/* Places 0..49 and 50..99 are two blocks of fifty, in one slice and lane. */
static void each_block_has_its_own_order(void **state)
{
    (void)state;
    const uint32_t        fifties[] = {50, 50};
    struct fby_order_spec spec      = small_spec(FBY_SHUFFLE_BLOCK);
    uint64_t              samples[100];
    spec.samples       = 100;
    spec.shard_samples = fifties;
    spec.n_shards      = 2;
    spec.block         = 1;
    spec.slices        = 1;
    spec.global_batch  = 100;

    struct fby_order *order = order_of(&spec);
    fby_order_fill_samples(order, 0, 0, 100, samples);
    uint32_t same = 0;
    for (int i = 0; i < 50; i++) {
        assert_int_equal(samples[i] / 50, samples[0] / 50);
        same += samples[i] % 50 == samples[i + 50] % 50;
    }
    assert_in_range(same, 0, 5); /* one is to be expected */
    fby_order_destroy(&order);
}

static void without_blocks_locality_differs_by_row(void **state)
{
    (void)state;
    struct fby_order_spec spec  = small_spec(FBY_SHUFFLE_FULL);
    struct fby_order     *order = order_of(&spec);
    assert_int_equal(fby_order_affinity_key(order, 0, 0), 0);
    assert_int_equal(fby_order_affinity_key(order, 3, 5), 41);
    fby_order_destroy(&order);
}

static void assert_parts_make_the_whole(
    const struct fby_order *order, uint64_t step, uint32_t rows)
{
    uint64_t whole[64];
    uint64_t part[64];
    fby_order_fill_samples(order, step, 0, rows, whole);
    for (uint32_t first = 0; first < rows; first++) {
        for (uint32_t n = 1; n <= rows - first; n++) {
            fby_order_fill_samples(order, step, first, n, part);
            assert_memory_equal(part, whole + first, n * sizeof(*part));
        }
    }
}

static void any_part_of_a_batch_is_that_part_of_the_whole(void **state)
{
    (void)state;
    for (int shuffle = FBY_SHUFFLE_NONE; shuffle <= FBY_SHUFFLE_BLOCK;
         shuffle++) {
        struct fby_order_spec spec = small_spec((enum fby_shuffle)shuffle);
        spec.last                  = FBY_LAST_PAD;
        spec.global_batch          = 24;
        struct fby_order *order    = order_of(&spec);
        assert_int_equal(fby_order_steps(order), 5);
        for (uint64_t step = 0; step < 5; step++) {
            assert_parts_make_the_whole(order, step, 24);
        }
        fby_order_destroy(&order);
    }
}

static void padding_begins_the_epoch_again(void **state)
{
    (void)state;
    const uint32_t        three[] = {2, 1};
    struct fby_order_spec spec    = small_spec(FBY_SHUFFLE_BLOCK);
    spec.samples                  = 3;
    spec.shard_samples            = three;
    spec.n_shards                 = 2;
    spec.block                    = 1;
    spec.last                     = FBY_LAST_PAD;
    struct fby_order *order       = order_of(&spec);
    uint64_t          samples[12];
    assert_int_equal(fby_order_steps(order), 1);
    assert_int_equal(fby_order_rows(order, 0), 3);
    fby_order_fill_samples(order, 0, 0, 12, samples);
    for (int i = 3; i < 12; i++) {
        assert_int_equal(samples[i], samples[i - 3]);
    }
    assert_int_equal(samples[0] + samples[1] + samples[2], 3);
    fby_order_destroy(&order);
}

static uint64_t steps_of(uint64_t samples, enum fby_last last)
{
    struct fby_order_spec spec = small_spec(FBY_SHUFFLE_FULL);
    spec.samples               = samples;
    spec.global_batch          = 10;
    spec.last                  = last;
    struct fby_order *order    = order_of(&spec);
    uint64_t          steps    = fby_order_steps(order);
    fby_order_destroy(&order);
    return steps;
}

static void the_last_rule_decides_the_steps(void **state)
{
    (void)state;
    assert_int_equal(steps_of(100, FBY_LAST_DROP), 10);
    assert_int_equal(steps_of(100, FBY_LAST_PAD), 10);
    assert_int_equal(steps_of(101, FBY_LAST_DROP), 10);
    assert_int_equal(steps_of(101, FBY_LAST_PAD), 11);
    assert_int_equal(steps_of(101, FBY_LAST_SHORT), 11);
    assert_int_equal(steps_of(9, FBY_LAST_SHORT), 1);
}

static void only_rows_that_exist_are_there(void **state)
{
    (void)state;
    struct fby_order_spec spec  = small_spec(FBY_SHUFFLE_FULL);
    struct fby_order     *order = order_of(&spec); /* 8 steps of 12, one of 5 */
    assert_true(fby_order_has_rows(order, 0, 0, 12));
    assert_false(fby_order_has_rows(order, 0, 0, 13));
    assert_false(fby_order_has_rows(order, 0, 12, 1));
    assert_false(fby_order_has_rows(order, 0, 13, 1));
    assert_false(fby_order_has_rows(order, 0, UINT32_MAX, 1));
    assert_false(fby_order_has_rows(order, 0, 0, 0));
    assert_true(fby_order_has_rows(order, 0, 1, 11));
    assert_false(fby_order_has_rows(order, 0, 1, 12));
    assert_false(fby_order_has_rows(order, 0, 1, UINT32_MAX));
    assert_true(fby_order_has_rows(order, 8, 0, 5));
    assert_false(fby_order_has_rows(order, 8, 0, 6));
    assert_false(fby_order_has_rows(order, 9, 0, 1));
    assert_false(fby_order_has_rows(order, UINT64_MAX, 0, 1));
    fby_order_destroy(&order);
    spec.last = FBY_LAST_PAD;
    order     = order_of(&spec);
    assert_true(fby_order_has_rows(order, 8, 0, 12));
    fby_order_destroy(&order);
}

/* The rows of all ranks, joined in rank order; returns how many. */
static uint32_t join_ranks(const struct fby_order *order, uint64_t step,
    uint32_t world, uint64_t *samples)
{
    uint32_t joined = 0;
    for (uint32_t rank = 0; rank < world; rank++) {
        uint32_t first;
        uint32_t n;
        fby_order_rank_rows(order, step, rank, world, &first, &n);
        assert_true(n == 0 || first == joined);
        if (n > 0) {
            fby_order_fill_samples(order, step, first, n, samples + joined);
        }
        joined += n;
    }
    return joined;
}

static void ranks_joined_are_the_world_of_one(void **state)
{
    (void)state;
    for (int last = FBY_LAST_DROP; last <= FBY_LAST_SHORT; last++) {
        struct fby_order_spec spec = small_spec(FBY_SHUFFLE_BLOCK);
        spec.last                  = (enum fby_last)last;
        spec.global_batch          = 24;
        struct fby_order *order    = order_of(&spec);
        for (uint64_t step = 0; step < fby_order_steps(order); step++) {
            uint64_t one[24];
            uint32_t rows = join_ranks(order, step, 1, one);
            for (uint32_t world = 2; world <= 24; world++) {
                uint64_t many[24];
                if (24 % world == 0) {
                    uint32_t n = join_ranks(order, step, world, many);
                    assert_int_equal(n, rows);
                    assert_memory_equal(many, one, rows * sizeof(*one));
                }
            }
        }
        fby_order_destroy(&order);
    }
}

static void a_short_step_leaves_late_ranks_without_rows(void **state)
{
    (void)state;
    struct fby_order_spec spec       = small_spec(FBY_SHUFFLE_FULL);
    struct fby_order     *order      = order_of(&spec); /* step 8: rows 0..4 */
    const uint32_t        rows[4][2] = {{0, 3}, {3, 2}, {5, 0}, {5, 0}};
    for (uint32_t rank = 0; rank < 4; rank++) {
        uint32_t first;
        uint32_t n;
        fby_order_rank_rows(order, 8, rank, 4, &first, &n);
        assert_int_equal(first, rows[rank][0]);
        assert_int_equal(n, rows[rank][1]);
    }
    fby_order_destroy(&order);
}

static void a_world_that_does_not_divide_is_refused(void **state)
{
    (void)state;
    struct fby_error_detail why;
    assert_ok(fby_order_check_world(24, 1, &why));
    assert_ok(fby_order_check_world(24, 24, &why));
    assert_int_equal(fby_order_check_world(24, 5, &why), FBY_CONFIG);
    assert_non_null(strstr(why.text, "24"));
    assert_non_null(strstr(why.text, "5 ranks"));
    assert_int_equal(fby_order_check_world(24, 48, &why), FBY_CONFIG);
    assert_int_equal(fby_order_check_world(24, 0, &why), FBY_CONFIG);
    assert_string_equal(
        why.text, "a world of 0 ranks: there must be at least 1");
}

static void assert_refused(const struct fby_order_spec *spec, const char *word)
{
    struct fby_order       *order = NULL;
    struct fby_error_detail why   = {""};
    assert_int_equal(fby_order_create(spec, &order, &why), FBY_CONFIG);
    assert_null(order);
    assert_says(&why, word);
}

static void what_cannot_be_ordered_is_refused_in_words(void **state)
{
    (void)state;
    const struct fby_order_spec good = small_spec(FBY_SHUFFLE_BLOCK);
    struct fby_order_spec       bad  = good;
    bad.samples                      = 0;
    assert_refused(&bad, "no sample");
    bad.samples = (UINT64_C(1) << 63) + 1;
    assert_refused(&bad, "2^63");
    bad              = good;
    bad.global_batch = 102;
    bad.last         = FBY_LAST_DROP;
    assert_refused(&bad, "no batch of 102 from 101 samples");
    bad          = good;
    bad.n_shards = SHARDS - 1;
    assert_refused(&bad, "94 samples in 11 shards, but 101");
    bad.n_shards = 0;
    assert_refused(&bad, "0 samples in 0 shards, but 101");
}

static void slices_are_the_largest_divisor_up_to_8(void **state)
{
    (void)state;
    for (uint32_t batch = 1; batch <= 200; batch++) {
        uint32_t slices = fby_default_slices(batch);
        assert_in_range(slices, 1, 8);
        assert_int_equal(batch % slices, 0);
        for (uint32_t more = slices + 1; more <= 8; more++) {
            assert_int_not_equal(batch % more, 0);
        }
    }
}

static void lanes_and_slices_are_64_together(void **state)
{
    (void)state;
    static const uint32_t lanes[][2] = {{1, 64}, {2, 32}, {3, 21}, {4, 16},
        {5, 12}, {6, 10}, {7, 9}, {8, 8}, {32, 2}, {33, 1}, {63, 1}, {64, 1},
        {65, 1}, {65536, 1}};
    for (size_t i = 0; i < sizeof(lanes) / sizeof(lanes[0]); i++) {
        assert_int_equal(fby_default_lanes(lanes[i][0]), lanes[i][1]);
    }
}

static void an_order_is_as_the_content_says(void **state)
{
    (void)state;
    static const struct fby_content content = {.shuffle = FBY_SHUFFLE_BLOCK,
        .block                                          = 3,
        .lanes                                          = 5,
        .slices                                         = 7,
        .last                                           = FBY_LAST_PAD,
        .global_batch                                   = 49};
    struct fby_order_spec           spec = fby_order_spec_of(&content, 11, 13);
    assert_int_equal(spec.shuffle, FBY_SHUFFLE_BLOCK);
    assert_int_equal(spec.block, 3);
    assert_int_equal(spec.lanes, 5);
    assert_int_equal(spec.slices, 7);
    assert_int_equal(spec.last, FBY_LAST_PAD);
    assert_int_equal(spec.global_batch, 49);
    assert_int_equal(spec.seed, 11);
    assert_int_equal(spec.epoch, 13);
    assert_int_equal(spec.samples, 0);
    assert_null(spec.shard_samples);
    assert_null(spec.buckets);
}

static void a_short_batch_is_not_dealt_to_lanes(void **state)
{
    (void)state;
    struct fby_order_spec spec  = small_spec(FBY_SHUFFLE_BLOCK);
    struct fby_order     *order = order_of(&spec); /* 8 steps of 12, one of 5 */
    spec.lanes                  = 1;
    spec.slices                 = 1;
    struct fby_order *plain     = order_of(&spec);
    uint64_t          one[5];
    uint64_t          other[5];
    assert_int_equal(fby_order_rows(order, 7), 12);
    assert_int_equal(fby_order_rows(order, 8), 5);
    fby_order_fill_samples(order, 8, 0, 5, one);
    fby_order_fill_samples(plain, 8, 0, 5, other);
    assert_memory_equal(one, other, sizeof(one));
    fby_order_destroy(&plain);
    fby_order_destroy(&order);
}

static void seed_and_epoch_each_make_another_order(void **state)
{
    (void)state;
    for (int shuffle = FBY_SHUFFLE_FULL; shuffle <= FBY_SHUFFLE_BLOCK;
         shuffle++) {
        uint64_t samples[3][12];
        for (uint64_t i = 0; i < 3; i++) {
            struct fby_order_spec spec = small_spec((enum fby_shuffle)shuffle);
            spec.seed += i == 1;
            spec.epoch += i == 2;
            struct fby_order *order = order_of(&spec);
            fby_order_fill_samples(order, 2, 0, 12, samples[i]);
            fby_order_destroy(&order);
        }
        assert_memory_not_equal(samples[0], samples[1], sizeof(samples[0]));
        assert_memory_not_equal(samples[0], samples[2], sizeof(samples[0]));
        assert_memory_not_equal(samples[1], samples[2], sizeof(samples[0]));
    }
}

static void a_huge_dataset_costs_no_memory(void **state)
{
    (void)state;
    struct fby_order_spec spec  = {.samples = UINT64_C(1) << 63,
         .shuffle                           = FBY_SHUFFLE_FULL,
         .last                              = FBY_LAST_DROP,
         .global_batch                      = 64};
    struct fby_order     *order = order_of(&spec);
    uint64_t              samples[64];
    fby_order_fill_samples(order, fby_order_steps(order) - 1, 0, 64, samples);
    for (int i = 0; i < 64; i++) {
        assert_true(samples[i] < spec.samples);
    }
    fby_order_destroy(&order);
}

/* Positions of samples over epochs, in a dataset of blocks. */
static void with_blocks_every_position_is_as_likely(void **state)
{
    (void)state;
    const uint32_t  threes[]        = {3, 3, 3, 3};
    static uint32_t counts[12 * 12] = {0};
    for (uint64_t epoch = 0; epoch < 10000; epoch++) {
        struct fby_order_spec spec  = {.samples = 12,
             .shard_samples                     = threes,
             .n_shards                          = 4,
             .shuffle                           = FBY_SHUFFLE_BLOCK,
             .block                             = 1,
             .last                              = FBY_LAST_DROP,
             .global_batch                      = 4,
             .epoch                             = epoch};
        struct fby_order     *order = order_of(&spec);
        for (uint64_t step = 0; step < 3; step++) {
            uint64_t samples[4];
            fby_order_fill_samples(order, step, 0, 4, samples);
            for (uint64_t i = 0; i < 4; i++) {
                counts[(step * 4 + i) * 12 + samples[i]]++;
            }
        }
        fby_order_destroy(&order);
    }
    assert_true(looks_even(counts, 144, 132));
}

static uint32_t golden_shards(struct golden *g, uint32_t *sizes)
{
    char    *at = golden_word(g);
    uint32_t n  = 0;
    for (char *end; *at != '\0'; at = *end == ',' ? end + 1 : end) {
        assert_true(n < 64);
        sizes[n++] = (uint32_t)strtoul(at, &end, 10);
    }
    return n;
}

static struct fby_order_spec golden_spec(struct golden *g, uint32_t *sizes)
{
    struct fby_order_spec spec = {.shard_samples = sizes};
    spec.shuffle               = (enum fby_shuffle)golden_u32(g);
    spec.last                  = (enum fby_last)golden_u32(g);
    spec.global_batch          = golden_u32(g);
    spec.block                 = golden_u32(g);
    spec.lanes                 = golden_u32(g);
    spec.slices                = golden_u32(g);
    spec.seed                  = golden_u64(g);
    spec.epoch                 = golden_u64(g);
    spec.n_shards              = golden_shards(g, sizes);
    for (uint32_t i = 0; i < spec.n_shards; i++) {
        spec.samples += sizes[i];
    }
    return spec;
}

static void orders_are_those_of_the_model(void **state)
{
    (void)state;
    struct golden g = golden_open("order.txt");
    while (golden_next(&g)) {
        uint32_t              sizes[64];
        struct fby_order_spec spec  = golden_spec(&g, sizes);
        struct fby_order     *order = order_of(&spec);
        assert_int_equal(fby_order_steps(order), golden_u64(&g));
        uint64_t step = golden_u64(&g);
        uint32_t rows = golden_u32(&g);
        assert_true(fby_order_has_rows(order, step, 0, rows));
        assert_false(fby_order_has_rows(order, step, 0, rows + 1));
        for (uint32_t row = 0; row < rows; row++) {
            uint64_t sample;
            fby_order_fill_samples(order, step, row, 1, &sample);
            assert_int_equal(sample, golden_u64(&g));
        }
        fby_order_destroy(&order);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_epoch_is_the_dataset_once),
        cmocka_unit_test(without_shuffle_rows_are_consecutive),
        cmocka_unit_test(lanes_walk_along_their_blocks),
        cmocka_unit_test(locality_is_the_block_of_the_sample),
        cmocka_unit_test(each_block_has_its_own_order),
        cmocka_unit_test(without_blocks_locality_differs_by_row),
        cmocka_unit_test(any_part_of_a_batch_is_that_part_of_the_whole),
        cmocka_unit_test(padding_begins_the_epoch_again),
        cmocka_unit_test(the_last_rule_decides_the_steps),
        cmocka_unit_test(only_rows_that_exist_are_there),
        cmocka_unit_test(ranks_joined_are_the_world_of_one),
        cmocka_unit_test(a_short_step_leaves_late_ranks_without_rows),
        cmocka_unit_test(a_world_that_does_not_divide_is_refused),
        cmocka_unit_test(what_cannot_be_ordered_is_refused_in_words),
        cmocka_unit_test(slices_are_the_largest_divisor_up_to_8),
        cmocka_unit_test(lanes_and_slices_are_64_together),
        cmocka_unit_test(an_order_is_as_the_content_says),
        cmocka_unit_test(a_short_batch_is_not_dealt_to_lanes),
        cmocka_unit_test(seed_and_epoch_each_make_another_order),
        cmocka_unit_test(a_huge_dataset_costs_no_memory),
        cmocka_unit_test(with_blocks_every_position_is_as_likely),
        cmocka_unit_test(orders_are_those_of_the_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
