/* Parallel folders into shards: they are walked at once, and files of one path
 * up to the first dot of its name are one sample. Each folder has its part of
 * each sample, or it is said which lack one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "common/plural.h"
#include "worker/source/ops.h"
#include "worker/source/parts.h"

enum { NAMED = 3 /* of the samples that are not whole */ };

static fby_err walk_side(
    void *arg, uint32_t i, const atomic_bool *stop, struct fby_why *why)
{
    struct fby_build *b = arg;
    return fby_folder_gather(
        b->out->root, b->out->parts.base, stop, &b->out->classes[i], why);
}

struct missing {
    uint64_t n;
    char     text[200]; /* the first few */
};

struct merge {
    struct fby_index       *out;
    struct fby_side         sides[FBY_MAX_SIDES];
    struct fby_folder_file *next[FBY_MAX_SIDES]; /* of each, not yet taken */
    struct fby_folder_file *end[FBY_MAX_SIDES];
    struct fby_parts        parts;
    struct missing          missing;
};

struct key {
    const char *text;
    size_t      size;
};

/* Of the next file of a side, below its folder. */
static struct key key_of(const struct merge *m, uint32_t side)
{
    struct fby_name_parts parts = {0};
    const char *path  = m->next[side]->path + strlen(m->sides[side].path) + 1;
    bool        named = fby_name_split(path, &parts);
    return (struct key){path, named ? parts.key_size : 0};
}

static int compare(struct key a, struct key b)
{
    int c = memcmp(a.text, b.text, a.size < b.size ? a.size : b.size);
    return c != 0 ? c : (a.size > b.size) - (a.size < b.size);
}

/* The least key that is next anywhere; false when there is none. */
static bool least(const struct merge *m, struct key *out)
{
    bool found = false;
    for (uint32_t i = 0; i < m->out->n_classes; i++) {
        if (m->next[i] < m->end[i]) {
            struct key key = key_of(m, i);
            if (!found || compare(key, *out) < 0) {
                *out = key;
            }
            found = true;
        }
    }
    return found;
}

static bool is_next(const struct merge *m, uint32_t side, struct key key)
{
    return m->next[side] < m->end[side] && compare(key_of(m, side), key) == 0;
}

static void note_missing(struct merge *m, uint32_t side, struct key key)
{
    size_t used = strlen(m->missing.text);
    if (m->missing.n++ < NAMED) {
        snprintf(m->missing.text + used, sizeof(m->missing.text) - used,
            "%s%.*s.* in %s", used > 0 ? ", " : "", (int)key.size, key.text,
            m->sides[side].path);
    }
}

/* The files of one sample in one folder. */
static fby_err take_side(
    struct merge *m, uint32_t side, struct key key, struct fby_why *why)
{
    fby_err err = FBY_OK;
    if (!is_next(m, side, key)) {
        note_missing(m, side, key);
    }
    while (err == FBY_OK && is_next(m, side, key)) {
        char        suffix[FBY_PATH_SIZE];
        struct key  of   = key_of(m, side);
        const char *rest = of.text + of.size; /* with its dot */
        int         n =
            snprintf(suffix, sizeof(suffix), "%s%s", m->sides[side].name, rest);
        if (n >= FBY_NAME_SIZE) {
            return fby_because(why, FBY_CONFIG,
                "%.200s: the folder's name and the extension have more than %d "
                "bytes",
                m->next[side]->path, FBY_NAME_SIZE - 1);
        }
        err = fby_parts_add_file(&m->parts, suffix, &m->next[side]->stamp, why);
        m->next[side]++;
    }
    return err;
}

static fby_err merge(struct merge *m, struct fby_why *why)
{
    struct key key = {NULL, 0};
    fby_err    err = FBY_OK;
    while (err == FBY_OK && least(m, &key)) {
        err = fby_parts_begin_sample(
            &m->parts, key.text, key.size, FBY_SHARD_NO_CLASS, why);
        for (uint32_t i = 0; err == FBY_OK && i < m->out->n_classes; i++) {
            err = take_side(m, i, key, why);
        }
    }
    return err == FBY_OK ? fby_parts_finish(&m->parts, why) : err;
}

