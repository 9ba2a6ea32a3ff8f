/* Memory for the unpacking of one message: first the room that came with it,
 * then blocks from the heap, until the budget is used up. Nothing is freed
 * before all of it is. */
#include <assert.h>
#include <stdlib.h>

#include "common/mem.h"
#include "proto/column.h"

enum { BLOCK_BYTES = 16 << 10, ALIGN = 16 };

struct block {
    struct block *next;
    _Alignas(ALIGN) char bytes[];
};

static bool refill(struct arena *arena, size_t size)
{
    size_t room = size > BLOCK_BYTES ? size : BLOCK_BYTES;
    if (room > arena->budget) {
        return false;
    }
    struct block *block = fby_zalloc(sizeof(*block) + room);
    block->next         = arena->blocks;
    arena->blocks       = block;
    arena->budget -= room;
    arena->at   = (uint8_t *)block->bytes;
    arena->left = room;
    return true;
}

void *arena_take(struct arena *arena, size_t size)
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

void *arena_must(struct arena *arena, size_t size)
{
    void *memory = arena_take(arena, size);
    assert(memory != NULL);
    return memory;
}

void arena_free(void **blocks_p)
{
    struct block *block = *blocks_p;
    while (block != NULL) {
        struct block *next = block->next;
        free(block);
        block = next;
    }
    *blocks_p = NULL;
}
