#include "worker/source/maps.h"

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

enum {
    LEAST_KEPT = 64,
    MOST_KEPT  = 16384,
    SHARE      = 16 /* of the descriptors: other datasets want theirs */
};

struct fby_map {
    uint8_t          *data; /* NULL: not mapped */
    uint64_t          size;
    uint32_t          users;
    struct fby_object object; /* a local file, for the stamp */
    atomic_bool broken; /* not to be used again; set by the handler, too */
};

struct fby_maps {
    pthread_mutex_t lock; /* guards all below, but `broken` */
    struct fby_map *at;   /* a file */
    uint64_t        n_files;
    uint64_t        hand; /* where the next one to be dropped is looked for */
    uint32_t        kept; /* mapped */
    uint32_t        max_kept;
};

/* ---- SIGBUS -------------------------------------------------------------- */

static _Thread_local const struct fby_map_uses *reading; /* NULL: none */

static struct sigaction before; /* ours was installed */

/* The page of zeros stays for all readers until the file is unmapped; so the
 * map is marked first. */
static bool mend(uint8_t *at)
{
    const struct fby_map_uses *uses = reading;
    for (uint32_t i = 0; uses != NULL && i < uses->n; i++) {
        const uint8_t *begin = uses->at[i].data;
        if (at >= begin && (uint64_t)(at - begin) < uses->at[i].size) {
            size_t page = (size_t)sysconf(_SC_PAGESIZE);
            atomic_store(&uses->at[i].map->broken, true);
            return mmap(at - (at - begin) % (ptrdiff_t)page, page, PROT_READ,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
                       0) != MAP_FAILED;
        }
    }
    return false;
}

static void on_sigbus(int signal, siginfo_t *info, void *context)
{
    int error = errno;
    if (mend(info->si_addr)) {
        errno = error;
    } else if ((before.sa_flags & SA_SIGINFO) != 0) {
        before.sa_sigaction(signal, info, context);
    } else {
        sigaction(SIGBUS, &before, NULL); /* and it is raised again */
    }
}

/* Again, if somebody else's handler came in the way since. */
static void catch_sigbus(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    struct sigaction       now;
    struct sigaction       ours = {.sa_flags = SA_SIGINFO};
    ours.sa_sigaction           = on_sigbus;
    sigemptyset(&ours.sa_mask);
    pthread_mutex_lock(&lock);
    if (sigaction(SIGBUS, NULL, &now) == 0 && now.sa_sigaction != on_sigbus) {
        before = now;
        sigaction(SIGBUS, &ours, NULL);
    }
    pthread_mutex_unlock(&lock);
}

/* ---- the table ----------------------------------------------------------- */

static uint32_t default_kept(void)
{
    struct rlimit limit;
    uint64_t      share = 0;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        share = limit.rlim_cur / SHARE;
    }
    share = share < MOST_KEPT ? share : MOST_KEPT;
    return share > LEAST_KEPT ? (uint32_t)share : LEAST_KEPT;
}

struct fby_maps *fby_maps_create(uint64_t n_files, uint32_t max_kept)
{
    catch_sigbus();
    struct fby_maps *self = fby_zalloc(sizeof(*self));
    self->at              = fby_zalloc(n_files * sizeof(*self->at));
    self->n_files         = n_files;
    self->max_kept        = max_kept > 0 ? max_kept : default_kept();
    pthread_mutex_init(&self->lock, NULL);
    return self;
}

static void unmap(struct fby_maps *self, struct fby_map *map)
{
    munmap(map->data, map->size);
    fby_object_close(&map->object);
    map->data = NULL;
    atomic_store(&map->broken, false);
    self->kept--;
}

void fby_maps_destroy(struct fby_maps **self_p)
{
    struct fby_maps *self = *self_p;
    if (self == NULL) {
        return;
    }
    *self_p = NULL;
    for (uint64_t i = 0; i < self->n_files; i++) {
        if (self->at[i].data != NULL) {
            unmap(self, &self->at[i]);
        }
    }
    pthread_mutex_destroy(&self->lock);
    free(self->at);
    free(self);
}

