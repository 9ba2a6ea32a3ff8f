/* SPDX-License-Identifier: Apache-2.0 */
/* guess_only.c - recognise a folder that is alone: it is no class.
 *
 * Its pictures, also those some levels of single folders below, are a folder
 * without classes. */
#include <stdio.h>
#include <string.h>

#include "cli/init/guess_folders.h"
#include "cli/init/guess_notes.h"
#include "cli/init/names.h"
#include "cli/init/split_names.h"
#include "pipeline/text.h"

enum { MAX_LEVELS = 8 };

struct only_folder {              /* the folder at the end of single folders */
    char     path[FBY_PATH_SIZE]; /* relative to the first listing */
    unsigned levels;              /* number of single folders */
    bool     has_pictures;        /* directly in it */
    bool     has_splits;          /* a folder train is in it */
};

/* Go down from the listing of `path` while a directory has one folder and no
 * pictures. */
static fby_err find_only_folder(struct fby_search *search, const char *path,
    const struct fby_listing *listing, struct only_folder *out,
    struct fby_error_detail *why)
{
    const char *name = fby_guess_find_only_dir(listing);
    char        below[FBY_PATH_SIZE];
    if (fby_init_has_pictures(listing)) {
        out->has_pictures = out->levels > 0;
        return FBY_OK;
    }
    out->has_splits = fby_find_split_folder(listing, "train") != NULL;
    if (name == NULL || out->has_splits || out->levels == MAX_LEVELS) {
        return FBY_OK;
    }
    struct fby_listing inner = {0};
    FBY_TRY(fby_path_join(out->path, name, below, why));
    memcpy(out->path, below, sizeof(below));
    out->levels++;
    FBY_TRY(fby_path_join(path, out->path, below, why));
    fby_err err = fby_guess_list_dir(search, below, NULL, &inner, why);
    err =
        err == FBY_OK ? find_only_folder(search, path, &inner, out, why) : err;
    fby_listing_fini(&inner);
    return err;
}

/* Pictures beside a folder: it is not known whether all are samples. */
static fby_err refuse_pictures_beside(const struct fby_search *search,
    const char *path, const char *folder, struct fby_error_detail *why)
{
    char below[FBY_PATH_SIZE];
    char operand[FBY_OPERAND_SIZE];
    FBY_TRY(fby_path_join(path, folder, below, why));
    fby_guess_write_operand(search, below, operand);
    return fby_error_set(why, FBY_CONFIG,
        "there are pictures beside the only folder, %.60s: for all of them "
        "without classes add --class-depth 0; for those in the folder alone: "
        "forebay init %s; if they are masks, give both folders of their own, "
        "images and masks",
        fby_text_show(folder).text, operand);
}

static fby_err refuse_deep_folders(const struct fby_search *search,
    const char *path, const struct only_folder *only,
    struct fby_error_detail *why)
{
    char below[FBY_PATH_SIZE];
    char operand[FBY_OPERAND_SIZE];
    FBY_TRY(fby_path_join(path, only->path, below, why));
    fby_guess_write_operand(search, below, operand);
    return fby_error_set(why, FBY_CONFIG,
        "the data is in the only folder, %.60s: forebay init %s",
        fby_text_show(only->path).text, operand);
}

fby_err fby_guess_only_folder(struct fby_search *search, const char *path,
    const struct fby_listing *listing, char out[FBY_PATH_SIZE],
    struct fby_error_detail *why)
{
    struct only_folder only  = {.path = ""};
    const char        *first = fby_guess_find_only_dir(listing);
    out[0]                   = '\0';
    if (search->train != NULL || first == NULL) {
        return FBY_OK;
    }
    if (fby_init_has_pictures(listing)) {
        return refuse_pictures_beside(search, path, first, why);
    }
    FBY_TRY(find_only_folder(search, path, listing, &only, why));
    if (only.has_pictures) {
        memcpy(out, only.path, sizeof(only.path));
    } else if (only.levels > 1 || only.has_splits) {
        return refuse_deep_folders(search, path, &only, why);
    }
    return FBY_OK;
}

/* Does a picture in the folder `name` begin with that name? */
static bool has_picture_of_folder(
    struct fby_search *search, const char *path, const char *name)
{
    struct fby_listing files = {0};
    char               below[FBY_PATH_SIZE];
    bool               found = false;
    if (fby_path_join(path, name, below, NULL) == FBY_OK &&
        fby_guess_list_dir(search, below, NULL, &files, NULL) == FBY_OK) {
        for (uint32_t i = 0; i < files.count; i++) {
            const struct fby_entry *file = &files.entries[i];
            found                        = found ||
                    (!file->is_dir && fby_init_is_any_picture(file->name) &&
                        strncmp(file->name, name, strlen(name)) == 0);
        }
    }
    fby_listing_fini(&files);
    return found;
}

bool fby_guess_are_img2dataset(struct fby_search *search, const char *path,
    const struct fby_listing *listing)
{
    enum { DIGITS = 5 };
    const char *first = NULL;
    for (uint32_t i = 0; i < listing->count; i++) {
        const char *name = listing->entries[i].name;
        if (!listing->entries[i].is_dir) {
            continue;
        }
        if (strspn(name, "0123456789") != DIGITS || name[DIGITS] != '\0') {
            return false;
        }
        first = first == NULL ? name : first;
    }
    if (first == NULL || !has_picture_of_folder(search, path, first)) {
        return false;
    }
    fby_guess_note(search,
        "note: the folders are shards of img2dataset, as %s, and are read "
        "without classes; if they are classes: --class-depth 1",
        first);
    return true;
}

void fby_guess_note_only_folder(struct fby_search *search, const char *folder)
{
    fby_guess_note(search,
        "note: the only folder, %.60s, is read without classes; if it is a "
        "class: "
        "--class-depth 1",
        fby_text_show(folder).text);
}
