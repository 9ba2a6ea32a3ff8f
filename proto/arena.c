/* The arena of one message (schema.h). Memory comes from the caller's buffer
 * first, then from heap blocks, until the budget is used up. All blocks are
 * freed together. */
#include <assert.h>
#include <stdlib.h>

#include "common/mem.h"
#include "proto/schema.h"

enum { BLOCK_BYTES = 16 << 10, ALIGN = 16 };

struct arena_block {
    struct arena_block *next;
    _Alignas(ALIGN) char bytes[];
};

/* Begin a new block of at least `size` bytes; false when the budget is used
 * up. */
static bool add_block(struct message_arena *arena, size_t size)
{
    size_t capacity = size > BLOCK_BYTES ? size : BLOCK_BYTES;
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
    if (size > SIZE_MAX - ALIGN) {
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
    assert(memory != NULL);
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
