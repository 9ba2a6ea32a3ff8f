/* SPDX-License-Identifier: Apache-2.0 */
/* Index parallel folders, such as images/ and masks/. Each of them is a side.
 * Threads list the files of all sides. The key of a file is its path within its
 * side, up to the first dot of the file name. Files with the same key are one
 * sample, which needs at least one file on each side. Files such as notes.txt
 * beside pictures, of a type that no complete sample has and no decoder reads,
 * are no samples. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/mem.h"
#include "common/plural.h"
#include "pipeline/fields/kind.h"
#include "worker/source/dataset_state.h"
#include "worker/source/index_build.h"
#include "worker/source/ops.h"
#include "worker/source/shard_builder.h"

enum { MAX_NAMED = 3 /* missing files that the error names */ };
enum { MAX_TYPES = 32 /* of files of complete samples */ };

static fby_err walk_side(void *arg, uint32_t i, const atomic_bool *stop,
    struct fby_error_detail *why)
{
    struct fby_build *build = arg;
    struct fby_index *index = build->out;
    return fby_folder_find_files(
        index->root, index->location.base, stop, &index->folders[i], why);
}

struct missing {
    uint64_t count;      /* number of missing files */
    char     names[200]; /* the first MAX_NAMED of them, for the error */
};

struct side_type { /* a type of files on a side */
    uint32_t    side;
    const char *suffix; /* with its dot; borrowed from a path */
};

struct merge { /* merges the sorted files of all sides into samples */
    struct fby_index          *out;
    struct fby_parallel_folder sides[FBY_MAX_PARALLEL];
    struct fby_folder_file    *next[FBY_MAX_PARALLEL]; /* per side: next file */
    struct fby_folder_file    *end[FBY_MAX_PARALLEL];  /* per side */
    struct fby_shard_builder   builder;                /* the samples so far */
    struct missing             missing;
    struct side_type           types[MAX_TYPES]; /* those of complete samples */
    uint32_t                   n_types;
};

struct key { /* not terminated by NUL */
    const char *text;
    size_t      size;
};

/* The key of the next file of a side. */
static struct key next_key(const struct merge *m, uint32_t side)
{
    struct fby_name_parts parts = {0};
    const char *path    = m->next[side]->path + strlen(m->sides[side].path) + 1;
    bool        has_key = fby_name_split(path, &parts);
    return (struct key){path, has_key ? parts.key_size : 0};
}

static int compare_keys(struct key a, struct key b)
{
    int order = memcmp(a.text, b.text, a.size < b.size ? a.size : b.size);
    return order != 0 ? order : (a.size > b.size) - (a.size < b.size);
}

/* Find the smallest key of the next files. Returns false if no file is left. */
static bool find_smallest_key(const struct merge *m, struct key *out)
{
    bool found = false;
    for (uint32_t i = 0; i < m->out->n_folders; i++) {
        if (m->next[i] < m->end[i]) {
            struct key key = next_key(m, i);
            if (!found || compare_keys(key, *out) < 0) {
                *out = key;
            }
            found = true;
        }
    }
    return found;
}

/* Does the side have a next file, with this key? */
static bool next_has_key(const struct merge *m, uint32_t side, struct key key)
{
    return m->next[side] < m->end[side] &&
           compare_keys(next_key(m, side), key) == 0;
}

static const char *next_suffix(const struct merge *m, uint32_t side)
{
    struct key next = next_key(m, side);
    return next.text + next.size;
}

static bool is_known_type(
    const struct merge *m, uint32_t side, const char *suffix)
{
    uint32_t i = 0;
    while (i < m->n_types && (m->types[i].side != side ||
                                 strcmp(m->types[i].suffix, suffix) != 0)) {
        i++;
    }
    return i < m->n_types;
}

static void move_to_first_files(struct merge *m)
{
    for (uint32_t i = 0; i < m->out->n_folders; i++) {
        m->next[i] = m->out->folders[i].files;
        m->end[i]  = m->next[i] + m->out->folders[i].count;
    }
}

