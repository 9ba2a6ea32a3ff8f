/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/source/dataset.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/bytes.h"
#include "common/interval.h"
#include "common/mem.h"
#include "pipeline/class_names.h"
#include "pipeline/text.h"
#include "worker/source/dataset_state.h"
#include "worker/source/exclude.h"
#include "worker/source/manifest.h"
#include "worker/source/ops.h"

/* Set the digests, sample numbers and map ids, which follow from the index. */
static void number_and_digest(struct fby_dataset *self)
{
    uint32_t n    = self->index.n_shards;
    self->digests = fby_zalloc(n * sizeof(*self->digests));
    self->samples = fby_zalloc(n * sizeof(*self->samples));
    self->first   = fby_zalloc(((size_t)n + 1) * sizeof(*self->first));
    self->map_ids = fby_zalloc(((size_t)n + 1) * sizeof(*self->map_ids));
    for (uint32_t i = 0; i < n; i++) {
        const struct fby_shard *shard = &self->index.shards[i];
        self->digests[i]              = fby_shard_digest(shard);
        self->samples[i]              = shard->n_samples;
        self->first[i + 1]            = self->first[i] + shard->n_samples;
        self->map_ids[i + 1] = self->map_ids[i] + fby_shard_count_stamps(shard);
    }
    self->digest = fby_class_numbering_digest(
        &self->classes, fby_data_digest(self->digests, n));
}

fby_err fby_dataset_open(const struct fby_dataset_spec *spec,
    struct fby_progress progress, struct fby_dataset **out,
    struct fby_error_detail *why)
{
    struct fby_dataset          *self = fby_zalloc(sizeof(*self));
    const struct fby_source_ops *ops  = fby_source_ops(spec->kind);
    fby_err err = fby_index_build(spec, progress, &self->index, why);
    if (err == FBY_OK) {
        err = fby_index_exclude(&self->index, spec->excluded, why);
    }
    if (err == FBY_OK) {
        err = fby_class_numbering_open(
            spec, progress, &self->index, &self->classes, why);
    }
    if (err == FBY_OK && ops->check != NULL) {
        err = ops->check(spec, &self->index, why);
    }
    if (err != FBY_OK) {
        fby_dataset_destroy(&self);
        return err;
    }
    number_and_digest(self);
    bool has_rows = fby_dataset_has_rows(self);
    if (has_rows || fby_dataset_has_unpacked_tokens(self)) {
        uint64_t n_files = self->map_ids[self->index.n_shards];
        self->maps       = fby_mapped_files_create(n_files, spec->max_open);
    }
    if (!has_rows) { /* tokens may be read from either */
        self->files = fby_file_cache_create(spec->max_open);
    }
    *out = self;
    return FBY_OK;
}

void fby_dataset_destroy(struct fby_dataset **self_p)
{
    struct fby_dataset *self = *self_p;
    if (self == NULL) {
        return;
    }
    *self_p = NULL;
    fby_file_cache_destroy(&self->files);
    fby_mapped_files_destroy(&self->maps);
    free(self->map_ids);
    fby_class_numbering_fini(&self->classes);
    fby_index_fini(&self->index);
    free(self->digests);
    free(self->samples);
    free(self->first);
    free(self);
}

bool fby_dataset_has_rows(const struct fby_dataset *self)
{
    return self->index.n_shards > 0 &&
           fby_shard_has_rows(&self->index.shards[0]);
}

bool fby_dataset_has_unpacked_tokens(const struct fby_dataset *self)
{
    return self->index.n_shards > 0 &&
           self->index.shards[0].sequences != NULL &&
           self->index.shards[0].sequences->packed == NULL;
}

uint32_t fby_dataset_count_undivided(const struct fby_dataset *self)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < self->index.n_shards; i++) {
        const struct fby_sequences *sequences = self->index.shards[i].sequences;
        if (sequences != NULL && fby_sequences_is_one_document(sequences)) {
            n++;
        }
    }
    return n;
}

uint64_t fby_dataset_sample_count(const struct fby_dataset *self)
{
    return self->first[self->index.n_shards];
}

