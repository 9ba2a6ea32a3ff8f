#include "worker/source/expand.h"

#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/mem.h"
#include "common/utf8.h"
#include "pipeline/text.h"
#include "worker/source/listing.h"

struct expansion {
    const struct fby_root           *root;
    const struct fby_location_parts *parts;
    enum fby_expand_want             want;
    struct fby_names                *out;
};

void fby_names_fini(struct fby_names *self)
{
    for (uint32_t i = 0; i < self->count; i++) {
        free(self->at[i]);
    }
    free(self->at);
    *self = (struct fby_names){0};
}

static fby_err add(
    struct fby_names *self, const char *name, struct fby_why *why)
{
    uint32_t n = self->count;
    if (n >= FBY_MAX_SHARDS) {
        return fby_because(why, FBY_CONFIG,
            "the pattern means more than %d shards", FBY_MAX_SHARDS);
    }
    if (!fby_is_utf8((const uint8_t *)name, strlen(name))) {
        return fby_because(why, FBY_CONFIG,
            "%s: a shard's name must be UTF-8; rename it",
            fby_text_show(name).text);
    }
    self->at    = fby_array_grow(self->at, n, sizeof(*self->at));
    self->at[n] = fby_strdup(name);
    self->count = n + 1;
    return FBY_OK;
}

static fby_err match_below(struct expansion *e, const char *dir,
    const char *pattern, struct fby_why *why);

/* As the end of a path. */
static bool is_wanted(const struct expansion *e, const struct fby_entry *entry)
{
    bool npz = !entry->is_dir && fby_is_npz(entry->name);
    return e->want == FBY_EXPAND_FILES ? !entry->is_dir : entry->is_dir || npz;
}

/* One entry that the first component matched; `rest` follows it, NULL when
 * that was the last one. */
static fby_err take_match(struct expansion *e, const char *dir,
    const struct fby_entry *entry, const char *rest, struct fby_why *why)
{
    char path[FBY_PATH_SIZE];
    if (rest != NULL ? !entry->is_dir : !is_wanted(e, entry)) {
        return FBY_OK;
    }
    fby_err err = fby_path_join(dir, entry->name, path, why);
    if (err != FBY_OK) {
        return err;
    }
    return rest != NULL ? match_below(e, path, rest, why)
                        : add(e->out, path, why);
}

/* Cut `pattern` at its first slash. */
static const char *first_component(const char *pattern, char *first)
{
    size_t n = strcspn(pattern, "/");
    memcpy(first, pattern, n);
    first[n] = '\0';
    return pattern[n] == '\0' ? NULL : pattern + n + 1;
}

static fby_err list_matches(struct expansion *e, const char *dir,
    const char *glob, struct fby_listing *out, struct fby_why *why)
{
    char    below[FBY_PATH_SIZE];
    fby_err err = fby_path_join(e->parts->base, dir, below, why);
    return err == FBY_OK ? fby_listing_read(e->root, below, glob, out, why)
                         : err;
}

/* `pattern` (shorter than a path) matched against what lies in `dir`. Each
 * level takes one component off it, so the recursion ends. */
static fby_err match_below(struct expansion *e, const char *dir,
    const char *pattern, struct fby_why *why)
{
    char               first[FBY_PATH_SIZE];
    const char        *rest    = first_component(pattern, first);
    struct fby_listing listing = {0};
    fby_err            err     = list_matches(e, dir, first, &listing, why);
    for (uint32_t i = 0; err == FBY_OK && i < listing.count; i++) {
        err = take_match(e, dir, &listing.entries[i], rest, why);
    }
    fby_listing_fini(&listing);
    return err;
}

static fby_err expand_one(
    struct expansion *e, const char *pattern, struct fby_why *why)
{
    if (!fby_glob_has(pattern)) {
        return add(e->out, pattern, why);
    }
    uint32_t before = e->out->count;
    fby_err  err    = match_below(e, "", pattern, why);
    if (err == FBY_OK && e->out->count == before) {
        const char *base = e->parts->base;
        err = fby_because(why, FBY_NOT_FOUND, "no file matches %s:%s%s%s",
            e->parts->root, base, base[0] != '\0' ? "/" : "", pattern);
    }
    return err;
}

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void sort_once(struct fby_names *names)
{
    uint32_t kept = 0;
    if (names->count > 0) {
        qsort(names->at, names->count, sizeof(*names->at), by_bytes);
    }
    for (uint32_t i = 0; i < names->count; i++) {
        if (kept > 0 && strcmp(names->at[kept - 1], names->at[i]) == 0) {
            free(names->at[i]);
        } else {
            names->at[kept++] = names->at[i];
        }
    }
    names->count = kept;
}

fby_err fby_expand(const struct fby_root *root,
    const struct fby_location_parts *parts, enum fby_expand_want want,
    struct fby_names *out, struct fby_why *why)
{
    struct expansion e     = {root, parts, want, out};
    uint32_t         count = 0;
    *out                   = (struct fby_names){0};
    fby_err err            = fby_braces_count(parts->rest, &count, why);
    for (uint32_t i = 0; err == FBY_OK && i < count; i++) {
        char name[FBY_PATH_SIZE];
        fby_braces_name(parts->rest, i, name);
        err = expand_one(&e, name, why);
    }
    sort_once(out);
    return err;
}
