/* SPDX-License-Identifier: Apache-2.0 */
/* Index token files. Only their headers and tables are read, except that packed
 * flat files are read whole (token_file.h). */
#include <stdio.h>
#include <string.h>

#include "common/log.h"
#include "common/plural.h"
#include "pipeline/text.h"
#include "worker/source/dataset_state.h"
#include "worker/source/index_build.h"
#include "worker/source/manifest.h"
#include "worker/source/ops.h"
#include "worker/source/tokens/token_file.h"

/* Refuse files that are easily mistaken for token files. */
static fby_err check_name(const struct fby_dataset_spec *spec, const char *name,
    struct fby_error_detail *why)
{
    enum fby_tokens_format format = spec->tokens->format;
    if (format == FBY_TOKENS_MEGATRON && !fby_text_ends_with(name, ".bin")) {
        return fby_error_set(why, FBY_CONFIG,
            "files of format megatron end with .bin; the .idx is looked for "
            "beside them");
    }
    if (format == FBY_TOKENS_MDS && fby_text_ends_with(name, ".json")) {
        return fby_error_set(why, FBY_CONFIG,
            "name the shards, such as shard.*.mds; index.json is not needed");
    }
    if (format == FBY_TOKENS_MDS && !fby_text_ends_with(name, ".mds")) {
        return fby_error_set(why, FBY_CONFIG,
            "shards of format mds end with .mds; those that are compressed "
            "(.mds.zstd and the like) must be unpacked first");
    }
    return FBY_OK;
}

static fby_err read_runs(const struct fby_tokens *how,
    const struct fby_shard_files *files, struct fby_sequences *out,
    struct fby_error_detail *why)
{
    uint32_t              last = files->n - 1; /* the index file, if any */
    struct fby_token_file file = {
        .object = &files->objects[last],
        .size   = files->stamps[last].size,
        .stop   = files->stop,
    };
    switch (how->format) {
    case FBY_TOKENS_FLAT:
        return fby_flat_read(&file, how->end, out, why);
    case FBY_TOKENS_MDS:
        return fby_mds_read(&file, how->column, out, why);
    case FBY_TOKENS_MEGATRON:
        return fby_error_prefix(why,
            fby_megatron_read(&file, files->stamps[0].size, out, why),
            "its index beside it");
    }
    return fby_error_set(why, FBY_CONFIG, "token files of no known format");
}

static fby_err scan_file(const struct fby_dataset_spec *spec,
    const struct fby_shard_files *files, struct fby_shard *out,
    struct fby_error_detail *why)
{
    out->sequences = fby_sequences_create(spec->tokens);
    FBY_TRY(read_runs(spec->tokens, files, out->sequences, why));
    return fby_shard_finish_sequences(out, why);
}

/* Warn once about all files without an end token: the `end` of the pipeline is
 * probably wrong. */
static void warn_of_missing_ends(const struct fby_build *build)
{
    const struct fby_shard *first     = NULL; /* the first such file */
    uint32_t                n_without = 0;    /* number of such files */
    for (uint32_t i = 0; i < build->out->n_shards; i++) {
        const struct fby_shard *shard = &build->out->shards[i];
        if (shard->sequences->has_no_end_token &&
            fby_sequences_is_one_document(shard->sequences)) {
            first = first == NULL ? shard : first;
            n_without++;
        }
    }
    if (first != NULL) {
        fby_warn("NO-END",
            "shard %s has no token %u among its %llu, so it is one document, "
            "as are %u of %u files: check end (the token after each document) "
            "and type",
            first->name, build->spec->tokens->end,
            (unsigned long long)first->sequences->tokens, n_without,
            build->out->n_shards);
    }
}

/* Refuse files that are all shorter than a sequence. */
static fby_err check_sequences(const struct fby_dataset_spec *spec,
    const struct fby_index *index, struct fby_error_detail *why)
{
    uint64_t longest = 0; /* number of tokens of the longest file */
    for (uint32_t i = 0; i < index->n_shards; i++) {
        const struct fby_sequences *sequences = index->shards[i].sequences;
        if (index->shards[i].n_samples > 0) {
            return FBY_OK;
        }
        longest = sequences->tokens > longest ? sequences->tokens : longest;
    }
    return fby_error_set(why, FBY_CONFIG,
        "no file holds a sequence: length is %u%s, and the longest of %u has "
        "%s",
        spec->tokens->length,
        spec->tokens->shift > 0 ? " and one more for targets" : "",
        index->n_shards, fby_plural(longest, "token").text);
}

static fby_err index_tokens(
    struct fby_build *self, struct fby_error_detail *why)
{
    const struct fby_file_kind tokens = {
        .check_name = check_name,
        .index_suffix =
            self->spec->tokens->format == FBY_TOKENS_MEGATRON ? ".idx" : NULL,
        .scan = scan_file,
    };
    FBY_TRY(fby_build_file_shards(self, &tokens, why));
    warn_of_missing_ends(self);
    return FBY_OK;
}

/* Append the settings on which the index depends. */
static void describe_index(
    const struct fby_dataset_spec *spec, struct fby_buffer *out)
{
    const struct fby_tokens *tokens = spec->tokens;
    char                     text[160];
    int n = snprintf(text, sizeof(text), "%d %d %u %u %s ", (int)tokens->format,
        (int)tokens->type, tokens->length, tokens->shift, tokens->column);
    if (tokens->packed) {
        snprintf(text + n, sizeof(text) - (size_t)n, "packed %u ", tokens->end);
    }
    fby_put_bytes(out, text, strlen(text));
}

static void describe(const struct fby_dataset *dataset,
    const struct fby_sample_at *at, const struct fby_member *member,
    struct fby_error_detail *text)
{
    (void)dataset;
    (void)member;
    struct fby_member     sequence = fby_sequence_member(at);
    struct fby_token_part first_part =
        fby_sequences_find_part(at->shard->sequences, at->sample, 0);
    snprintf(text->text, sizeof(text->text),
        "shard %.200s, sample %llu (tokens from %llu on), offset %llu",
        at->shard->name, (unsigned long long)at->number,
        (unsigned long long)first_part.token,
        (unsigned long long)sequence.offset);
}

const struct fby_source_ops fby_tokens_ops = {
    .index          = index_tokens,
    .check          = check_sequences,
    .describe_index = describe_index,
    .describe       = describe,
    .encode         = fby_tokens_encode,
    .decode         = fby_tokens_decode,
};
