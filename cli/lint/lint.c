/* SPDX-License-Identifier: Apache-2.0 */
/* lint.c - `forebay lint`: find avoidable costs of a pipeline file.
 *
 * The command makes the values of some samples as a worker would, and again
 * with each change that might save time or bytes. It advises only measured
 * savings. */
#include <stdio.h>
#include <stdlib.h>

#include "cli/command.h"
#include "cli/lint/check.h"
#include "cli/lint/measure.h"
#include "cli/lint/report.h"
#include "cli/signals.h"
#include "common/mem.h"

enum { MAX_SAMPLES = 4096 };

struct lint_options {
    struct fby_local_options local;
    uint32_t                 samples;
    bool                     check;
    const char              *output; /* with `check`; NULL: no file */
    bool                     json;
};

static const struct fby_option options[] = {
    FBY_LOCAL_OPTIONS(struct lint_options, local),
    {"samples", 'n', "N",
        "Measure on N samples, evenly over the split (default 64)",
        FBY_RANGE(FBY_NUMBER, struct lint_options, samples, 1, MAX_SAMPLES)},
    {"check", 0, NULL, "Instead read all samples once, and list the bad ones",
        FBY_VALUE(FBY_FLAG, struct lint_options, check)},
    {"output", 'o', "FILE",
        "With --check: add the names of bad samples to FILE, for the key "
        "exclude of a split",
        FBY_VALUE(FBY_TEXT, struct lint_options, output)},
    {"json", 0, NULL, "Print one JSON object instead of text",
        FBY_VALUE(FBY_FLAG, struct lint_options, json)},
    {0},
};

static void finish_options(const struct argp_state *state, void *values)
{
    const struct lint_options *o = values;
    if (o->output != NULL && !o->check) {
        argp_error(state, "--output needs --check");
    }
}

static const struct fby_usage usage = {.options = options,
    .finish                                     = finish_options,
    .help =
        "Find avoidable costs of a pipeline file, and measure them.\v"
        "It looks for bad samples, masks that are not cropped and flipped like "
        "their pictures, boxes and keypoints beside a picture that is cropped "
        "or "
        "flipped, random ops in splits for evaluation, pictures of 16 "
        "bits, normalize with numbers of 0 to 255, token files without the "
        "token that ends a document, ops that work on pixels which a later op "
        "drops, pictures decoded larger than needed, numbers in wider types "
        "than needed, bytes sent without a codec that would make them fewer, "
        "fields with only one value or the same values as another field, and "
        "batches that come from very many shards. Each finding has its line, "
        "the saving measured on samples of the data, and what to write "
        "instead. Findings are advice and do not change the exit code.\n\n"
        "With --check it reads every sample of all splits, or of the one that "
        "is named, as a worker would, and lists those that a run would stop "
        "at; the exit code is then 1. FILE has a section for each split, and "
        "all splits can name it. After Ctrl-C the exit code is 130, and what "
        "was found until then is printed and added to FILE.\n\n"
        "Examples:\n"
        "  forebay lint --pipeline p.yaml\n"
        "  forebay lint --pipeline p.yaml --split val --samples 256 --json\n"
        "  forebay lint --pipeline p.yaml --check -o bad.txt"};

struct lint_run {
    const struct lint_options *options;
    bool                       has_several; /* splits */
    struct fby_lint_found      found;       /* in the splits before */
    json_t                    *json;        /* with --json */
};

static void report(struct lint_run *self, const struct fby_lint_facts *facts,
    struct fby_finding *findings)
{
    uint32_t n = fby_lint_find(facts, findings);
    n          = fby_lint_found_keep_new(&self->found, findings, n);
    const struct fby_lint_report report = {self->options->local.pipeline,
        self->has_several ? facts->split : NULL, facts, findings, n};
    if (self->options->json) {
        fby_lint_report_add_json(&report, self->json);
    } else {
        fby_lint_report_text(&report, stdout);
    }
}

static fby_err measure_and_report(struct lint_run *self,
    const struct fby_lint_samples *samples, const char *split,
    struct fby_error_detail *why)
{
    struct fby_lint_facts *facts = fby_zalloc(sizeof(*facts));
    struct fby_finding    *findings =
        fby_zalloc(FBY_LINT_FINDINGS * sizeof(*findings));
    fby_err err = fby_lint_measure(samples, split, facts, why);
    if (err == FBY_OK) {
        report(self, facts, findings);
    }
    free(findings);
    free(facts);
    return err;
}

static fby_err lint_split(
    struct lint_run *self, const char *split, struct fby_error_detail *why)
{
    struct fby_local         local   = {0};
    struct fby_lint_samples  samples = {0};
    struct fby_local_options chosen  = self->options->local;
    chosen.split                     = split;
    fby_signals_catch(); /* opening writes manifests */
    fby_err err = fby_local_open(&local, &chosen, why);
    if (err == FBY_OK && fby_signals_caught() == 0) {
        fby_signals_exit();
        err = fby_lint_samples_read(
            &samples, &local, self->options->samples, why);
        if (err == FBY_OK) {
            err = measure_and_report(self, &samples, split, why);
        }
        fby_lint_samples_fini(&samples);
    }
    fby_local_close(&local);
    return err;
}

static fby_err lint_all_splits(
    struct lint_run *self, struct fby_error_detail *why)
{
    struct fby_pipeline *pipeline = NULL;
    fby_err              err =
        fby_pipeline_load(self->options->local.pipeline, &pipeline, why);
    size_t n          = err == FBY_OK ? fby_pipeline_n_splits(pipeline) : 0;
    self->has_several = n > 1;
    for (size_t i = 0; i < n && err == FBY_OK && fby_signals_caught() == 0;
         i++) {
        const char *name = fby_pipeline_split_name(pipeline, i);
        err              = lint_split(self, name, why);
        if (self->has_several) {
            fby_error_prefix(why, err, "split %s", name);
        }
    }
    fby_pipeline_destroy(&pipeline);
    return err;
}

static fby_err lint(const struct lint_options *o, struct fby_error_detail *why)
{
    struct lint_run self = {.options = o};
    self.json = o->json ? fby_lint_report_begin_json(o->local.pipeline) : NULL;
    fby_err err = o->local.split != NULL
                      ? lint_split(&self, o->local.split, why)
                      : lint_all_splits(&self, why);
    if (o->json && err == FBY_OK && fby_signals_caught() == 0) {
        fby_lint_report_print_json(self.json, stdout);
    }
    json_decref(self.json);
    fby_lint_found_fini(&self.found);
    return err;
}

static int run(int argc, char **argv)
{
    struct lint_options     o   = {.samples = 64};
    struct fby_error_detail why = {{0}};
    fby_usage_parse(&usage, argc, argv, &o);
    if (o.check) {
        const struct fby_lint_check check = {&o.local, o.output, o.json};
        int                         code  = fby_lint_check(&check);
        fby_words_fini(&o.local.data);
        return code;
    }
    fby_err err = lint(&o, &why);
    fby_words_fini(&o.local.data);
    if (fby_signals_caught() != 0) {
        return 128 + fby_signals_caught();
    }
    return fby_command_end("lint", err, &why);
}

const struct fby_command fby_command_lint = {
    .name    = "lint",
    .summary = "find avoidable costs of a pipeline file",
    .run     = run,
};
