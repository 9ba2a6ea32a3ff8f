/* data.c - what lies in the sources of a pipeline: opened as a worker
 * would, as far as some seconds go, and whether splits number classes alike. */
#include <stdio.h>
#include <string.h>

#include "cli/class_folders.h"
#include "cli/doctor/doctor.h"
#include "cli/local.h"
#include "common/clock.h"
#include "pipeline/location.h"
#include "pipeline/parse.h"

enum { LOOK_MS = 6000 }; /* for all splits together */

struct look {
    int64_t               until_ns;
    struct fby_data_facts facts;
};

static bool is_time_left(void *arg, uint64_t done, uint64_t total)
{
    struct look *look = arg;
    look->facts.done  = done;
    look->facts.total = total;
    return fby_now_ns() < look->until_ns;
}

static void look_at_data(struct fby_local *local,
    const struct fby_local_options *ask, int64_t until_ns, bool served, int out)
{
    struct look               look     = {.until_ns = until_ns};
    const struct fby_progress progress = {.fn = is_time_left, .arg = &look};
    struct fby_data_facts    *facts    = &look.facts;
    struct fby_why            why      = {{0}};
    fby_err                   err = fby_local_index(local, ask, progress, &why);
    facts->split                  = ask->split;
    facts->served                 = served;
    facts->whole                  = err == FBY_OK;
    facts->error = err != FBY_OK && err != FBY_GONE ? why.text : NULL;
    if (facts->whole) {
        facts->samples = fby_dataset_samples(local->dataset);
        facts->shards  = fby_dataset_shards(local->dataset);
    }
    struct fby_verdict verdict = fby_judge_data(facts);
    fby_doctor_say(out, "data", &verdict);
}

/* Is it a plain path, or is there a --data of its name? */
static bool is_here(const struct fby_local *local)
{
    const char *pattern = local->split->location.pattern;
    size_t      n       = strcspn(pattern, ":");
    bool        here    = !fby_location_is_named(pattern);
    for (unsigned i = 0; !here && i < local->served.n; i++) {
        const char *name = local->served.names.words[i];
        here             = strlen(name) == n && strncmp(name, pattern, n) == 0;
    }
    return here;
}

static void compare_classes(
    const struct fby_local *local, const char *split, int out)
{
    struct fby_class_folders found;
    char                     text[FBY_CLASS_FOLDERS_TEXT];
    if (!fby_class_folders_used(&local->split->content)) {
        return;
    }
    fby_class_folders_compare(local, split, &found);
    if (found.apart) {
        fby_class_folders_say(&found, text);
        struct fby_verdict verdict =
            fby_verdict(FBY_DOCTOR_WARN, "split %s: %s", split, text);
        snprintf(verdict.advice, sizeof(verdict.advice), "%s",
            fby_class_folders_advice);
        fby_doctor_say(out, "classes", &verdict);
    }
}

/* A pipeline, or a source, that cannot be looked at at all was told of. */
void fby_doctor_data(const struct fby_doctor_options *options, int out)
{
    struct fby_pipeline *pipeline = NULL;
    struct fby_why       why      = {{0}};
    int64_t              until_ns = fby_now_ns() + LOOK_MS * FBY_NS_PER_MS;
    fby_err err = fby_pipeline_load(options->pipeline, &pipeline, &why);
    size_t  n   = err == FBY_OK ? fby_pipeline_n_splits(pipeline) : 0;
    for (size_t i = 0; i < n; i++) {
        const struct fby_local_options ask = {.pipeline = options->pipeline,
            .split = fby_pipeline_split_name(pipeline, i),
            .data  = options->data};
        struct fby_local               local;
        if (fby_local_load(&local, &ask, &why) == FBY_OK && is_here(&local)) {
            look_at_data(&local, &ask, until_ns, options->server != NULL, out);
            if (i == 0) {
                compare_classes(&local, ask.split, out);
            }
        }
        fby_local_close(&local);
    }
    fby_pipeline_destroy(&pipeline);
}
