/* SPDX-License-Identifier: Apache-2.0 */
/* check.c - make the values of all samples once, as a worker would.
 *
 * Splits are read one after the other. The dataset of a split is cut into
 * chunks. Each is a job, whose thread has its own buffers. Only bad samples are
 * kept. */
#include "cli/lint/check.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/inputs.h"
#include "cli/lint/names.h"
#include "cli/lint/sample.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/signals.h"
#include "common/array.h"
#include "common/mem.h"
#include "common/plural.h"
#include "worker/source/jobs.h"

enum { MIN_CHUNK = 64, MAX_JOBS = 1 << 20 };

struct check_run {
    const struct fby_lint_check *options;
    struct fby_pipeline         *pipeline; /* for the names of its splits */
    uint64_t                     all_total, all_done; /* of earlier splits */
    pthread_mutex_t              lock;                /* guards the next two */
    struct fby_lint_bad         *bad;                 /* of all splits */
    uint32_t                     n_bad;
    /* The members below describe the split that is read now. */
    size_t                   split; /* its index in the pipeline */
    struct fby_local         local;
    uint64_t                 total; /* number of its samples */
    uint64_t                 chunk; /* samples of a job */
    atomic_ullong            done;  /* samples that were read */
    char                     task[FBY_NAME_SIZE + 32]; /* of the line */
    struct fby_progress_line line;
    bool                     is_output_refused; /* it is a file of the data */
};

static bool has_several_splits(const struct check_run *self)
{
    return fby_pipeline_n_splits(self->pipeline) > 1;
}

static const char *split_name(const struct check_run *self, size_t split)
{
    return fby_pipeline_split_name(self->pipeline, split);
}

/* Add a bad sample under the name of its bad member, if that is a file. */
static void add_bad(struct check_run *self,
    const struct fby_lint_samples *samples, uint64_t sample,
    const struct fby_error_detail *why)
{
    struct fby_row_key  row;
    char                name[FBY_PATH_SIZE];
    struct fby_lint_bad bad      = {.split = self->split, .number = sample};
    bool                has_name = (samples->has_bad_member &&
                        fby_dataset_write_member_name(
                                           self->local.dataset, &samples->bad_member, name)) ||
                    fby_dataset_write_name(self->local.dataset, sample, name);
    bad.excludable  = has_name && fby_bad_name_is_excludable(name);
    const char *key = fby_dataset_key(self->local.dataset, sample, &row);
    bad.name        = fby_strdup(bad.excludable ? name : key);
    bad.cause       = fby_strdup(why->text);
    pthread_mutex_lock(&self->lock);
    self->bad = fby_array_grow(self->bad, self->n_bad, sizeof(*self->bad));
    self->bad[self->n_bad++] = bad;
    pthread_mutex_unlock(&self->lock);
}

/* True for an error of one sample: a bad file, or one that is not there, may not
 * be opened or cannot be read. All of them stop a run. */
static bool is_of_sample(fby_err err)
{
    return err == FBY_BAD_SAMPLE || err == FBY_IO || err == FBY_CONFIG ||
           err == FBY_NOT_FOUND;
}

static fby_err check_sample(struct check_run *self,
    struct fby_lint_samples *samples, uint64_t sample,
    struct fby_error_detail *why)
{
    fby_err err = fby_lint_samples_check(samples, sample, why);
    if (!is_of_sample(err)) {
        return err;
    }
    add_bad(self, samples, sample, why);
    return FBY_OK;
}

static fby_err check_chunk(void *arg, uint32_t i, const atomic_bool *stop,
    struct fby_error_detail *why)
{
    struct check_run       *self    = arg;
    struct fby_lint_samples samples = {0};
    uint64_t                first   = i * self->chunk;
    uint64_t                left    = self->total - first;
    uint64_t                n       = left < self->chunk ? left : self->chunk;
    fby_err err = fby_lint_samples_begin_check(&samples, &self->local, why);
    for (uint64_t k = 0; k < n && err == FBY_OK; k++) {
        err = atomic_load(stop) ? FBY_GONE
                                : check_sample(self, &samples, first + k, why);
        atomic_fetch_add(&self->done, err == FBY_OK ? 1U : 0U);
    }
    fby_lint_samples_fini(&samples);
    return err;
}

