/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/trainer_client/kernel_run.h"

#include <stdlib.h>

#include "trainer_client/expand/block.h"

void run_kernel(const struct kernel_run *run)
{
    struct fby_segment_list about;
    struct fby_block_shared block;
    memcpy(&about, run->arena + run->list, sizeof(about));
    uint8_t *pixels =
        malloc(about.shared + 1); /* the shared memory of a block */
    struct fby_pair        *pair   = malloc(sizeof(*pair));
    struct fby_block_memory memory = {
        .arena   = run->arena,
        .out     = run->out,
        .list    = run->list,
        .shared  = &block,
        .scratch = pixels,
    };
    for (uint32_t i = 0; i < about.blocks[FBY_PASS_EXPAND]; i++) {
        memset(&block, 0xa5, sizeof(block)); /* as other blocks leave it */
        memset(pixels, 0xa5, about.shared);
        fby_block_run_expand(&memory, i);
    }
    memory.scratch = (uint8_t *)pair;
    uint32_t greys =
        about.blocks[FBY_PASS_EXPAND] + about.blocks[FBY_PASS_GREYS];
    for (uint32_t i = about.blocks[FBY_PASS_EXPAND];
         i < fby_list_blocks(&about); i++) {
        memset(&block, 0xa5, sizeof(block));
        memset(pair, 0xa5, sizeof(*pair));
        if (i < greys) {
            fby_block_run_greys(&memory, i);
        } else {
            fby_block_run_ops(&memory, i);
        }
    }
    free(pair);
    free(pixels);
}
