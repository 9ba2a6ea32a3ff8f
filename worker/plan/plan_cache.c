#include "worker/plan/plan_cache.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "common/mem.h"
#include "common/stage.h"
#include "pipeline/canon.h"
#include "worker/source/lengths.h"

struct fby_plan_load {
    struct fby_plan_cache   *cache;
    struct fby_content       content;
    struct fby_digest        digest;
    char                    *location;
    unsigned                 waiters;   /* the loop's */
    bool                     taken;     /* the loop's: its plan was kept */
    atomic_bool              abandoned; /* set by the loop: end early */
    atomic_bool              ended;     /* set by the thread, after which it
                                           changes nothing */
    atomic_uint_fast64_t     done;
    atomic_uint_fast64_t     total;
    fby_err                  err;
    struct fby_why           why;
    struct fby_dataset_plan *dataset_plan;
    struct fby_plan_load    *next;
};

struct fby_plan_cache {
    struct fby_plan_cache_config config;
    struct fby_stage            *loaders;
    struct fby_plan_load        *loads; /* running, or not yet freed */
    struct fby_dataset_plan    **known; /* most recently used first */
    uint32_t                     n_known;
    int                          event_fd;
};

/* ---- On a load thread ---------------------------------------------------- */

static bool note_progress(void *arg, uint64_t done, uint64_t total)
{
    struct fby_plan_load *self = arg;
    atomic_store(&self->total, total);
    atomic_store(&self->done, done);
    return !atomic_load(&self->abandoned);
}

static fby_err open_dataset(
    struct fby_plan_load *self, struct fby_dataset **out)
{
    const struct fby_plan_cache_config *config = &self->cache->config;
    const struct fby_dataset_spec       spec   = {.roots = config->roots,
                .kind                                    = self->content.source,
                .pattern                                 = self->location,
                .tokens                                  = &self->content.tokens,
                .files                                   = self->content.files,
                .n_files                                 = self->content.n_files,
                .cache_dir                               = config->cache_dir,
                .lengths = fby_lengths_field(&self->content)};
    const struct fby_progress progress = {.fn = note_progress, .arg = self};
    return fby_dataset_open(&spec, progress, out, &self->why);
}

static fby_err run_load(void *context, uint32_t thread, void *item)
{
    (void)thread;
    struct fby_plan_cache *plans   = context;
    struct fby_plan_load  *self    = item;
    struct fby_dataset    *dataset = NULL;
    const uint64_t         one     = 1;

    self->err =
        atomic_load(&self->abandoned) ? FBY_GONE : open_dataset(self, &dataset);
    if (self->err == FBY_OK) {
        self->err = fby_dataset_plan_create(
            &self->content, &dataset, &self->dataset_plan, &self->why);
    }
    fby_dataset_destroy(&dataset);
    fby_err err = self->err;
    atomic_store(&self->ended, true); /* now the loop owns it */
    if (write(plans->event_fd, &one, sizeof(one)) < 0) {
        return err; /* the counter is at its maximum: readable already */
    }
    return err;
}

/* ---- On the loop --------------------------------------------------------- */

fby_err fby_plan_cache_create(
    const struct fby_plan_cache_config *config, struct fby_plan_cache **out)
{
    struct fby_plan_cache *self = fby_zalloc(sizeof(*self));
    self->config                = *config;
    self->known = fby_zalloc(config->known * sizeof(struct fby_dataset_plan *));
    self->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    fby_err err    = FBY_SYS;
    if (self->event_fd >= 0) {
        err = fby_stage_create(&(struct fby_stage_config){.name = "fby-open",
                                   .threads  = config->threads,
                                   .capacity = config->waiting,
                                   .run      = run_load,
                                   .context  = self},
            &self->loaders);
    }
    if (err != FBY_OK) {
        fby_plan_cache_destroy(&self);
        return err;
    }
    *out = self;
    return FBY_OK;
}

static void free_load(struct fby_plan_load *self)
{
    fby_dataset_plan_release(&self->dataset_plan);
    free(self->location);
    free(self);
}

void fby_plan_cache_destroy(struct fby_plan_cache **self_p)
{
    struct fby_plan_cache *self = *self_p;
    if (self == NULL) {
        return;
    }
    *self_p = NULL;
    for (struct fby_plan_load *o = self->loads; o != NULL; o = o->next) {
        atomic_store(&o->abandoned, true);
    }
    fby_stage_destroy(&self->loaders);
    while (self->loads != NULL) {
        struct fby_plan_load *next = self->loads->next;
        free_load(self->loads);
        self->loads = next;
    }
    for (uint32_t i = 0; i < self->n_known; i++) {
        fby_dataset_plan_release(&self->known[i]);
    }
    if (self->event_fd >= 0) {
        close(self->event_fd);
    }
    free(self->known);
    free(self);
}

int fby_plan_cache_fd(const struct fby_plan_cache *self)
{
    return self->event_fd;
}

static bool same_digests(
    const struct fby_dataset_plan *a, const struct fby_dataset_plan *b)
{
    return fby_digest_equal(&a->content_digest, &b->content_digest) &&
           fby_digest_equal(&a->data_digest, &b->data_digest);
}

/* Store `dataset_plan` first; entries before `at` move back by one, the last of
 * them over entry `at`. */
static void move_to_front(struct fby_plan_cache *self, uint32_t at,
    struct fby_dataset_plan *dataset_plan)
{
    for (; at > 0; at--) {
        self->known[at] = self->known[at - 1];
    }
    self->known[0] = dataset_plan;
}

