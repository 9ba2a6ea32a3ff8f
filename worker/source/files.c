#include "worker/source/files.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/mem.h"
#include "worker/source/shard_sum.h"

enum { DEFAULT_MAX_OPEN = 128 };

static const uint64_t nobody = UINT64_MAX;

struct slot {
    uint64_t id;        /* nobody: of a file that turned stale, or of none */
    int      fd;        /* -1: free */
    uint32_t readers;   /* threads that read from it now */
    uint64_t last_used; /* turn of the clock below */
};

struct fby_files {
    pthread_mutex_t lock; /* guards all below */
    struct slot    *slots;
    uint32_t        count;
    uint64_t        clock;
};

/* What one read holds: a slot, or a descriptor of its own when all slots are
 * being read from. */
struct hold {
    struct slot *slot;
    int          fd;
};

struct fby_files *fby_files_create(uint32_t max_open)
{
    struct fby_files *self = fby_zalloc(sizeof(*self));
    self->count            = max_open > 0 ? max_open : DEFAULT_MAX_OPEN;
    self->slots            = fby_zalloc(self->count * sizeof(*self->slots));
    for (uint32_t i = 0; i < self->count; i++) {
        self->slots[i] = (struct slot){.id = nobody, .fd = -1};
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
        if (self->slots[i].fd >= 0) {
            close(self->slots[i].fd);
        }
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
        if (slot->fd < 0) {
            return slot;
        }
        if (slot->readers == 0 &&
            (best == NULL || slot->last_used < best->last_used)) {
            best = slot;
        }
    }
    return best;
}

/* Put `fd` into a slot, unless another thread was faster with this file or
 * there is no room. Returns a descriptor to be closed, or -1. */
static int keep(struct fby_files *self, uint64_t id, int fd, struct hold *hold)
{
    int spare = -1;
    pthread_mutex_lock(&self->lock);
    hold->slot = find(self, id);
    hold->fd   = fd;
    if (hold->slot != NULL) {
        hold->fd = hold->slot->fd;
        spare    = fd;
    } else if ((hold->slot = choose(self)) != NULL) {
        spare       = hold->slot->fd;
        *hold->slot = (struct slot){
            .id = id, .fd = fd, .readers = 1, .last_used = ++self->clock};
    }
    pthread_mutex_unlock(&self->lock);
    return spare;
}

static fby_err open_checked(
    const struct fby_file *file, int *fd, struct fby_why *why)
{
    fby_err err = fby_root_open(file->root, file->path, FBY_WANT_FILE, fd, why);
    if (err == FBY_NOT_FOUND || err == FBY_USAGE) {
        return fby_because_in(
            why, FBY_STALE, "was removed or replaced since it was indexed");
    }
    if (err == FBY_OK) {
        err = fby_stamp_check(*fd, file->stamp, why);
        if (err != FBY_OK) {
            close(*fd);
        }
    }
    return err;
}

static fby_err acquire(struct fby_files *self, const struct fby_file *file,
    struct hold *hold, struct fby_why *why)
{
    pthread_mutex_lock(&self->lock);
    hold->slot = find(self, file->id);
    hold->fd   = hold->slot != NULL ? hold->slot->fd : -1;
    pthread_mutex_unlock(&self->lock);
    if (hold->slot != NULL) {
        return FBY_OK;
    }
    int     fd  = -1;
    fby_err err = open_checked(file, &fd, why);
    if (err == FBY_OK) {
        int spare = keep(self, file->id, fd, hold);
        if (spare >= 0) {
            close(spare);
        }
    }
    return err;
}

/* A file that failed is not kept: who asks again looks at it anew. */
static void release(struct fby_files *self, struct hold *hold, bool failed)
{
    int spare = hold->slot == NULL ? hold->fd : -1;
    if (hold->slot != NULL) {
        struct slot *slot = hold->slot;
        pthread_mutex_lock(&self->lock);
        slot->readers--;
        if (failed) {
            slot->id = nobody;
        }
        if (slot->id == nobody && slot->readers == 0) {
            spare    = slot->fd;
            slot->fd = -1;
        }
        pthread_mutex_unlock(&self->lock);
    }
    if (spare >= 0) {
        close(spare);
    }
}

static fby_err read_all(
    int fd, struct fby_extent extent, uint8_t *buffer, struct fby_why *why)
{
    size_t done = 0;
    while (done < extent.size) {
        ssize_t n = pread(fd, buffer + done, extent.size - done,
            (off_t)(extent.offset + done));
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            return fby_because(
                why, FBY_IO, "reading failed: %s", strerror(errno));
        }
        if (n == 0) {
            uint64_t end = extent.offset + done;
            return fby_because(why, FBY_STALE,
                "ended at offset %llu since it was indexed",
                (unsigned long long)end);
        }
        done += (size_t)n;
    }
    return FBY_OK;
}

fby_err fby_files_read(struct fby_files *self, const struct fby_file *file,
    struct fby_extent extent, void *buffer, struct fby_why *why)
{
    struct hold hold = {0};
    fby_err     err  = acquire(self, file, &hold, why);
    if (err != FBY_OK) {
        return err;
    }
    err = read_all(hold.fd, extent, buffer, why);
    if (err == FBY_OK || err == FBY_STALE) {
        fby_err checked = fby_stamp_check(hold.fd, file->stamp, why);
        err             = checked != FBY_OK ? checked : err;
    }
    release(self, &hold, err != FBY_OK);
    return err;
}
