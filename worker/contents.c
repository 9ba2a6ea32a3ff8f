#include "worker/contents.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "common/mem.h"
#include "common/stage.h"
#include "pipeline/canon.h"
#include "worker/source/lengths.h"

struct fby_opening {
    struct fby_contents *contents;
    struct fby_content   content;
    struct fby_digest    digest;
    char                *location;
    unsigned             waiters;   /* the loop's */
    bool                 noticed;   /* the loop's: its end was seen */
    atomic_bool          abandoned; /* the loop says, the thread obeys */
    atomic_bool          ended;     /* the thread says; then all is constant */
    atomic_uint_fast64_t done;
    atomic_uint_fast64_t total;
    fby_err              err;
    struct fby_why       why;
    struct fby_prepared *prepared;
    struct fby_opening  *next;
};

struct fby_contents {
    struct fby_contents_config config;
    struct fby_stage          *openers;
    struct fby_opening        *openings; /* that have not been freed */
    struct fby_prepared      **known;    /* most recently used first */
    uint32_t                   n_known;
    int                        event_fd;
};

/* ---- On a thread of its own ---------------------------------------------- */

static bool note_progress(void *arg, uint64_t done, uint64_t total)
{
    struct fby_opening *self = arg;
    atomic_store(&self->total, total);
    atomic_store(&self->done, done);
    return !atomic_load(&self->abandoned);
}

