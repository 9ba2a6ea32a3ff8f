/* SPDX-License-Identifier: Apache-2.0 */
/* Segments of rows of several lengths: the tables of their groups, and the
 * number of blocks for a sparse chunk. */
#include "tests/test.h"

#include <stdlib.h>

#include "trainer_client/expand/segments.h"

enum { ROWS = 600, ARENA = 1 << 16 };

static void a_table_has_the_entries_before_each_group(void **state)
{
    (void)state;
    uint64_t                  groups[3] = {0};
    struct fby_ragged_offsets rows;
    struct fby_ragged_piece   piece = {
          .first_row = 7, .rows = ROWS, .first = 1000};
    fby_ragged_offsets_init(&rows, 7 + ROWS);
    for (uint32_t i = 0; i < ROWS; i++) {
        rows.lengths[7 + i] = i < FBY_BLOCK_ROWS ? 2 : 5;
    }
    rows.lengths[0] = 99; /* another piece's */
    assert_int_equal(fby_segments_n_groups(ROWS), 3);
    fby_segments_count_entries(&rows, &piece, groups);
    assert_int_equal(groups[0], 1000);
    assert_int_equal(groups[1], 1000 + 2 * FBY_BLOCK_ROWS);
    assert_int_equal(groups[2], 1000 + (2 + 5) * FBY_BLOCK_ROWS);
    assert_int_equal(
        piece.entries, 2 * FBY_BLOCK_ROWS + 5 * (ROWS - FBY_BLOCK_ROWS));
    fby_ragged_offsets_fini(&rows);
}

static void groups_are_whole_but_for_the_last(void **state)
{
    (void)state;
    assert_int_equal(fby_segments_n_groups(0), 0);
    assert_int_equal(fby_segments_n_groups(1), 1);
    assert_int_equal(fby_segments_n_groups(FBY_BLOCK_ROWS), 1);
    assert_int_equal(fby_segments_n_groups(FBY_BLOCK_ROWS + 1), 2);
}

/* Blocks of a chunk of sparse rows of `wide` values. */
static uint32_t blocks_of(
    enum fby_as as, uint32_t wide, uint32_t rows, uint64_t entries)
{
    const struct fby_field_content  field = {.name = "rows",
         .decode                                   = FBY_DECODE_SPARSE,
         .wire_type                                = FBY_U8,
         .shape                                    = {1, {wide}},
         .as.sparse.shape                          = {1, {wide}},
         .max_length                               = wide};
    const struct fby_field_delivery to    = {
           .dtype = FBY_U8, .as = as, .offsets = FBY_I32};
    static struct fby_expansion   plan;
    struct fby_raw_layout         layout = {.rows = rows, .n_fields = 1};
    const struct fby_ragged_piece piece  = {
         .rows = rows, .entries = entries, .total = entries};
    struct fby_segments count = {.arena = NULL};
    layout.fields[0]          = (struct fby_raw_field){
                 .type       = FBY_U8,
                 .shape      = field.shape,
                 .form       = FBY_FORM_SPARSE,
                 .max_length = wide,
    };
    assert_ok(fby_expansion_init(&plan, &field, &to, NULL));
    assert_ok(fby_layout_compute(&layout, NULL));
    fby_segments_add_rows(&count, &plan, &layout.fields[0], wide, &piece);
    return count.n_blocks;
}

static void zeros_ask_for_no_more_blocks_than_keep_a_gpu_busy(void **state)
{
    (void)state;
    const uint32_t wide = 1 << 20;
    assert_int_equal(blocks_of(FBY_AS_DENSE, 16, 1, 0), 1);
    assert_int_equal(blocks_of(FBY_AS_DENSE, wide, 1, 0), 512);
    assert_in_range(blocks_of(FBY_AS_DENSE, wide, ROWS, 0), 500, 512);
    assert_int_equal(
        blocks_of(FBY_AS_DENSE, wide, 1, 512), wide / FBY_BLOCK_VALUES);
    assert_int_equal(
        blocks_of(FBY_AS_DENSE, 2 * wide, 1, 6400), 512 + 6400 / 64);
}

static void places_ask_for_blocks_by_the_mean_of_the_groups(void **state)
{
    (void)state;
    const uint64_t values = 1 + FBY_BLOCK_VALUES; /* copied: one block */
    assert_int_equal(blocks_of(FBY_AS_COO, 100, 1, 0), 1);
    assert_int_equal(blocks_of(FBY_AS_COO, 5000, 1, values), 2 + 1);
    assert_int_equal(blocks_of(FBY_AS_COO, 5000, ROWS, values), 3 + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_table_has_the_entries_before_each_group),
        cmocka_unit_test(groups_are_whole_but_for_the_last),
        cmocka_unit_test(zeros_ask_for_no_more_blocks_than_keep_a_gpu_busy),
        cmocka_unit_test(places_ask_for_blocks_by_the_mean_of_the_groups),
    };
    return cmocka_run_group_tests_name(
        "trainer_client.segments_rows", tests, NULL, NULL);
}
