/* SPDX-License-Identifier: Apache-2.0 */
/* memory.h - payload memory: page-aligned blocks from a pool with a limit.
 *
 * The bytes of batches and of fetched files are charged to a pool and never
 * exceed its limit. A caller who needs more gets FBY_FULL or waits. Freed
 * blocks are kept and reused, newest first, because each fresh page costs a
 * page fault. A kept block is unmapped when a block of another size needs its
 * bytes, or when it was unused for a while. A block may be reserved before it
 * is needed. Then it is charged, but has no pages until it is committed. */
#ifndef FBY_WORKER_STAGES_MEMORY_H
#define FBY_WORKER_STAGES_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "common/err.h"

struct fby_memory;

struct fby_memory_block {
    uint8_t *data; /* page-aligned; NULL: reserved, not yet committed */
    size_t   size; /* bytes that are charged for it; 0: no block */
};

struct fby_memory_counts {
    size_t limit;    /* bytes */
    size_t used;     /* bytes of allocated and reserved blocks; <= limit */
    size_t reserved; /* bytes of blocks reserved and not yet committed */
    size_t kept;     /* bytes of freed blocks that are kept for reuse. The bytes
                        with pages, used - reserved + kept, are <= limit */
};

/* Create an empty pool. */
struct fby_memory *fby_memory_create(size_t limit_bytes);

/* Destroy a pool whose blocks have all been freed. NULL is allowed. */
void fby_memory_destroy(struct fby_memory **self_p);

/* Allocate a block of at least `size` bytes; its contents are undefined.
 * Callers are served in the order of their calls, so that small blocks cannot
 * starve a large one. Thread: any.
 *
 * Ownership: the caller frees the block with fby_memory_free.
 * Blocks:    until enough bytes are free.
 * Errors:    FBY_FULL  the block can never fit
 *            FBY_GONE  the pool was closed. */
FBY_CHECKED fby_err fby_memory_allocate(
    struct fby_memory *self, size_t size, struct fby_memory_block *out);

/* Charge a block of at least `size` bytes, to be committed later. The caller
 * frees the block, whether it was committed or not. Thread: any.
 * Errors: FBY_FULL  too few bytes are free now, or `size` rounded up to pages
 *                   exceeds the limit. */
FBY_CHECKED fby_err fby_memory_reserve(
    struct fby_memory *self, size_t size, struct fby_memory_block *out);

/* Give pages to a reserved block. Its `size` may grow by an eighth, because a
 * kept block may be used. Thread: any.
 * Errors: FBY_AGAIN  the system has no memory; the block stays reserved. */
FBY_CHECKED fby_err fby_memory_commit(
    struct fby_memory *self, struct fby_memory_block *block);

/* Free *block and set its size to 0. A size of 0 is allowed. Thread: any. */
void fby_memory_free(struct fby_memory *self, struct fby_memory_block *block);

/* Unmap the kept blocks that were freed at or before the time `freed_until_ns`
 * (fby_now_ns). Thread: any. */
void fby_memory_trim(struct fby_memory *self, int64_t freed_until_ns);

/* Let all present and later calls of fby_memory_allocate fail with FBY_GONE. */
void fby_memory_close(struct fby_memory *self);

/* A snapshot of the counts. Thread: any. */
struct fby_memory_counts fby_memory_counts(struct fby_memory *self);

#endif
