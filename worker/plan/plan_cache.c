/* SPDX-License-Identifier: Apache-2.0 */
/* plan_cache.c - load dataset plans in threads, and cache the latest plans. A
 * plan is a content (the settings that determine batches) and its dataset. */
#include "worker/plan/plan_cache.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "common/stage.h"
#include "common/wakeup.h"
#include "pipeline/canon.h"
#include "worker/source/length_buckets.h"

struct fby_plan_load {
    struct fby_plan_cache *cache;
    struct fby_content     content;
    struct fby_digest      digest;    /* of the content */
    char                  *location;  /* of the data */
    char                  *classes;   /* location of the classes; "": none */
    unsigned               n_waiters; /* loop only: callers that wait */
    bool        is_collected; /* loop only: ended, and its plan was cached */
    atomic_bool abandoned;    /* set by the loop: end early */
    atomic_bool ended;        /* set by the thread after its last write */
    atomic_uint_fast64_t done, total; /* shards scanned, and all shards */
    /* Written by the thread, read by the loop once `ended` is set: */
    fby_err                  err;
    struct fby_error_detail  why;
    struct fby_dataset_plan *dataset_plan;
    struct fby_plan_load    *next;
};

struct fby_plan_cache {
    struct fby_plan_cache_config config;
    struct fby_stage            *loaders; /* the load threads and their queue */
    struct fby_plan_load        *loads;   /* queued, running, or ended */
    struct fby_dataset_plan **plans;   /* the plans, most recently used first */
    uint32_t                  n_plans; /* at most config.max_plans */
    struct fby_wakeup         wakeup;  /* sent when a load ends */
};

/* ---- Functions of a load thread ------------------------------------------ */

/* Called while files are scanned. Returns false to end the scan early. */
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
    const struct fby_dataset_spec       spec   = {
                .roots          = config->roots,
                .kind           = self->content.source,
                .pattern        = self->location,
                .classes        = self->classes,
                .tokens         = &self->content.tokens,
                .file_columns   = self->content.files,
                .n_file_columns = self->content.n_files,
                .excluded       = &self->content.excluded,
                .cache_dir      = config->cache_dir,
                .length_field   = fby_stored_length_field(&self->content),
                .content        = &self->content,
    };
    const struct fby_progress progress = {.fn = note_progress, .arg = self};
    return fby_dataset_open(&spec, progress, out, &self->why);
}

static struct fby_digest digest_location(const struct fby_plan_load *self)
{
    struct fby_buffer text = {0}; /* both texts with their NUL */
    fby_put_bytes(&text, self->location, strlen(self->location) + 1);
    fby_put_bytes(&text, self->classes, strlen(self->classes) + 1);
    struct fby_digest digest = fby_digest_of(text.data, text.size);
    fby_buffer_fini(&text);
    return digest;
}

static fby_err run_load(void *context, uint32_t thread, void *item)
{
    (void)thread;
    struct fby_plan_cache *cache   = context;
    struct fby_plan_load  *self    = item;
    struct fby_dataset    *dataset = NULL;
    self->err =
        atomic_load(&self->abandoned) ? FBY_GONE : open_dataset(self, &dataset);
    if (self->err == FBY_OK) {
        self->err = fby_dataset_plan_create(
            &self->content, &dataset, &self->dataset_plan, &self->why);
    }
    if (self->err == FBY_OK) {
        self->dataset_plan->location = digest_location(self);
    }
    fby_dataset_destroy(&dataset);
    fby_err err = self->err;
    atomic_store(&self->ended, true); /* now the loop may free `self` */
    fby_wakeup_send(&cache->wakeup);
    return err;
}

/* ---- Functions of the loop ----------------------------------------------- */

