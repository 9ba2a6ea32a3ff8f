/* guess_lists.c - recognise lists in a directory, for `forebay init`.
 *
 * A list is first read as values only. A column whose first value is the path
 * of an existing file is then a column of paths. */
#include <stdio.h>
#include <string.h>

#include "cli/init/guess_look.h"
#include "pipeline/text.h"

static bool is_list(const struct fby_entry *entry)
{
    return !entry->is_dir && (fby_text_ends_with(entry->name, ".csv") ||
                                 fby_text_ends_with(entry->name, ".jsonl"));
}

/* ---- Paths --------------------------------------------------------------- */

/* True if the text is the path of a file below the list's directory. */
static bool is_file_path(const struct fby_look *look, const char *base,
    const char *text, size_t size)
{
    char file[FBY_PATH_SIZE];
    char path[FBY_PATH_SIZE];
    if (size == 0 || size >= sizeof(file) || text[0] == '/') {
        return false;
    }
    memcpy(file, text, size);
    file[size] = '\0';
    return strlen(file) == size && strrchr(file, '.') != NULL &&
           fby_path_join(base, file, path, NULL) == FBY_OK &&
           fby_object_exists(look->root, path);
}

/* Find the columns of paths of a list that was read as values only. */
static void find_files(const struct fby_look *look,
    const struct fby_index *index, struct fby_guess_split *split)
{
    const struct fby_shard *shard = &index->shards[0];
    for (uint32_t i = 0; i < shard->n_suffixes; i++) {
        uint32_t m = 0;
        while (m < shard->members && shard->suffix[m] != i) {
            m++;
        }
        if (m < shard->members && split->n_files < FBY_MAX_FILES &&
            is_file_path(look, index->parts.base,
                (const char *)shard->texts.data + shard->text_at[m],
                shard->text_size[m])) {
            memcpy(split->files[split->n_files++], shard->suffixes[i],
                FBY_NAME_SIZE);
        }
    }
}

/* ---- Values -------------------------------------------------------------- */

/* The entry for members with that suffix; NULL if the guess had no room. */
static struct fby_init_member *member_of(
    struct fby_guess_split *split, const char *suffix)
{
    uint32_t i = 0;
    while (i < split->n_members &&
           !fby_suffix_is(suffix, split->members[i].extension)) {
        i++;
    }
    return i < split->n_members ? &split->members[i] : NULL;
}

static void add_values(
    struct fby_guess_split *split, const struct fby_shard *shard)
{
    for (uint32_t m = 0; m < shard->members; m++) {
        struct fby_init_member *member =
            member_of(split, fby_shard_suffix(shard, m));
        if (member != NULL && fby_shard_is_value(shard, m)) {
            fby_look_at_value(member,
                (const char *)shard->texts.data + shard->text_at[m],
                shard->text_size[m]);
        }
    }
}

/* In CSV, a list or object among other values is only a text that looks like
 * one. */
static void mixed_to_text(struct fby_guess_split *split)
{
    for (uint32_t i = 0; i < split->n_members; i++) {
        struct fby_init_member *member = &split->members[i];
        if (member->value == FBY_INIT_MIXED) {
            member->value = FBY_INIT_TEXT;
        }
    }
}

/* ---- Lists --------------------------------------------------------------- */

static fby_err read_list(struct fby_look *look, const char *below,
    struct fby_guess_split *split, struct fby_why *why)
{
    struct fby_index        index = {0};
    struct fby_dataset_spec spec  = {.kind = FBY_SOURCE_LIST,
         .files   = (const char(*)[FBY_NAME_SIZE])split->files,
         .n_files = split->n_files};
    fby_err err = fby_look_index(look, &spec, below, &index, why);
    if (err == FBY_OK) {
        err = fby_look_count_index(split, &index, why);
    }
    for (uint32_t i = 0; err == FBY_OK && i < index.n_shards; i++) {
        add_values(split, &index.shards[i]);
    }
    if (fby_text_ends_with(below, ".csv")) {
        mixed_to_text(split);
    }
    fby_index_fini(&index);
    return err;
}

/* Find the columns that name files; none is FBY_OK, too. */
static fby_err read_columns(struct fby_look *look, const char *below,
    struct fby_guess_split *split, struct fby_why *why)
{
    struct fby_index        index = {0};
    struct fby_dataset_spec spec  = {.kind = FBY_SOURCE_LIST};
    fby_err err = fby_look_index(look, &spec, below, &index, why);
    if (err == FBY_OK) {
        find_files(look, &index, split);
    }
    fby_index_fini(&index);
    return err;
}

/* True for a file to skip. Beside folders, that is a list without paths or an
 * invalid one: it may only describe them. Beside a list, an invalid one. */
static bool is_skipped(fby_err err, const struct fby_guess_split *split,
    bool dirs, uint32_t n_lists)
{
    return dirs ? err == FBY_CONFIG || (err == FBY_OK && split->n_files == 0)
                : err == FBY_CONFIG && n_lists > 0;
}

static fby_err add_list_split(struct fby_look *look, const char *below,
    bool dirs, uint32_t *n_lists, struct fby_why *why)
{
    char        name[FBY_NAME_SIZE];
    char        stem[FBY_PATH_SIZE];
    const char *slash = strrchr(below, '/');
    snprintf(stem, sizeof(stem), "%s", slash != NULL ? slash + 1 : below);
    *strrchr(stem, '.') = '\0';
    fby_look_split_name(look, stem, name);
    struct fby_guess_split *split = fby_look_add_split(look, name);
    if (split == NULL) {
        return FBY_OK;
    }
    fby_err err = read_columns(look, below, split, why);
    if (is_skipped(err, split, dirs, *n_lists)) {
        look->out->n_splits--;
        return FBY_OK;
    }
    (*n_lists)++;
    look->out->kind = FBY_SOURCE_LIST;
    if (err == FBY_OK) {
        err = read_list(look, below, split, why);
    }
    return err == FBY_OK ? fby_look_pattern(look, below, split, why) : err;
}

fby_err fby_look_at_lists(struct fby_look *look, const char *path,
    const struct fby_listing *listing, struct fby_why *why)
{
    bool     dirs    = fby_listing_has_dirs(listing);
    uint32_t n_lists = 0;
    fby_err  err     = FBY_OK;
    for (uint32_t i = 0; err == FBY_OK && i < listing->count; i++) {
        char below[FBY_PATH_SIZE];
        if (!is_list(&listing->entries[i])) {
            continue;
        }
        err = fby_path_join(path, listing->entries[i].name, below, why);
        if (err == FBY_OK) {
            err = add_list_split(look, below, dirs, &n_lists, why);
        }
    }
    return err;
}
