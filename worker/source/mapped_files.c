/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/source/mapped_files.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/mem.h"
#include "worker/source/object_file.h"

/* The default of max_mapped is 1/16 of the file descriptors that the process
 * may have, within these bounds. Each map needs a descriptor. */
enum { FD_SHARE = 16, MIN_MAPPED = 64, MAX_MAPPED = 16384 };

struct fby_mapping {
    uint8_t          *data;   /* NULL: not mapped */
    uint64_t          size;   /* bytes */
    uint32_t          users;  /* number of uses that have not ended */
    struct fby_object object; /* the file, kept open to check its stamp */
    atomic_bool       broken; /* add no uses. The SIGBUS handler may set it */
};

struct fby_mapped_files {
    pthread_mutex_t     lock; /* guards all below, except fby_mapping.broken */
    struct fby_mapping *maps; /* per file id */
    uint64_t            n_files;
    uint64_t next_to_check; /* file id where unmap_unused() continues */
    uint32_t mapped;        /* number of mapped files */
    uint32_t max_mapped;    /* exceeded only while all mapped files are used */
};

/* ---- SIGBUS -------------------------------------------------------------- */

/* The uses that this thread has not ended, for the handler; NULL: none. */
static _Thread_local const struct fby_mapping_uses *uses_of_thread;

static struct sigaction previous_action; /* what our handler replaced */

/* Replace the lost page at `address` by zeros. The map is marked as broken
 * first, because all its readers see the zeros. Returns false if the address is
 * in no map that this thread uses, or on an error. */
static bool replace_page(uint8_t *address)
{
    const struct fby_mapping_uses *uses = uses_of_thread;
    for (uint32_t i = 0; uses != NULL && i < uses->n; i++) {
        const uint8_t *begin = uses->list[i].data;
        if (address >= begin &&
            (uint64_t)(address - begin) < uses->list[i].size) {
            size_t page_size = (size_t)sysconf(_SC_PAGESIZE);
            /* A page begins at `begin`, because mmap() returned it. */
            uint8_t *page = address - (address - begin) % (ptrdiff_t)page_size;
            atomic_store(&uses->list[i].map->broken, true);
            return mmap(page, page_size, PROT_READ,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
                       0) != MAP_FAILED;
        }
    }
    return false;
}

static void on_sigbus(int signal, siginfo_t *info, void *context)
{
    int error = errno;
    if (replace_page(info->si_addr)) {
        errno = error;
    } else if ((previous_action.sa_flags & SA_SIGINFO) != 0) {
        previous_action.sa_sigaction(signal, info, context);
    } else { /* the read is repeated, and then raises SIGBUS without us */
        sigaction(SIGBUS, &previous_action, NULL);
    }
}

/* Install our handler, unless it is installed. A library may have replaced it
 * since the last call. */
static void catch_sigbus(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    struct sigaction       current;
    struct sigaction       ours = {.sa_flags = SA_SIGINFO};
    ours.sa_sigaction           = on_sigbus;
    sigemptyset(&ours.sa_mask);
    pthread_mutex_lock(&lock);
    if (sigaction(SIGBUS, NULL, &current) == 0 &&
        current.sa_sigaction != on_sigbus) {
        previous_action = current;
        sigaction(SIGBUS, &ours, NULL);
    }
    pthread_mutex_unlock(&lock);
}

/* ---- the table ----------------------------------------------------------- */

static uint32_t default_max_mapped(void)
{
    struct rlimit limit;
    uint64_t      share = 0;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        share = limit.rlim_cur / FD_SHARE;
    }
    share = share < MAX_MAPPED ? share : MAX_MAPPED;
    return share > MIN_MAPPED ? (uint32_t)share : MIN_MAPPED;
}

struct fby_mapped_files *fby_mapped_files_create(
    uint64_t n_files, uint32_t max_kept)
{
    catch_sigbus();
    struct fby_mapped_files *self = fby_zalloc(sizeof(*self));
    self->maps                    = fby_zalloc(n_files * sizeof(*self->maps));
    self->n_files                 = n_files;
    self->max_mapped = max_kept > 0 ? max_kept : default_max_mapped();
    pthread_mutex_init(&self->lock, NULL);
    return self;
}

static void unmap(struct fby_mapped_files *self, struct fby_mapping *map)
{
    munmap(map->data, map->size);
    fby_object_close(&map->object);
    map->data = NULL;
    atomic_store(&map->broken, false);
    self->mapped--;
}

void fby_mapped_files_destroy(struct fby_mapped_files **self_p)
{
    struct fby_mapped_files *self = *self_p;
    if (self == NULL) {
        return;
    }
    *self_p = NULL;
    for (uint64_t i = 0; i < self->n_files; i++) {
        if (self->maps[i].data != NULL) {
            unmap(self, &self->maps[i]);
        }
    }
    pthread_mutex_destroy(&self->lock);
    free(self->maps);
    free(self);
}

