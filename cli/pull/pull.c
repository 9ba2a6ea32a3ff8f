/* SPDX-License-Identifier: Apache-2.0 */
/* pull.c - `forebay pull`: a trainer without a model.
 *
 * The command takes batches as a training loop would, from the public functions
 * (forebay.h), and reports their rate and the time spent in each stage. Without
 * --server it starts an embedded server and workers. */
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/cluster.h"
#include "cli/command.h"
#include "cli/inputs.h"
#include "cli/progress.h"
#include "cli/pull/journal.h"
#include "cli/pull/options.h"
#include "cli/pull/report.h"
#include "cli/sample_noun.h"
#include "cli/served.h"
#include "cli/signals.h"
#include "common/clock.h"
#include "common/hash.h"
#include "common/plural.h"
#include "forebay/forebay.h"
#include "pipeline/parse.h"
#include "pipeline/token.h"
#include "trainer_client/gpu/device_name.h"

enum { TOKEN_SIZE = 512 }; /* bytes */

/* A signal is noticed after at most this time. */
static const int64_t max_wait_ns = FBY_NS_PER_S / 5;

struct pull_run { /* the state of one run of the command */
    struct fby_pull_options *options;
    struct fby_cluster      *cluster;
    struct forebay          *stream;
    struct forebay_info      info; /* struct_size 0: the stream never opened */
    DLDevice                 device; /* of the last batch */
    struct fby_journal       journal;
    const char              *noun; /* for a sample, in statistics */
    struct fby_progress_line progress;
    int64_t                  start_ns;
    int64_t last_check_ns; /* time of the last check for ended children */
    int64_t last_event_ns; /* time of the last batch or waiting message */
    char    resume_token[TOKEN_SIZE]; /* of --resume; "": none */
};

static void show_scan(void *arg, uint64_t done, uint64_t total)
{
    fby_progress_show_count(arg, "looking at the data", done, total);
}

/* If the library's message names its option window_bytes, append the name that
 * this option has on the command line. */
static void add_window_hint(struct fby_error_detail *why)
{
    size_t used = strlen(why->text);
    if (strstr(why->text, "window_bytes") != NULL) {
        snprintf(why->text + used, sizeof(why->text) - used,
            "; it is --window here");
    }
}

/* Returns FBY_OK also after a signal; self->stream is then NULL. */
static fby_err open_stream(struct pull_run *self,
    const struct fby_served_roots *roots, struct fby_error_detail *why)
{
    struct forebay_options   options = self->options->stream;
    struct fby_progress_line line    = fby_progress_begin();
    if (self->cluster != NULL) {
        options.server = fby_cluster_server_endpoint(self->cluster);
        options.keys   = fby_cluster_keys(self->cluster);
    }
    options.token   = self->options->resume != NULL ? self->resume_token : NULL;
    options.roots   = roots->roots;
    options.n_roots = roots->n_roots;
    options.on_scan = show_scan;
    options.on_scan_arg = &line;
    options.give_up     = fby_signals_interrupted;
    enum forebay_status status =
        forebay_open(&options, why->text, sizeof(why->text), &self->stream);
    fby_progress_end(&line);
    if (status != FOREBAY_OK) {
        add_window_hint(why);
        return status == FOREBAY_INTERRUPTED ? FBY_OK : FBY_CONFIG;
    }
    self->info.struct_size = sizeof(self->info);
    forebay_info(self->stream, &self->info);
    return FBY_OK;
}

/* Returns the number of steps of this run; 0: unlimited (or none is left). */
static uint64_t count_steps_to_do(const struct forebay_info *info)
{
    uint64_t first_step = /* counted from epoch 0 step 0 */
        info->first_epoch * info->steps_per_epoch + info->first_step;
    if (info->end_step == UINT64_MAX) {
        return 0;
    }
    return info->end_step > first_step ? info->end_step - first_step : 0;
}

static struct forebay_stats read_stats(const struct pull_run *self)
{
    struct forebay_stats stats = {.struct_size = sizeof(stats)};
    forebay_stats(self->stream, &stats);
    return stats;
}