/* Returns false after a signal. */
static bool show_progress(void *arg, uint64_t jobs_done, uint64_t jobs)
{
    struct check_run *self = arg;
    (void)jobs_done;
    (void)jobs;
    fby_progress_show_count(
        &self->line, self->task, atomic_load(&self->done), self->total);
    return fby_signals_caught() == 0;
}

static int compare_bad(const void *a, const void *b)
{
    const struct fby_lint_bad *x = a;
    const struct fby_lint_bad *y = b;
    return x->split != y->split
               ? (x->split > y->split) - (x->split < y->split)
               : (x->number > y->number) - (x->number < y->number);
}

static fby_err read_all(struct check_run *self, struct fby_error_detail *why)
{
    self->total                = fby_dataset_sample_count(self->local.dataset);
    self->chunk                = self->total / MAX_JOBS + MIN_CHUNK;
    self->line                 = fby_progress_begin();
    const struct fby_jobs work = {
        .job      = check_chunk,
        .arg      = self,
        .n_jobs   = (uint32_t)((self->total + self->chunk - 1) / self->chunk),
        .progress = {.fn = show_progress, .arg = self},
    };
    snprintf(self->task, sizeof(self->task), "reading samples%s%s",
        has_several_splits(self) ? " of " : "",
        has_several_splits(self) ? split_name(self, self->split) : "");
    fby_err err = fby_jobs_run(&work, why);
    fby_progress_end(&self->line);
    if (self->n_bad > 0) {
        qsort(self->bad, self->n_bad, sizeof(*self->bad), compare_bad);
    }
    return err == FBY_GONE ? FBY_OK : err; /* the caller looks at the signal */
}

/* ---- results ---- */

/* Print the results of the split that was read, of which bad[first] is the
 * first bad sample. */
static void print_text(const struct check_run *self, uint32_t first)
{
    uint64_t done = atomic_load(&self->done);
    for (uint32_t i = first; i < self->n_bad; i++) {
        printf("%s: sample %" PRIu64 ": %s\n",
            fby_show_path(self->bad[i].name).text, self->bad[i].number,
            self->bad[i].cause);
    }
    printf("%s: ", fby_show_path(self->options->local->pipeline).text);
    if (has_several_splits(self)) {
        printf("split %s: ", split_name(self, self->split));
    }
    printf("read %s", fby_plural(done, "sample").text);
    if (done < self->total) {
        printf(" of %" PRIu64 " (interrupted)", self->total);
    }
    printf(": %" PRIu32 " bad\n", self->n_bad - first);
}

static void print_json(const struct check_run *self)
{
    json_t *bad = json_array();
    for (uint32_t i = 0; i < self->n_bad; i++) {
        json_array_append_new(
            bad, json_pack("{s:s, s:I, s:s?, s:s?}", "split",
                     split_name(self, self->bad[i].split), "sample",
                     (json_int_t)self->bad[i].number, "name", self->bad[i].name,
                     "cause", self->bad[i].cause));
    }
    json_t *root =
        json_pack("{s:I, s:I, s:o}", "samples", (json_int_t)self->all_total,
            "read", (json_int_t)self->all_done, "bad", bad);
    json_dumpf(root, stdout, JSON_INDENT(1) | JSON_PRESERVE_ORDER);
    putchar('\n');
    json_decref(root);
}

/* `is_complete`: all samples were read. */
static fby_err write_output(const struct check_run *self, bool is_complete,
    struct fby_error_detail *why)
{
    struct fby_bad_names names;
    const char          *path = self->options->output;
    if (path == NULL || self->is_output_refused ||
        (self->n_bad == 0 && !is_complete)) {
        return FBY_OK;
    }
    fby_err err = fby_bad_names_add(
        self->pipeline, path, self->bad, self->n_bad, &names, why);
    if (err == FBY_OK) {
        fby_bad_names_report(self->pipeline, path, &names);
    }
    return err;
}

