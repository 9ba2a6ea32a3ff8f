/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/source/file_cache.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/limits.h"
#include "common/mem.h"
#include "pipeline/types.h"
#include "worker/source/roots.h"

enum { DEFAULT_MAX_OPEN = 128, SHARE_OF_LIMIT = 16 };

static const uint64_t no_file = UINT64_MAX;

struct file_slot {
    uint64_t          id;        /* of the file; no_file: add no readers */
    struct fby_object object;    /* the open file; closed: the slot is free */
    uint32_t          readers;   /* threads that are reading the file */
    uint64_t          last_used; /* value of `clock` at the last use */
};

struct fby_file_cache {
    pthread_mutex_t   lock; /* guards all members below */
    struct file_slot *slots;
    uint32_t          count; /* number of slots */
    uint64_t          clock; /* number of uses of all slots so far */
};

/* The file that a thread reads. It is in a slot or, if all slots had readers,
 * outside the cache. */
struct held_file {
    struct file_slot *slot;   /* NULL: outside the cache */
    struct fby_object object; /* with a slot: a copy of its handle */
};

/* A worker has up to 8 caches, and needs half of its descriptors otherwise. */
static uint32_t default_max_open(void)
{
    uint32_t share = fby_limits_max_files() / SHARE_OF_LIMIT;
    share          = share > 0 ? share : 1;
    return share < DEFAULT_MAX_OPEN ? share : DEFAULT_MAX_OPEN;
}

struct fby_file_cache *fby_file_cache_create(uint32_t max_open)
{
    struct fby_file_cache *self = fby_zalloc(sizeof(*self));
    self->count                 = max_open > 0 ? max_open : default_max_open();
    self->slots = fby_zalloc(self->count * sizeof(*self->slots));
    for (uint32_t i = 0; i < self->count; i++) {
        self->slots[i] = (struct file_slot){.id = no_file};
    }
    pthread_mutex_init(&self->lock, NULL);
    return self;
}