struct fby_digest fby_dataset_digest(const struct fby_dataset *self)
{
    return self->digest;
}

bool fby_dataset_has_checksums(const struct fby_dataset *self)
{
    return self->index.hashed;
}

uint32_t fby_dataset_reused_shard_count(const struct fby_dataset *self)
{
    return self->index.reused;
}

uint32_t fby_dataset_shard_count(const struct fby_dataset *self)
{
    return self->index.n_shards;
}

const uint32_t *fby_dataset_samples_per_shard(const struct fby_dataset *self)
{
    return self->samples;
}

const char *fby_dataset_shard_name(
    const struct fby_dataset *self, uint32_t shard)
{
    return self->index.shards[shard].name;
}

struct fby_digest fby_dataset_shard_digest(
    const struct fby_dataset *self, uint32_t shard)
{
    return self->digests[shard];
}

static struct fby_sample_at find_sample(
    const struct fby_dataset *self, uint64_t sample)
{
    uint32_t shard =
        fby_interval_find(self->first, self->index.n_shards, sample);
    return (struct fby_sample_at){
        .number       = sample,
        .shard        = &self->index.shards[shard],
        .shard_number = shard,
        .sample       = (uint32_t)(sample - self->first[shard]),
    };
}

uint32_t fby_dataset_shard_of(const struct fby_dataset *self, uint64_t sample)
{
    return find_sample(self, sample).shard_number;
}

const char *fby_dataset_key(
    const struct fby_dataset *self, uint64_t sample, struct fby_row_key *row)
{
    struct fby_sample_at at = find_sample(self, sample);
    if (fby_shard_has_rows(at.shard)) {
        snprintf(row->text, sizeof(row->text), "row %u", at.sample);
        return row->text;
    }
    return fby_shard_key(at.shard, at.sample);
}

bool fby_dataset_write_name(
    const struct fby_dataset *self, uint64_t sample, char out[FBY_PATH_SIZE])
{
    struct fby_sample_at at = find_sample(self, sample);
    return fby_sample_write_name(&self->index, at.shard, at.sample, out);
}

bool fby_dataset_write_member_name(const struct fby_dataset *self,
    const struct fby_member *member, char out[FBY_PATH_SIZE])
{
    const struct fby_shard *shard = &self->index.shards[member->shard];
    return fby_member_write_name(&self->index, shard, member->index, out);
}

uint32_t fby_dataset_class(const struct fby_dataset *self, uint64_t sample)
{
    struct fby_sample_at at = find_sample(self, sample);
    if (at.shard->class_ids == NULL) {
        return 0;
    }
    uint32_t folder = at.shard->class_ids[at.sample];
    return self->classes.ids != NULL ? self->classes.ids[folder] : folder;
}

uint32_t fby_dataset_folder_label(const struct fby_dataset *self,
    uint64_t sample, const struct fby_content *content,
    const struct fby_field_content *field)
{
    struct fby_sample_at  at    = find_sample(self, sample);
    struct fby_name_range names = fby_field_names(field);
    uint32_t              id    = UINT32_MAX; /* refused as a value */
    if (names.n == 0 || at.shard->class_ids == NULL) {
        return fby_dataset_class(self, sample);
    }
    uint32_t    folder = at.shard->class_ids[at.sample];
    const char *name   = self->index.folders[folder].name;
    (void)fby_class_names_find(
        &content->class_names, names, name, strlen(name), &id);
    return id;
}

uint32_t fby_dataset_class_count(const struct fby_dataset *self)
{
    if (self->classes.folders != NULL) {
        return self->classes.n;
    }
    bool has_classes =
        self->index.n_shards > 0 && self->index.shards[0].class_ids != NULL &&
        self->index.folders[0].name[0] != '\0'; /* "": no classes */
    return has_classes ? self->index.n_folders : 0;
}

const char *fby_dataset_class_name(const struct fby_dataset *self, uint32_t id)
{
    const struct fby_folder *folders = self->classes.folders != NULL
                                           ? self->classes.folders
                                           : self->index.folders;
    return folders[id].name;
}

uint32_t fby_dataset_sample_length(
    const struct fby_dataset *self, uint64_t sample)
{
    struct fby_sample_at at = find_sample(self, sample);
    return at.shard->lengths[at.sample];
}

