/* SPDX-License-Identifier: Apache-2.0 */
/* memory.c - a list of kept blocks, and a queue of callers that wait. */
#include "worker/stages/memory.h"

#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "common/clock.h"
#include "common/mem.h"
#include "common/pages.h"

enum { PAGE = 4096 /* bytes */, MAX_KEPT = 64 /* blocks */ };

struct kept_block {
    struct fby_memory_block block;
    int64_t                 freed_ns; /* time when it was freed */
};

struct fby_memory {
    pthread_mutex_t lock;    /* guards all below */
    pthread_cond_t  changed; /* a block was freed, or `serving` or `closed`
                                has changed */
    struct fby_memory_counts counts;
    struct kept_block        kept[MAX_KEPT]; /* oldest first */
    size_t                   n_kept;
    uint64_t next_ticket; /* of the next call of fby_memory_allocate */
    uint64_t serving;     /* ticket of the call that may allocate now */
    bool     closed;
};

struct fby_memory *fby_memory_create(size_t limit_bytes)
{
    struct fby_memory *self = fby_zalloc(sizeof(*self));
    self->counts.limit      = limit_bytes;
    pthread_mutex_init(&self->lock, NULL);
    pthread_cond_init(&self->changed, NULL);
    return self;
}

/* Remove block `i` from `kept`, and preserve the order of the others. */
static struct fby_memory_block remove_kept(struct fby_memory *self, size_t i)
{
    struct fby_memory_block block = self->kept[i].block;
    self->n_kept--;
    self->counts.kept -= block.size;
    for (; i < self->n_kept; i++) {
        self->kept[i] = self->kept[i + 1];
    }
    return block;
}

static void unmap_oldest(struct fby_memory *self)
{
    struct fby_memory_block block = remove_kept(self, 0);
    fby_pages_unmap(block.data, block.size);
}

void fby_memory_destroy(struct fby_memory **self_p)
{
    struct fby_memory *self = *self_p;
    if (self == NULL) {
        return;
    }
    *self_p = NULL;
    assert(self->counts.used == 0);
    while (self->n_kept > 0) {
        unmap_oldest(self);
    }
    pthread_cond_destroy(&self->changed);
    pthread_mutex_destroy(&self->lock);
    free(self);
}

static size_t bytes_left(const struct fby_memory *self)
{
    return self->counts.limit - self->counts.used;
}

/* Move to *out a kept block that is large enough, but at most an eighth too
 * large. Returns false if there is none. */
static bool reuse_kept(
    struct fby_memory *self, size_t size, struct fby_memory_block *out)
{
    for (size_t i = self->n_kept; i-- > 0;) {
        size_t kept_size = self->kept[i].block.size;
        bool   fits      = kept_size >= size && kept_size - size <= size / 8;
        if (fits && kept_size <= bytes_left(self)) {
            *out = remove_kept(self, i);
            return true;
        }
    }
    return false;
}

static fby_err map_fresh(
    struct fby_memory *self, size_t size, struct fby_memory_block *out)
{
    if (size > bytes_left(self)) {
        return FBY_FULL;
    }
    /* Bytes with pages: of the blocks in use and of the new block. */
    size_t in_use = self->counts.used - self->counts.reserved + size;
    while (self->counts.kept > self->counts.limit - in_use) {
        unmap_oldest(self);
    }
    void *data = fby_pages_map(size);
    if (data == NULL) {
        return FBY_FULL;
    }
    *out = (struct fby_memory_block){.data = data, .size = size};
    return FBY_OK;
}

/* `size` rounded up to whole pages, at least one page, in bytes; 0 if that is
 * more than the limit. */
static size_t whole_pages(const struct fby_memory *self, size_t size)
{
    if (size > self->counts.limit) {
        return 0;
    }
    size_t pages = size == 0 ? 1 : (size - 1) / PAGE + 1;
    return pages * PAGE <= self->counts.limit ? pages * PAGE : 0;
}

/* Allocate a block at once, or return FBY_FULL. */
static fby_err allocate_now(
    struct fby_memory *self, size_t size, struct fby_memory_block *out)
{
    if (!reuse_kept(self, size, out)) {
        fby_err err = map_fresh(self, size, out);
        if (err != FBY_OK) {
            return err;
        }
    }
    self->counts.used += out->size;
    return FBY_OK;
}

