/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/source/expand.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/mem.h"
#include "common/utf8.h"
#include "pipeline/text.h"
#include "worker/source/listing.h"
#include "worker/source/shard.h"

struct expansion { /* the arguments of fby_pattern_expand() */
    const struct fby_root           *root;
    const struct fby_location_parts *parts;
    enum fby_expand_want             want;
    struct fby_names                *out;
    uint64_t                         n_dangling; /* skipped links */
};

void fby_names_fini(struct fby_names *self)
{
    for (uint32_t i = 0; i < self->count; i++) {
        free(self->list[i]);
    }
    free(self->list);
    *self = (struct fby_names){0};
}

static fby_err add_name(
    struct fby_names *self, const char *name, struct fby_error_detail *why)
{
    uint32_t n = self->count;
    if (n >= FBY_MAX_SHARDS) {
        return fby_error_set(why, FBY_CONFIG,
            "the pattern matches more than %d shards", FBY_MAX_SHARDS);
    }
    if (!fby_is_utf8((const uint8_t *)name, strlen(name))) {
        return fby_error_set(why, FBY_CONFIG,
            "%s: a shard's name must be UTF-8; rename it",
            fby_text_show(name).text);
    }
    self->list    = fby_array_grow(self->list, n, sizeof(*self->list));
    self->list[n] = fby_strdup(name);
    self->count   = n + 1;
    return FBY_OK;
}

static fby_err match_below(struct expansion *e, const char *dir,
    const char *pattern, struct fby_error_detail *why);

/* Follow `entry` of `dir`, which matches the first component of a pattern.
 * `rest` is the rest of the pattern, which is searched for in `entry`. If
 * `rest` is NULL, add the path of `entry` if it is a shard. */
static fby_err follow_match(struct expansion *e, const char *dir,
    const struct fby_entry *entry, const char *rest,
    struct fby_error_detail *why)
{
    char path[FBY_PATH_SIZE];
    bool is_table  = entry->is_dir || fby_is_npz(entry->name);
    bool is_shard  = e->want == FBY_EXPAND_TABLES ? is_table : !entry->is_dir;
    bool is_wanted = rest != NULL ? entry->is_dir : is_shard;
    if (!is_wanted) {
        return FBY_OK;
    }
    FBY_TRY(fby_path_join(dir, entry->name, path, why));
    return rest != NULL ? match_below(e, path, rest, why)
                        : add_name(e->out, path, why);
}

/* List the entries of `dir` that match the first component of `pattern`. */
static fby_err list_matches(struct expansion *e, const char *dir,
    const char *pattern, struct fby_listing *out, struct fby_error_detail *why)
{
    char path[FBY_PATH_SIZE];
    char glob[FBY_PATH_SIZE];
    snprintf(glob, sizeof(glob), "%.*s", (int)strcspn(pattern, "/"), pattern);
    FBY_TRY(fby_path_join(e->parts->base, dir, path, why));
    return fby_listing_read(e->root, path, glob, out, why);
}

/* Add all paths in `dir` that match `pattern`. The recursion ends, because each
 * level removes one component of the pattern. */
static fby_err match_below(struct expansion *e, const char *dir,
    const char *pattern, struct fby_error_detail *why)
{
    const char        *slash   = strchr(pattern, '/');
    const char        *rest    = slash != NULL ? slash + 1 : NULL;
    struct fby_listing listing = {0};
    fby_err            err     = list_matches(e, dir, pattern, &listing, why);
    e->n_dangling += listing.n_dangling;
    for (uint32_t i = 0; err == FBY_OK && i < listing.count; i++) {
        err = follow_match(e, dir, &listing.entries[i], rest, why);
    }
    fby_listing_fini(&listing);
    return err;
}

/* Add `pattern`, which has no braces, or all paths that its globs match. */
static fby_err expand_globs(
    struct expansion *e, const char *pattern, struct fby_error_detail *why)
{
    if (!fby_has_wildcards(pattern)) {
        return add_name(e->out, pattern, why);
    }
    uint32_t before = e->out->count;
    FBY_TRY(match_below(e, "", pattern, why));
    if (e->out->count == before) {
        const char *base = e->parts->base;
        return fby_error_set(why, FBY_NOT_FOUND, "no file matches %s:%s%s%s",
            e->parts->root, base, base[0] != '\0' ? "/" : "", pattern);
    }
    return FBY_OK;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void sort_unique(struct fby_names *names)
{
    uint32_t kept = 0;
    if (names->count > 0) {
        qsort(names->list, names->count, sizeof(*names->list), compare_names);
    }
    for (uint32_t i = 0; i < names->count; i++) {
        if (kept > 0 && strcmp(names->list[kept - 1], names->list[i]) == 0) {
            free(names->list[i]);
        } else {
            names->list[kept++] = names->list[i];
        }
    }
    names->count = kept;
}

fby_err fby_pattern_expand(const struct fby_root *root,
    const struct fby_location_parts *parts, enum fby_expand_want want,
    struct fby_names *out, struct fby_error_detail *why)
{
    struct expansion e     = {root, parts, want, out, 0};
    uint32_t         count = 0;
    *out                   = (struct fby_names){0};
    fby_err err            = fby_braces_count(parts->rest, &count, why);
    for (uint32_t i = 0; err == FBY_OK && i < count; i++) {
        char name[FBY_PATH_SIZE];
        fby_braces_write_name(parts->rest, i, name);
        err = expand_globs(&e, name, why);
    }
    fby_listing_log_dangling(root, parts->base, e.n_dangling);
    sort_unique(out);
    return err;
}
