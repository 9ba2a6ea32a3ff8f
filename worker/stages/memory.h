/* memory.h - payload memory: page-aligned blocks from a pool with a limit.
 *
 * The bytes of batches and of fetched members are charged here and never exceed
 * the limit; beyond it a caller gets FBY_FULL or waits. Returned blocks are
 * kept for reuse, newest first, because each fresh page costs a fault. A kept
 * block is unmapped when a block of another size needs its bytes, or when it
 * was unused for a while. Memory may be reserved before it is needed: a
 * reserved block is charged, but has no pages until it is committed. */
#ifndef FBY_WORKER_STAGES_MEMORY_H
#define FBY_WORKER_STAGES_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "common/err.h"

struct fby_memory;

struct fby_memory_block { /* NULL, 0: no block */
    uint8_t *data; /* page-aligned; contents are undefined; NULL with a size:
                      reserved, not yet committed */
    size_t   size; /* bytes charged, at least those asked for */
};

struct fby_memory_counts {
    size_t limit;    /* bytes */
    size_t used;     /* in blocks taken or reserved; <= limit */
    size_t reserved; /* of these, not yet committed */
    size_t kept;     /* in blocks waiting for reuse;
                        used - reserved + kept <= limit */
    size_t peak;     /* highest `used` so far */
};

/* An empty pool. */
struct fby_memory *fby_memory_create(size_t limit_bytes);

/* Destroy a pool to which every block has been returned. NULL is fine. */
void fby_memory_destroy(struct fby_memory **self_p);

/* Take a block of at least `size` bytes. Thread: any.
 *
 * Ownership: the caller returns it with fby_memory_give.
 * Errors:    FBY_FULL  not now; never, if `size` rounded up to pages exceeds
 *                      the limit. */
FBY_CHECKED fby_err fby_memory_try_take(
    struct fby_memory *self, size_t size, struct fby_memory_block *out);

/* The same, but wait until enough is free. Callers are served in the order of
 * their calls, so that small blocks cannot starve a large one.
 *
 * Errors: FBY_FULL  the block can never fit
 *         FBY_GONE  the pool was closed. */
FBY_CHECKED fby_err fby_memory_take(
    struct fby_memory *self, size_t size, struct fby_memory_block *out);

/* Charge a block of at least `size` bytes, to be committed later. The caller
 * returns it, committed or not. Thread: any.
 * Errors: as fby_memory_try_take. */
FBY_CHECKED fby_err fby_memory_reserve(
    struct fby_memory *self, size_t size, struct fby_memory_block *out);

/* Commit a reserved block, whose `size` may grow by an eighth. Thread: any.
 * Errors: FBY_AGAIN  the system has no memory; the block stays reserved. */
FBY_CHECKED fby_err fby_memory_commit(
    struct fby_memory *self, struct fby_memory_block *block);

/* Return a block and clear *block; no block is fine. Thread: any. */
void fby_memory_give(struct fby_memory *self, struct fby_memory_block *block);

/* Unmap the blocks that were returned at `since_ns` (fby_now_ns) or before.
 * Thread: any. */
void fby_memory_trim(struct fby_memory *self, int64_t since_ns);

/* Let all present and later calls of fby_memory_take fail with FBY_GONE. */
void fby_memory_close(struct fby_memory *self);

/* A snapshot of the counts. Thread: any. */
struct fby_memory_counts fby_memory_counts(struct fby_memory *self);

#endif
