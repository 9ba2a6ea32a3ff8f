/* arena.h - the memory of one batch, lent to ZeroMQ chunk by chunk.
 *
 * An arena is one block of payload memory with a number of slots; a chunk is
 * sent from each without a copy. Its memory is charged when it is taken and
 * committed when work on it begins, so batches in turn reuse a few blocks whose
 * pages are in memory. Its creator and every message in flight hold it. The
 * last holder may be any thread, so a release only puts the arena on a list and
 * wakes the loop. The bytes stay charged until the loop collects the list. */
#ifndef FBY_WORKER_STAGES_ARENA_H
#define FBY_WORKER_STAGES_ARENA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <zmq.h>

#include "common/err.h"
#include "worker/stages/memory.h"

struct fby_arena;
struct fby_arenas; /* takes their memory from one pool and collects them */

/* `memory` must outlive *out. Errors: FBY_SYS  no eventfd can be created. */
FBY_CHECKED fby_err fby_arenas_create(
    struct fby_memory *memory, struct fby_arenas **out);
/* Collect the rest and destroy *self_p. Call it after zmq_ctx_term, so that no
 * message is in flight. NULL is fine. */
void fby_arenas_destroy(struct fby_arenas **self_p);

/* A descriptor that is readable when there is an arena to collect. */
int fby_arenas_fd(const struct fby_arenas *self);

/* Return the memory of all released arenas to the pool, and call `freed` with
 * the tag of each that has one. Returns the number of arenas. Thread: loop. */
size_t fby_arenas_collect(struct fby_arenas *self,
    void (*freed)(void *context, void *tag), void *context);

struct fby_arena_spec {
    size_t   size; /* bytes */
    uint32_t slots;
    void    *tag; /* for fby_arenas_collect; NULL: none */
};

/* Create an arena that the caller holds once. Its memory is charged, but not
 * yet committed. Errors: FBY_FULL  as fby_memory_reserve. */
FBY_CHECKED fby_err fby_arena_take(struct fby_arenas *home,
    const struct fby_arena_spec *spec, struct fby_arena **out);

/* Commit the arena's memory. Call once.
 * Errors: FBY_AGAIN  the system has none now. */
FBY_CHECKED fby_err fby_arena_commit(struct fby_arena *self);

/* The arena's memory; NULL before fby_arena_commit. */
uint8_t *fby_arena_data(struct fby_arena *self);

/* Release the caller's hold and set *self_p to NULL. NULL is fine. Thread: any.
 */
void fby_arena_release(struct fby_arena **self_p);

/* Initialise `message` with `size` bytes at `data` in the arena, as a message
 * of `slot`. The message holds the arena until libzmq frees it.
 *
 * Errors: FBY_SYS  the message does not hold the arena. */
FBY_CHECKED fby_err fby_arena_lend(struct fby_arena *self, uint32_t slot,
    uint8_t *data, size_t size, zmq_msg_t *message);

/* Whether a message of `slot` is in flight: its bytes must not change. */
bool fby_arena_is_lent(const struct fby_arena *self, uint32_t slot);

#endif