struct fby_member fby_sequence_member(const struct fby_sample_at *at)
{
    const struct fby_sequences *sequences = at->shard->sequences;
    struct fby_token_part       first =
        fby_sequences_find_part(sequences, at->sample, 0);
    return (struct fby_member){
        .sample    = at->number,
        .shard     = at->shard_number,
        .index     = at->sample,
        .offset    = fby_sequences_find_extent(sequences, first.token, 1).at,
        .size      = fby_sequences_bytes(sequences, at->sample),
        .width     = fby_type_bytes(sequences->type),
        .documents = sequences->packed != NULL
                         ? fby_sequences_count_parts(sequences, at->sample)
                         : 0,
    };
}

fby_err fby_dataset_find_member(const struct fby_dataset *self, uint64_t sample,
    const char (*exts)[FBY_NAME_SIZE], uint32_t n_exts, struct fby_member *out)
{
    struct fby_sample_at at    = find_sample(self, sample);
    uint32_t             index = 0;
    if (fby_shard_has_rows(at.shard)) {
        return FBY_NOT_FOUND;
    }
    if (at.shard->sequences != NULL) {
        *out = fby_sequence_member(&at);
        return FBY_OK;
    }
    if (!fby_shard_find_member(at.shard, at.sample, exts, n_exts, &index)) {
        return FBY_NOT_FOUND;
    }
    *out = (struct fby_member){
        .sample = sample,
        .shard  = at.shard_number,
        .index  = index,
        .offset = fby_shard_offset(at.shard, index),
        .size   = at.shard->member_bytes[index],
    };
    return FBY_OK;
}

const char *fby_dataset_extension(
    const struct fby_dataset *self, const struct fby_member *member)
{
    return fby_shard_suffix(&self->index.shards[member->shard], member->index);
}

bool fby_dataset_has_file(
    const struct fby_dataset *self, uint64_t device, uint64_t inode)
{
    for (uint32_t i = 0; i < self->index.n_shards; i++) {
        const struct fby_shard *shard = &self->index.shards[i];
        uint32_t                n     = fby_shard_count_stamps(shard);
        for (uint32_t k = 0; k < n; k++) {
            const struct fby_stamp *stamp = &shard->stamps[k];
            if (stamp->inode == inode && stamp->device == device) {
                return true;
            }
        }
    }
    return false;
}

bool fby_dataset_has_extension(
    const struct fby_dataset *self, const char *extension)
{
    for (uint32_t i = 0; i < self->index.n_shards; i++) {
        const struct fby_shard *shard = &self->index.shards[i];
        for (uint32_t k = 0; k < shard->n_suffixes; k++) {
            if (fby_equal_ignoring_case(shard->suffixes[k], extension)) {
                return true;
            }
        }
    }
    return false;
}

/* Read the tokens of a part, which may lie in several extents of the file. */
static fby_err read_part(struct fby_dataset *self, const struct fby_file *file,
    const struct fby_sequences *sequences, struct fby_token_part part,
    uint8_t *buffer, struct fby_error_detail *why)
{
    uint64_t width = fby_type_bytes(sequences->type);
    uint64_t end   = part.token + part.tokens;
    while (part.token < end) {
        struct fby_token_extent found =
            fby_sequences_find_extent(sequences, part.token, end - part.token);
        struct fby_extent extent = {found.at, found.tokens * width};
        FBY_TRY(fby_file_cache_read(self->files, file, extent, buffer, why));
        buffer += extent.size;
        part.token += found.tokens;
    }
    return FBY_OK;
}

/* Read a sequence as fby_dataset_find_member() describes it. */
static fby_err read_sequence(struct fby_dataset *self,
    const struct fby_file *file, const struct fby_member *member,
    uint8_t *buffer, struct fby_error_detail *why)
{
    const struct fby_sequences *sequences =
        self->index.shards[member->shard].sequences;
    uint32_t n_parts = fby_sequences_count_parts(sequences, member->index);
    uint8_t *lengths = buffer; /* per part: a u32; without packing: none */
    buffer += (size_t)member->documents * sizeof(uint32_t);
    for (uint32_t i = 0; i < n_parts; i++) {
        struct fby_token_part part =
            fby_sequences_find_part(sequences, member->index, i);
        if (i < member->documents) {
            fby_store_le(
                lengths + i * sizeof(uint32_t), part.tokens, sizeof(uint32_t));
        }
        FBY_TRY(read_part(self, file, sequences, part, buffer, why));
        buffer += part.tokens * member->width;
    }
    return FBY_OK;
}

