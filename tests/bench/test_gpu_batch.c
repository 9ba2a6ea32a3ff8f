/* SPDX-License-Identifier: Apache-2.0 */
/* The batches that GPU benches measure, small: the kernels' blocks, run on the
 * host, make what the host makes. */
#include "tests/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/gpu_batch.h"
#include "tests/trainer_client/kernel_run.h"
#include "trainer_client/expand/segment.h"

/* More rows than a group has, of all but pictures. */
static uint32_t some_rows(enum gpu_case_number number)
{
    return gpu_cases[number].rows > 1000 ? FBY_BLOCK_ROWS + 44 : 5;
}

static void expand_with_kernels(const struct gpu_batch *batch, uint8_t *out)
{
    memset(out, GPU_UNTOUCHED, batch->out_bytes);
    run_kernel(&(struct kernel_run){
        .arena = batch->arena,
        .list  = batch->list_offset,
        .out   = out,
    });
}

static void the_kernels_make_what_the_host_makes(void **state)
{
    (void)state;
    for (int i = 0; i < GPU_CASES; i++) {
        enum gpu_case_number number = (enum gpu_case_number)i;
        struct gpu_batch     batch  = gpu_batch_make(number, some_rows(number));
        uint8_t             *out    = malloc(batch.out_bytes);
        expand_with_kernels(&batch, out);
        assert_memory_equal(out, batch.expected, batch.out_bytes);
        assert_in_range(
            batch.moved_bytes, batch.bytes, batch.bytes + batch.out_bytes);
        free(out);
        gpu_batch_free(&batch);
    }
}

static void a_batch_has_the_kernels_of_its_list(void **state)
{
    (void)state;
    for (int i = 0; i < GPU_CASES; i++) {
        struct fby_segment_list list;
        struct gpu_batch batch = gpu_batch_make((enum gpu_case_number)i, 5);
        memcpy(&list, batch.arena + batch.list_offset, sizeof(list));
        assert_memory_equal(batch.blocks, list.blocks, sizeof(list.blocks));
        assert_int_equal(batch.shared_bytes, list.shared);
        assert_int_equal(batch.blocks[FBY_PASS_OPS] > 0, i == GPU_OPS_BF16);
        gpu_batch_free(&batch);
    }
}

static void each_case_is_documented(void **state)
{
    (void)state;
    static char text[1 << 18];
    FILE       *file = fopen(FBY_TEST_DATA "/../../docs/performance.md", "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
    (void)fclose(file);
    for (int i = 0; i < GPU_CASES; i++) {
        char name[64];
        (void)snprintf(name, sizeof(name), "`%s`", gpu_cases[i].name);
        assert_non_null(strstr(text, name));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_kernels_make_what_the_host_makes),
        cmocka_unit_test(a_batch_has_the_kernels_of_its_list),
        cmocka_unit_test(each_case_is_documented),
    };
    return cmocka_run_group_tests_name("bench.gpu_batch", tests, NULL, NULL);
}
