#include "worker/source/files.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "common/mem.h"

enum { DEFAULT_MAX_OPEN = 128 };

static const uint64_t no_file = UINT64_MAX;

struct slot {
    uint64_t          id;        /* no_file: unused, or the file is stale */
    struct fby_object object;    /* a closed object: the slot is free */
    uint32_t          readers;   /* threads that are reading the file */
    uint64_t          last_used; /* value of `clock` */
};

struct fby_files {
    pthread_mutex_t lock; /* guards all below */
    struct slot    *slots;
    uint32_t        count; /* slots */
    uint64_t        clock; /* counts uses */
};

/* The file that a thread reads from: in a slot or, if all slots were in use, an
 * object of the thread's own (slot NULL). */
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
        self->slots[i] = (struct slot){.id = no_file};
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

/* Find the slot of file `id` and count a reader; NULL when there is none. Needs
 * the lock. */
static struct slot *hold_slot_of(struct fby_files *self, uint64_t id)
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

/* A free slot, else the least recently used one; NULL when all are being read
 * from. Needs the lock. */
static struct slot *choose_slot(struct fby_files *self)
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

/* Put `object` into a slot, unless another thread has already opened this file
 * or all slots are in use. Returns the object that is no longer needed (it may
 * be closed already); the caller closes it. */
static struct fby_object cache_object(struct fby_files *self, uint64_t id,
    struct fby_object object, struct hold *hold)
{
    struct fby_object spare = {0};
    pthread_mutex_lock(&self->lock);
    hold->slot   = hold_slot_of(self, id);
    hold->object = object;
    if (hold->slot != NULL) {
        hold->object = hold->slot->object;
        spare        = object;
    } else if ((hold->slot = choose_slot(self)) != NULL) {
        spare       = hold->slot->object;
        *hold->slot = (struct slot){.id = id,
            .object                     = object,
            .readers                    = 1,
            .last_used                  = ++self->clock};
    }
    pthread_mutex_unlock(&self->lock);
    return spare;
}

fby_err fby_file_open(const struct fby_file *file, struct fby_object *out,
    struct fby_error_detail *why)
{
    fby_err err = fby_object_open(file->root, file->path, out, why);
    if (err == FBY_NOT_FOUND || err == FBY_USAGE) {
        return fby_error_prefix(
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
    struct hold *hold, struct fby_error_detail *why)
{
    pthread_mutex_lock(&self->lock);
    hold->slot = hold_slot_of(self, file->id);
    if (hold->slot != NULL) {
        hold->object = hold->slot->object;
    }
    pthread_mutex_unlock(&self->lock);
    if (hold->slot != NULL) {
        return FBY_OK;
    }
    struct fby_object object;
    FBY_TRY(fby_file_open(file, &object, why));
    struct fby_object spare = cache_object(self, file->id, object, hold);
    fby_object_close(&spare);
    return FBY_OK;
}

/* A file that failed leaves the cache, so the next read opens it again. */
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
        slot->id = no_file;
    }
    if (slot->id == no_file && slot->readers == 0) {
        spare        = slot->object;
        slot->object = (struct fby_object){0};
    }
    pthread_mutex_unlock(&self->lock);
    fby_object_close(&spare);
}

static fby_err read_extent(const struct fby_object *object,
    struct fby_extent extent, void *buffer, struct fby_error_detail *why)
{
    size_t n = extent.size;
    FBY_TRY(fby_object_read_some(object, extent.offset, buffer, &n, why));
    return n < extent.size ? fby_error_set(why, FBY_STALE,
                                 "ended at offset %llu since it was indexed",
                                 (unsigned long long)extent.offset + n)
                           : FBY_OK;
}

fby_err fby_files_read(struct fby_files *self, const struct fby_file *file,
    struct fby_extent extent, void *buffer, struct fby_error_detail *why)
{
    struct hold hold = {0};
    FBY_TRY(acquire(self, file, &hold, why));
    fby_err err = read_extent(&hold.object, extent, buffer, why);
    if (err == FBY_OK || err == FBY_STALE) {
        fby_err checked = fby_stamp_check(&hold.object, file->stamp, why);
        err             = checked != FBY_OK ? checked : err;
    }
    release(self, &hold, err != FBY_OK);
    return err;
}
