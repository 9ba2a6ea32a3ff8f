/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/local.h"

#include <inttypes.h>

#include "cli/progress.h"
#include "cli/signals.h"
#include "common/plural.h"
#include "pipeline/location.h"
#include "worker/source/length_buckets.h"

/* Progress callback of the scan. After a signal it returns false, which ends
 * the scan. */
static bool show_scan(void *arg, uint64_t done, uint64_t total)
{
    fby_progress_show_count(arg, "looking at the data", done, total);
    return fby_signals_caught() == 0;
}

fby_err fby_local_load(struct fby_local *self,
    const struct fby_local_options *options, struct fby_error_detail *why)
{
    *self       = (struct fby_local){0};
    fby_err err = fby_served_collect(
        &self->served_roots, &options->data, options->pipeline, why);
    if (err == FBY_OK) {
        err = fby_pipeline_load(options->pipeline, &self->pipeline, why);
    }
    if (err == FBY_OK) {
        err = fby_pipeline_make_split(
            self->pipeline, options->split, &self->split, why);
    }
    self->roots = fby_roots_create();
    for (unsigned i = 0; i < self->served_roots.n_roots && err == FBY_OK; i++) {
        err = fby_roots_add(
            self->roots, self->served_roots.data_options.items[i], why);
    }
    return err;
}

fby_err fby_local_find_root(const struct fby_local *self,
    const struct fby_split *split, const struct fby_location *location,
    struct fby_location *out, struct fby_error_detail *why)
{
    fby_err err = fby_location_find_root(location,
        (const char *const *)self->served_roots.data_options.items,
        self->served_roots.n_roots, out, why);
    return err != FBY_OK && location == &split->classes
               ? fby_split_prefix_classes(split, err, why)
               : err;
}

static fby_err open_dataset(struct fby_local *self,
    const struct fby_local_options *options, struct fby_progress progress,
    struct fby_error_detail *why)
{
    const struct fby_split *split = self->split;
    struct fby_location     location;
    struct fby_location     classes = {""};
    FBY_TRY(fby_local_find_root(self, split, &split->location, &location, why));
    if (split->classes.pattern[0] != '\0') {
        FBY_TRY(
            fby_local_find_root(self, split, &split->classes, &classes, why));
    }
    const struct fby_dataset_spec spec = {
        .roots   = self->roots,
        .kind    = self->split->content.source,
        .pattern = location.pattern,
        .classes = classes.pattern,
        .tokens  = &self->split->content.tokens,
        .file_columns =
            (const char(*)[FBY_NAME_SIZE])self->split->content.files,
        .n_file_columns = self->split->content.n_files,
        .excluded       = &self->split->content.excluded,
        .cache_dir      = options->cache,
        .hash           = options->hash,
        .must_store     = options->must_store,
        .length_field   = fby_stored_length_field(&self->split->content),
        .content        = &self->split->content,
    };
    return fby_dataset_open(&spec, progress, &self->dataset, why);
}

fby_err fby_local_open_data(struct fby_local *self,
    const struct fby_local_options *options, struct fby_progress progress,
    struct fby_error_detail *why)
{
    fby_err err = open_dataset(self, options, progress, why);
    if (err == FBY_OK) {
        err =
            fby_dataset_check_fields(self->dataset, &self->split->content, why);
    }
    if (err == FBY_OK) {
        err = fby_dataset_sort_into_buckets(
            self->dataset, &self->split->content, &self->buckets, why);
    }
    if (err != FBY_OK) {
        fby_served_complete_error(&self->served_roots, why);
    }
    return err;
}

fby_err fby_local_open(struct fby_local *self,
    const struct fby_local_options *options, struct fby_error_detail *why)
{
    struct fby_progress_line  line     = fby_progress_begin();
    const struct fby_progress progress = {.fn = show_scan, .arg = &line};
    fby_err                   err      = fby_local_load(self, options, why);
    if (err == FBY_OK) {
        err = fby_local_open_data(self, options, progress, why);
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
    fby_served_fini(&self->served_roots);
}

struct fby_order_spec fby_local_order_spec(
    const struct fby_local *self, uint64_t seed, uint64_t epoch)
{
    struct fby_order_spec spec =
        fby_order_spec_of(&self->split->content, seed, epoch);
    spec.samples       = fby_dataset_sample_count(self->dataset);
    spec.shard_samples = fby_dataset_samples_per_shard(self->dataset);
    spec.n_shards      = fby_dataset_shard_count(self->dataset);
    spec.buckets       = self->buckets;
    return spec;
}

fby_err fby_local_check_steps(
    const struct fby_local *self, struct fby_error_detail *why)
{
    const struct fby_order_spec spec  = fby_local_order_spec(self, 0, 0);
    struct fby_order           *order = NULL;
    fby_err                     err   = fby_order_create(&spec, &order, why);
    fby_order_destroy(&order);
    return err;
}

fby_err fby_position_create_order(struct fby_position *position,
    const struct fby_local *local, struct fby_order **out,
    struct fby_error_detail *why)
{
    if (!position->seed.given) {
        position->seed.value = fby_pipeline_seed(local->pipeline);
    }
    const struct fby_order_spec spec =
        fby_local_order_spec(local, position->seed.value, position->epoch);
    fby_err err = fby_order_create(&spec, out, why);
    if (err == FBY_OK && position->step >= fby_order_steps(*out)) {
        err = fby_error_set(why, FBY_USAGE,
            "--step %" PRIu64 ": an epoch has %s, from 0", position->step,
            fby_plural(fby_order_steps(*out), "step").text);
        fby_order_destroy(out);
    }
    return err;
}
