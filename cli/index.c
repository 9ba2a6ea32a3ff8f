/* SPDX-License-Identifier: Apache-2.0 */
/* index.c - `forebay index`: create the manifests of a source in advance (the
 * lists of its samples and the digests of its shards). */
#include <inttypes.h>
#include <stdio.h>

#include "cli/command.h"
#include "cli/local.h"
#include "cli/signals.h"
#include "common/plural.h"
#include "pipeline/sources/traits.h"

struct index_options {
    struct fby_local_options local;
};

static const struct fby_option options[] = {
    FBY_LOCAL_OPTIONS(struct index_options, local),
    {"hash", 0, NULL,
        "Also hash every byte, so that workers whose copies differ are found",
        FBY_VALUE(FBY_FLAG, struct index_options, local.hash)},
    {0},
};

static const char about[] =
    "Read the data of all splits or of one, and keep the manifests.\v"
    "Examples:\n"
    "  forebay index --pipeline p.yaml\n"
    "  forebay index --pipeline p.yaml --split val --hash\n"
    "Workers do the same when they first open data; manifests are kept under\n"
    "$FOREBAY_CACHE_DIR, $XDG_CACHE_HOME/forebay or ~/.cache/forebay. For a\n"
    "folder, a list, parallel folders or columns only hashes are kept, and\n"
    "lengths for bucket_by: their files are checked at each opening.\n"
    "Hashing changes the digest of the data, and a stream cannot resume with\n"
    "data of another digest: hash before the first run.";

static const struct fby_usage usage = {.options = options, .help = about};

/* " (2 unchanged, not read again)"; "" if all shards were read. */
struct reused_text {
    char text[48];
};

static struct reused_text describe_reused(uint32_t n_shards)
{
    struct reused_text out = {""};
    if (n_shards > 0) {
        snprintf(out.text, sizeof(out.text),
            " (%" PRIu32 " unchanged, not read again)", n_shards);
    }
    return out;
}

static fby_err index_split(
    const struct fby_local_options *local_options, struct fby_error_detail *why)
{
    struct fby_local local;
    fby_err          err = fby_local_open(&local, local_options, why);
    if (err == FBY_OK) {
        struct fby_digest digest = fby_dataset_digest(local.dataset);
        char              hex[2 * sizeof(digest.bytes) + 1];
        /* Files are cut into virtual shards (worker/source/shard_builder.h). */
        bool has_files =
            fby_source_traits(local.split->content.source)->has_files;
        printf("%s: %s in %s%s, data digest %s%s\n", local_options->split,
            fby_plural(fby_dataset_sample_count(local.dataset), "sample").text,
            fby_plural(fby_dataset_shard_count(local.dataset),
                has_files ? "part" : "shard")
                .text,
            describe_reused(fby_dataset_reused_shard_count(local.dataset)).text,
            fby_hex(digest.bytes, sizeof(digest.bytes), hex),
            fby_dataset_has_checksums(local.dataset) ? ", bytes hashed" : "");
    }
    fby_local_close(&local);
    return err;
}

static fby_err index_all_splits(
    struct fby_local_options local_options, struct fby_error_detail *why)
{
    struct fby_pipeline *pipeline = NULL;
    fby_err err = fby_pipeline_load(local_options.pipeline, &pipeline, why);
    size_t  n_splits = err == FBY_OK ? fby_pipeline_n_splits(pipeline) : 0;
    for (size_t i = 0; i < n_splits && err == FBY_OK; i++) {
        local_options.split = fby_pipeline_split_name(pipeline, i);
        err                 = index_split(&local_options, why);
    }
    fby_pipeline_destroy(&pipeline);
    return err;
}

static int run(int argc, char **argv)
{
    struct index_options    values = {0};
    struct fby_error_detail why    = {{0}};
    fby_usage_parse(&usage, argc, argv, &values);
    fby_signals_catch();
    values.local.must_store = true;
    fby_err err             = values.local.split != NULL
                                  ? index_split(&values.local, &why)
                                  : index_all_splits(values.local, &why);
    fby_words_fini(&values.local.data);
    if (fby_signals_caught() != 0) {
        return 128 + fby_signals_caught();
    }
    return fby_command_end("index", err, &why);
}

const struct fby_command fby_command_index = {
    .name    = "index",
    .summary = "read a source once and keep its manifests",
    .run     = run,
};
