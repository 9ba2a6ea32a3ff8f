/* SPDX-License-Identifier: Apache-2.0 */
/* arena.c - reference counts, and the lock-free list of released arenas. */
#include "worker/stages/arena.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "common/mem.h"
#include "common/wakeup.h"

/* libzmq is not instrumented, so ThreadSanitizer must be told that all accesses
 * to a message come before message_done. gcc defines __SANITIZE_THREAD__; for
 * clang the build defines FBY_TSAN_BUILD. */
#if defined(__SANITIZE_THREAD__) || defined(FBY_TSAN_BUILD)
void __tsan_acquire(void *addr);
void __tsan_release(void *addr);
#define TSAN_ACQUIRE(addr) __tsan_acquire(addr)
#define TSAN_RELEASE(addr) __tsan_release(addr)
#else
#define TSAN_ACQUIRE(addr) ((void)(addr))
#define TSAN_RELEASE(addr) ((void)(addr))
#endif

struct arena_slot { /* passed to message_done as its `hint` */
    struct fby_arena *arena;
    atomic_uint       in_flight; /* number of messages that libzmq has */
};

struct fby_arena {
    struct fby_arenas      *arenas; /* has the pool and the list */
    struct fby_memory_block block;
    atomic_uint             references;
    struct fby_arena       *next; /* in arenas->released */
    void                   *tag;
    struct arena_slot       slots[];
};

struct fby_arenas {
    struct fby_memory *memory;
    _Atomic(struct fby_arena *)
        released; /* list: any thread adds arenas, the loop empties it */
    struct fby_wakeup wakeup; /* sent for each released arena */
};

fby_err fby_arenas_create(struct fby_memory *memory, struct fby_arenas **out)
{
    struct fby_wakeup wakeup = fby_wakeup_open();
    if (wakeup.fd < 0) {
        return FBY_SYS;
    }
    *out           = fby_zalloc(sizeof(**out));
    (*out)->memory = memory;
    (*out)->wakeup = wakeup;
    return FBY_OK;
}

void fby_arenas_destroy(struct fby_arenas **self_p)
{
    struct fby_arenas *self = *self_p;
    if (self == NULL) {
        return;
    }
    *self_p = NULL;
    fby_arenas_free_released(self, NULL, NULL);
    fby_wakeup_close(&self->wakeup);
    free(self);
}

int fby_arenas_fd(const struct fby_arenas *self)
{
    return self->wakeup.fd;
}

/* The list is only emptied as a whole. So no arena can leave the list and come
 * back while another thread adds one, and there is no ABA problem. */
size_t fby_arenas_free_released(struct fby_arenas *self,
    void (*freed)(void *context, void *tag), void *context)
{
    fby_wakeup_clear(&self->wakeup);
    struct fby_arena *arena        = atomic_exchange(&self->released, NULL);
    size_t            freed_arenas = 0;
    while (arena != NULL) {
        struct fby_arena *next = arena->next;
        void             *tag  = arena->tag;
        fby_memory_free(self->memory, &arena->block);
        free(arena);
        if (tag != NULL && freed != NULL) {
            freed(context, tag);
        }
        arena = next;
        freed_arenas++;
    }
    return freed_arenas;
}

fby_err fby_arena_create(struct fby_arenas *arenas,
    const struct fby_arena_spec *spec, struct fby_arena **out)
{
    struct fby_memory_block block;
    fby_err err = fby_memory_reserve(arenas->memory, spec->size, &block);
    if (err != FBY_OK) {
        return err;
    }
    struct fby_arena *self =
        fby_zalloc(sizeof(*self) + spec->slots * sizeof(self->slots[0]));
    self->arenas = arenas;
    self->block  = block;
    self->tag    = spec->tag;
    atomic_init(&self->references, 1);
    for (uint32_t i = 0; i < spec->slots; i++) {
        self->slots[i].arena = self;
    }
    *out = self;
    return FBY_OK;
}

fby_err fby_arena_commit(struct fby_arena *self)
{
    return fby_memory_commit(self->arenas->memory, &self->block);
}

uint8_t *fby_arena_data(struct fby_arena *self)
{
    return self->block.data;
}

/* Drop a reference; the last one adds the arena to the list. */
static void drop_reference(struct fby_arena *self)
{
    if (atomic_fetch_sub(&self->references, 1) != 1) {
        return;
    }
    struct fby_arenas *arenas = self->arenas;
    self->next                = atomic_load(&arenas->released);
    while (
        !atomic_compare_exchange_weak(&arenas->released, &self->next, self)) {
        /* the failed exchange has set self->next to the list's first arena */
    }
    fby_wakeup_send(&arenas->wakeup);
}

void fby_arena_release(struct fby_arena **self_p)
{
    struct fby_arena *self = *self_p;
    if (self != NULL) {
        *self_p = NULL;
        drop_reference(self);
    }
}

/* Called by libzmq, on any thread, when it has finished with a message. */
static void message_done(void *data, void *hint)
{
    (void)data;
    struct arena_slot *slot = hint;
    TSAN_ACQUIRE(slot);
    atomic_fetch_sub(&slot->in_flight, 1);
    drop_reference(slot->arena);
}

fby_err fby_arena_lend(struct fby_arena *self, uint32_t slot, uint8_t *data,
    size_t size, zmq_msg_t *message)
{
    struct arena_slot *lent = &self->slots[slot];
    atomic_fetch_add(&lent->in_flight, 1);
    atomic_fetch_add(&self->references, 1);
    TSAN_RELEASE(lent);
    if (zmq_msg_init_data(message, data, size, message_done, lent) != 0) {
        message_done(data, lent); /* undo both additions */
        return FBY_SYS;
    }
    return FBY_OK;
}

bool fby_arena_is_lent(const struct fby_arena *self, uint32_t slot)
{
    return atomic_load(&self->slots[slot].in_flight) > 0;
}
