/* SPDX-License-Identifier: Apache-2.0 */
/* refuse_lists.c - refuse lists that fby_guess_lists() has not used, beside
 * a folder of their pictures.
 *
 * Without this check the folder would be taken for the only class. Each error
 * says why the list is not used, and names a command that writes one that is. */
#include "cli/init/refuse_lists.h"

#include <stdio.h>
#include <string.h>

#include "cli/init/guess_lists.h"
#include "cli/init/guess_notes.h"
#include "cli/init/named_files.h"
#include "cli/init/names.h"
#include "cli/init/refuse_layouts.h"
#include "cli/init/split_names.h"
#include "pipeline/text.h"

struct list_dir { /* a directory with lists and folders */
    struct fby_checked_dir   at;
    struct fby_folders_below folders;      /* below at.path */
    bool                     has_pictures; /* the folders are of pictures */
    enum fby_named_numbers   numbers;
};

/* True for the usual names of a folder of pictures without classes: images,
 * train_images, val2017. */
static bool is_picture_folder(const struct fby_entry *entry)
{
    return entry->is_dir && (fby_init_is_picture_name(entry->name) ||
                                fby_split_word(entry->name) != NULL);
}

static bool has_only_picture_folders(const struct fby_listing *listing)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < listing->count; i++) {
        bool is_dir = listing->entries[i].is_dir;
        if (is_dir && !is_picture_folder(&listing->entries[i])) {
            return false;
        }
        n += is_dir ? 1 : 0;
    }
    return n > 0;
}

/* Refuse a list that fby_guess_lists() has not used. One that is invalid may be
 * no list of the pictures, unless there is a command that changes it. */
static fby_err check_list(
    struct list_dir *dir, const char *list, struct fby_error_detail *why)
{
    struct fby_named_files  files;
    struct fby_index        index  = {0};
    struct fby_dataset_spec spec   = {.kind = FBY_SOURCE_LIST};
    struct fby_error_detail reason = {{0}};
    char                    path[FBY_PATH_SIZE];
    bool                    names_files = false;
    if (dir->at.search->in_zip) {
        fby_err err = fby_error_set(why, FBY_CONFIG,
            "the list %.60s in the archive is not read",
            fby_text_show(list).text);
        return fby_guess_unpack_first(dir->at.search, err, why);
    }
    FBY_TRY(fby_path_join(dir->at.path, list, path, why));
    FBY_TRY(fby_refuse_header(dir->at.search, path, &names_files, why));
    if (!names_files && fby_named_files_find(dir->at.search, dir->at.path, list,
                            &dir->folders, dir->numbers, &files)) {
        const struct fby_unresolved_list unresolved = {
            dir->at.search, dir->at.path, list, &dir->folders, &files};
        return fby_refuse_unresolved_list(&unresolved, why);
    }
    fby_err err = fby_guess_index(dir->at.search, &spec, path, &index, &reason);
    fby_index_fini(&index);
    if (err != FBY_OK &&
        (fby_guess_explain_invalid_list(dir->at.search, path, &reason) ||
            dir->has_pictures)) {
        return fby_error_set(why, err, "%s", reason.text);
    }
    return FBY_OK; /* it has other uses */
}

/* Is the folder `path` directly in `outer`? */
static bool is_in(const char *path, const char *outer)
{
    size_t n = strlen(outer);
    return strncmp(path, outer, n) == 0 && path[n] == '/' &&
           strchr(path + n + 1, '/') == NULL;
}

/* Is a folder below called train and has class folders? These are the data, and
 * the list is one of several. A folder stands before those in it. */
static bool has_classes_of_train(const struct fby_folders_below *folders)
{
    const char *train = NULL;
    uint32_t    n     = 0;
    for (uint32_t i = 0; i < folders->n && n < 2; i++) {
        const char *path  = folders->paths[i];
        const char *slash = strrchr(path, '/');
        const char *split =
            fby_split_of_folder(slash != NULL ? slash + 1 : path);
        if (train != NULL && is_in(path, train)) {
            n++;
        } else if (split != NULL && strcmp(split, "train") == 0) {
            train = path;
            n     = 0;
        }
    }
    return n >= 2;
}

/* Check the lists. A folder that `is_alone` may be data without a list. */
static fby_err check_lists(
    struct list_dir *dir, bool is_alone, struct fby_error_detail *why)
{
    const struct fby_listing *listing = dir->at.listing;
    fby_err                   err     = FBY_OK;
    uint32_t                  first   = 0;
    while (first < listing->count &&
           !fby_list_is_read(listing, &listing->entries[first])) {
        first++;
    }
    if (first < listing->count && !dir->at.search->in_zip) {
        fby_folders_below_find(dir->at.search, dir->at.path, &dir->folders);
    }
    if (is_alone && has_classes_of_train(&dir->folders)) {
        first = listing->count;
    }
    for (uint32_t i = first; err == FBY_OK && i < listing->count; i++) {
        if (fby_list_is_read(listing, &listing->entries[i])) {
            err = check_list(dir, listing->entries[i].name, why);
        }
    }
    fby_folders_below_fini(&dir->folders);
    return err;
}

fby_err fby_refuse_unused_lists(struct fby_search *search, const char *path,
    const struct fby_listing *listing, struct fby_error_detail *why)
{
    struct list_dir dir = {.at = {search, path, listing},
        .has_pictures          = has_only_picture_folders(listing)};
    dir.numbers         = dir.has_pictures ? FBY_NUMBERS_ANY : FBY_NUMBERS_NONE;
    bool is_alone = fby_guess_find_only_dir(listing) != NULL && !search->in_zip;
    bool has_no_other =
        !fby_listing_has_dirs(listing) && !fby_init_has_pictures(listing);
    fby_err err = dir.has_pictures || is_alone
                      ? check_lists(&dir, !dir.has_pictures, why)
                      : FBY_OK;
    if (err == FBY_OK && (dir.has_pictures || has_no_other)) {
        err = fby_refuse_other_lists(search, path, listing, why);
    }
    return fby_guess_unpack_first(search, err, why);
}

fby_err fby_refuse_lists_of_folders(struct fby_search *search, const char *path,
    const struct fby_listing *listing, struct fby_error_detail *why)
{
    struct list_dir beside = {
        .at = {search, path, listing}, .numbers = FBY_NUMBERS_BY_COLUMN};
    return check_lists(&beside, false, why);
}