fby_err fby_plan_cache_create(
    const struct fby_plan_cache_config *config, struct fby_plan_cache **out)
{
    struct fby_plan_cache *self = fby_zalloc(sizeof(*self));
    self->config                = *config;
    self->plans =
        fby_zalloc(config->max_plans * sizeof(struct fby_dataset_plan *));
    self->wakeup = fby_wakeup_open();
    fby_err err  = FBY_SYS;
    if (self->wakeup.fd >= 0) {
        err = fby_stage_create(&(struct fby_stage_config){.name = "fby-open",
                                   .threads  = config->max_running,
                                   .capacity = config->max_waiting,
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
    free(self->classes);
    free(self);
}

void fby_plan_cache_destroy(struct fby_plan_cache **self_p)
{
    struct fby_plan_cache *self = *self_p;
    if (self == NULL) {
        return;
    }
    *self_p = NULL;
    for (struct fby_plan_load *load = self->loads; load != NULL;
         load                       = load->next) {
        atomic_store(&load->abandoned, true);
    }
    fby_stage_destroy(&self->loaders);
    while (self->loads != NULL) {
        struct fby_plan_load *next = self->loads->next;
        free_load(self->loads);
        self->loads = next;
    }
    for (uint32_t i = 0; i < self->n_plans; i++) {
        fby_dataset_plan_release(&self->plans[i]);
    }
    fby_wakeup_close(&self->wakeup);
    free(self->plans);
    free(self);
}

int fby_plan_cache_fd(const struct fby_plan_cache *self)
{
    return self->wakeup.fd;
}

static bool is_same(
    const struct fby_dataset_plan *a, const struct fby_dataset_plan *b)
{
    return fby_digest_equal(&a->content_digest, &b->content_digest) &&
           fby_digest_equal(&a->data_digest, &b->data_digest) &&
           fby_digest_equal(&a->location, &b->location);
}

/* Make `dataset_plan` the first entry of `plans`. The entries before `index`
 * move back by one and overwrite entry `index`. */
static void insert_in_front(struct fby_plan_cache *self, uint32_t index,
    struct fby_dataset_plan *dataset_plan)
{
    for (uint32_t i = index; i > 0; i--) {
        self->plans[i] = self->plans[i - 1];
    }
    self->plans[0] = dataset_plan;
}

/* Cache a plan. It replaces the plan of the same content, data and location. If
 * there is none and the cache is full, it replaces the least recently used plan. */
static void add_plan(
    struct fby_plan_cache *self, struct fby_dataset_plan *dataset_plan)
{
    uint32_t replaced = 0;
    while (replaced < self->n_plans &&
           !is_same(self->plans[replaced], dataset_plan)) {
        replaced++;
    }
    if (replaced == self->config.max_plans) { /* full: replace the last one */
        replaced--;
    }
    fby_dataset_plan_hold(dataset_plan);
    if (replaced < self->n_plans) {
        fby_dataset_plan_release(&self->plans[replaced]);
    } else {
        self->n_plans++;
    }
    insert_in_front(self, replaced, dataset_plan);
}

/* Cache the plans of ended loads, and free loads for which no caller waits. */
static void collect_ended(struct fby_plan_cache *self)
{
    struct fby_plan_load **link = &self->loads;
    while (*link != NULL) {
        struct fby_plan_load *load  = *link;
        bool                  ended = atomic_load(&load->ended);
        if (ended && !load->is_collected && load->dataset_plan != NULL) {
            add_plan(self, load->dataset_plan);
        }
        load->is_collected = ended;
        if (ended && load->n_waiters == 0) {
            *link = load->next;
            free_load(load);
        } else {
            link = &load->next;
        }
    }
}

void fby_plan_cache_collect(struct fby_plan_cache *self)
{
    fby_wakeup_clear(&self->wakeup);
    collect_ended(self);
}

/* Is `load` a running load of this content at these locations, so that another
 * caller can wait for it? */
static bool can_be_joined(const struct fby_plan_load *load,
    const struct fby_digest *digest, const struct fby_open *open)
{
    return !atomic_load(&load->ended) && !atomic_load(&load->abandoned) &&
           fby_digest_equal(&load->digest, digest) &&
           strcmp(load->location, open->location) == 0 &&
           strcmp(load->classes, open->classes_location) == 0;
}

static struct fby_plan_load *find_running_load(struct fby_plan_cache *self,
    const struct fby_digest *digest, const struct fby_open *open)
{
    struct fby_plan_load *load = self->loads;
    while (load != NULL && !can_be_joined(load, digest, open)) {
        load = load->next;
    }
    return load;
}

static fby_err start_load(struct fby_plan_cache *self,
    const struct fby_blob *content, struct fby_plan_load *load,
    struct fby_error_detail *why)
{
    FBY_TRY(
        fby_content_decode(content->data, content->size, &load->content, why));
    if (fby_stage_try_push(self->loaders, load) != FBY_OK) {
        return fby_error_set(why, FBY_FULL,
            "this worker is opening %u datasets already; try again later",
            self->config.max_running + self->config.max_waiting);
    }
    load->next  = self->loads;
    self->loads = load;
    return FBY_OK;
}

fby_err fby_plan_cache_open(struct fby_plan_cache *self,
    const struct fby_open *open, struct fby_plan_load **out,
    struct fby_error_detail *why)
{
    const struct fby_blob *content = &open->content;
    struct fby_digest      digest = fby_digest_of(content->data, content->size);
    struct fby_plan_load  *load   = find_running_load(self, &digest, open);
    if (load == NULL) {
        load           = fby_zalloc(sizeof(*load));
        load->cache    = self;
        load->digest   = digest;
        load->location = fby_strdup(open->location);
        load->classes  = fby_strdup(open->classes_location);
        fby_err err    = start_load(self, content, load, why);
        if (err != FBY_OK) {
            free_load(load);
            return err;
        }
    }
    load->n_waiters++;
    *out = load;
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
    self->n_waiters--;
    if (self->n_waiters == 0) {
        atomic_store(&self->abandoned, true);
        collect_ended(self->cache);
    }
}

fby_err fby_plan_cache_find(struct fby_plan_cache *self,
    const struct fby_digest *content, const struct fby_digest *data,
    const struct fby_digest *fingerprint, const struct fby_digest *location,
    struct fby_dataset_plan **nearest)
{
    *nearest = NULL;
    for (uint32_t i = 0; i < self->n_plans; i++) {
        struct fby_dataset_plan *plan = self->plans[i];
        if (!fby_digest_equal(&plan->content_digest, content) ||
            (location != NULL &&
                !fby_digest_equal(&plan->location, location))) {
            continue;
        }
        bool same_data = fby_digest_equal(&plan->data_digest, data);
        if (same_data || *nearest == NULL) {
            *nearest = plan;
        }
        if (same_data) {
            insert_in_front(self, i, plan);
            return fby_digest_equal(&plan->fingerprint, fingerprint)
                       ? FBY_OK
                       : FBY_NOT_FOUND;
        }
    }
    return FBY_NOT_FOUND;
}