fby_err fby_dataset_read(struct fby_dataset *self,
    const struct fby_member *member, void *buffer, size_t size,
    struct fby_error_detail *why)
{
    const struct fby_shard *shard = &self->index.shards[member->shard];
    char                    path[FBY_PATH_SIZE];
    uint32_t                index = member->index;
    if (size < member->size) {
        return fby_error_set(why, FBY_FULL,
            "a member of %llu bytes, and room for %zu",
            (unsigned long long)member->size, size);
    }
    if (fby_shard_is_value(shard, index)) {
        memcpy(buffer, shard->texts.data + shard->text_offset[index],
            shard->text_size[index]);
        return FBY_OK;
    }
    uint32_t file_number = shard->has_files ? index : 0;
    FBY_TRY(fby_index_path(&self->index, shard, file_number, path, why));
    struct fby_file file = {
        .id    = (uint64_t)member->shard << 32 | file_number,
        .root  = self->index.root,
        .path  = path,
        .stamp = &shard->stamps[file_number],
    };
    if (shard->sequences != NULL) {
        return read_sequence(self, &file, member, buffer, why);
    }
    struct fby_extent extent = {.offset = member->offset, .size = member->size};
    return fby_file_cache_read(self->files, &file, extent, buffer, why);
}

void fby_sample_write_extensions(
    const struct fby_sample_at *at, char *out, size_t size)
{
    uint32_t begin = at->shard->first_member[at->sample];
    uint32_t end   = at->shard->first_member[at->sample + 1];
    out[0]         = '\0';
    for (uint32_t m = begin; m < end; m++) {
        fby_text_append_name(out, size, fby_shard_suffix(at->shard, m));
    }
}

void fby_sample_describe(const struct fby_dataset *dataset,
    const struct fby_sample_at *at, const struct fby_member *member,
    struct fby_error_detail *text)
{
    (void)dataset; /* only other sources need it to describe a sample */
    const struct fby_shard *shard  = at->shard;
    const char             *key    = fby_shard_key(shard, at->sample);
    unsigned long long      number = at->number;
    if (member != NULL && shard->has_files) {
        snprintf(text->text, sizeof(text->text), "file %.200s.%s, sample %llu",
            key, fby_shard_suffix(shard, member->index), number);
    } else if (member != NULL) {
        snprintf(text->text, sizeof(text->text),
            "shard %.200s, sample %llu (key %.100s), offset %llu", shard->name,
            number, key, (unsigned long long)member->offset);
    } else {
        char members[160];
        fby_sample_write_extensions(at, members, sizeof(members));
        const char *what = shard->has_files ? "files" : "members";
        snprintf(text->text, sizeof(text->text),
            "%s%.100s%ssample %llu (key %.100s; %s: %s)",
            shard->has_files ? "" : "shard ",
            shard->has_files ? "" : shard->name, shard->has_files ? "" : ", ",
            number, key, what, members);
    }
}

void fby_dataset_describe(const struct fby_dataset *self, uint64_t sample,
    const struct fby_member *member, struct fby_error_detail *text)
{
    struct fby_sample_at         at  = find_sample(self, sample);
    const struct fby_source_ops *ops = fby_source_ops(at.shard->kind);
    (ops->describe != NULL ? ops->describe : fby_sample_describe)(
        self, &at, member, text);
}

fby_err fby_dataset_check_fields(const struct fby_dataset *self,
    const struct fby_content *content, struct fby_error_detail *why)
{
    const struct fby_source_ops *ops = fby_source_ops(content->source);
    return ops->check_fields == NULL ? FBY_OK
                                     : ops->check_fields(self, content, why);
}
