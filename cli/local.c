#include "cli/local.h"

#include "cli/progress.h"
#include "cli/signals.h"
#include "pipeline/location.h"
#include "worker/source/lengths.h"

/* ---- options ------------------------------------------------------------- */

enum option_key {
    KEY_PIPELINE = 'p',
    KEY_SPLIT    = 's',
    KEY_DATA     = 'd',
    KEY_CACHE    = 0x100
};

static const struct argp_option options_of_all[] = {
    {"pipeline", KEY_PIPELINE, "FILE", 0, "The pipeline file (required)", 0},
    {"split", KEY_SPLIT, "NAME", 0,
        "The split (default: the only one, or train; for index: all)", 0},
    {"data", KEY_DATA, "NAME=DIR", 0,
        "Where NAME: of the pipeline is on this host (repeatable)", 0},
    {"cache", KEY_CACHE, "DIR", 0, "Where manifests are kept", 0},
    {0},
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct fby_local_options *o = state->input;
    switch (key) {
    case KEY_PIPELINE:
        o->pipeline = arg;
        return 0;
    case KEY_SPLIT:
        o->split = arg;
        return 0;
    case KEY_DATA:
        fby_words_add(&o->data, arg);
        return 0;
    case KEY_CACHE:
        o->cache = arg;
        return 0;
    case ARGP_KEY_ARG:
        fby_option_unexpected(state, arg, "--pipeline");
        return 0;
    case ARGP_KEY_END:
        if (o->pipeline == NULL) {
            argp_error(state, "--pipeline FILE is required");
        }
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

const struct argp fby_local_argp = {
    options_of_all, parse_option, NULL, NULL, NULL, NULL, NULL};

/* ---- the dataset --------------------------------------------------------- */

static bool show_scan(void *arg, uint64_t done, uint64_t total)
{
    fby_progress_count(arg, "looking at the data", done, total);
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

fby_err fby_local_load(struct fby_local *self,
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
    return err == FBY_OK ? add_roots(self, why) : err;
}

static fby_err open_dataset(struct fby_local *self,
    const struct fby_local_options *options, struct fby_progress progress,
    struct fby_why *why)
{
    struct fby_location location;

    fby_err err = fby_location_root(&self->split->location,
        (const char *const *)self->served.words.words, self->served.n,
        &location, why);
    if (err != FBY_OK) {
        return err;
    }
    const struct fby_dataset_spec spec = {
        .roots     = self->roots,
        .kind      = self->split->content.source,
        .pattern   = location.pattern,
        .tokens    = &self->split->content.tokens,
        .files     = (const char(*)[FBY_NAME_SIZE])self->split->content.files,
        .n_files   = self->split->content.n_files,
        .cache_dir = options->cache,
        .hash      = options->hash,
        .lengths   = fby_lengths_field(&self->split->content),
    };
    return fby_dataset_open(&spec, progress, &self->dataset, why);
}

fby_err fby_local_index(struct fby_local *self,
    const struct fby_local_options *options, struct fby_progress progress,
    struct fby_why *why)
{
    fby_err err = open_dataset(self, options, progress, why);
    if (err == FBY_OK) {
        err =
            fby_dataset_check_fields(self->dataset, &self->split->content, why);
    }
    if (err == FBY_OK) {
        err = fby_lengths_sort(
            self->dataset, &self->split->content, &self->buckets, why);
    }
    if (err != FBY_OK) {
        fby_served_explain(&self->served, why);
    }
    return err;
}

fby_err fby_local_open(struct fby_local *self,
    const struct fby_local_options *options, struct fby_why *why)
{
    struct fby_progress_line  line     = fby_progress_begin();
    const struct fby_progress progress = {.fn = show_scan, .arg = &line};
    fby_err                   err      = fby_local_load(self, options, why);
    if (err == FBY_OK) {
        err = fby_local_index(self, options, progress, why);
    }
    fby_progress_end(&line);
    return err;
}

void fby_local_close(struct fby_local *self)
{
    fby_buckets_destroy(&self->buckets);
    fby_dataset_destroy(&self->dataset);
    fby_roots_destroy(&self->roots);
    fby_split_destroy(&self->split);
    fby_pipeline_destroy(&self->pipeline);
    fby_served_fini(&self->served);
}
