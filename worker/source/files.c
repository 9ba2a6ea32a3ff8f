#include "worker/source/files.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "common/mem.h"

enum { DEFAULT_MAX_OPEN = 128 };

static const uint64_t nobody = UINT64_MAX;

struct slot {
    uint64_t          id; /* nobody: of a file that turned stale, or of none */
    struct fby_object object;    /* closed: the slot is free */
    uint32_t          readers;   /* threads that read from it now */
    uint64_t          last_used; /* turn of the clock below */
};

struct fby_files {
    pthread_mutex_t lock; /* guards all below */
    struct slot    *slots;
    uint32_t        count;
    uint64_t        clock;
};

/* What one read holds: a slot, or an object of its own when all slots are
 * being read from. */
struct hold {
    struct slot      *slot;
    struct fby_object object;
};

struct fby_files *fby_files_create(uint32_t max_open)
{
    struct fby_files *self = fby_zalloc(sizeof(*self));
    self->count            = max_open > 0 ? max_open : DEFAULT_MAX_OPEN;
    self->slots            = fby_zalloc(self->count * sizeof(*self->slots));
    for (uint32_t i = 0; i < self->count; i++) {
        self->slots[i] = (struct slot){.id = nobody};
    }
    pthread_mutex_init(&self->lock, NULL);
    return self;
}

void fby_files_destroy(struct fby_files **self_p)
{
    struct fby_files *self = *self_p;
    if (self == NULL) {
        return;
    }
    *self_p = NULL;
    for (uint32_t i = 0; i < self->count; i++) {
        fby_object_close(&self->slots[i].object);
    }
    pthread_mutex_destroy(&self->lock);
    free(self->slots);
    free(self);
}

/* The slot of an open file, now held. The lock is held. */
static struct slot *find(struct fby_files *self, uint64_t id)
{
    for (uint32_t i = 0; i < self->count; i++) {
        struct slot *slot = &self->slots[i];
        if (slot->id == id) {
            slot->readers++;
            slot->last_used = ++self->clock;
            return slot;
        }
    }
    return NULL;
}

/* A free slot, else the one that was not used for the longest time; NULL when
 * all are being read from. The lock is held. */
static struct slot *choose(struct fby_files *self)
{
    struct slot *best = NULL;
    for (uint32_t i = 0; i < self->count; i++) {
        struct slot *slot = &self->slots[i];
        if (!fby_object_is_open(&slot->object)) {
            return slot;
        }
        if (slot->readers == 0 &&
            (best == NULL || slot->last_used < best->last_used)) {
            best = slot;
        }
    }
    return best;
}

/* Put `object` into a slot, unless another thread was faster with this file or
 * there is no room. Returns an object to be closed, perhaps a closed one. */
static struct fby_object keep(struct fby_files *self, uint64_t id,
    struct fby_object object, struct hold *hold)
{
    struct fby_object spare = {0};
    pthread_mutex_lock(&self->lock);
    hold->slot   = find(self, id);
    hold->object = object;
    if (hold->slot != NULL) {
        hold->object = hold->slot->object;
        spare        = object;
    } else if ((hold->slot = choose(self)) != NULL) {
        spare       = hold->slot->object;
        *hold->slot = (struct slot){.id = id,
            .object                     = object,
            .readers                    = 1,
            .last_used                  = ++self->clock};
    }
    pthread_mutex_unlock(&self->lock);
    return spare;
}

fby_err fby_file_open(
    const struct fby_file *file, struct fby_object *out, struct fby_why *why)
{
    fby_err err = fby_object_open(file->root, file->path, out, why);
    if (err == FBY_NOT_FOUND || err == FBY_USAGE) {
        return fby_because_in(
            why, FBY_STALE, "was removed or replaced since it was indexed");
    }
    if (err == FBY_OK) {
        err = fby_stamp_check(out, file->stamp, why);
    }
    if (err != FBY_OK) {
        fby_object_close(out);
    }
    return err;
}

static fby_err acquire(struct fby_files *self, const struct fby_file *file,
    struct hold *hold, struct fby_why *why)
{
    pthread_mutex_lock(&self->lock);
    hold->slot = find(self, file->id);
    if (hold->slot != NULL) {
        hold->object = hold->slot->object;
    }
    pthread_mutex_unlock(&self->lock);
    if (hold->slot != NULL) {
        return FBY_OK;
    }
    struct fby_object object;
    fby_err           err = fby_file_open(file, &object, why);
    if (err == FBY_OK) {
        struct fby_object spare = keep(self, file->id, object, hold);
        fby_object_close(&spare);
    }
    return err;
}

/* A file that failed is not kept: who asks again looks at it anew. */
static void release(struct fby_files *self, struct hold *hold, bool failed)
{
    struct slot      *slot  = hold->slot;
    struct fby_object spare = {0};
    if (slot == NULL) {
        fby_object_close(&hold->object);
        return;
    }
    pthread_mutex_lock(&self->lock);
    slot->readers--;
    if (failed) {
        slot->id = nobody;
    }
    if (slot->id == nobody && slot->readers == 0) {
        spare        = slot->object;
        slot->object = (struct fby_object){0};
    }
    pthread_mutex_unlock(&self->lock);
    fby_object_close(&spare);
}

static fby_err read_all(const struct fby_object *object,
    struct fby_extent extent, void *buffer, struct fby_why *why)
{
    size_t  n   = extent.size;
    fby_err err = fby_object_read_some(object, extent.offset, buffer, &n, why);
    unsigned long long end = extent.offset + n;
    return err == FBY_OK && n < extent.size
               ? fby_because(why, FBY_STALE,
                     "ended at offset %llu since it was indexed", end)
               : err;
}

fby_err fby_files_read(struct fby_files *self, const struct fby_file *file,
    struct fby_extent extent, void *buffer, struct fby_why *why)
{
    struct hold hold = {0};
    fby_err     err  = acquire(self, file, &hold, why);
    if (err != FBY_OK) {
        return err;
    }
    err = read_all(&hold.object, extent, buffer, why);
    if (err == FBY_OK || err == FBY_STALE) {
        fby_err checked = fby_stamp_check(&hold.object, file->stamp, why);
        err             = checked != FBY_OK ? checked : err;
    }
    release(self, &hold, err != FBY_OK);
    return err;
}