void fby_file_cache_destroy(struct fby_file_cache **self_p)
{
    struct fby_file_cache *self = *self_p;
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

/* Find the slot of file `id` and add a reader to it. Returns NULL if no slot
 * has the file. Needs the lock. */
static struct file_slot *add_reader(struct fby_file_cache *self, uint64_t id)
{
    for (uint32_t i = 0; i < self->count; i++) {
        struct file_slot *slot = &self->slots[i];
        if (slot->id == id) {
            slot->readers++;
            slot->last_used = ++self->clock;
            return slot;
        }
    }
    return NULL;
}

/* Returns a free slot, else the least recently used one without readers, else
 * NULL. Needs the lock. */
static struct file_slot *choose_slot(struct fby_file_cache *self)
{
    struct file_slot *oldest = NULL;
    for (uint32_t i = 0; i < self->count; i++) {
        struct file_slot *slot = &self->slots[i];
        if (!fby_object_is_open(&slot->object)) {
            return slot;
        }
        if (slot->readers == 0 &&
            (oldest == NULL || slot->last_used < oldest->last_used)) {
            oldest = slot;
        }
    }
    return oldest;
}

/* Put `object`, the opened file `id`, into a slot, and set *held. If another
 * thread has cached this file meanwhile, *held is that slot. If all slots have
 * readers, `object` stays outside the cache. Returns the object that the caller
 * must close: the one not needed, or the one that was in the slot. */
static struct fby_object cache_object(struct fby_file_cache *self, uint64_t id,
    struct fby_object object, struct held_file *held)
{
    struct fby_object to_close = {0}; /* closed: no object */
    pthread_mutex_lock(&self->lock);
    struct file_slot *cached = add_reader(self, id);
    struct file_slot *slot   = cached != NULL ? cached : choose_slot(self);
    if (cached != NULL) {
        to_close = object;
        object   = cached->object;
    } else if (slot != NULL) {
        to_close = slot->object;
        *slot    = (struct file_slot){.id = id,
               .object                    = object,
               .readers                   = 1,
               .last_used                 = ++self->clock};
    }
    pthread_mutex_unlock(&self->lock);
    *held = (struct held_file){.slot = slot, .object = object};
    return to_close;
}

/* Say that the file is gone. The cause in `why` begins with root and path, which
 * are left out: the caller names the file. Returns FBY_STALE. */
static fby_err set_gone(
    const struct fby_file *file, struct fby_error_detail *why)
{
    char                    name[FBY_PATH_SIZE + FBY_NAME_SIZE];
    struct fby_error_detail cause = {{0}};
    if (why == NULL) {
        return FBY_STALE;
    }
    cause = *why;
    snprintf(
        name, sizeof(name), "%s:%s ", fby_root_name(file->root), file->path);
    size_t size     = strlen(name);
    bool   has_name = strncmp(cause.text, name, size) == 0;
    return fby_error_set(why, FBY_STALE,
        "was removed or replaced since it was indexed: %s%s",
        has_name ? "it " : "", cause.text + (has_name ? size : 0));
}

fby_err fby_file_open(const struct fby_file *file, struct fby_object *out,
    struct fby_error_detail *why)
{
    fby_err err = fby_object_open(file->root, file->path, out, why);
    if (err == FBY_NOT_FOUND || err == FBY_USAGE) { /* USAGE: now a bad link */
        return set_gone(file, why);
    }
    if (err == FBY_OK) {
        err = fby_stamp_check(out, file->stamp, why);
    }
    if (err != FBY_OK) {
        fby_object_close(out);
    }
    return err;
}

static fby_err acquire_file(struct fby_file_cache *self,
    const struct fby_file *file, struct held_file *held,
    struct fby_error_detail *why)
{
    pthread_mutex_lock(&self->lock);
    held->slot = add_reader(self, file->id);
    if (held->slot != NULL) {
        held->object = held->slot->object;
    }
    pthread_mutex_unlock(&self->lock);
    if (held->slot != NULL) {
        return FBY_OK;
    }
    struct fby_object object;
    FBY_TRY(fby_file_open(file, &object, why));
    struct fby_object to_close = cache_object(self, file->id, object, held);
    fby_object_close(&to_close);
    return FBY_OK;
}

/* End the read of a file. If it failed, the cache no longer offers the file,
 * and the last reader closes it. */
static void release_file(
    struct fby_file_cache *self, struct held_file *held, bool failed)
{
    struct file_slot *slot     = held->slot;
    struct fby_object to_close = {0};
    if (slot == NULL) {
        fby_object_close(&held->object);
        return;
    }
    pthread_mutex_lock(&self->lock);
    slot->readers--;
    if (failed) {
        slot->id = no_file;
    }
    if (slot->id == no_file && slot->readers == 0) {
        to_close     = slot->object;
        slot->object = (struct fby_object){0};
    }
    pthread_mutex_unlock(&self->lock);
    fby_object_close(&to_close);
}

static fby_err read_extent(const struct fby_object *object,
    struct fby_extent extent, void *buffer, struct fby_error_detail *why)
{
    size_t n = extent.size;
    FBY_TRY(fby_object_read_some(object, extent.offset, buffer, &n, why));
    return n < extent.size
               ? fby_error_set(why, FBY_STALE,
                     "was cut short to %llu bytes since it was indexed",
                     (unsigned long long)extent.offset + n)
               : FBY_OK;
}

fby_err fby_file_cache_read(struct fby_file_cache *self,
    const struct fby_file *file, struct fby_extent extent, void *buffer,
    struct fby_error_detail *why)
{
    struct held_file held = {0};
    FBY_TRY(acquire_file(self, file, &held, why));
    fby_err err = read_extent(&held.object, extent, buffer, why);
    /* The stamp is checked also after an early end or damage: it tells whether
     * the file changed. */
    if (err == FBY_OK || err == FBY_STALE || err == FBY_BAD_SAMPLE) {
        fby_err checked = fby_stamp_check(&held.object, file->stamp, why);
        err             = checked != FBY_OK ? checked : err;
    }
    release_file(self, &held, err != FBY_OK);
    return err;
}
