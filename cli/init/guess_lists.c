/* SPDX-License-Identifier: Apache-2.0 */
/* guess_lists.c - recognise lists (.csv, .jsonl) in a directory.
 *
 * A list is read twice. The first reading finds the columns of paths: those
 * whose first value is the path of a file. The second reading counts the values
 * of each column, and finds their kinds.
 * In the index of a list (struct fby_shard), a member is a value; its suffix is
 * the name of its column. In a guess, a struct fby_init_member is a column. */
#include <stdio.h>
#include <string.h>

#include "cli/init/guess_search.h"
#include "pipeline/text.h"

static bool is_list(const struct fby_entry *entry)
{
    return !entry->is_dir && (fby_text_ends_with(entry->name, ".csv") ||
                                 fby_text_ends_with(entry->name, ".jsonl"));
}

/* True if `text` is the path of a file in `base`, the list's directory. */
static bool is_file_path(const struct fby_search *search, const char *base,
    const char *text, size_t size)
{
    char file[FBY_PATH_SIZE];
    char path[FBY_PATH_SIZE]; /* of the file, relative to the root */
    if (size == 0 || size >= sizeof(file) || text[0] == '/') {
        return false;
    }
    memcpy(file, text, size);
    file[size]    = '\0';
    bool has_zero = strlen(file) != size;
    return !has_zero && strrchr(file, '.') != NULL &&
           fby_path_join(base, file, path, NULL) == FBY_OK &&
           fby_object_exists(search->root, path);
}

/* Set split->file_columns to the columns of paths. */
static void find_path_columns(const struct fby_search *search,
    const struct fby_index *index, struct fby_guess_split *split)
{
    const struct fby_shard *shard = &index->shards[0];
    for (uint32_t i = 0; i < shard->n_suffixes; i++) {
        uint32_t first = 0; /* the first value of column i */
        while (first < shard->n_members && shard->suffix_index[first] != i) {
            first++;
        }
        if (first < shard->n_members && split->n_file_columns < FBY_MAX_FILES &&
            is_file_path(search, index->location.base,
                (const char *)shard->texts.data + shard->text_offset[first],
                shard->text_size[first])) {
            memcpy(split->file_columns[split->n_file_columns++],
                shard->suffixes[i], FBY_NAME_SIZE);
        }
    }
}

static void add_values(
    struct fby_guess_split *split, const struct fby_shard *shard)
{
    for (uint32_t value = 0; value < shard->n_members; value++) {
        const char             *name   = fby_shard_suffix(shard, value);
        struct fby_init_member *column = fby_guess_find_member(split, name);
        if (column != NULL && fby_shard_is_value(shard, value)) {
            fby_guess_add_value(column,
                (const char *)shard->texts.data + shard->text_offset[value],
                shard->text_size[value]);
        }
    }
}

/* A CSV column with several kinds of values is a column of texts. */
static void change_mixed_to_text(struct fby_guess_split *split)
{
    for (uint32_t i = 0; i < split->n_members; i++) {
        struct fby_init_member *column = &split->members[i];
        if (column->value == FBY_INIT_MIXED) {
            column->value = FBY_INIT_TEXT;
        }
    }
}

/* Second reading: count the values of each column, and find their kinds. */
static fby_err read_for_values(struct fby_search *search, const char *list_path,
    struct fby_guess_split *split, struct fby_error_detail *why)
{
    struct fby_index        index = {0};
    struct fby_dataset_spec spec  = {.kind = FBY_SOURCE_LIST,
         .file_columns   = (const char(*)[FBY_NAME_SIZE])split->file_columns,
         .n_file_columns = split->n_file_columns};
    fby_err err = fby_guess_index(search, &spec, list_path, &index, why);
    if (err == FBY_OK) {
        err = fby_guess_count_index(split, &index, why);
    }
    for (uint32_t i = 0; err == FBY_OK && i < index.n_shards; i++) {
        add_values(split, &index.shards[i]);
    }
    if (fby_text_ends_with(list_path, ".csv")) {
        change_mixed_to_text(split);
    }
    fby_index_fini(&index);
    return err;
}

/* First reading: find the columns of paths, if any. */
static fby_err read_for_paths(struct fby_search *search, const char *list_path,
    struct fby_guess_split *split, struct fby_error_detail *why)
{
    struct fby_index        index = {0};
    struct fby_dataset_spec spec  = {.kind = FBY_SOURCE_LIST};
    fby_err err = fby_guess_index(search, &spec, list_path, &index, why);
    if (err == FBY_OK) {
        find_path_columns(search, &index, split);
    }
    fby_index_fini(&index);
    return err;
}

/* True for a list to skip; `err` is the result of its first reading. In a
 * directory with folders, the folders are probably the data, so a list that is
 * invalid or has no paths is skipped. In other directories, an invalid list is
 * skipped if others were added before. */
static bool is_skipped(fby_err err, const struct fby_guess_split *split,
    bool has_dirs, uint32_t n_lists)
{
    bool is_invalid   = err == FBY_CONFIG;
    bool has_no_paths = err == FBY_OK && split->n_file_columns == 0;
    return has_dirs ? is_invalid || has_no_paths : is_invalid && n_lists > 0;
}

static fby_err add_list_split(struct fby_search *search, const char *list_path,
    bool has_dirs, uint32_t *n_lists, struct fby_error_detail *why)
{
    char        name[FBY_NAME_SIZE];
    char        stem[FBY_PATH_SIZE];
    const char *slash = strrchr(list_path, '/');
    snprintf(stem, sizeof(stem), "%s", slash != NULL ? slash + 1 : list_path);
    *strrchr(stem, '.') = '\0'; /* each list has an extension */
    fby_guess_name_of_split(search, stem, name);
    struct fby_guess_split *split = fby_guess_add_split(search, name);
    if (split == NULL) {
        return FBY_OK;
    }
    fby_err err = read_for_paths(search, list_path, split, why);
    if (is_skipped(err, split, has_dirs, *n_lists)) {
        search->out->n_splits--; /* remove the split */
        return FBY_OK;
    }
    (*n_lists)++;
    search->out->kind = FBY_SOURCE_LIST;
    if (err == FBY_OK) {
        err = read_for_values(search, list_path, split, why);
    }
    return err == FBY_OK ? fby_guess_set_pattern(search, list_path, split, why)
                         : err;
}

fby_err fby_guess_lists(struct fby_search *search, const char *path,
    const struct fby_listing *listing, struct fby_error_detail *why)
{
    bool     has_dirs = fby_listing_has_dirs(listing);
    uint32_t n_lists  = 0;
    fby_err  err      = FBY_OK;
    for (uint32_t i = 0; err == FBY_OK && i < listing->count; i++) {
        char list_path[FBY_PATH_SIZE];
        if (!is_list(&listing->entries[i])) {
            continue;
        }
        err = fby_path_join(path, listing->entries[i].name, list_path, why);
        if (err == FBY_OK) {
            err = add_list_split(search, list_path, has_dirs, &n_lists, why);
        }
    }
    return err;
}
