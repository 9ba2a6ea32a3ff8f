/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/test.h"

#include "trainer_client/gpu/pass_grid.h"

static void assert_grid(const struct fby_cuda_launch *launch,
    enum fby_pass pass, uint32_t first, uint32_t blocks, uint32_t shared)
{
    struct fby_pass_grid grid = fby_pass_grid(launch, pass);
    assert_int_equal(grid.first, first);
    assert_int_equal(grid.blocks, blocks);
    assert_int_equal(grid.shared, shared);
}

static void the_blocks_of_a_pass_follow_those_of_the_passes_before(void **state)
{
    (void)state;
    const struct fby_cuda_launch launch = {.blocks = {7, 3, 2}, .shared = 99};
    assert_grid(&launch, FBY_PASS_EXPAND, 0, 7, 99);
    assert_grid(&launch, FBY_PASS_GREYS, 7, 3, 0);
    assert_grid(&launch, FBY_PASS_OPS, 10, 2, 0);
}

static void a_pass_without_blocks_moves_no_other(void **state)
{
    (void)state;
    const struct fby_cuda_launch launch = {.blocks = {7, 0, 2}};
    assert_grid(&launch, FBY_PASS_GREYS, 7, 0, 0);
    assert_grid(&launch, FBY_PASS_OPS, 7, 2, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            the_blocks_of_a_pass_follow_those_of_the_passes_before),
        cmocka_unit_test(a_pass_without_blocks_moves_no_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
