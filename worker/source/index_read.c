/* SPDX-License-Identifier: Apache-2.0 */
/* index_read.c - add to shards the lengths of samples and the checksums, which
 * need a read of the files. A checksum covers the files of a shard in the order
 * of its members or column names. A shard that the cache has with equal stamps
 * is not read again. */
#include "common/mem.h"
#include "worker/source/index_build.h"
#include "worker/source/manifest.h"
#include "worker/source/sample_lengths.h"

struct checksum_reading { /* the checksum of a shard while it is computed */
    const struct fby_index   *index;
    const struct fby_shard   *shard;
    const atomic_bool        *stop;
    struct fby_checksum_state sum;
};

static fby_err sum_file(
    struct checksum_reading *s, uint32_t file, struct fby_error_detail *why)
{
    char              path[FBY_PATH_SIZE];
    struct fby_object object;
    FBY_TRY(fby_index_path(s->index, s->shard, file, path, why));
    FBY_TRY(fby_object_open(s->index->root, path, &object, why));
    fby_err err = fby_checksum_add_file(
        &s->sum, &object, &s->shard->stamps[file], s->stop, why);
    fby_object_close(&object);
    return fby_error_prefix(why, err, "file %s", path);
}

static fby_err add_checksum(struct fby_build *b, struct fby_shard *shard,
    const atomic_bool *stop, struct fby_error_detail *why)
{
    struct checksum_reading s = {.index = b->out, .shard = shard, .stop = stop};
    uint32_t                n = fby_shard_count_stamps(shard);
    fby_checksum_begin(&s.sum);
    for (uint32_t f = 0; f < n; f++) {
        if (!fby_shard_is_value(shard, f)) {
            FBY_TRY(sum_file(&s, f, why));
        }
    }
    shard->sum          = fby_checksum_end(&s.sum);
    shard->has_checksum = true;
    return FBY_OK;
}

/* Returns the cached shard if it has the same files, members and stamps; else
 * NULL. It may have no lengths or checksum. */
static const struct fby_shard *find_unchanged(
    struct fby_build *b, const struct fby_shard *shard)
{
    const struct fby_shard *cached = fby_build_find_cached(b, shard->name);
    uint32_t                n      = fby_shard_count_stamps(shard);
    if (cached == NULL || cached->has_files != shard->has_files ||
        fby_shard_count_stamps(cached) != n ||
        cached->n_samples != shard->n_samples) {
        return NULL;
    }
    /* Compare digests without regard to checksums and lengths. */
    struct fby_shard copy       = *cached;
    copy.has_checksum           = shard->has_checksum;
    copy.lengths                = shard->lengths;
    struct fby_digest now       = fby_shard_digest(shard);
    struct fby_digest then      = fby_shard_digest(&copy);
    bool              unchanged = fby_digest_equal(&now, &then) &&
                     fby_stamps_equal(shard->stamps, cached->stamps, n);
    return unchanged ? cached : NULL;
}

/* Read the lengths and the checksum that `shard` lacks from its files. */
static fby_err read_missing(struct fby_build *b, struct fby_shard *shard,
    const atomic_bool *stop, struct fby_error_detail *why)
{
    const struct fby_field_content *field  = b->spec->length_field;
    const struct fby_length_source  source = {
         .field = field, .index = b->out, .stop = stop};
    if (field != NULL && shard->lengths == NULL) {
        FBY_TRY(fby_shard_has_rows(shard)
                    ? fby_row_lengths_read(b->out, shard, field, stop, why)
                    : fby_member_lengths_read(&source, shard, why));
    }
    return b->out->hashed && !shard->has_checksum
               ? add_checksum(b, shard, stop, why)
               : FBY_OK;
}

fby_err fby_build_complete_shard(struct fby_build *self,
    struct fby_shard *shard, const atomic_bool *stop,
    struct fby_error_detail *why)
{
    const struct fby_shard *cached        = find_unchanged(self, shard);
    bool                    needs_lengths = self->spec->length_field != NULL;
    if (cached != NULL && needs_lengths && cached->lengths != NULL) {
        shard->lengths = fby_memdup(
            cached->lengths, shard->n_samples * sizeof(*shard->lengths));
    }
    if (cached != NULL && self->out->hashed && cached->has_checksum) {
        shard->sum          = cached->sum;
        shard->has_checksum = true;
    }
    bool has_lengths = shard->lengths != NULL || !needs_lengths;
    bool reused      = shard->has_checksum == self->out->hashed && has_lengths;
    atomic_fetch_add(&self->reused, reused ? 1U : 0U);
    atomic_fetch_add(&self->n_read, reused ? 0U : 1U);
    return reused ? FBY_OK : read_missing(self, shard, stop, why);
}

static fby_err shard_job(void *arg, uint32_t i, const atomic_bool *stop,
    struct fby_error_detail *why)
{
    struct fby_build *b = arg;
    return fby_build_complete_shard(b, &b->out->shards[i], stop, why);
}

fby_err fby_build_complete_shards(
    struct fby_build *self, struct fby_error_detail *why)
{
    struct fby_index *out = self->out;
    return out->hashed || self->spec->length_field != NULL
               ? fby_build_run_jobs(self, out->n_shards, shard_job, self, why)
               : FBY_OK;
}
