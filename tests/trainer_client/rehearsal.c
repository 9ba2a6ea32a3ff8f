#include "tests/trainer_client/rehearsal.h"

#include <stdlib.h>

#include "trainer_client/expand_block.h"

void rehearse(const struct rehearsal *rehearsal)
{
    struct fby_segment_list about;
    struct fby_block        block;
    memcpy(&about, rehearsal->arena + rehearsal->list, sizeof(about));
    uint8_t *pixels = malloc(about.shared + 1); /* as much as a block gets */
    const struct fby_block_memory memory = {
        .arena  = rehearsal->arena,
        .out    = rehearsal->out,
        .list   = rehearsal->list,
        .block  = &block,
        .pixels = pixels,
    };
    for (uint32_t i = 0; i < about.n_blocks; i++) {
        memset(&block, 0xa5, sizeof(block)); /* what others left */
        memset(pixels, 0xa5, about.shared);
        fby_block_run(&memory, i);
    }
    free(pixels);
}
