/* arena.h - the memory of one batch, lent to ZeroMQ chunk by chunk.
 *
 * An arena is one block of payload memory and a number of slots, places in it
 * from which a chunk is sent without a copy. It is charged when it is taken and
 * placed when work on it begins, so that batches that wait take turns in few
 * blocks, which are warm. It is shared by its maker and by
 * every message in flight; who lets go last may be any thread, so letting go
 * only puts the arena on a list and wakes the loop. The loop collects, and only
 * then are the bytes free: until libzmq is done with them they stay charged. */
#ifndef FBY_WORKER_STAGES_ARENA_H
#define FBY_WORKER_STAGES_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <zmq.h>

#include "common/err.h"
#include "worker/stages/memory.h"

struct fby_arena;
struct fby_arenas; /* where they come from and go back to */

/* `memory` must outlive it. Errors: FBY_SYS no eventfd can be made. */
FBY_CHECKED fby_err fby_arenas_create(
    struct fby_memory *memory, struct fby_arenas **out);
/* After zmq_ctx_term, so that no message is in flight; collects the rest. */
void fby_arenas_destroy(struct fby_arenas **self_p);

/* Readable when there is something to collect. */
int fby_arenas_fd(const struct fby_arenas *self);

/* Give the memory of all arenas that nobody holds back to the pool, then call
 * `freed` with the tag of each that has one; returns how many there were.
 * Thread: the loop. */
size_t fby_arenas_collect(struct fby_arenas *self,
    void (*freed)(void *context, void *tag), void *context);

struct fby_arena_spec {
    size_t   size; /* bytes */
    uint32_t slots;
    void    *tag; /* for fby_arenas_collect; NULL: none */
};

/* An arena held once by the caller, its memory charged but not yet there.
 * Errors: FBY_FULL as fby_memory_try_take. */
FBY_CHECKED fby_err fby_arena_take(struct fby_arenas *home,
    const struct fby_arena_spec *spec, struct fby_arena **out);

/* Find its memory, once. Errors: FBY_AGAIN the system has none. */
FBY_CHECKED fby_err fby_arena_commit(struct fby_arena *self);

/* NULL before it was placed. */
uint8_t *fby_arena_data(struct fby_arena *self);

/* Let go of the caller's hold and set *self_p to NULL; NULL is fine. Any
 * thread. */
void fby_arena_release(struct fby_arena **self_p);

/* Make `message` of `size` bytes at `data`, which lie in the arena, as a
 * message of `slot`. The message holds the arena until libzmq frees it.
 *
 * Errors: FBY_SYS; nothing is held then. */
FBY_CHECKED fby_err fby_arena_lend(struct fby_arena *self, uint32_t slot,
    uint8_t *data, size_t size, zmq_msg_t *message);

/* Whether a message of `slot` is still in flight: its bytes must not change. */
bool fby_arena_is_lent(const struct fby_arena *self, uint32_t slot);

#endif
