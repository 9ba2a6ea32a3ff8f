/* SPDX-License-Identifier: Apache-2.0 */
/* The list of segments: work too large for one segment is split, and the table
 * gives the segment of each block. */
#include "tests/test.h"

#include <stdlib.h>
#include <string.h>

#include "trainer_client/expand/segments.h"

enum { ARENA = 1 << 20 };

static const uint64_t most = FBY_SEGMENT_MAX;

static void a_copy_larger_than_a_segment_is_cut(void **state)
{
    (void)state;
    struct fby_segments list;
    uint8_t            *arena = calloc(1, ARENA);
    fby_segments_begin(&list, arena, 0);
    fby_segments_append_copy(&list, 16, 3 * most + 5, 32);
    assert_int_equal(list.n, 4);
    for (uint32_t i = 0; i < list.n; i++) {
        assert_int_equal(list.segments[i].n, i < 3 ? most : 5);
        assert_int_equal(list.segments[i].in, 16 + i * most);
        assert_int_equal(list.segments[i].out, 32 + i * most);
        assert_int_equal(
            list.segments[i].first_block, i * (most / FBY_BLOCK_BYTES));
    }
    assert_int_equal(list.n_blocks, 3 * most / FBY_BLOCK_BYTES + 1);
    free(arena);
}

static void a_copy_of_no_bytes_is_no_segment(void **state)
{
    (void)state;
    struct fby_segments count = {.arena = NULL};
    fby_segments_append_copy(&count, 0, 0, 0);
    assert_int_equal(count.n, 0);
    assert_int_equal(count.n_blocks, 0);
}

static void a_list_begins_at_the_next_sixteen(void **state)
{
    (void)state;
    static const uint32_t used[] = {0, 1, 16, 17};
    static const uint32_t at[]   = {0, 16, 16, 32};
    for (uint32_t i = 0; i < 4; i++) {
        struct fby_segments list;
        uint8_t             arena[256];
        fby_segments_begin(&list, arena, used[i]);
        assert_int_equal(list.list, at[i]);
    }
}

static void copies_of_each_pass(struct fby_segments *list)
{
    fby_segments_append_copy(list, 0, FBY_BLOCK_BYTES, 0);
    fby_segments_append_copy(list, 0, FBY_BLOCK_BYTES + 1, 0);
    fby_segments_begin_pass(list, FBY_PASS_GREYS);
    fby_segments_append_copy(list, 0, 1, 0);
    fby_segments_begin_pass(list, FBY_PASS_OPS);
    fby_segments_append_copy(list, 0, UINT64_C(3) * FBY_BLOCK_BYTES, 0);
}

static void the_table_names_the_segment_of_each_block(void **state)
{
    (void)state;
    static const uint32_t owners[] = {0, 1, 1, 2, 3, 3, 3};
    static const uint32_t blocks[] = {3, 1, 3};
    struct fby_segments   list;
    uint8_t              *arena = calloc(1, ARENA);
    fby_segments_begin(&list, arena, 40);
    copies_of_each_pass(&list);
    uint64_t                       end  = fby_segments_finish(&list);
    const struct fby_segment_list *head = (const void *)(arena + list.list);
    assert_int_equal(head->n_segments, 4);
    assert_memory_equal(head->blocks, blocks, sizeof(blocks));
    const uint32_t *table = (const void *)(head + 1);
    assert_ptr_equal(list.segments, table + 8); /* a multiple of 8 bytes */
    for (uint32_t i = 0; i < 7; i++) {
        assert_ptr_equal((const uint8_t *)head + (size_t)8 * table[i],
            &list.segments[owners[i]]);
    }
    assert_int_equal(end, list.list + sizeof(*head) + 8 * sizeof(*table) +
                              4 * sizeof(struct fby_segment));
    free(arena);
}

static void a_list_that_is_only_counted_counts_the_same(void **state)
{
    (void)state;
    struct fby_segments list;
    struct fby_segments count = {.arena = NULL};
    uint8_t            *arena = calloc(1, ARENA);
    fby_segments_begin(&list, arena, 0);
    copies_of_each_pass(&list);
    copies_of_each_pass(&count);
    assert_int_equal(count.n, list.n);
    assert_int_equal(count.n_blocks, list.n_blocks);
    assert_memory_equal(count.blocks, list.blocks, sizeof(list.blocks));
    free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_copy_larger_than_a_segment_is_cut),
        cmocka_unit_test(a_copy_of_no_bytes_is_no_segment),
        cmocka_unit_test(a_list_begins_at_the_next_sixteen),
        cmocka_unit_test(the_table_names_the_segment_of_each_block),
        cmocka_unit_test(a_list_that_is_only_counted_counts_the_same),
    };
    return cmocka_run_group_tests_name(
        "trainer_client.segments_list", tests, NULL, NULL);
}
