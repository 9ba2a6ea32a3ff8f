#include "cli/local.h"

#include "cli/headway.h"
#include "cli/signals.h"
#include "common/pipeline/location.h"

static bool show_scan(void *arg, uint64_t done, uint64_t total)
{
    fby_headway_show(arg, done, total);
    return fby_signals_caught() == 0;
}

static fby_err add_roots(struct fby_local *self, struct fby_why *why)
{
    fby_err err = FBY_OK;
    self->roots = fby_roots_create();
    for (unsigned i = 0; i < self->served.n && err == FBY_OK; i++) {
        err = fby_roots_add(self->roots, self->served.words.words[i], why);
    }
    return err;
}

static fby_err open_dataset(struct fby_local *self,
    const struct fby_local_options *options, struct fby_why *why)
{
    struct fby_location place;
    fby_err             err = fby_location_root(&self->split->location,
                    (const char *const *)self->served.words.words, self->served.n, &place,
                    why);
    if (err != FBY_OK) {
        return err;
    }
    const struct fby_dataset_spec spec = {
        .roots     = self->roots,
        .kind      = self->split->content.source,
        .pattern   = place.pattern,
        .cache_dir = options->cache,
        .hash      = options->hash,
    };
    struct fby_headway headway = fby_headway_begin("looking at the data");
    err                        = fby_dataset_open(&spec,
                               (struct fby_progress){.fn = show_scan, .arg = &headway}, &self->dataset,
                               why);
    fby_headway_end(&headway);
    return err;
}

fby_err fby_local_open(struct fby_local *self,
    const struct fby_local_options *options, struct fby_why *why)
{
    *self       = (struct fby_local){0};
    fby_err err = fby_served_collect(
        &self->served, &options->data, options->pipeline, why);
    if (err == FBY_OK) {
        err = fby_pipeline_load(options->pipeline, &self->pipeline, why);
    }
    if (err == FBY_OK) {
        err = fby_pipeline_split(
            self->pipeline, options->split, &self->split, why);
    }
    if (err == FBY_OK) {
        err = add_roots(self, why);
    }
    if (err == FBY_OK) {
        err = open_dataset(self, options, why);
    }
    if (err != FBY_OK) {
        fby_served_explain(&self->served, why);
    }
    return err;
}

void fby_local_close(struct fby_local *self)
{
    fby_dataset_destroy(&self->dataset);
    fby_roots_destroy(&self->roots);
    fby_split_destroy(&self->split);
    fby_pipeline_destroy(&self->pipeline);
    fby_served_fini(&self->served);
}
