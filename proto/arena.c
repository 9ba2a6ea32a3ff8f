/* An arena for one message (schema.h): first the caller's buffer, then blocks
 * from the heap, until the budget is used up. All blocks are freed together. */
#include <assert.h>
#include <stdlib.h>

#include "common/mem.h"
#include "proto/column.h"

enum { BLOCK_BYTES = 16 << 10, ALIGN = 16 };

struct arena_block {
    struct arena_block *next;
    _Alignas(ALIGN) char bytes[];
};

static bool refill(struct message_arena *arena, size_t size)
{
    size_t room = size > BLOCK_BYTES ? size : BLOCK_BYTES;
    if (room > arena->budget) {
        return false;
    }
    struct arena_block *block = fby_zalloc(sizeof(*block) + room);
    block->next               = arena->blocks;
    arena->blocks             = block;
    arena->budget -= room;
    arena->at   = (uint8_t *)block->bytes;
    arena->left = room;
    return true;
}

void *arena_take(struct message_arena *arena, size_t size)
{
    if (size > SIZE_MAX - ALIGN) {
        return NULL;
    }
    size_t rounded = (size + ALIGN - 1) / ALIGN * ALIGN;
    if (rounded > arena->left && !refill(arena, rounded)) {
        return NULL;
    }
    void *taken = arena->at;
    arena->at += rounded;
    arena->left -= rounded;
    return taken;
}

void *arena_take_unlimited(struct message_arena *arena, size_t size)
{
    void *memory = arena_take(arena, size);
    assert(memory != NULL);
    return memory;
}

void arena_free(void **blocks_p)
{
    struct arena_block *block = *blocks_p;
    while (block != NULL) {
        struct arena_block *next = block->next;
        free(block);
        block = next;
    }
    *blocks_p = NULL;
}