/* Replace an equal older plan, or the least recently used one if the cache is
 * full. */
static void add_known(
    struct fby_plan_cache *self, struct fby_dataset_plan *dataset_plan)
{
    uint32_t at = 0;
    while (at < self->n_known && !same_digests(self->known[at], dataset_plan)) {
        at++;
    }
    fby_dataset_plan_hold(dataset_plan);
    if (at == self->config.known) {
        at--;
    }
    if (at < self->n_known) {
        fby_dataset_plan_release(&self->known[at]);
    } else {
        self->n_known++;
    }
    move_to_front(self, at, dataset_plan);
}

static void take_result(struct fby_plan_cache *self, struct fby_plan_load *load)
{
    if (!load->taken && load->dataset_plan != NULL) {
        add_known(self, load->dataset_plan);
    }
    load->taken = true;
}

/* Keep the plans of loads that ended, and free the loads without a waiter. */
static void collect(struct fby_plan_cache *self)
{
    struct fby_plan_load **link = &self->loads;
    while (*link != NULL) {
        struct fby_plan_load *load  = *link;
        bool                  ended = atomic_load(&load->ended);
        if (ended) {
            take_result(self, load);
        }
        if (ended && load->waiters == 0) {
            *link = load->next;
            free_load(load);
        } else {
            link = &load->next;
        }
    }
}

void fby_plan_cache_collect(struct fby_plan_cache *self)
{
    uint64_t count = 0;
    if (read(self->event_fd, &count, sizeof(count)) < 0) {
        count = 0; /* no wakeup was pending; collecting is harmless */
    }
    collect(self);
}

static struct fby_plan_load *find_running(struct fby_plan_cache *self,
    const struct fby_digest *digest, const char *location)
{
    struct fby_plan_load *o = self->loads;
    while (o != NULL && (atomic_load(&o->ended) || atomic_load(&o->abandoned) ||
                            !fby_digest_equal(&o->digest, digest) ||
                            strcmp(o->location, location) != 0)) {
        o = o->next;
    }
    return o;
}

/* Moves *load_p on FBY_OK. */
static fby_err start_load(struct fby_plan_cache *self,
    struct fby_plan_load **load_p, struct fby_why *why)
{
    struct fby_plan_load *load = *load_p;
    if (fby_stage_try_put(self->loaders, load) != FBY_OK) {
        return fby_because(why, FBY_FULL,
            "this worker is opening %u datasets already; ask again later",
            self->config.threads + self->config.waiting);
    }
    load->next  = self->loads;
    self->loads = load;
    *load_p     = NULL;
    return FBY_OK;
}

static struct fby_plan_load *new_load(struct fby_plan_cache *self,
    const struct fby_digest *digest, const char *location)
{
    struct fby_plan_load *load = fby_zalloc(sizeof(*load));
    load->cache                = self;
    load->digest               = *digest;
    load->location             = fby_strdup(location);
    return load;
}

fby_err fby_plan_cache_open(struct fby_plan_cache *self,
    const struct fby_blob *content, const char *location,
    struct fby_plan_load **out, struct fby_why *why)
{
    struct fby_digest     digest = fby_digest_of(content->data, content->size);
    struct fby_plan_load *shared = find_running(self, &digest, location);
    if (shared == NULL) {
        struct fby_plan_load *fresh = new_load(self, &digest, location);
        fby_err               err   = fby_content_decode(
                            content->data, content->size, &fresh->content, why);
        shared = fresh;
        if (err == FBY_OK) {
            err = start_load(self, &fresh, why);
        }
        if (err != FBY_OK) {
            free_load(fresh);
            return err;
        }
    }
    shared->waiters++;
    *out = shared;
    return FBY_OK;
}

struct fby_plan_load_state fby_plan_load_state(const struct fby_plan_load *self)
{
    struct fby_plan_load_state state = {
        .done  = atomic_load(&self->done),
        .total = atomic_load(&self->total),
        .ended = atomic_load(&self->ended),
    };
    if (state.ended) {
        state.err          = self->err;
        state.why          = self->why;
        state.dataset_plan = self->dataset_plan;
    }
    return state;
}

void fby_plan_load_release(struct fby_plan_load **self_p)
{
    struct fby_plan_load *self = *self_p;
    if (self == NULL) {
        return;
    }
    *self_p = NULL;
    self->waiters--;
    if (self->waiters == 0) {
        atomic_store(&self->abandoned, true);
        collect(self->cache);
    }
}

fby_err fby_plan_cache_find(struct fby_plan_cache *self,
    const struct fby_digest *content, const struct fby_digest *data,
    const struct fby_digest *fingerprint, struct fby_dataset_plan **nearest)
{
    *nearest = NULL;
    for (uint32_t i = 0; i < self->n_known; i++) {
        struct fby_dataset_plan *known = self->known[i];
        if (!fby_digest_equal(&known->content_digest, content)) {
            continue;
        }
        bool same_data = fby_digest_equal(&known->data_digest, data);
        if (same_data || *nearest == NULL) {
            *nearest = known;
        }
        if (same_data) {
            move_to_front(self, i, known);
            return fby_digest_equal(&known->fingerprint, fingerprint)
                       ? FBY_OK
                       : FBY_NOT_FOUND;
        }
    }
    return FBY_NOT_FOUND;
}
