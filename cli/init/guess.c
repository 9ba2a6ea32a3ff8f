/* SPDX-License-Identifier: Apache-2.0 */
/* guess.c - find the splits of a directory: class folders, tar shards, and the
 * order in which the kinds of data are tried. */
#include "cli/init/guess.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/init/guess_search.h"
#include "pipeline/text.h"
#include "worker/source/folder/folder.h"
#include "worker/source/listing.h"
#include "worker/source/roots.h"
#include "worker/source/shards/tar.h"
#include "worker/source/shards/tar_names.h"

enum { ENOUGH_FILES = 20000 }; /* then no more class folders are read */

/* The usual names of splits. If a file name contains several of them, the first
 * in this order counts. Splits are also added in this order. */
static const char *const known_splits[] = {
    "train", "validation", "valid", "val", "test"};
enum { KNOWN_SPLITS = 5 };

const char *fby_guess_split_word(const char *name)
{
    for (size_t i = 0; i < KNOWN_SPLITS; i++) {
        if (strstr(name, known_splits[i]) != NULL) {
            return known_splits[i];
        }
    }
    return NULL;
}

bool fby_guess_has_split(const struct fby_search *search, const char *name)
{
    for (uint32_t i = 0; i < search->out->n_splits; i++) {
        if (strcmp(search->out->splits[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

struct fby_guess_split *fby_guess_add_split(
    struct fby_search *search, const char *name)
{
    if (search->out->n_splits == FBY_GUESS_SPLITS) {
        search->out->n_left_out++;
        return NULL;
    }
    struct fby_guess_split *split =
        &search->out->splits[search->out->n_splits++];
    memset(split, 0, sizeof(*split));
    snprintf(split->name, sizeof(split->name), "%s", name);
    return split;
}

void fby_guess_name_of_split(
    const struct fby_search *search, const char *stem, char out[FBY_NAME_SIZE])
{
    const char *word   = fby_guess_split_word(stem);
    size_t      length = strnlen(stem, FBY_NAME_SIZE - 1);
    while (length > 0 && strchr("-_.", stem[length - 1]) != NULL) {
        length--;
    }
    snprintf(
        out, FBY_NAME_SIZE, "%s", word != NULL ? word : search->default_name);
    if (fby_guess_has_split(search, out)) {
        snprintf(out, FBY_NAME_SIZE, "%.*s", (int)length, stem);
    }
    if (fby_guess_has_split(search, out) || !fby_text_is_name(out)) {
        snprintf(out, FBY_NAME_SIZE, "split%u", search->out->n_splits + 1);
    }
}

fby_err fby_guess_check_name(const char *name, struct fby_error_detail *why)
{
    if (strpbrk(name, "{}*?,") == NULL) {
        return FBY_OK;
    }
    return fby_error_set(why, FBY_CONFIG,
        "the name of %s has a special character of patterns; rename it",
        fby_text_show(name).text);
}

fby_err fby_guess_set_pattern(const struct fby_search *search,
    const char *below, struct fby_guess_split *split,
    struct fby_error_detail *why)
{
    return fby_path_join(
        fby_root_dir(search->root), below, split->pattern, why);
}

fby_err fby_guess_index(const struct fby_search *search,
    struct fby_dataset_spec *spec, const char *below, struct fby_index *out,
    struct fby_error_detail *why)
{
    char pattern[FBY_PATH_SIZE + 8]; /* "data" is the name of search->root */
    snprintf(pattern, sizeof(pattern), "data:%s", below);
    spec->roots     = search->roots;
    spec->pattern   = pattern;
    spec->cache_dir = ""; /* no cache */
    fby_err err =
        fby_index_build(spec, (struct fby_progress){.fn = NULL}, out, why);
    spec->pattern = NULL; /* the array is local */
    return err;
}

static fby_err open_in_tar(const void *arg, const struct fby_shard *shard,
    uint32_t member, struct fby_member_file *out, struct fby_error_detail *why)
{
    const struct fby_search *search = arg;
    out->offset                     = fby_shard_offset(shard, member);
    return fby_object_open(search->root, shard->name, &out->object, why);
}

static fby_err read_first_tar(struct fby_search *search, const char *path,
    struct fby_guess_split *split, struct fby_error_detail *why)
{
    struct fby_shard  shard = {0};
    struct fby_object object;
    struct fby_stamp  stamp;
    fby_err           err =
        fby_object_open_stamped(search->root, path, &object, &stamp, why);
    if (err != FBY_OK) {
        return err;
    }
    struct fby_tar_file file = {.object = &object, .size = stamp.size};
    fby_shard_init(&shard, path, FBY_SOURCE_SHARDS);
    err = fby_tar_scan(&file, &shard, why);
    fby_object_close(&object);
    if (err == FBY_OK) {
        const struct fby_member_opener opener = {open_in_tar, search};
        fby_guess_count_members(split, &shard);
        err = fby_guess_read_pngs(split, &shard, &opener, why);
    }
    fby_shard_fini(&shard);
    return err == FBY_OK ? FBY_OK
                         : fby_error_prefix(why, err, "shard %s", path);
}

/* Add a split for tar files whose names differ in a number. Reads the first. */
static fby_err add_tar_split(struct fby_search *search, const char *path,
    const struct fby_tar_group *group, struct fby_error_detail *why)
{
    char pattern[FBY_PATH_SIZE];
    char first[FBY_PATH_SIZE];
    char below[FBY_PATH_SIZE];
    char prefix[FBY_NAME_SIZE];
    char name[FBY_NAME_SIZE];
    snprintf(prefix, sizeof(prefix), "%.*s", group->prefix, group->first);
    fby_guess_name_of_split(search, prefix, name);
    struct fby_guess_split *split = fby_guess_add_split(search, name);
    if (split == NULL) {
        return FBY_OK;
    }
    fby_tar_group_pattern(group, pattern, sizeof(pattern));
    fby_err err = fby_path_join(path, group->first, first, why);
    if (err == FBY_OK) {
        err = fby_path_join(path, pattern, below, why);
    }
    if (err == FBY_OK) {
        err = fby_guess_set_pattern(search, below, split, why);
    }
    split->shards      = group->count;
    split->counted_all = group->count == 1;
    search->out->kind  = FBY_SOURCE_SHARDS;
    if (err == FBY_OK) {
        err = read_first_tar(search, first, split, why);
    }
    fby_guess_sort_members(split);
    return err;
}

/* Move the tar files of a listing to its front, so that each group of shards is
 * contiguous. Returns the number of tar files. */
static uint32_t move_tars_first(struct fby_listing *listing)
{
    uint32_t n_tars = 0;
    for (uint32_t i = 0; i < listing->count; i++) {
        const struct fby_entry *entry = &listing->entries[i];
        if (!entry->is_dir && fby_is_tar_name(entry->name)) {
            struct fby_entry other     = listing->entries[n_tars];
            listing->entries[n_tars++] = *entry;
            listing->entries[i]        = other;
        }
    }
    return n_tars;
}

static fby_err add_tars(struct fby_search *search, const char *path,
    const struct fby_entry *tars, uint32_t n, struct fby_error_detail *why)
{
    fby_err err = FBY_OK;
    for (uint32_t i = 0; err == FBY_OK && i < n;) {
        struct fby_tar_group group = fby_tar_group_begin(tars[i].name);
        i++;
        while (i < n && fby_tar_group_join(&group, tars[i].name)) {
            i++;
        }
        err = fby_guess_check_name(fby_root_dir(search->root), why);
        if (err == FBY_OK) {
            err = fby_guess_check_name(group.first, why);
        }
        if (err == FBY_OK) {
            err = add_tar_split(search, path, &group, why);
        }
    }
    return err;
}

struct class_folders { /* the argument of open_in_folder */
    const struct fby_search *search;
    const char              *path; /* their parent folder */
};

static fby_err open_in_folder(const void *arg, const struct fby_shard *shard,
    uint32_t member, struct fby_member_file *out, struct fby_error_detail *why)
{
    const struct class_folders *folders = arg;
    char                        file[FBY_PATH_SIZE];
    char                        path[FBY_PATH_SIZE];

    int n = snprintf(file, sizeof(file), "%s.%s",
        fby_shard_key(shard, fby_shard_sample_of(shard, member)),
        fby_shard_suffix(shard, member));
    if (n < 0 || n >= (int)sizeof(file)) {
        return fby_error_set(
            why, FBY_CONFIG, "the path of a member is too long");
    }
    fby_err err = fby_path_join(folders->path, file, path, why);
    return err == FBY_OK
               ? fby_object_open(folders->search->root, path, &out->object, why)
               : err;
}

/* Count the members of class folders. Folders that were not read have none. */
static fby_err count_classes(const struct fby_member_opener *opener,
    struct fby_guess_split *split, const struct fby_folder *classes,
    struct fby_error_detail *why)
{
    struct fby_shard *shards = NULL;
    uint32_t          n      = 0;
    fby_err           err =
        fby_folders_to_shards(classes, split->classes, &shards, &n, why);
    for (uint32_t i = 0; i < n; i++) {
        if (err == FBY_OK) {
            fby_guess_count_members(split, &shards[i]);
            err = fby_guess_read_pngs(split, &shards[i], opener, why);
        }
        fby_shard_fini(&shards[i]);
    }
    free(shards);
    fby_guess_sort_members(split);
    return err;
}

static fby_err add_class_split(struct fby_search *search, const char *path,
    const char *name, struct fby_error_detail *why)
{
    struct fby_folder      *classes = NULL;
    uint32_t                n       = 0;
    atomic_bool             stop    = false;
    struct fby_guess_split *split   = fby_guess_add_split(search, name);
    if (split == NULL) {
        return FBY_OK;
    }
    fby_err err =
        fby_folder_list_classes(search->root, path, &classes, &n, why);
    uint64_t files  = 0;
    uint32_t n_read = 0;
    while (err == FBY_OK && n_read < n && files < ENOUGH_FILES) {
        struct fby_folder *class = &classes[n_read++];
        err =
            fby_folder_find_class_files(search->root, path, &stop, class, why);
        files += class->count;
    }
    split->classes     = n;
    split->counted_all = n_read == n;
    search->out->kind  = FBY_SOURCE_FOLDER;
    if (err == FBY_OK) {
        const struct class_folders     folders = {search, path};
        const struct fby_member_opener opener  = {open_in_folder, &folders};
        err = count_classes(&opener, split, classes, why);
    }
    if (err == FBY_OK) {
        err = fby_guess_set_pattern(search, path, split, why);
    }
    fby_folders_free(classes, n);
    return err;
}

static bool has_dir(const struct fby_listing *listing, const char *name)
{
    for (uint32_t i = 0; i < listing->count; i++) {
        if (listing->entries[i].is_dir &&
            strcmp(listing->entries[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

static fby_err add_table_split(struct fby_search *search, const char *name,
    const struct fby_guess_tables *found, struct fby_error_detail *why)
{
    struct fby_guess_split *split = fby_guess_add_split(search, name);
    if (split == NULL) {
        return FBY_OK;
    }
    search->out->kind = FBY_SOURCE_COLUMNS;
    bool    is_file   = search->only_file[0] != '\0';
    fby_err err       = fby_guess_check_name(fby_root_dir(search->root), why);
    if (err == FBY_OK) {
        err = fby_guess_set_pattern(
            search, is_file ? found->first : found->pattern, split, why);
    }
    return err == FBY_OK
               ? fby_guess_scan_columns(search->root, found, split, why)
               : err;
}

static bool has_pictures(const struct fby_listing *listing)
{
    for (uint32_t i = 0; i < listing->count; i++) {
        const char *dot = strrchr(listing->entries[i].name, '.');
        if (dot != NULL && (fby_equal_ignoring_case(dot, ".jpg") ||
                               fby_equal_ignoring_case(dot, ".jpeg") ||
                               fby_equal_ignoring_case(dot, ".png"))) {
            return true;
        }
    }
    return false;
}

static fby_err no_known_data(const struct fby_search *search,
    const struct fby_listing *listing, struct fby_error_detail *why)
{
    bool is_file = search->only_file[0] != '\0';
    if (!is_file && has_pictures(listing)) {
        return fby_error_set(why, FBY_CONFIG,
            "the directory has pictures, but no class folders; expected is one "
            "folder for each class (CLASS/0001.jpg), or a list of the pictures "
            "(.csv, .jsonl) with a column of paths");
    }
    return fby_error_set(why, FBY_CONFIG,
        "%s; known are class folders (CLASS/0001.jpg), tar files, columns "
        "(.npy, .npz), lists (.csv, .jsonl), parallel folders (images and "
        "masks) and token files (.mds; .bin with .idx; .bin with --tokens "
        "TYPE)",
        is_file               ? "the file is of no known kind"
        : listing->count == 0 ? "the directory is empty"
                              : "the directory has no files of a known kind");
}

/* Add the data directly in `path`, of the first of these kinds that is found:
 * .npy files, lists, parallel folders, other tables, class folders. */
static fby_err add_first_kind(struct fby_search *search, const char *path,
    const char *name, const struct fby_listing *listing,
    struct fby_error_detail *why)
{
    struct fby_guess_tables found;
    uint32_t                before = fby_guess_n_splits(search);
    fby_err                 err =
        fby_guess_find_tables(search->root, path, listing, &found, why);
    if (err == FBY_OK && found.is_table) {
        return add_table_split(search, name, &found, why);
    }
    if (err == FBY_OK) {
        err = fby_guess_lists(search, path, listing, why);
    }
    if (err == FBY_OK && fby_guess_n_splits(search) == before) {
        err = fby_guess_parallel(search, path, listing, why);
    }
    if (err != FBY_OK || fby_guess_n_splits(search) > before) {
        return err;
    }
    if (found.shards > 0) {
        return add_table_split(search, name, &found, why);
    }
    return fby_listing_has_dirs(listing)
               ? add_class_split(search, path, name, why)
               : no_known_data(search, listing, why);
}

/* Add the splits of the data directly in `path`. A split that is alone gets the
 * name `name`. */
static fby_err add_data(struct fby_search *search, const char *path,
    const char *name, struct fby_error_detail *why)
{
    struct fby_listing listing     = {0};
    uint32_t           first_split = search->out->n_splits;
    uint32_t           n_before    = fby_guess_n_splits(search);
    const char        *only_file =
        search->only_file[0] != '\0' ? search->only_file : NULL;
    search->default_name = name;
    fby_err err =
        fby_listing_read(search->root, path, only_file, &listing, why);
    uint32_t tars = move_tars_first(&listing);
    if (err == FBY_OK && tars > 0) {
        err = add_tars(search, path, listing.entries, tars, why);
    } else if (err == FBY_OK) {
        err = fby_guess_tokens(search, path, &listing, why);
        if (err == FBY_OK && fby_guess_n_splits(search) == n_before) {
            err = add_first_kind(search, path, name, &listing, why);
        }
    }
    bool is_alone = search->out->n_splits == first_split + 1;
    if (err == FBY_OK && is_alone) {
        snprintf(
            search->out->splits[first_split].name, FBY_NAME_SIZE, "%s", name);
    }
    fby_listing_fini(&listing);
    return err;
}

/* If there is a folder train, add the data of the folders train, val and so on.
 * Else add the data of the directory itself. */
static fby_err add_all_data(
    struct fby_search *search, struct fby_error_detail *why)
{
    struct fby_listing listing = {0};
    fby_err err   = fby_listing_read(search->root, "", NULL, &listing, why);
    bool by_split = has_dir(&listing, "train") && search->only_file[0] == '\0';
    for (size_t i = 0; err == FBY_OK && by_split && i < KNOWN_SPLITS; i++) {
        if (has_dir(&listing, known_splits[i])) {
            err = add_data(search, known_splits[i], known_splits[i], why);
        }
    }
    if (err == FBY_OK && !by_split) {
        err = add_data(search, "", "train", why);
    }
    fby_listing_fini(&listing);
    return err;
}

static void move_train_first(struct fby_guess *out)
{
    for (uint32_t i = 1; i < out->n_splits; i++) {
        if (strcmp(out->splits[i].name, "train") == 0) {
            struct fby_guess_split train = out->splits[i];
            out->splits[i]               = out->splits[0];
            out->splits[0]               = train;
            return;
        }
    }
}

/* Make `path` the root of the search. If `path` is a file, its directory is the
 * root, and search->only_file its name. */
static fby_err open_search(
    struct fby_search *search, const char *path, struct fby_error_detail *why)
{
    struct stat st;
    char        option[FBY_PATH_SIZE + 8];
    char       *real = realpath(path, NULL);
    if (real == NULL || stat(real, &st) != 0) {
        fby_err err = fby_error_set(
            why, FBY_NOT_FOUND, "cannot look at %s: %s", path, strerror(errno));
        free(real);
        return err;
    }
    char *slash = strrchr(real, '/');
    if (S_ISREG(st.st_mode)) {
        snprintf(search->only_file, sizeof(search->only_file), "%s", slash + 1);
        slash[slash == real ? 1 : 0] = '\0'; /* keep "/" itself */
    }
    snprintf(option, sizeof(option), "data=%s", real);
    free(real);
    search->roots = fby_roots_create();
    fby_err err   = fby_roots_add(search->roots, option, why);
    return err == FBY_OK
               ? fby_roots_find(search->roots, "data", &search->root, why)
               : err;
}

fby_err fby_source_guess(const char *path, enum fby_type token_type,
    struct fby_guess *out, struct fby_error_detail *why)
{
    struct fby_search search = {.token_type = token_type, .out = out};
    memset(out, 0, sizeof(*out));
    fby_err err = open_search(&search, path, why);
    if (err == FBY_OK) {
        err = add_all_data(&search, why);
        if (err != FBY_OK) {
            fby_error_prefix(why, err, "looking at %s", path);
        }
    }
    move_train_first(out);
    fby_roots_destroy(&search.roots);
    return err;
}