static fby_err check_split(
    struct check_run *self, size_t split, struct fby_error_detail *why)
{
    struct fby_local_options options = *self->options->local;
    uint32_t                 first   = self->n_bad;
    self->split                      = split;
    options.split                    = split_name(self, split);
    atomic_store(&self->done, 0);
    fby_err err = fby_local_open(&self->local, &options, why);
    if (err == FBY_OK) {
        err = fby_inputs_check_dataset(
            self->options->output, self->local.dataset, why);
        self->is_output_refused = err != FBY_OK;
    }
    if (err == FBY_OK) {
        err = read_all(self, why);
        self->all_total += self->total;
        self->all_done += atomic_load(&self->done);
    }
    if (err == FBY_OK && !self->options->json) {
        print_text(self, first);
    }
    fby_local_close(&self->local);
    return err;
}

static fby_err check_splits(
    struct check_run *self, struct fby_error_detail *why)
{
    const char *only = self->options->local->split;
    fby_err     err  = FBY_OK;
    for (size_t i = 0; i < fby_pipeline_n_splits(self->pipeline) &&
                       err == FBY_OK && fby_signals_caught() == 0;
         i++) {
        if (only == NULL || strcmp(only, split_name(self, i)) == 0) {
            err = check_split(self, i, why);
        }
    }
    return err;
}

/* Refuse an output that is the pipeline, a file that it names, or no list. */
static fby_err check_output(
    const struct check_run *self, struct fby_error_detail *why)
{
    const struct fby_local_options *local  = self->options->local;
    const char                     *output = self->options->output;
    struct fby_served_roots         roots  = {0};
    fby_err                         err    = FBY_OK;
    if (output == NULL) {
        return FBY_OK;
    }
    err = fby_inputs_check_file(output, local->pipeline, why);
    if (err == FBY_OK) {
        err = fby_served_collect(&roots, &local->data, local->pipeline, why);
    }
    if (err == FBY_OK) {
        err = fby_inputs_check_pipeline(
            output, local->pipeline, &roots.data_options, why);
    }
    if (err == FBY_OK) {
        err = fby_bad_names_check(self->pipeline, output, why);
    }
    fby_served_fini(&roots);
    return err;
}

/* The error for a split that the pipeline lacks is that of making it. */
static fby_err check_name(
    const struct check_run *self, struct fby_error_detail *why)
{
    struct fby_split *split = NULL;
    const char       *only  = self->options->local->split;
    fby_err           err   = FBY_OK;
    if (only != NULL) {
        err = fby_pipeline_make_split(self->pipeline, only, &split, why);
    }
    fby_split_destroy(&split);
    return err;
}

static fby_err check_all(struct check_run *self, struct fby_error_detail *why)
{
    const struct fby_lint_check *options = self->options;
    fby_err                      err     = FBY_OK;
    if (options->output != NULL) {
        err = fby_output_check(options->output, why);
    }
    if (err == FBY_OK) {
        err = fby_pipeline_load(options->local->pipeline, &self->pipeline, why);
    }
    if (err == FBY_OK) {
        err = check_name(self, why);
    }
    if (err == FBY_OK) {
        err = check_output(self, why);
    }
    if (err != FBY_OK) {
        return err;
    }
    struct fby_error_detail why_not_written = {{0}};
    err                                     = check_splits(self, why);
    if (options->json && err == FBY_OK) {
        print_json(self);
    }
    /* After an error too, what was found is kept. */
    bool    is_complete = err == FBY_OK && fby_signals_caught() == 0;
    fby_err written     = write_output(self, is_complete, &why_not_written);
    if (err == FBY_OK && written != FBY_OK) {
        *why = why_not_written;
    }
    return err != FBY_OK ? err : written;
}

int fby_lint_check(const struct fby_lint_check *check)
{
    struct check_run self = {
        .options = check, .lock = PTHREAD_MUTEX_INITIALIZER};
    struct fby_error_detail why  = {{0}};
    int                     code = FBY_EXIT_DONE;
    fby_signals_catch();
    fby_err err = check_all(&self, &why);
    if (fby_signals_caught() != 0 && (err == FBY_OK || err == FBY_GONE)) {
        code = 128 + fby_signals_caught();
    } else if (err == FBY_OK && self.n_bad > 0) {
        code = FBY_EXIT_FAILED;
    } else {
        code = fby_command_end("lint", err, &why);
    }
    for (uint32_t i = 0; i < self.n_bad; i++) {
        free(self.bad[i].name);
        free(self.bad[i].cause);
    }
    free(self.bad);
    fby_pipeline_destroy(&self.pipeline);
    return code;
}
