/* lint.c - `forebay lint`: find avoidable costs of a pipeline file.
 *
 * The command makes the values of some samples as a worker would, and again
 * with each change that might save time or bytes. It advises only measured
 * savings. */
#include <stdio.h>
#include <stdlib.h>

#include "cli/command.h"
#include "cli/lint/measure.h"
#include "cli/lint/report.h"
#include "common/mem.h"

enum { MAX_SAMPLES = 4096 };

struct lint_options {
    struct fby_local_options local;
    uint32_t                 samples;
    bool                     json;
};

static const struct fby_option options[] = {
    FBY_LOCAL_OPTIONS(struct lint_options, local),
    {"samples", 'n', "N",
        "Measure on N samples, evenly over the split (default 64)",
        FBY_RANGE(FBY_NUMBER, struct lint_options, samples, 1, MAX_SAMPLES)},
    {"json", 0, NULL, "Print one JSON object instead of text",
        FBY_VALUE(FBY_FLAG, struct lint_options, json)},
    {0},
};

static const struct fby_usage usage = {.options = options,
    .help =
        "Find avoidable costs of a pipeline file, and measure them.\v"
        "It looks for samples that are bad ones, masks that are cropped or "
        "flipped apart from their pictures, normalize with numbers of 0 to "
        "255, token files where no document ends, ops in an order that works "
        "on pixels which are dropped later, pictures decoded larger than need "
        "be, numbers in wider types than they fill, bytes sent without a codec "
        "that pays, fields with one value or the values of another, and "
        "batches that come from very many shards. Each finding has its line, "
        "the saving measured on samples of the data, and what to write "
        "instead. They are advice: the exit code is 0 with them and "
        "without.\n\n"
        "Examples:\n"
        "  forebay lint --pipeline p.yaml\n"
        "  forebay lint --pipeline p.yaml --split val --samples 256 --json"};

static void print_report(const struct lint_options *o,
    const struct fby_lint_facts *facts, const struct fby_finding *findings,
    uint32_t n)
{
    const struct fby_lint_report out = {o->local.pipeline, facts, findings, n};
    if (o->json) {
        fby_lint_report_json(&out, stdout);
    } else {
        fby_lint_report_table(&out, stdout);
    }
}

static fby_err measure_and_report(const struct lint_options *o,
    const struct fby_lint_sample *sample, struct fby_error_detail *why)
{
    struct fby_lint_facts *facts = fby_zalloc(sizeof(*facts));
    struct fby_finding    *findings =
        fby_zalloc(FBY_LINT_FINDINGS * sizeof(*findings));
    fby_err err = fby_lint_measure(sample, o->local.split, facts, why);
    if (err == FBY_OK) {
        print_report(o, facts, findings, fby_lint_find(facts, findings));
    }
    free(findings);
    free(facts);
    return err;
}

static fby_err lint(const struct lint_options *o, struct fby_error_detail *why)
{
    struct fby_local       local  = {0};
    struct fby_lint_sample sample = {0};
    fby_err                err    = fby_local_open(&local, &o->local, why);
    if (err == FBY_OK) {
        err = fby_lint_sample_take(&sample, &local, o->samples, why);
        if (err == FBY_OK) {
            err = measure_and_report(o, &sample, why);
        }
        fby_lint_sample_fini(&sample);
    }
    fby_local_close(&local);
    return err;
}

static int run(int argc, char **argv)
{
    struct lint_options     o   = {.samples = 64};
    struct fby_error_detail why = {{0}};
    fby_usage_parse(&usage, argc, argv, &o);
    fby_err err = lint(&o, &why);
    fby_words_fini(&o.local.data);
    return fby_command_end("lint", err, &why);
}

const struct fby_command fby_command_lint = {
    .name    = "lint",
    .summary = "find avoidable costs of a pipeline file",
    .run     = run,
};
