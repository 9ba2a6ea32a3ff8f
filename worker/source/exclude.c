/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/source/exclude.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/mem.h"
#include "common/plural.h"
#include "pipeline/exclude.h"
#include "worker/source/ops.h"

static bool has_names(const struct fby_shard *shard)
{
    return !fby_shard_has_rows(shard) && shard->sequences == NULL;
}

bool fby_member_write_name(const struct fby_index *index,
    const struct fby_shard *shard, uint32_t member, char out[FBY_PATH_SIZE])
{
    const struct fby_source_ops *ops = fby_source_ops(shard->kind);
    return has_names(shard) && shard->has_files &&
           !fby_shard_is_value(shard, member) && ops->path != NULL &&
           ops->path(index, shard, member, out, NULL) == FBY_OK;
}

/* Write the name that follows from the key. */
static bool write_key_name(
    const struct fby_shard *shard, uint32_t sample, char out[FBY_PATH_SIZE])
{
    const char *key  = fby_shard_key(shard, sample);
    bool        line = shard->kind == FBY_SOURCE_LIST;
    int         n    = snprintf(out, FBY_PATH_SIZE, "%s%s%s",
        line               ? "line "
                   : shard->has_files ? ""
                                      : shard->name,
        line || shard->has_files ? "" : "/", key);
    return n > 0 && n < FBY_PATH_SIZE;
}

bool fby_sample_write_name(const struct fby_index *index,
    const struct fby_shard *shard, uint32_t sample, char out[FBY_PATH_SIZE])
{
    if (!has_names(shard)) {
        return false;
    }
    uint32_t end = shard->first_member[sample + 1];
    for (uint32_t m = shard->first_member[sample]; m < end; m++) {
        if (fby_member_write_name(index, shard, m, out)) {
            return true;
        }
    }
    return write_key_name(shard, sample, out);
}

static bool is_excluded(const struct fby_index *index,
    const struct fby_shard *shard, uint32_t sample,
    const struct fby_excluded *excluded)
{
    char     name[FBY_PATH_SIZE];
    uint32_t end = shard->first_member[sample + 1];
    if (write_key_name(shard, sample, name) &&
        fby_excluded_has(excluded, name)) {
        return true;
    }
    for (uint32_t m = shard->first_member[sample]; m < end; m++) {
        if (fby_member_write_name(index, shard, m, name) &&
            fby_excluded_has(excluded, name)) {
            return true;
        }
    }
    return false;
}

static fby_err copy_member(const struct fby_shard *from, uint32_t m,
    struct fby_shard *to, struct fby_error_detail *why)
{
    FBY_TRY(fby_shard_add_member(to, fby_shard_suffix(from, m),
        fby_shard_offset(from, m), from->member_bytes[m], why));
    if (from->text_offset != NULL) {
        FBY_TRY(fby_shard_add_text(to,
            (const char *)from->texts.data + from->text_offset[m],
            from->text_size[m], from->is_value[m] != 0, why));
    }
    if (from->has_files) {
        to->stamps[to->n_members - 1] = from->stamps[m];
        to->size += from->stamps[m].size; /* 0 for a value */
    }
    return FBY_OK;
}

static fby_err copy_sample(const struct fby_shard *from, uint32_t sample,
    struct fby_shard *to, struct fby_error_detail *why)
{
    const char *key = fby_shard_key(from, sample);
    int64_t     id  = from->class_ids != NULL ? (int64_t)from->class_ids[sample]
                                              : FBY_SHARD_NO_CLASS;
    FBY_TRY(fby_shard_add_sample(to, key, strlen(key), id, why));
    uint32_t end = from->first_member[sample + 1];
    for (uint32_t m = from->first_member[sample]; m < end; m++) {
        FBY_TRY(copy_member(from, m, to, why));
    }
    if (from->lengths != NULL) {
        to->lengths[to->n_samples - 1] = from->lengths[sample];
    }
    return FBY_OK;
}

/* Copy the samples whose entry in `drop` is 0 to a new shard. */
static fby_err copy_kept(const struct fby_shard *from, const uint8_t *drop,
    struct fby_shard *to, struct fby_error_detail *why)
{
    fby_shard_init(to, from->name, from->kind);
    to->size         = from->has_files ? 0 : from->size;
    to->has_checksum = from->has_checksum;
    to->sum          = from->sum;
    if (from->lengths != NULL) {
        to->lengths = fby_zalloc(from->n_samples * sizeof(*to->lengths));
    }
    if (!from->has_files) { /* the stamp of the only file */
        to->stamps    = fby_zalloc(sizeof(*to->stamps));
        to->stamps[0] = from->stamps[0];
    }
    for (uint32_t i = 0; i < from->n_samples; i++) {
        if (drop[i] == 0) {
            FBY_TRY(copy_sample(from, i, to, why));
        }
    }
    return fby_shard_finish(to, why);
}

/* Remove samples from one shard. Adds their number to *n_dropped. */
static fby_err exclude_from_shard(const struct fby_index *index,
    struct fby_shard *shard, const struct fby_excluded *excluded,
    uint64_t *n_dropped, struct fby_error_detail *why)
{
    struct fby_shard kept = {0};
    uint8_t         *drop = fby_zalloc(shard->n_samples);
    uint32_t         n    = 0;
    fby_err          err  = FBY_OK;
    for (uint32_t i = 0; i < shard->n_samples; i++) {
        drop[i] = is_excluded(index, shard, i, excluded) ? 1 : 0;
        n += drop[i];
    }
    if (n > 0) {
        err                   = copy_kept(shard, drop, &kept, why);
        struct fby_shard *old = err == FBY_OK ? shard : &kept;
        fby_shard_fini(old);
        *shard = err == FBY_OK ? kept : *shard;
    }
    free(drop);
    *n_dropped += n;
    return err;
}

static void remove_empty_shards(struct fby_index *self)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < self->n_shards; i++) {
        if (self->shards[i].n_samples == 0) {
            fby_shard_fini(&self->shards[i]);
        } else {
            self->shards[n++] = self->shards[i];
        }
    }
    self->n_shards = n;
}

fby_err fby_index_exclude(struct fby_index *self,
    const struct fby_excluded *excluded, struct fby_error_detail *why)
{
    uint64_t n_dropped = 0;
    if (excluded == NULL || excluded->n == 0) {
        return FBY_OK;
    }
    for (uint32_t i = 0; i < self->n_shards; i++) {
        if (has_names(&self->shards[i])) {
            FBY_TRY(exclude_from_shard(
                self, &self->shards[i], excluded, &n_dropped, why));
        }
    }
    remove_empty_shards(self);
    fby_info("EXCLUDED", "%s by %s", fby_plural(n_dropped, "sample").text,
        fby_plural(excluded->n, "name").text);
    return self->n_shards > 0
               ? FBY_OK
               : fby_error_set(why, FBY_CONFIG, "exclude leaves no sample");
}