/* Find the types of files of complete samples. */
static void find_types(struct merge *m)
{
    struct key key = {NULL, 0};
    move_to_first_files(m);
    while (find_smallest_key(m, &key)) {
        uint32_t n = m->out->n_folders;
        uint32_t i = 0;
        while (i < n && next_has_key(m, i, key)) {
            i++;
        }
        bool is_complete = i == n;
        for (i = 0; i < n; i++) {
            for (; next_has_key(m, i, key); m->next[i]++) {
                const char *suffix = next_suffix(m, i);
                if (is_complete && m->n_types < MAX_TYPES &&
                    !is_known_type(m, i, suffix)) {
                    m->types[m->n_types++] = (struct side_type){i, suffix};
                }
            }
        }
    }
    move_to_first_files(m);
}

/* Skip the next files of this key if they are no sample, and count them. Returns
 * false if they are one. */
static bool skip_files(struct merge *m, struct key key)
{
    struct fby_folder_file *first[FBY_MAX_PARALLEL];
    bool is_sample = m->n_types == 0 || m->n_types == MAX_TYPES;
    memcpy(first, m->next, sizeof(first));
    for (uint32_t i = 0; i < m->out->n_folders; i++) {
        for (; next_has_key(m, i, key); m->next[i]++) {
            const char *suffix = next_suffix(m, i);
            is_sample          = is_sample || is_known_type(m, i, suffix) ||
                        fby_field_kind_for(suffix + 1)->id != FBY_DECODE_BYTES;
        }
    }
    for (uint32_t i = 0; i < m->out->n_folders && !is_sample; i++) {
        m->out->folders[i].n_left_out += (uint32_t)(m->next[i] - first[i]);
    }
    if (is_sample) {
        memcpy(m->next, first, sizeof(first));
    }
    return !is_sample;
}

static void log_left_out(const struct fby_index *index)
{
    for (uint32_t i = 0; i < index->n_folders; i++) {
        if (index->folders[i].n_left_out > 0) {
            fby_info("FILES-LEFT-OUT",
                "%s of %s:%s in %s left out: no sample has such files",
                fby_plural(index->folders[i].n_left_out, "file").text,
                fby_root_name(index->root), index->location.base,
                index->folders[i].name);
        }
    }
}

static void add_missing(struct merge *m, uint32_t side, struct key key)
{
    size_t used = strlen(m->missing.names);
    if (m->missing.count < MAX_NAMED) {
        snprintf(m->missing.names + used, sizeof(m->missing.names) - used,
            "%s%.*s.* in %s", used > 0 ? ", " : "", (int)key.size, key.text,
            m->sides[side].path);
    }
    m->missing.count++;
}

/* Add the files of one side to the last sample, which has this key. Their
 * suffixes begin with the name of the side. */
static fby_err add_side_files(struct merge *m, uint32_t side, struct key key,
    struct fby_error_detail *why)
{
    if (!next_has_key(m, side, key)) {
        add_missing(m, side, key);
    }
    while (next_has_key(m, side, key)) {
        char        suffix[FBY_PATH_SIZE];
        struct key  next = next_key(m, side);
        const char *ext  = next.text + next.size; /* begins with the dot */
        int         n =
            snprintf(suffix, sizeof(suffix), "%s%s", m->sides[side].name, ext);
        if (n >= FBY_NAME_SIZE) {
            return fby_error_set(why, FBY_CONFIG,
                "%.200s: the folder's name and the extension have more than %d "
                "bytes",
                m->next[side]->path, FBY_NAME_SIZE - 1);
        }
        FBY_TRY(fby_shard_builder_add_file(
            &m->builder, suffix, &m->next[side]->stamp, why));
        m->next[side]++;
    }
    return FBY_OK;
}

/* Build the samples, in order of keys, as the files of each side are sorted. */
static fby_err merge_sides(struct merge *m, struct fby_error_detail *why)
{
    struct key key = {NULL, 0};
    while (find_smallest_key(m, &key)) {
        if (skip_files(m, key)) {
            continue;
        }
        FBY_TRY(fby_shard_builder_begin_sample(
            &m->builder, key.text, key.size, FBY_SHARD_NO_CLASS, why));
        for (uint32_t i = 0; i < m->out->n_folders; i++) {
            FBY_TRY(add_side_files(m, i, key, why));
        }
    }
    return fby_shard_builder_finish(&m->builder, why);
}

