/* SPDX-License-Identifier: Apache-2.0 */
/* Allocate memory for one message from an arena (schema.h): from the caller's
 * buffer first, then from heap blocks. The budget limits the bytes of all heap
 * blocks, which are freed together. */
#include <assert.h>
#include <stdlib.h>

#include "common/mem.h"
#include "proto/schema.h"

enum {
    MIN_BLOCK_BYTES = 16 << 10, /* smallest heap block */
    ALIGN           = 16        /* alignment of all memory, in bytes */
};

struct arena_block {
    struct arena_block *next;
    _Alignas(ALIGN) char bytes[];
};

/* Make a new block of at least `size` bytes the current one. The bytes left in
 * the old one stay unused. Returns false if the budget is too small. */
static bool add_block(struct message_arena *arena, size_t size)
{
    size_t capacity = size > MIN_BLOCK_BYTES ? size : MIN_BLOCK_BYTES;
    if (capacity > arena->budget) {
        return false;
    }
    struct arena_block *block = fby_zalloc(sizeof(*block) + capacity);
    block->next               = arena->blocks;
    arena->blocks             = block;
    arena->budget -= capacity;
    arena->next = (uint8_t *)block->bytes;
    arena->left = capacity;
    return true;
}

void *arena_allocate(struct message_arena *arena, size_t size)
{
    if (size > SIZE_MAX - ALIGN) { /* rounding up would overflow */
        return NULL;
    }
    size_t rounded = (size + ALIGN - 1) / ALIGN * ALIGN;
    if (rounded > arena->left && !add_block(arena, rounded)) {
        return NULL;
    }
    void *memory = arena->next;
    arena->next += rounded;
    arena->left -= rounded;
    return memory;
}

void *arena_allocate_or_abort(struct message_arena *arena, size_t size)
{
    void *memory = arena_allocate(arena, size);
    assert(memory != NULL); /* packing has no budget that could be used up */
    return memory;
}

void arena_free_blocks(void **blocks_p)
{
    struct arena_block *block = *blocks_p;
    while (block != NULL) {
        struct arena_block *next = block->next;
        free(block);
        block = next;
    }
    *blocks_p = NULL;
}