static void show_progress(struct pull_run *self, int64_t now_ns)
{
    struct forebay_stats       stats = read_stats(self);
    struct fby_stream_progress state = {
        .steps   = stats.steps,
        .total   = count_steps_to_do(&self->info),
        .samples = stats.images,
        .noun    = self->noun,
        .wait_ns = stats.wait_ns,
    };
    fby_progress_show_stream(&self->progress, &state, now_ns);
}

/* While no batch arrives, print the reason every 3 s. */
static void print_waiting(struct pull_run *self, int64_t now_ns)
{
    const char *text = forebay_error(self->stream);
    if (text[0] != '\0' && now_ns - self->last_event_ns > 3 * FBY_NS_PER_S) {
        self->last_event_ns = now_ns;
        fby_progress_end(&self->progress);
        fprintf(stderr, "forebay pull: waiting: %s\n", text);
    }
}

/* Wait as long as training on a batch would last. A signal ends the wait. */
static void hold_batch(const struct pull_run *self)
{
    int64_t until_ns = fby_now_ns() + self->options->hold_ns;
    int64_t left_ns  = self->options->hold_ns;
    while (left_ns > 0 && fby_signals_caught() == 0) {
        fby_signals_wait((int)((left_ns + FBY_NS_PER_MS - 1) / FBY_NS_PER_MS));
        left_ns = until_ns - fby_now_ns();
    }
}

static void print_substitutions(
    struct pull_run *self, struct forebay_batch *batch)
{
    for (uint32_t i = 0; i < forebay_batch_n_substitutions(batch); i++) {
        const struct forebay_substitution *substitution =
            forebay_batch_substitution(batch, i);
        fby_progress_end(&self->progress);
        fprintf(stderr,
            "substituted: epoch %" PRIu64 " step %" PRIu64 " row %" PRIu32
            ": sample %" PRIu64 " by %" PRIu64 ": %s\n",
            forebay_batch_epoch(batch), forebay_batch_step(batch),
            substitution->row, substitution->sample, substitution->substitute,
            substitution->cause);
    }
}

static void show_progress_and_restart_children(struct pull_run *self)
{
    int64_t now_ns = fby_now_ns();
    show_progress(self, now_ns);
    if (self->cluster != NULL && now_ns - self->last_check_ns > FBY_NS_PER_S) {
        self->last_check_ns = now_ns;
        fby_cluster_tick(self->cluster, now_ns);
    }
}

static fby_err receive_batches(
    struct pull_run *self, struct fby_error_detail *why)
{
    fby_err err = FBY_OK;
    while (err == FBY_OK && fby_signals_caught() == 0) {
        struct forebay_batch *batch = NULL;
        enum forebay_status   status =
            forebay_next(self->stream, max_wait_ns, NULL, &batch);
        show_progress_and_restart_children(self);
        if (status == FOREBAY_TIMEOUT) {
            print_waiting(self, fby_now_ns());
            continue;
        }
        if (status == FOREBAY_END) {
            return FBY_OK;
        }
        if (status != FOREBAY_OK) {
            return fby_error_set(
                why, FBY_GONE, "%s", forebay_error(self->stream));
        }
        self->last_event_ns = fby_now_ns();
        print_substitutions(self, batch);
        self->device = forebay_batch_tensor(batch, 0)->device;
        hold_batch(self);
        err = fby_journal_record(&self->journal, batch, why);
        forebay_release(&batch, NULL);
    }
    return err;
}

static void print_report(struct pull_run *self)
{
    struct fby_report result = {
        .stats     = read_stats(self),
        .noun      = self->noun,
        .seconds   = (double)(fby_now_ns() - self->start_ns) / 1e9,
        .token     = self->journal.token,
        .device    = self->device,
        .has_model = self->options->hold_ns > 0,
    };
    uint8_t digest[16];
    if (forebay_stream_digest(self->stream, digest) == FOREBAY_OK) {
        fby_hex(digest, sizeof(digest), result.digest);
    }
    if (self->options->json) {
        fby_report_json(&result, stdout);
    } else {
        fby_report_table(&result, stdout);
    }
}