static fby_err check_complete(
    const struct merge *m, struct fby_error_detail *why)
{
    if (m->missing.count > 0) {
        return fby_error_set(why, FBY_CONFIG,
            "%s missing: %s%s; each folder has a file of each name, up to its "
            "first dot",
            fby_plural(m->missing.count, "file").text, m->missing.names,
            m->missing.count > MAX_NAMED ? ", ..." : "");
    }
    return m->builder.count > 0
               ? FBY_OK
               : fby_error_set(why, FBY_CONFIG,
                     "the folders have no files with an extension, such as "
                     "7.jpg: correct the path, "
                     "or add files");
}

/* Set out->folders to the sides, without their files. */
static fby_err set_folders(struct fby_index *out, struct fby_error_detail *why)
{
    struct fby_parallel_folder side;
    FBY_TRY(fby_braces_count(out->location.rest, &out->n_folders, why));
    out->folders = fby_zalloc(out->n_folders * sizeof(*out->folders));
    for (uint32_t i = 0; i < out->n_folders; i++) {
        fby_location_parallel_folder(out->location.rest, i, &side);
        out->folders[i].name = fby_strdup(side.path);
    }
    return FBY_OK;
}

static fby_err index_parallel(
    struct fby_build *self, struct fby_error_detail *why)
{
    struct fby_index *out = self->out;
    struct merge     *m   = fby_zalloc(sizeof(*m));
    fby_err           err = set_folders(out, why);
    m->out                = out;
    m->builder.kind       = FBY_SOURCE_PARALLEL;
    if (err == FBY_OK) {
        err = fby_build_run_jobs(self, out->n_folders, walk_side, self, why);
    }
    if (err == FBY_OK) {
        for (uint32_t i = 0; i < out->n_folders; i++) {
            fby_location_parallel_folder(out->location.rest, i, &m->sides[i]);
        }
        find_types(m);
        err           = merge_sides(m, why);
        out->shards   = m->builder.shards;
        out->n_shards = m->builder.count;
    }
    if (err == FBY_OK) {
        err = check_complete(m, why);
        log_left_out(out);
    }
    fby_listing_log_dangling(out->root, out->location.base,
        fby_folders_count_dangling(out->folders, out->n_folders));
    fby_folders_free_files(out->folders, out->n_folders);
    free(m);
    return err == FBY_OK ? fby_build_complete_shards(self, why) : err;
}

/* Write the path of a member. Its suffix begins with the name of the side. */
static fby_err write_path(const struct fby_index *index,
    const struct fby_shard *shard, uint32_t number, char out[FBY_PATH_SIZE],
    struct fby_error_detail *why)
{
    struct fby_parallel_folder side      = {{0}, {0}};
    const char                *suffix    = fby_shard_suffix(shard, number);
    size_t                     side_size = strcspn(suffix, ".");
    for (uint32_t i = 0; i < index->n_folders; i++) {
        fby_location_parallel_folder(index->location.rest, i, &side);
        if (strlen(side.name) == side_size &&
            memcmp(side.name, suffix, side_size) == 0) {
            break;
        }
    }
    return fby_path_format(out, why, "%s/%s%s", side.path,
        fby_shard_key(shard, fby_shard_sample_of(shard, number)),
        suffix + side_size);
}

static void describe(const struct fby_dataset *dataset,
    const struct fby_sample_at *at, const struct fby_member *member,
    struct fby_error_detail *text)
{
    if (member == NULL) {
        fby_sample_describe(dataset, at, NULL, text);
        return;
    }
    const char *suffix    = fby_shard_suffix(at->shard, member->index);
    size_t      side_size = strcspn(suffix, ".");
    snprintf(text->text, sizeof(text->text), "file %.*s/%.200s%s, sample %llu",
        (int)side_size, suffix, fby_shard_key(at->shard, at->sample),
        suffix + side_size, (unsigned long long)at->number);
}

const struct fby_source_ops fby_parallel_ops = {
    .index    = index_parallel,
    .path     = write_path,
    .describe = describe,
};
