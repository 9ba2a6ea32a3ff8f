/* SPDX-License-Identifier: Apache-2.0 */
/* data.c - check the data of a pipeline's splits: open the data as a worker
 * would, for a few seconds at most, find out whether an epoch has a step, and
 * compare the classes of the splits. */
#include <stdio.h>
#include <string.h>

#include "cli/class_folders.h"
#include "cli/doctor/checks.h"
#include "cli/local.h"
#include "common/clock.h"
#include "pipeline/class_names.h"
#include "pipeline/location.h"
#include "pipeline/parse.h"

enum { TIME_LIMIT_MS = 6000 }; /* for all splits together */

struct data_check {                 /* of one split */
    int64_t               until_ns; /* reading ends at this time */
    struct fby_data_facts facts;
};

/* Store the progress of reading. False ends reading, because time is up. */
static bool on_progress(void *arg, uint64_t done, uint64_t total)
{
    struct data_check *check = arg;
    check->facts.done        = done;
    check->facts.total       = total;
    return fby_now_ns() < check->until_ns;
}

static void check_data(struct fby_local *local,
    const struct fby_local_options *split_options, int64_t until_ns,
    bool served, int pipe_fd)
{
    struct data_check         check    = {.until_ns = until_ns};
    const struct fby_progress progress = {.fn = on_progress, .arg = &check};
    struct fby_data_facts    *facts    = &check.facts;
    struct fby_error_detail   why      = {{0}};
    fby_err err = fby_local_open_data(local, split_options, progress, &why);
    if (err == FBY_OK) {
        err = fby_local_check_steps(local, &why);
    }
    facts->split  = split_options->split;
    facts->served = served;
    facts->whole  = err == FBY_OK;
    bool failed   = err != FBY_OK && err != FBY_GONE; /* GONE: time is up */
    facts->error  = failed ? why.text : NULL;
    if (facts->whole) {
        facts->samples = fby_dataset_sample_count(local->dataset);
        facts->shards  = fby_dataset_shard_count(local->dataset);
    }
    fby_doctor_report(pipe_fd, "data", fby_judge_data(facts));
}

/* True for a plain path, and for NAME:path with a --data of that NAME. */
static bool has_known_root(const struct fby_local *local)
{
    const char *pattern = local->split->location.pattern;
    size_t      length  = strcspn(pattern, ":"); /* bytes of NAME */
    bool        known   = !fby_location_is_named(pattern);
    for (unsigned i = 0; !known && i < local->served_roots.n_roots; i++) {
        const char *name = local->served_roots.roots[i].name;
        known = strlen(name) == length && strncmp(name, pattern, length) == 0;
    }
    return known;
}

static void compare_classes(
    const struct fby_local *local, const char *split, int pipe_fd)
{
    struct fby_class_folders_difference comparison;
    char                                text[400];
    if (!fby_content_is_numbered_by_folders(&local->split->content)) {
        return;
    }
    fby_class_folders_compare(local, split, &comparison);
    if (comparison.differ) {
        fby_class_folders_describe(&comparison, text, sizeof(text));
        fby_doctor_report(pipe_fd, "classes",
            fby_verdict(FBY_DOCTOR_WARN, fby_class_folders_advice,
                "split %s: %s", split, text));
    }
}

/* Skips splits that cannot be loaded: the check `sources` reports them. */
void fby_doctor_data(const struct fby_doctor_options *options, int pipe_fd)
{
    struct fby_pipeline    *pipeline = NULL;
    struct fby_error_detail why      = {{0}};
    int64_t until_ns = fby_now_ns() + TIME_LIMIT_MS * FBY_NS_PER_MS;
    fby_err err      = fby_pipeline_load(options->pipeline, &pipeline, &why);
    size_t  n        = err == FBY_OK ? fby_pipeline_n_splits(pipeline) : 0;
    for (size_t i = 0; i < n; i++) {
        const struct fby_local_options split_options = {
            .pipeline = options->pipeline,
            .split    = fby_pipeline_split_name(pipeline, i),
            .data     = options->data};
        struct fby_local local;
        if (fby_local_load(&local, &split_options, &why) == FBY_OK &&
            has_known_root(&local)) {
            check_data(&local, &split_options, until_ns,
                options->server != NULL, pipe_fd);
            if (i == 0) { /* compares with all other splits */
                compare_classes(&local, split_options.split, pipe_fd);
            }
        }
        fby_local_close(&local);
    }
    fby_pipeline_destroy(&pipeline);
}