static fby_err run_stream(struct pull_run *self, struct fby_error_detail *why)
{
    self->start_ns      = fby_now_ns();
    self->progress      = fby_progress_begin();
    self->last_event_ns = self->start_ns;
    /* If the run ends before the first batch, this token remains the newest. */
    snprintf(self->journal.token, sizeof(self->journal.token), "%s",
        self->resume_token);
    fby_err err = receive_batches(self, why);
    fby_progress_end(&self->progress);
    if (err == FBY_OK && self->options->resume != NULL &&
        self->journal.steps == 0 && fby_signals_caught() == 0) {
        fputs("forebay pull: the token was taken at the end of the run, so no "
              "step is left; raise --epochs or --steps to go on\n",
            stderr);
    }
    if (err == FBY_OK || (self->options->json && self->journal.steps > 0)) {
        print_report(self);
    } else if (self->journal.steps > 0) {
        fprintf(stderr,
            "forebay pull: failed after %s; resume with\n"
            "  --resume %s\n",
            fby_plural(self->journal.steps, "step").text, self->journal.token);
    }
    return err;
}

/* Load the pipeline, check that it has the split and set the noun. */
static fby_err check_split(struct pull_run *self, struct fby_error_detail *why)
{
    const struct fby_pull_options *o        = self->options;
    struct fby_pipeline           *pipeline = NULL;
    struct fby_split              *split    = NULL;
    fby_err err = fby_pipeline_load(o->stream.pipeline_path, &pipeline, why);
    if (err == FBY_OK) {
        err = fby_pipeline_make_split(pipeline, o->stream.split, &split, why);
    }
    if (err == FBY_OK) {
        self->noun = fby_sample_noun(&split->content);
    }
    fby_split_destroy(&split);
    fby_pipeline_destroy(&pipeline);
    return err;
}

/* Check that the requested GPU exists and can be used. */
static fby_err check_device(
    const struct fby_pull_options *o, struct fby_error_detail *why)
{
    int number = 0;
    if (strcmp(o->stream.device, "host") == 0 ||
        strcmp(o->stream.device, "auto") == 0) {
        return FBY_OK;
    }
    fby_err err =
        fby_gpu_find_device(fby_cuda(), o->stream.device, &number, why);
    return err == FBY_OK ? FBY_OK : FBY_CONFIG; /* not FBY_USAGE: exit code 1 */
}

/* Read the token of --resume, whose seed must be that of --seed. */
static fby_err read_resume_token(
    struct pull_run *self, struct fby_error_detail *why)
{
    const struct fby_pull_options *o = self->options;
    struct fby_token               token;
    fby_err                        err =
        fby_journal_read_token(o->resume, self->resume_token, TOKEN_SIZE, why);
    /* forebay_open() reports a token that cannot be decoded. */
    if (err != FBY_OK || !o->seed.given ||
        fby_token_decode(self->resume_token, &token, NULL) != FBY_OK ||
        token.seed == o->seed.value) {
        return err;
    }
    return fby_error_set(why, FBY_USAGE,
        "--seed %" PRIu64 ", but the token has seed %" PRIu64
        "; leave --seed out, or give the token's",
        o->seed.value, token.seed);
}

/* A device may be given twice. */
static bool are_one_file(const char *a, const char *b)
{
    struct stat st;
    return a != NULL && b != NULL && strcmp(a, b) == 0 &&
           (stat(a, &st) != 0 || S_ISREG(st.st_mode));
}

/* The file of --resume may be that of --token-file, whose content it becomes. */
static fby_err check_outputs(const struct fby_pull_options *o,
    const struct fby_words *roots, struct fby_error_detail *why)
{
    const char *pipeline = o->stream.pipeline_path;
    fby_err err = fby_inputs_check_all(o->digests_path, pipeline, roots, why);
    if (err == FBY_OK) {
        err = fby_inputs_check_all(o->token_path, pipeline, roots, why);
    }
    if (err == FBY_OK && are_one_file(o->digests_path, o->token_path)) {
        err = fby_error_set(why, FBY_USAGE,
            "%s: --digests and --token-file need a file each", o->token_path);
    }
    if (err == FBY_OK && o->resume != NULL && o->resume[0] == '@') {
        err = fby_inputs_check_file(o->digests_path, o->resume + 1, why);
    }
    return err;
}

