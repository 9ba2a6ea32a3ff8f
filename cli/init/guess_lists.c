/* guess_lists.c - recognise lists in a directory, for `forebay init`.
 *
 * A list is first read as values only. A column whose first value is the path
 * of an existing file is then a column of paths. */
#include <stdio.h>
#include <string.h>

#include "cli/init/guess_search.h"
#include "pipeline/text.h"

static bool is_list(const struct fby_entry *entry)
{
    return !entry->is_dir && (fby_text_ends_with(entry->name, ".csv") ||
                                 fby_text_ends_with(entry->name, ".jsonl"));
}

/* True if the text is the path of a file below the list's directory. */
static bool is_file_path(const struct fby_search *search, const char *base,
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
           fby_object_exists(search->root, path);
}

/* Find the columns of paths of a list that was read as values only. */
static void find_files(const struct fby_search *search,
    const struct fby_index *index, struct fby_guess_split *split)
{
    const struct fby_shard *shard = &index->shards[0];
    for (uint32_t i = 0; i < shard->n_suffixes; i++) {
        uint32_t m = 0;
        while (m < shard->members && shard->suffix[m] != i) {
            m++;
        }
        if (m < shard->members && split->n_files < FBY_MAX_FILES &&
            is_file_path(search, index->parts.base,
                (const char *)shard->texts.data + shard->text_offset[m],
                shard->text_size[m])) {
            memcpy(split->files[split->n_files++], shard->suffixes[i],
                FBY_NAME_SIZE);
        }
    }
}

static void add_values(
    struct fby_guess_split *split, const struct fby_shard *shard)
{
    for (uint32_t m = 0; m < shard->members; m++) {
        struct fby_init_member *member =
            fby_guess_member(split, fby_shard_suffix(shard, m));
        if (member != NULL && fby_shard_is_value(shard, m)) {
            fby_guess_add_value(member,
                (const char *)shard->texts.data + shard->text_offset[m],
                shard->text_size[m]);
        }
    }
}

/* In CSV, a value that looks like a list or object beside other values is a
 * text. */
static void mixed_to_text(struct fby_guess_split *split)
{
    for (uint32_t i = 0; i < split->n_members; i++) {
        struct fby_init_member *member = &split->members[i];
        if (member->value == FBY_INIT_MIXED) {
            member->value = FBY_INIT_TEXT;
        }
    }
}

static fby_err read_list(struct fby_search *search, const char *below,
    struct fby_guess_split *split, struct fby_error_detail *why)
{
    struct fby_index        index = {0};
    struct fby_dataset_spec spec  = {.kind = FBY_SOURCE_LIST,
         .files   = (const char(*)[FBY_NAME_SIZE])split->files,
         .n_files = split->n_files};
    fby_err err = fby_guess_index(search, &spec, below, &index, why);
    if (err == FBY_OK) {
        err = fby_guess_count_index(split, &index, why);
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

/* Find the columns of paths. It is no error if there are none. */
static fby_err read_columns(struct fby_search *search, const char *below,
    struct fby_guess_split *split, struct fby_error_detail *why)
{
    struct fby_index        index = {0};
    struct fby_dataset_spec spec  = {.kind = FBY_SOURCE_LIST};
    fby_err err = fby_guess_index(search, &spec, below, &index, why);
    if (err == FBY_OK) {
        find_files(search, &index, split);
    }
    fby_index_fini(&index);
    return err;
}

/* True for a file to skip. In a directory with folders, a list without paths or
 * an invalid list may only describe the folders. After a first list, an invalid
 * list is skipped. */
static bool is_skipped(fby_err err, const struct fby_guess_split *split,
    bool dirs, uint32_t n_lists)
{
    return dirs ? err == FBY_CONFIG || (err == FBY_OK && split->n_files == 0)
                : err == FBY_CONFIG && n_lists > 0;
}

static fby_err add_list_split(struct fby_search *search, const char *below,
    bool dirs, uint32_t *n_lists, struct fby_error_detail *why)
{
    char        name[FBY_NAME_SIZE];
    char        stem[FBY_PATH_SIZE];
    const char *slash = strrchr(below, '/');
    snprintf(stem, sizeof(stem), "%s", slash != NULL ? slash + 1 : below);
    *strrchr(stem, '.') = '\0';
    fby_guess_split_name(search, stem, name);
    struct fby_guess_split *split = fby_guess_add_split(search, name);
    if (split == NULL) {
        return FBY_OK;
    }
    fby_err err = read_columns(search, below, split, why);
    if (is_skipped(err, split, dirs, *n_lists)) {
        search->out->n_splits--;
        return FBY_OK;
    }
    (*n_lists)++;
    search->out->kind = FBY_SOURCE_LIST;
    if (err == FBY_OK) {
        err = read_list(search, below, split, why);
    }
    return err == FBY_OK ? fby_guess_set_pattern(search, below, split, why)
                         : err;
}

fby_err fby_guess_lists(struct fby_search *search, const char *path,
    const struct fby_listing *listing, struct fby_error_detail *why)
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
            err = add_list_split(search, below, dirs, &n_lists, why);
        }
    }
    return err;
}
