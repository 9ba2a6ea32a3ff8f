/* A list into shards: its rows are parts of 1,024 samples, and the files that
 * they name are looked at in parallel. The list itself is read once: values are
 * kept, and paths are what the manifest says from then on. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/mem.h"
#include "worker/source/list/fields.h"
#include "worker/source/list/list.h"
#include "worker/source/ops.h"
#include "worker/source/shard_sum.h"

static fby_err read_bytes(
    int fd, uint8_t *out, size_t size, struct fby_why *why)
{
    size_t done = 0;
    while (done < size) {
        ssize_t n = read(fd, out + done, size - done);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return fby_because(
                why, FBY_IO, "%s", n == 0 ? "became shorter" : strerror(errno));
        }
        done += (size_t)n;
    }
    return FBY_OK;
}

/* All of an open file, which must not change meanwhile. */
static fby_err read_file(
    int fd, uint8_t **out, size_t *size, struct fby_why *why)
{
    struct stat st;
    if (fstat(fd, &st) != 0) {
        return fby_because(why, FBY_IO, "%s", strerror(errno));
    }
    if (st.st_size > FBY_LIST_MAX_BYTES) {
        return fby_because(why, FBY_CONFIG,
            "a list of %lld bytes; at most %d are read: cut it into several",
            (long long)st.st_size, FBY_LIST_MAX_BYTES);
    }
    struct fby_stamp stamp = fby_stamp_of(&st);
    *size                  = (size_t)st.st_size;
    *out                   = fby_zalloc(*size + 1); /* a NUL behind it */
    fby_err err            = read_bytes(fd, *out, *size, why);
    return err == FBY_OK ? fby_stamp_check(fd, &stamp, why) : err;
}

static fby_err read_list(
    struct fby_build *b, uint8_t **out, size_t *size, struct fby_why *why)
{
    const struct fby_index *index = b->out;
    char                    path[FBY_PATH_SIZE];
    int                     fd = -1;
    fby_err                 err =
        fby_path_join(index->parts.base, index->parts.rest, path, why);
    if (err == FBY_OK) {
        err = fby_root_open(index->root, path, FBY_WANT_FILE, &fd, why);
    }
    if (err == FBY_OK) {
        err = read_file(fd, out, size, why);
        close(fd);
    }
    return err;
}

static fby_err look_at(struct fby_build *b, struct fby_shard *shard,
    uint32_t member, struct fby_why *why)
{
    char        path[FBY_PATH_SIZE];
    struct stat st;
    int         fd  = -1;
    fby_err     err = fby_index_path(b->out, shard, member, path, why);
    if (err == FBY_OK) {
        err = fby_root_open(b->out->root, path, FBY_WANT_FILE, &fd, why);
    }
    if (err != FBY_OK) {
        return err;
    }
    int failed = fstat(fd, &st) != 0 ? errno : 0;
    close(fd);
    if (failed != 0) {
        return fby_because(why, FBY_IO, "%s: %s", path, strerror(failed));
    }
    shard->stamps[member] = fby_stamp_of(&st);
    shard->bytes[member]  = (uint64_t)st.st_size;
    shard->size += (uint64_t)st.st_size;
    return FBY_OK;
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