static fby_err open_dataset(struct fby_opening *self, struct fby_dataset **out)
{
    const struct fby_contents_config *config = &self->contents->config;
    const struct fby_dataset_spec     spec   = {.roots = config->roots,
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

static fby_err run_opening(void *context, uint32_t thread, void *item)
{
    (void)thread;
    struct fby_contents *contents = context;
    struct fby_opening  *self     = item;
    struct fby_dataset  *dataset  = NULL;
    const uint64_t       one      = 1;

    self->err =
        atomic_load(&self->abandoned) ? FBY_GONE : open_dataset(self, &dataset);
    if (self->err == FBY_OK) {
        self->err = fby_prepared_create(
            &self->content, &dataset, &self->prepared, &self->why);
    }
    fby_dataset_destroy(&dataset);
    fby_err err = self->err;
    atomic_store(&self->ended, true); /* from here on it is the loop's */
    if (write(contents->event_fd, &one, sizeof(one)) < 0) {
        return err; /* the counter is at its end: readable already */
    }
    return err;
}

/* ---- On the loop --------------------------------------------------------- */

fby_err fby_contents_create(
    const struct fby_contents_config *config, struct fby_contents **out)
{
    struct fby_contents *self = fby_zalloc(sizeof(*self));
    self->config              = *config;
    self->known    = fby_zalloc(config->known * sizeof(struct fby_prepared *));
    self->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    fby_err err    = FBY_SYS;
    if (self->event_fd >= 0) {
        err = fby_stage_create(&(struct fby_stage_config){.name = "fby-open",
                                   .threads  = config->threads,
                                   .capacity = config->waiting,
                                   .run      = run_opening,
                                   .context  = self},
            &self->openers);
    }
    if (err != FBY_OK) {
        fby_contents_destroy(&self);
        return err;
    }
    *out = self;
    return FBY_OK;
}

static void free_opening(struct fby_opening *self)
{
    fby_prepared_release(&self->prepared);
    free(self->location);
    free(self);
}

void fby_contents_destroy(struct fby_contents **self_p)
{
    struct fby_contents *self = *self_p;
    if (self == NULL) {
        return;
    }
    *self_p = NULL;
    for (struct fby_opening *o = self->openings; o != NULL; o = o->next) {
        atomic_store(&o->abandoned, true);
    }
    fby_stage_destroy(&self->openers);
    while (self->openings != NULL) {
        struct fby_opening *next = self->openings->next;
        free_opening(self->openings);
        self->openings = next;
    }
    for (uint32_t i = 0; i < self->n_known; i++) {
        fby_prepared_release(&self->known[i]);
    }
    if (self->event_fd >= 0) {
        close(self->event_fd);
    }
    free(self->known);
    free(self);
}

int fby_contents_fd(const struct fby_contents *self)
{
    return self->event_fd;
}

static bool same_names(
    const struct fby_prepared *a, const struct fby_prepared *b)
{
    return fby_digest_equal(&a->content_digest, &b->content_digest) &&
           fby_digest_equal(&a->data_digest, &b->data_digest);
}

/* Put `prepared` first and move those before `at` back by one, over it. */
static void put_first(
    struct fby_contents *self, uint32_t at, struct fby_prepared *prepared)
{
    for (; at > 0; at--) {
        self->known[at] = self->known[at - 1];
    }
    self->known[0] = prepared;
}

/* An equal older one gives way, and so does the least recently used one when
 * there is no room. */
static void remember(struct fby_contents *self, struct fby_prepared *prepared)
{
    uint32_t at = 0;
    while (at < self->n_known && !same_names(self->known[at], prepared)) {
        at++;
    }
    fby_prepared_hold(prepared);
    if (at == self->config.known) {
        at--;
    }
    if (at < self->n_known) {
        fby_prepared_release(&self->known[at]);
    } else {
        self->n_known++;
    }
    put_first(self, at, prepared);
}

static void notice_end(struct fby_contents *self, struct fby_opening *opening)
{
    if (!opening->noticed && opening->prepared != NULL) {
        remember(self, opening->prepared);
    }
    opening->noticed = true;
}

/* Take notice of openings that ended, and free those nobody waits for. */
static void collect(struct fby_contents *self)
{
    struct fby_opening **link = &self->openings;
    while (*link != NULL) {
        struct fby_opening *opening = *link;
        bool                ended   = atomic_load(&opening->ended);
        if (ended) {
            notice_end(self, opening);
        }
        if (ended && opening->waiters == 0) {
            *link = opening->next;
            free_opening(opening);
        } else {
            link = &opening->next;
        }
    }
}

void fby_contents_clear(struct fby_contents *self)
{
    uint64_t rung = 0;
    if (read(self->event_fd, &rung, sizeof(rung)) < 0) {
        rung = 0; /* nobody rang; looking is harmless */
    }
    collect(self);
}

static struct fby_opening *find_going_on(struct fby_contents *self,
    const struct fby_digest *digest, const char *location)
{
    struct fby_opening *o = self->openings;
    while (o != NULL && (atomic_load(&o->ended) || atomic_load(&o->abandoned) ||
                            !fby_digest_equal(&o->digest, digest) ||
                            strcmp(o->location, location) != 0)) {
        o = o->next;
    }
    return o;
}

/* Moves *opening_p on FBY_OK. */
static fby_err start(struct fby_contents *self, struct fby_opening **opening_p,
    struct fby_why *why)
{
    struct fby_opening *opening = *opening_p;
    if (fby_stage_try_put(self->openers, opening) != FBY_OK) {
        return fby_because(why, FBY_FULL,
            "this worker is opening %u datasets already; ask again later",
            self->config.threads + self->config.waiting);
    }
    opening->next  = self->openings;
    self->openings = opening;
    *opening_p     = NULL;
    return FBY_OK;
}

static struct fby_opening *new_opening(struct fby_contents *self,
    const struct fby_digest *digest, const char *location)
{
    struct fby_opening *opening = fby_zalloc(sizeof(*opening));
    opening->contents           = self;
    opening->digest             = *digest;
    opening->location           = fby_strdup(location);
    return opening;
}

fby_err fby_contents_open(struct fby_contents *self,
    const struct fby_blob *content, const char *location,
    struct fby_opening **out, struct fby_why *why)
{
    struct fby_digest   digest = fby_digest_of(content->data, content->size);
    struct fby_opening *shared = find_going_on(self, &digest, location);
    if (shared == NULL) {
        struct fby_opening *fresh = new_opening(self, &digest, location);
        fby_err             err   = fby_content_decode(
                          content->data, content->size, &fresh->content, why);
        shared = fresh;
        if (err == FBY_OK) {
            err = start(self, &fresh, why);
        }
        if (err != FBY_OK) {
            free_opening(fresh);
            return err;
        }
    }
    shared->waiters++;
    *out = shared;
    return FBY_OK;
}

struct fby_opening_state fby_opening_state(const struct fby_opening *self)
{
    struct fby_opening_state state = {
        .done  = atomic_load(&self->done),
        .total = atomic_load(&self->total),
        .ended = atomic_load(&self->ended),
    };
    if (state.ended) {
        state.err      = self->err;
        state.why      = self->why;
        state.prepared = self->prepared;
    }
    return state;
}

void fby_opening_release(struct fby_opening **self_p)
{
    struct fby_opening *self = *self_p;
    if (self == NULL) {
        return;
    }
    *self_p = NULL;
    self->waiters--;
    if (self->waiters == 0) {
        atomic_store(&self->abandoned, true);
        collect(self->contents);
    }
}

fby_err fby_contents_find(struct fby_contents *self,
    const struct fby_digest *content, const struct fby_digest *data,
    const struct fby_digest *fingerprint, struct fby_prepared **nearest)
{
    *nearest = NULL;
    for (uint32_t i = 0; i < self->n_known; i++) {
        struct fby_prepared *known = self->known[i];
        if (!fby_digest_equal(&known->content_digest, content)) {
            continue;
        }
        bool same_data = fby_digest_equal(&known->data_digest, data);
        if (same_data || *nearest == NULL) {
            *nearest = known;
        }
        if (same_data) {
            put_first(self, i, known);
            return fby_digest_equal(&known->fingerprint, fingerprint)
                       ? FBY_OK
                       : FBY_NOT_FOUND;
        }
    }
    return FBY_NOT_FOUND;
}
