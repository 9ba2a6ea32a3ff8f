/* lint.c - `forebay lint`: find avoidable costs of a pipeline file.
 *
 * It makes some samples as a worker would, and again in each way that it might
 * advise. It gives only advice that measurably helps. */
#include <stdio.h>
#include <stdlib.h>

#include "cli/command.h"
#include "cli/lint/measure.h"
#include "cli/lint/report.h"
#include "common/mem.h"

enum { MOST_SAMPLES = 4096 };

enum option_key { KEY_SAMPLES = 'n', KEY_JSON = 0x100 };

struct lint_options {
    struct fby_local_options local;
    uint32_t                 samples;
    bool                     json;
};

static const struct argp_option options[] = {
    {"samples", KEY_SAMPLES, "N", 0,
        "Measure on N samples, evenly over the split (default 64)", 0},
    {"json", KEY_JSON, NULL, 0, "Print one JSON object instead of text", 0},
    {0},
};

/* NOLINTNEXTLINE(readability-non-const-parameter): argp's type */
static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct lint_options *o = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &o->local;
        return 0;
    case KEY_SAMPLES:
        o->samples =
            (uint32_t)fby_option_u64(state, "--samples", arg, 1, MOST_SAMPLES);
        return 0;
    case KEY_JSON:
        o->json = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {
    {&fby_local_argp, 0, NULL, 0}, {0}};

static const struct argp argp = {options, parse_option, NULL,
    "Find avoidable costs of a pipeline file, and measure them.\v"
    "It looks for samples that are bad ones, masks that are cropped or flipped "
    "apart from their pictures, normalize with numbers of 0 to 255, token "
    "files where no document ends, ops in an order that works on pixels which "
    "are dropped later, pictures decoded larger than need be, numbers in wider "
    "types than they fill, bytes sent without a codec that pays, fields with "
    "one value or the values of another, and batches that come from very many "
    "shards. Each finding has its line, the saving measured on samples of the "
    "data, and what to write instead. They are advice: the exit code is 0 with "
    "them and without.\n\n"
    "Examples:\n"
    "  forebay lint --pipeline p.yaml\n"
    "  forebay lint --pipeline p.yaml --split val --samples 256 --json",
    children, NULL, NULL};

static void report(const struct lint_options *o,
    const struct fby_lint_facts *facts, const struct fby_finding *findings,
    uint32_t n)
{
    const struct fby_lint_report all = {o->local.pipeline, facts, findings, n};
    if (o->json) {
        fby_lint_report_json(&all, stdout);
    } else {
        fby_lint_report_table(&all, stdout);
    }
}

static fby_err lint_sample(const struct lint_options *o,
    const struct fby_lint_sample *sample, struct fby_why *why)
{
    struct fby_lint_facts *facts = fby_zalloc(sizeof(*facts));
    struct fby_finding    *findings =
        fby_zalloc(FBY_LINT_FINDINGS * sizeof(*findings));
    fby_err err = fby_lint_measure(sample, o->local.split, facts, why);
    if (err == FBY_OK) {
        report(o, facts, findings, fby_lint_find(facts, findings));
    }
    free(findings);
    free(facts);
    return err;
}

static fby_err lint(const struct lint_options *o, struct fby_why *why)
{
    struct fby_local       local  = {0};
    struct fby_lint_sample sample = {0};
    fby_err                err    = fby_local_open(&local, &o->local, why);
    if (err == FBY_OK) {
        err = fby_lint_sample_take(&sample, &local, o->samples, why);
        if (err == FBY_OK) {
            err = lint_sample(o, &sample, why);
        }
        fby_lint_sample_fini(&sample);
    }
    fby_local_close(&local);
    return err;
}

static int run(int argc, char **argv)
{
    struct lint_options o   = {.samples = 64};
    struct fby_why      why = {{0}};
    fby_option_parse(&argp, argc, argv, &o);
    fby_err err = lint(&o, &why);
    fby_words_fini(&o.local.data);
    return fby_command_end("lint", err, &why);
}

const struct fby_command fby_command_lint = {
    .name    = "lint",
    .summary = "find avoidable costs of a pipeline file",
    .run     = run,
};