/* Wait until it is this caller's turn and a block can be allocated. Returns
 * FBY_GONE if the pool is closed. Returns FBY_FULL if the system has no memory
 * while no block is in use, because no freed block could end the wait. */
static fby_err allocate_in_turn(
    struct fby_memory *self, size_t size, struct fby_memory_block *out)
{
    uint64_t ticket = self->next_ticket++;
    fby_err  err    = FBY_AGAIN;
    while (!self->closed && err == FBY_AGAIN) {
        if (self->serving == ticket) {
            err = allocate_now(self, size, out);
        }
        if (err == FBY_FULL && self->counts.used > 0) {
            err = FBY_AGAIN;
        }
        if (err == FBY_AGAIN) {
            pthread_cond_wait(&self->changed, &self->lock);
        }
    }
    if (err == FBY_AGAIN) { /* the pool was closed */
        return FBY_GONE;
    }
    self->serving++;
    pthread_cond_broadcast(&self->changed);
    return err;
}

fby_err fby_memory_allocate(
    struct fby_memory *self, size_t size, struct fby_memory_block *out)
{
    size_t rounded = whole_pages(self, size);
    if (rounded == 0) {
        return FBY_FULL;
    }
    pthread_mutex_lock(&self->lock);
    fby_err err = allocate_in_turn(self, rounded, out);
    pthread_mutex_unlock(&self->lock);
    return err;
}

fby_err fby_memory_reserve(
    struct fby_memory *self, size_t size, struct fby_memory_block *out)
{
    size_t  rounded = whole_pages(self, size);
    fby_err err     = FBY_FULL;
    pthread_mutex_lock(&self->lock);
    if (rounded > 0 && rounded <= bytes_left(self)) {
        self->counts.used += rounded;
        self->counts.reserved += rounded;
        *out = (struct fby_memory_block){.size = rounded};
        err  = FBY_OK;
    }
    pthread_mutex_unlock(&self->lock);
    return err;
}

fby_err fby_memory_commit(
    struct fby_memory *self, struct fby_memory_block *block)
{
    size_t size = block->size;
    pthread_mutex_lock(&self->lock);
    /* Undo the charge, because allocate_now charges the block again. */
    self->counts.used -= size;
    self->counts.reserved -= size;
    fby_err err = allocate_now(self, size, block);
    if (err != FBY_OK) {
        self->counts.used += size;
        self->counts.reserved += size;
    }
    pthread_mutex_unlock(&self->lock);
    return err == FBY_OK ? FBY_OK : FBY_AGAIN;
}

static void keep_block(
    struct fby_memory *self, const struct fby_memory_block *block)
{
    if (self->n_kept == MAX_KEPT) {
        unmap_oldest(self);
    }
    self->counts.kept += block->size;
    self->kept[self->n_kept++] = (struct kept_block){*block, fby_now_ns()};
}

void fby_memory_free(struct fby_memory *self, struct fby_memory_block *block)
{
    if (block->size == 0) {
        return;
    }
    pthread_mutex_lock(&self->lock);
    self->counts.used -= block->size;
    if (block->data == NULL) {
        self->counts.reserved -= block->size;
    } else {
        keep_block(self, block);
    }
    pthread_cond_broadcast(&self->changed);
    pthread_mutex_unlock(&self->lock);
    *block = (struct fby_memory_block){0};
}

void fby_memory_trim(struct fby_memory *self, int64_t freed_until_ns)
{
    pthread_mutex_lock(&self->lock);
    while (self->n_kept > 0 && self->kept[0].freed_ns <= freed_until_ns) {
        unmap_oldest(self);
    }
    pthread_mutex_unlock(&self->lock);
}

void fby_memory_close(struct fby_memory *self)
{
    pthread_mutex_lock(&self->lock);
    self->closed = true;
    pthread_cond_broadcast(&self->changed);
    pthread_mutex_unlock(&self->lock);
}

struct fby_memory_counts fby_memory_counts(struct fby_memory *self)
{
    pthread_mutex_lock(&self->lock);
    struct fby_memory_counts counts = self->counts;
    pthread_mutex_unlock(&self->lock);
    return counts;
}