/* Check the options, collect the roots and open the journal. */
static fby_err prepare(struct pull_run *self, struct fby_served_roots *roots,
    struct fby_error_detail *why)
{
    const struct fby_pull_options *o   = self->options;
    fby_err                        err = check_device(o, why);
    if (err == FBY_OK) {
        err = check_split(self, why);
    }
    if (err == FBY_OK && o->resume != NULL) {
        err = read_resume_token(self, why);
    }
    if (err == FBY_OK && o->stream.server != NULL) {
        err = fby_served_collect_of_server(roots, &o->data, why);
    } else if (err == FBY_OK) {
        err = fby_served_collect(roots, &o->data, o->stream.pipeline_path, why);
    }
    if (err == FBY_OK) {
        err = check_outputs(o, &roots->data_options, why);
    }
    if (err == FBY_OK) {
        err = fby_journal_open(&self->journal, o->digests_path, o->token_path,
            o->token_every, why);
    }
    return err;
}

/* Write the newest token, also after the error `err`. Returns `err`, or the
 * error of writing if `err` is FBY_OK. */
static fby_err close_journal(
    struct pull_run *self, fby_err err, struct fby_error_detail *why)
{
    struct fby_error_detail unused = {{0}};
    fby_err                 closed =
        fby_journal_close(&self->journal, err == FBY_OK ? why : &unused);
    return err == FBY_OK ? closed : err;
}

static fby_err pull(struct pull_run *self, struct fby_error_detail *why)
{
    struct fby_pull_options *o     = self->options;
    struct fby_served_roots  roots = {0};
    fby_err                  err   = prepare(self, &roots, why);
    if (err == FBY_OK) {
        fby_signals_catch(); /* so that a signal stops the cluster in order */
    }
    if (err == FBY_OK && o->stream.server == NULL) {
        o->cluster.roots = roots.data_options.items;
        err              = fby_cluster_start(&o->cluster, &self->cluster, why);
    }
    if (err == FBY_OK) {
        err = open_stream(self, &roots, why);
    }
    if (err == FBY_OK && self->stream != NULL) { /* NULL: after a signal */
        err = run_stream(self, why);
    }
    err = close_journal(self, err, why);
    if (err != FBY_OK) {
        fby_served_complete_error(&roots, why);
    }
    forebay_close(&self->stream);
    fby_cluster_stop(&self->cluster);
    fby_served_fini(&roots);
    return err;
}

static void print_interrupted(const struct pull_run *self)
{
    if (self->info.struct_size == 0) { /* the stream never opened */
        fputs("forebay pull: interrupted before the stream was open\n", stderr);
    } else if (self->journal.token[0] == '\0') {
        fputs("forebay pull: ended by signal before the first batch; there is "
              "no token to resume from\n",
            stderr);
    } else {
        fprintf(stderr,
            "forebay pull: ended by signal; resume with\n"
            "  --resume %s\n",
            self->journal.token);
    }
}

static int run(int argc, char **argv)
{
    struct fby_pull_options o;
    struct pull_run         self = {.options = &o};
    struct fby_error_detail why  = {{0}};
    fby_pull_parse(argc, argv, &o);
    /* Messages are allocated on the heaps of threads. Keep 64 MiB there.
     * Otherwise the heaps shrink after each batch, and the kernel clears new
     * pages. */
    mallopt(M_TOP_PAD, 64 << 20);
    fby_err err  = pull(&self, &why);
    int     code = fby_command_end("pull", err, &why);
    if (err == FBY_OK && fby_signals_caught() != 0) {
        print_interrupted(&self);
        code = 128 + fby_signals_caught();
    }
    fby_words_fini(&o.data);
    fby_words_fini(&o.fields);
    return code;
}

const struct fby_command fby_command_pull = {
    .name    = "pull",
    .summary = "receive batches as a trainer would, and measure",
    .run     = run,
};
