/* memory.h - payload memory: page-aligned blocks out of one bounded pool.
 *
 * What batches and fetched members occupy is charged here, in bytes, and never
 * grows past the limit; beyond it a taker is reported FBY_FULL or waits. Blocks are
 * kept for reuse, the newest first, because fresh pages cost a fault each; kept
 * ones are given back to the system as soon as a block of another size needs
 * the room, or when nobody wanted them for a while. Memory may be reserved
 * before it is needed: what waits for its work takes room, but no pages. */
#ifndef FBY_WORKER_STAGES_MEMORY_H
#define FBY_WORKER_STAGES_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "common/err.h"

struct fby_memory;

struct fby_memory_block { /* NULL, 0: nothing */
    uint8_t *data; /* page-aligned; contents are undefined; NULL with a size:
                      reserved, not yet placed */
    size_t   size; /* bytes, at least those asked for; what is charged */
};

struct fby_memory_counts {
    size_t limit;    /* bytes */
    size_t used;     /* in blocks that somebody holds; <= limit */
    size_t reserved; /* of these, not yet placed */
    size_t kept;     /* in blocks waiting for reuse;
                        used - reserved + kept <= limit */
    size_t peak;     /* highest `used` so far */
};

struct fby_memory *fby_memory_create(size_t limit_bytes);
/* Every block must have been given back. */
void fby_memory_destroy(struct fby_memory **self_p);

/* A block of at least `size` bytes; the caller gives it back. Any thread.
 *
 * Errors: FBY_FULL   not now (never, when `size` rounded up to pages is more
 *                    than the limit) */
FBY_CHECKED fby_err fby_memory_try_take(
    struct fby_memory *self, size_t size, struct fby_memory_block *out);

/* The same, waiting until others have given back enough; in the order of
 * asking, so that a large block is not passed by small ones for ever.
 *
 * Errors: FBY_FULL   it can never fit
 *         FBY_GONE   the pool was closed */
FBY_CHECKED fby_err fby_memory_take(
    struct fby_memory *self, size_t size, struct fby_memory_block *out);

/* Charge a block of at least `size` bytes now that is placed later; the caller
 * gives it back, placed or not. Any thread. Errors: as fby_memory_try_take. */
FBY_CHECKED fby_err fby_memory_reserve(
    struct fby_memory *self, size_t size, struct fby_memory_block *out);

/* Find memory for a reserved block, whose `size` may grow by an eighth.
 * Any thread. Errors: FBY_AGAIN  the system has none; it stays reserved. */
FBY_CHECKED fby_err fby_memory_commit(
    struct fby_memory *self, struct fby_memory_block *block);

/* Give a block back and clear it; an empty one is fine. Any thread. */
void fby_memory_give(struct fby_memory *self, struct fby_memory_block *block);

/* Give to the system what has been kept since `since_ns` (fby_now_ns) or
 * longer. Any thread. */
void fby_memory_trim(struct fby_memory *self, int64_t since_ns);

/* Wake all who wait in take; later ones are refused. */
void fby_memory_close(struct fby_memory *self);

struct fby_memory_counts fby_memory_counts(struct fby_memory *self);

#endif
