#include "worker/stages/arena.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "common/mem.h"
#include "common/tsan.h"

struct arena_slot { /* the hint of a message, see zmq_msg_init_data */
    struct fby_arena *arena;
    atomic_uint       in_flight; /* messages */
};

struct fby_arena {
    struct fby_arenas      *home;
    struct fby_memory_block block;
    atomic_uint             holds; /* reference count */
    struct fby_arena       *next;  /* in `released` of home */
    void                   *tag;
    struct arena_slot       slots[];
};

struct fby_arenas {
    struct fby_memory *memory;
    _Atomic(struct fby_arena *)
        released; /* pushed by any thread, taken by the loop */
    int event_fd;
};

fby_err fby_arenas_create(struct fby_memory *memory, struct fby_arenas **out)
{
    int event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (event_fd < 0) {
        return FBY_SYS;
    }
    struct fby_arenas *self = fby_zalloc(sizeof(*self));
    self->memory            = memory;
    self->event_fd          = event_fd;
    *out                    = self;
    return FBY_OK;
}

static void ignore(void *context, void *tag)
{
    (void)context;
    (void)tag;
}

void fby_arenas_destroy(struct fby_arenas **self_p)
{
    struct fby_arenas *self = *self_p;
    if (self == NULL) {
        return;
    }
    *self_p = NULL;
    fby_arenas_collect(self, ignore, NULL);
    close(self->event_fd);
    free(self);
}

int fby_arenas_fd(const struct fby_arenas *self)
{
    return self->event_fd;
}

/* The list is only emptied as a whole, so no arena can leave it and return
 * while another thread pushes: no ABA problem. */
size_t fby_arenas_collect(struct fby_arenas *self,
    void (*freed)(void *context, void *tag), void *context)
{
    uint64_t count = 0;
    if (read(self->event_fd, &count, sizeof(count)) < 0) {
        count = 0; /* no wakeup was pending; the list may have arenas anyway */
    }
    struct fby_arena *arena = atomic_exchange(&self->released, NULL);
    size_t            n     = 0;
    while (arena != NULL) {
        struct fby_arena *next = arena->next;
        void             *tag  = arena->tag;
        fby_memory_give(self->memory, &arena->block);
        free(arena);
        if (tag != NULL) {
            freed(context, tag);
        }
        arena = next;
        n++;
    }
    return n;
}

fby_err fby_arena_take(struct fby_arenas *home,
    const struct fby_arena_spec *spec, struct fby_arena **out)
{
    struct fby_memory_block block;
    fby_err err = fby_memory_reserve(home->memory, spec->size, &block);
    if (err != FBY_OK) {
        return err;
    }
    struct fby_arena *self =
        fby_zalloc(sizeof(*self) + spec->slots * sizeof(self->slots[0]));
    self->home  = home;
    self->block = block;
    self->tag   = spec->tag;
    atomic_init(&self->holds, 1);
    for (uint32_t i = 0; i < spec->slots; i++) {
        self->slots[i].arena = self;
    }
    *out = self;
    return FBY_OK;
}

fby_err fby_arena_commit(struct fby_arena *self)
{
    return fby_memory_commit(self->home->memory, &self->block);
}

uint8_t *fby_arena_data(struct fby_arena *self)
{
    return self->block.data;
}

/* A write fails only if the counter is at its maximum: readable already. */
static void wake_loop(int event_fd)
{
    const uint64_t one = 1;
    if (write(event_fd, &one, sizeof(one)) < 0) {
        return;
    }
}

static void release(struct fby_arena *self)
{
    if (atomic_fetch_sub(&self->holds, 1) != 1) {
        return;
    }
    struct fby_arenas *home = self->home;
    self->next              = atomic_load(&home->released);
    while (!atomic_compare_exchange_weak(&home->released, &self->next, self)) {
    }
    wake_loop(home->event_fd);
}

void fby_arena_release(struct fby_arena **self_p)
{
    struct fby_arena *self = *self_p;
    if (self != NULL) {
        *self_p = NULL;
        release(self);
    }
}

/* libzmq calls this, on one of its threads or ours. */
static void message_done(void *data, void *hint)
{
    (void)data;
    struct arena_slot *slot = hint;
    FBY_TSAN_ACQUIRE(slot);
    atomic_fetch_sub(&slot->in_flight, 1);
    release(slot->arena);
}

fby_err fby_arena_lend(struct fby_arena *self, uint32_t slot, uint8_t *data,
    size_t size, zmq_msg_t *message)
{
    struct arena_slot *lent = &self->slots[slot];
    atomic_fetch_add(&lent->in_flight, 1);
    atomic_fetch_add(&self->holds, 1);
    FBY_TSAN_RELEASE(lent);
    if (zmq_msg_init_data(message, data, size, message_done, lent) != 0) {
        message_done(data, lent);
        return FBY_SYS;
    }
    return FBY_OK;
}

bool fby_arena_is_lent(const struct fby_arena *self, uint32_t slot)
{
    return atomic_load(&self->slots[slot].in_flight) > 0;
}
