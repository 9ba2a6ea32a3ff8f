#include "tests/trainer_client/rehearsal.h"

#include <stdlib.h>

#include "trainer_client/expand/block.h"

void rehearse(const struct rehearsal *rehearsal)
{
    struct fby_segment_list about;
    struct fby_block_shared block;
    memcpy(&about, rehearsal->arena + rehearsal->list, sizeof(about));
    uint8_t *pixels = malloc(about.shared + 1); /* as much as a block gets */
    struct fby_pair        *pair   = malloc(sizeof(*pair));
    struct fby_block_memory memory = {
        .arena  = rehearsal->arena,
        .out    = rehearsal->out,
        .list   = rehearsal->list,
        .block  = &block,
        .pixels = pixels,
    };
    for (uint32_t i = 0; i < about.blocks[FBY_PASS_EXPAND]; i++) {
        memset(&block, 0xa5, sizeof(block)); /* what others left */
        memset(pixels, 0xa5, about.shared);
        fby_block_run(&memory, i);
    }
    memory.pixels = (uint8_t *)pair;
    uint32_t greys =
        about.blocks[FBY_PASS_EXPAND] + about.blocks[FBY_PASS_GREYS];
    for (uint32_t i = about.blocks[FBY_PASS_EXPAND];
         i < fby_block_count(&about); i++) {
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
