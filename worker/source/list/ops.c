/* A list into shards: its rows are parts of 1,024 samples, and the files that
 * they name are looked at in parallel. The list itself is read once: values are
 * kept, and paths are what the manifest says from then on. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "worker/source/list/fields.h"
#include "worker/source/list/list.h"
#include "worker/source/ops.h"
#include "worker/source/shard_sum.h"

/* All of an open file, which must not change meanwhile. */
static fby_err read_file(const struct fby_object *object,
    const struct fby_stamp *stamp, uint8_t **out, size_t *size,
    struct fby_why *why)
{
    if (stamp->size > FBY_LIST_MAX_BYTES) {
        return fby_because(why, FBY_CONFIG,
            "a list of %llu bytes; at most %d are read: cut it into several",
            (unsigned long long)stamp->size, FBY_LIST_MAX_BYTES);
    }
    *size       = (size_t)stamp->size;
    *out        = fby_zalloc(*size + 1); /* a NUL behind it */
    fby_err err = fby_object_read(object, 0, *out, *size, why);
    return err == FBY_OK ? fby_stamp_check(object, stamp, why) : err;
}

static fby_err read_list(
    struct fby_build *b, uint8_t **out, size_t *size, struct fby_why *why)
{
    const struct fby_index *index = b->out;
    struct fby_object       object;
    struct fby_stamp        stamp;
    char                    path[FBY_PATH_SIZE];
    fby_err                 err =
        fby_path_join(index->parts.base, index->parts.rest, path, why);
    if (err == FBY_OK) {
        err = fby_object_open_stamped(index->root, path, &object, &stamp, why);
    }
    if (err == FBY_OK) {
        err = read_file(&object, &stamp, out, size, why);
        fby_object_close(&object);
    }
    return err;
}

static fby_err look_at(struct fby_build *b, struct fby_shard *shard,
    uint32_t member, struct fby_why *why)
{
    char              path[FBY_PATH_SIZE];
    struct fby_object object;
    struct fby_stamp *stamp = &shard->stamps[member];
    fby_err           err   = fby_index_path(b->out, shard, member, path, why);
    if (err == FBY_OK) {
        err = fby_object_open_stamped(b->out->root, path, &object, stamp, why);
    }
    if (err == FBY_OK) {
        shard->bytes[member] = stamp->size;
        shard->size += stamp->size;
        fby_object_close(&object);
    }
    return err;
}

static fby_err look_at_part(
    void *arg, uint32_t i, const atomic_bool *stop, struct fby_why *why)
{
    struct fby_build *b     = arg;
    struct fby_shard *shard = &b->out->shards[i];
    for (uint32_t m = 0; m < shard->members; m++) {
        if (atomic_load(stop)) {
            return FBY_GONE;
        }
        fby_err err =
            fby_shard_is_value(shard, m) ? FBY_OK : look_at(b, shard, m, why);
        if (err != FBY_OK) {
            return fby_because_in(why, err, "%.200s, line %s",
                b->out->parts.rest,
                fby_shard_key(shard, fby_shard_sample_of(shard, m)));
        }
    }
    return FBY_OK;
}

static bool is_json(const char *name)
{
    size_t n = strlen(name);
    return n > 6 && strcmp(name + n - 6, ".jsonl") == 0;
}

static fby_err index_list(struct fby_build *self, struct fby_why *why)
{
    struct fby_index *out   = self->out;
    struct fby_parts  parts = {.count = 0};
    uint8_t          *bytes = NULL;
    size_t            size  = 0;
    fby_err           err   = read_list(self, &bytes, &size, why);
    if (err == FBY_OK) {
        const struct fby_list list = {.text = (const char *)bytes,
            .size                           = size,
            .json                           = is_json(out->parts.rest),
            .files                          = self->spec->files,
            .n_files                        = self->spec->n_files};
        err                        = fby_list_parts(&list, &parts, why);
        out->shards                = parts.shards;
        out->n_shards              = parts.count;
    }
    free(bytes);
    if (err != FBY_OK) {
        return fby_because_in(why, err, "%.200s", out->parts.rest);
    }
    err = fby_build_run(self, out->n_shards, look_at_part, self, why);
    return err == FBY_OK ? fby_build_read_all(self, why) : err;
}

static fby_err path(const struct fby_index *index,
    const struct fby_shard *shard, uint32_t number, char out[FBY_PATH_SIZE],
    struct fby_why *why)
{
    (void)index;
    return fby_path_format(out, why, "%.*s", (int)shard->text_size[number],
        (const char *)shard->texts.data + shard->text_at[number]);
}

/* A list's samples have the numbers of their lines as keys. */
static void describe(const struct fby_dataset *dataset,
    const struct fby_sample_at *at, const struct fby_member *member,
    struct fby_why *text)
{
    const struct fby_shard *shard     = at->shard;
    char                    path[256] = "";
    if (member != NULL && !fby_shard_is_value(shard, member->index)) {
        snprintf(path, sizeof(path), ", file %.*s",
            (int)shard->text_size[member->index],
            (const char *)shard->texts.data + shard->text_at[member->index]);
    } else if (member == NULL) {
        char columns[160] = "";
        fby_sample_members(at, columns, sizeof(columns));
        snprintf(path, sizeof(path), " (columns: %s)", columns);
    }
    snprintf(text->text, sizeof(text->text),
        "list %.200s, line %s, sample %llu%s", dataset->index.parts.rest,
        fby_shard_key(shard, at->sample), (unsigned long long)at->number, path);
}

const struct fby_source_ops fby_list_ops = {
    .index        = index_list,
    .path         = path,
    .describe     = describe,
    .check_fields = fby_list_check_fields,
};