/* Unmap unused files, round-robin, until one more may be mapped. If too few are
 * unused, the limit will be exceeded. Needs the lock. */
static void unmap_unused(struct fby_mapped_files *self)
{
    for (uint64_t i = 0; i < self->n_files && self->mapped >= self->max_mapped;
         i++) {
        struct fby_mapping *map = &self->maps[self->next_to_check];
        self->next_to_check     = (self->next_to_check + 1) % self->n_files;
        if (map->data != NULL && map->users == 0) {
            unmap(self, map);
        }
    }
}

/* ---- uses ---------------------------------------------------------------- */

/* Add a use of the map. Returns false if the file is not mapped or the map is
 * broken. Needs the lock. */
static bool add_use(struct fby_mapping *map, const struct fby_stamp *stamp,
    struct fby_mapping_uses *uses)
{
    if (map->data == NULL || atomic_load(&map->broken)) {
        return false;
    }
    map->users++;
    uses->list[uses->n++] = (struct fby_mapping_use){
        .data = map->data, .size = map->size, .map = map, .stamp = stamp};
    uses_of_thread = uses;
    return true;
}

bool fby_mapped_files_try_use(struct fby_mapped_files *self, uint64_t id,
    const struct fby_stamp *stamp, struct fby_mapping_uses *uses)
{
    pthread_mutex_lock(&self->lock);
    bool used = add_use(&self->maps[id], stamp, uses);
    pthread_mutex_unlock(&self->lock);
    return used;
}

/* Put a new map into the table. Returns false if the file already has a map,
 * which another thread added, or which is broken and still used. Needs the
 * lock. */
static bool add_map(struct fby_mapped_files *self, const struct fby_file *file,
    uint8_t *data, struct fby_object object)
{
    struct fby_mapping *map = &self->maps[file->id];
    if (map->data != NULL) {
        return false;
    }
    unmap_unused(self);
    map->data   = data;
    map->size   = file->stamp->size;
    map->object = object;
    self->mapped++;
    return true;
}

static fby_err map_file(const struct fby_object *object, uint64_t size,
    uint8_t **out, struct fby_error_detail *why)
{
    void *data =
        mmap(NULL, size, PROT_READ, MAP_SHARED, fby_object_local_fd(object), 0);
    if (data == MAP_FAILED) {
        return fby_error_set(why, errno == ENOMEM ? FBY_AGAIN : FBY_IO,
            "cannot map its %llu bytes: %s", (unsigned long long)size,
            strerror(errno));
    }
    *out = data;
    return FBY_OK;
}

fby_err fby_mapped_files_open(struct fby_mapped_files *self,
    const struct fby_file *file, struct fby_mapping_uses *uses,
    struct fby_error_detail *why)
{
    uint8_t          *data = NULL;
    struct fby_object object;
    fby_err           err = fby_file_open(file, &object, why);
    if (err == FBY_OK) {
        err = map_file(&object, file->stamp->size, &data, why);
    }
    if (err != FBY_OK) {
        fby_object_close(&object);
        return err;
    }
    pthread_mutex_lock(&self->lock);
    bool added = add_map(self, file, data, object);
    bool used  = add_use(&self->maps[file->id], file->stamp, uses);
    pthread_mutex_unlock(&self->lock);
    if (!added) { /* the use is of the map that is in the table */
        munmap(data, file->stamp->size);
        fby_object_close(&object);
    }
    return used ? FBY_OK
                : fby_error_set(why, FBY_AGAIN,
                      "it changed while it was read; try again");
}

/* If the file changed or lost a page, mark the map as broken and fail. */
static fby_err check_use(
    const struct fby_mapping_use *use, struct fby_error_detail *why)
{
    fby_err err = fby_stamp_check(&use->map->object, use->stamp, why);
    if (err == FBY_OK && atomic_load(&use->map->broken)) {
        err = fby_error_set(
            why, FBY_IO, "a page of it could not be read (SIGBUS)");
    }
    if (err != FBY_OK) {
        atomic_store(&use->map->broken, true);
    }
    return err;
}

fby_err fby_mapped_files_end_uses(struct fby_mapped_files *self,
    struct fby_mapping_uses *uses, struct fby_error_detail *why)
{
    fby_err err = FBY_OK;
    /* After a failure no more uses are checked: the caller discards all. */
    for (uint32_t i = 0; err == FBY_OK && i < uses->n; i++) {
        uses->failed = i;
        err          = check_use(&uses->list[i], why);
    }
    uses_of_thread = NULL;
    pthread_mutex_lock(&self->lock);
    while (uses->n > 0) {
        struct fby_mapping *map = uses->list[--uses->n].map;
        map->users--;
        if (map->users == 0 && atomic_load(&map->broken)) {
            unmap(self, map);
        }
    }
    pthread_mutex_unlock(&self->lock);
    return err;
}