static fby_err check_whole(const struct merge *m, struct fby_why *why)
{
    if (m->missing.n > 0) {
        return fby_because(why, FBY_CONFIG,
            "%s missing: %s%s; each folder has a file of each name, up to its "
            "first dot",
            fby_plural(m->missing.n, "file").text, m->missing.text,
            m->missing.n > NAMED ? ", ..." : "");
    }
    return m->parts.count > 0
               ? FBY_OK
               : fby_because(why, FBY_CONFIG,
                     "the folders have no files named KEY.EXTENSION in them");
}

static void begin(struct merge *m, struct fby_index *out)
{
    for (uint32_t i = 0; i < out->n_classes; i++) {
        fby_location_side(out->parts.rest, i, &m->sides[i]);
        m->next[i] = out->classes[i].files;
        m->end[i]  = out->classes[i].files + out->classes[i].count;
    }
}

/* The folders as classes, whose walk is the same. */
static fby_err name_sides(struct fby_index *out, struct fby_why *why)
{
    struct fby_side side;
    fby_err err = fby_braces_count(out->parts.rest, &out->n_classes, why);
    if (err != FBY_OK) {
        return err;
    }
    out->classes = fby_zalloc(out->n_classes * sizeof(*out->classes));
    for (uint32_t i = 0; i < out->n_classes; i++) {
        fby_location_side(out->parts.rest, i, &side);
        out->classes[i].name = fby_strdup(side.path);
    }
    return FBY_OK;
}

static fby_err index_parallel(struct fby_build *self, struct fby_why *why)
{
    struct fby_index *out = self->out;
    struct merge     *m   = fby_zalloc(sizeof(*m));
    fby_err           err = name_sides(out, why);
    m->out                = out;
    m->parts.kind         = FBY_SOURCE_PARALLEL;
    if (err == FBY_OK) {
        err = fby_build_run(self, out->n_classes, walk_side, self, why);
    }
    if (err == FBY_OK) {
        begin(m, out);
        err           = merge(m, why);
        out->shards   = m->parts.shards;
        out->n_shards = m->parts.count;
    }
    if (err == FBY_OK) {
        err = check_whole(m, why);
    }
    for (uint32_t i = 0; i < out->n_classes; i++) {
        fby_folder_forget_files(&out->classes[i]);
    }
    free(m);
    return err == FBY_OK ? fby_build_read_all(self, why) : err;
}

/* A suffix begins with the name of the folder that the file is in. */
static fby_err path(const struct fby_index *index,
    const struct fby_shard *shard, uint32_t number, char out[FBY_PATH_SIZE],
    struct fby_why *why)
{
    struct fby_side side   = {{0}, {0}};
    const char     *suffix = fby_shard_suffix(shard, number);
    size_t          n      = strcspn(suffix, ".");
    for (uint32_t i = 0; i < index->n_classes; i++) {
        fby_location_side(index->parts.rest, i, &side);
        if (strlen(side.name) == n && memcmp(side.name, suffix, n) == 0) {
            break;
        }
    }
    return fby_path_format(out, why, "%s/%s%s", side.path,
        fby_shard_key(shard, fby_shard_sample_of(shard, number)), suffix + n);
}

static void describe(const struct fby_dataset *dataset,
    const struct fby_sample_at *at, const struct fby_member *member,
    struct fby_why *text)
{
    if (member == NULL) {
        fby_sample_describe(dataset, at, NULL, text);
        return;
    }
    const char *suffix = fby_shard_suffix(at->shard, member->index);
    size_t      side   = strcspn(suffix, ".");
    snprintf(text->text, sizeof(text->text), "file %.*s/%.200s%s, sample %llu",
        (int)side, suffix, fby_shard_key(at->shard, at->sample), suffix + side,
        (unsigned long long)at->number);
}

const struct fby_source_ops fby_parallel_ops = {
    .index    = index_parallel,
    .path     = path,
    .describe = describe,
};