/* Drop one that nobody uses, round and round. The lock is held. */
static void make_room(struct fby_maps *self)
{
    for (uint64_t i = 0; i < self->n_files && self->kept >= self->max_kept;
         i++) {
        struct fby_map *map = &self->at[self->hand];
        self->hand          = (self->hand + 1) % self->n_files;
        if (map->data != NULL && map->users == 0) {
            unmap(self, map);
        }
    }
}

/* ---- using --------------------------------------------------------------- */

/* The lock is held. */
static void add_use(struct fby_map *map, struct fby_map_uses *uses)
{
    map->users++;
    uses->at[uses->n].data = map->data;
    uses->at[uses->n].size = map->size;
    uses->at[uses->n].map  = map;
    uses->n++;
    reading = uses;
}

bool fby_maps_use(struct fby_maps *self, uint64_t id,
    const struct fby_stamp *stamp, struct fby_map_uses *uses)
{
    struct fby_map *map = &self->at[id];
    pthread_mutex_lock(&self->lock);
    bool usable = map->data != NULL && !atomic_load(&map->broken);
    if (usable) {
        uses->at[uses->n].stamp = stamp;
        add_use(map, uses);
    }
    pthread_mutex_unlock(&self->lock);
    return usable;
}

/* Put a new map in its place, unless another thread was faster, or an old one
 * is in the way: then false. The lock is held. */
static bool keep(struct fby_maps *self, const struct fby_file *file,
    uint8_t *data, struct fby_object object)
{
    struct fby_map *map = &self->at[file->id];
    if (map->data != NULL) {
        return false;
    }
    make_room(self);
    map->data   = data;
    map->size   = file->stamp->size;
    map->object = object;
    self->kept++;
    return true;
}

static fby_err map_file(const struct fby_object *object, uint64_t size,
    uint8_t **out, struct fby_why *why)
{
    void *data =
        mmap(NULL, size, PROT_READ, MAP_SHARED, fby_object_local_fd(object), 0);
    if (data == MAP_FAILED) {
        return fby_because(why, errno == ENOMEM ? FBY_AGAIN : FBY_IO,
            "cannot map its %llu bytes: %s", (unsigned long long)size,
            strerror(errno));
    }
    *out = data;
    return FBY_OK;
}

fby_err fby_maps_open(struct fby_maps *self, const struct fby_file *file,
    struct fby_map_uses *uses, struct fby_why *why)
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
    struct fby_map *map = &self->at[file->id];
    pthread_mutex_lock(&self->lock);
    bool mine   = keep(self, file, data, object);
    bool usable = !atomic_load(&map->broken);
    if (usable) {
        uses->at[uses->n].stamp = file->stamp;
        add_use(map, uses);
    }
    pthread_mutex_unlock(&self->lock);
    if (!mine) {
        munmap(data, file->stamp->size);
        fby_object_close(&object);
    }
    return usable ? FBY_OK
                  : fby_because(why, FBY_AGAIN,
                        "it changed while it was read; asked again later it "
                        "is looked at anew");
}

/* Whether what was read of it is what was indexed. */
static fby_err check_use(const struct fby_map_use *use, struct fby_why *why)
{
    fby_err err = fby_stamp_check(&use->map->object, use->stamp, why);
    if (err == FBY_OK && atomic_load(&use->map->broken)) {
        err =
            fby_because(why, FBY_IO, "a page of it could not be read (SIGBUS)");
    }
    if (err != FBY_OK) {
        atomic_store(&use->map->broken, true);
    }
    return err;
}

fby_err fby_maps_end(
    struct fby_maps *self, struct fby_map_uses *uses, struct fby_why *why)
{
    fby_err err = FBY_OK;
    for (uint32_t i = 0; err == FBY_OK && i < uses->n; i++) {
        uses->failed = i;
        err          = check_use(&uses->at[i], why);
    }
    reading = NULL;
    pthread_mutex_lock(&self->lock);
    while (uses->n > 0) {
        struct fby_map *map = uses->at[--uses->n].map;
        map->users--;
        if (map->users == 0 && atomic_load(&map->broken)) {
            unmap(self, map);
        }
    }
    pthread_mutex_unlock(&self->lock);
    return err;
}
