/* index.c - `forebay index`: create the manifests of a source in advance. */
#include <inttypes.h>
#include <stdio.h>

#include "cli/command.h"
#include "cli/local.h"
#include "cli/signals.h"
#include "common/plural.h"
#include "pipeline/sources/traits.h"

enum option_key { KEY_HASH = 0x100 };

static const struct argp_option options[] = {
    {"hash", KEY_HASH, NULL, 0,
        "Also hash every byte, so that workers whose copies differ are found",
        0},
    {0},
};

/* NOLINTNEXTLINE(readability-non-const-parameter): argp's type */
static error_t parse_option(int key, char *arg, struct argp_state *state)
{
    struct fby_local_options *o = state->input;
    (void)arg;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = o;
        return 0;
    case KEY_HASH:
        o->hash = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {
    {&fby_local_argp, 0, NULL, 0}, {0}};

static const struct argp argp = {options, parse_option, NULL,
    "Read the data of all splits or of one, and keep the manifests.\v"
    "Examples:\n"
    "  forebay index --pipeline p.yaml\n"
    "  forebay index --pipeline p.yaml --split val --hash\n"
    "Workers do the same when they first open data; manifests are kept under\n"
    "$FOREBAY_CACHE_DIR, $XDG_CACHE_HOME/forebay or ~/.cache/forebay. For a\n"
    "folder, a list, parallel folders or columns only hashes are kept, and\n"
    "lengths for bucket_by: their files are checked at each opening.\n"
    "Data that is hashed has another digest than before: streams begun before\n"
    "cannot go on with it, so hash before the first run.",
    children, NULL, NULL};

static fby_err index_split(
    const struct fby_local_options *o, struct fby_why *why)
{
    struct fby_local local;
    char             hex[65];
    fby_err          err = fby_local_open(&local, o, why);
    if (err == FBY_OK) {
        struct fby_digest digest = fby_dataset_digest(local.dataset);
        const char       *unit =
            fby_source_traits(local.split->content.source)->has_files ? "part"
                                                                            : "shard";
        printf("%s: %s in %s (%" PRIu32 " known before), data digest %s%s\n",
            o->split,
            fby_plural(fby_dataset_samples(local.dataset), "sample").text,
            fby_plural(fby_dataset_shards(local.dataset), unit).text,
            fby_dataset_reused(local.dataset),
            fby_hex(digest.bytes, sizeof(digest.bytes), hex),
            fby_dataset_hashed(local.dataset) ? ", bytes hashed" : "");
    }
    fby_local_close(&local);
    return err;
}

static fby_err index_all(struct fby_local_options *o, struct fby_why *why)
{
    struct fby_pipeline *pipeline = NULL;
    fby_err              err = fby_pipeline_load(o->pipeline, &pipeline, why);
    size_t n = err == FBY_OK ? fby_pipeline_n_splits(pipeline) : 0;
    for (size_t i = 0; i < n && err == FBY_OK; i++) {
        o->split = fby_pipeline_split_name(pipeline, i);
        err      = index_split(o, why);
    }
    fby_pipeline_destroy(&pipeline);
    return err;
}

static int run(int argc, char **argv)
{
    struct fby_local_options o   = {0};
    struct fby_why           why = {{0}};
    fby_option_parse(&argp, argc, argv, &o);
    fby_signals_catch();
    fby_err err = o.split != NULL ? index_split(&o, &why) : index_all(&o, &why);
    fby_words_fini(&o.data);
    if (fby_signals_caught() != 0) {
        return 128 + fby_signals_caught();
    }
    return fby_command_end("index", err, &why);
}

const struct fby_command fby_command_index = {
    .name    = "index",
    .summary = "look at a source once and keep its manifest",
    .run     = run,
};
