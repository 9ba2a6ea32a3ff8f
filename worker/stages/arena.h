/* SPDX-License-Identifier: Apache-2.0 */
/* arena.h - the memory of one batch, lent to ZeroMQ chunk by chunk.
 *
 * An arena is one block of memory. Each chunk (a part of the batch that is one
 * message) is sent from there without a copy, and has a slot that counts its
 * messages in flight. The arena's bytes are charged to a pool (memory.h) when
 * it is created. The block gets its pages when work on the batch begins, so a
 * queue of batches reuses a few blocks. The creator and every message in flight
 * have a reference to the arena. The last reference may be dropped on any
 * thread, which only puts the arena on a list and wakes the loop. The bytes
 * stay charged until the loop frees the arenas of the list. */
#ifndef FBY_WORKER_STAGES_ARENA_H
#define FBY_WORKER_STAGES_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <zmq.h>

#include "common/err.h"
#include "worker/stages/memory.h"

struct fby_arena;
struct fby_arenas; /* a memory pool, and the list of released arenas from it */

/* Create an empty list, for arenas from `memory`, which must outlive *out.
 * Errors: FBY_SYS  no eventfd can be created. */
FBY_CHECKED fby_err fby_arenas_create(
    struct fby_memory *memory, struct fby_arenas **out);
/* Free the released arenas and destroy *self_p. Call after zmq_ctx_term, so
 * that no message is in flight. NULL is allowed. */
void fby_arenas_destroy(struct fby_arenas **self_p);

/* A descriptor that is readable when there may be a released arena. */
int fby_arenas_fd(const struct fby_arenas *self);

/* Free all released arenas: return their memory to the pool. Call `freed`,
 * unless it is NULL, with the tag of each arena that has one. Returns the
 * number of arenas. Thread: loop. */
size_t fby_arenas_free_released(struct fby_arenas *self,
    void (*freed)(void *context, void *tag), void *context);

struct fby_arena_spec {
    size_t   size;  /* bytes */
    uint32_t slots; /* number of slots, one for each chunk */
    void *tag; /* passed to `freed` by fby_arenas_free_released; NULL: none */
};

/* Create an arena with one reference. Its memory is charged, but not yet
 * committed. Errors: FBY_FULL  as fby_memory_reserve. */
FBY_CHECKED fby_err fby_arena_create(struct fby_arenas *arenas,
    const struct fby_arena_spec *spec, struct fby_arena **out);

/* Commit the arena's memory. Call once.
 * Errors: FBY_AGAIN  the system has no memory now. */
FBY_CHECKED fby_err fby_arena_commit(struct fby_arena *self);

/* The arena's memory; NULL before fby_arena_commit. */
uint8_t *fby_arena_data(struct fby_arena *self);

/* Drop a reference and set *self_p to NULL. NULL is allowed. Thread: any. */
void fby_arena_release(struct fby_arena **self_p);

/* Initialise `message` with `size` bytes at `data` in the arena, as a message
 * of `slot`. The message holds the arena until libzmq frees it.
 *
 * Errors: FBY_SYS  out of memory; the message does not hold the arena. */
FBY_CHECKED fby_err fby_arena_lend(struct fby_arena *self, uint32_t slot,
    uint8_t *data, size_t size, zmq_msg_t *message);

/* True if a message of `slot` is in flight, so its bytes must not change. */
bool fby_arena_is_lent(const struct fby_arena *self, uint32_t slot);

#endif
