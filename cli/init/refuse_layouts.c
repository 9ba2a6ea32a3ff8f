/* SPDX-License-Identifier: Apache-2.0 */
/* refuse_layouts.c - the checks of a directory whose folders may be no classes:
 * see refuse_layouts.h.
 *
 * Without these checks the folders would be taken for classes. Directories below
 * are checked, too, as long as each is alone at its level. */
#include "cli/init/refuse_layouts.h"

#include <stdio.h>
#include <string.h>

#include "cli/init/guess_notes.h"
#include "cli/init/guess_zip.h"
#include "cli/init/names.h"
#include "cli/init/refuse_lists.h"
#include "pipeline/text.h"
#include "pipeline/unread.h"

enum { MAX_DEPTH = 3 }; /* levels of single folders, as in VOCdevkit/VOC2012 */

fby_err fby_refuse_list_below(struct fby_search *search, const char *path,
    const char *dir, struct fby_listing *out, struct fby_error_detail *why)
{
    char below[FBY_PATH_SIZE];
    FBY_TRY(fby_path_join(path, dir, below, why));
    fby_err err = fby_guess_list_dir(search, below, NULL, out, why);
    return err == FBY_CONFIG ? FBY_IO : err;
}

/* Refuse a folder without pictures and folders if it has a file of a format
 * that is not read, as MNIST/raw. Zip archives are looked at elsewhere, and
 * pictures that are not decoded may lie beside tables. */
static fby_err check_unread(
    const struct fby_checked_dir *layout, struct fby_error_detail *why)
{
    const struct fby_listing *listing = layout->listing;
    bool                      has_known =
        fby_init_has_pictures(listing) || fby_listing_has_dirs(listing);
    for (uint32_t i = 0; !has_known && i < listing->count; i++) {
        const char *name = listing->entries[i].name;
        if (!fby_guess_is_zip_path(name) && fby_unread_picture(name) == NULL) {
            FBY_TRY(fby_refuse_unread(layout->search, layout->path, name, why));
        }
    }
    return FBY_OK;
}

static fby_err check_folders(
    const struct fby_checked_dir *dir, struct fby_error_detail *why)
{
    static fby_err (*const checks[])(struct fby_search *, const char *,
        const struct fby_listing *, struct fby_error_detail *) = {
        fby_refuse_sample_arrays, fby_refuse_data_sets, fby_refuse_pairs,
        fby_refuse_objects, fby_refuse_samples, fby_refuse_two_masks,
        fby_refuse_mask_names, fby_refuse_mask_words};
    fby_err err = FBY_OK;
    for (size_t i = 0; err == FBY_OK && i < sizeof(checks) / sizeof(checks[0]);
         i++) {
        err = checks[i](dir->search, dir->path, dir->listing, why);
    }
    return err;
}

/* Refuse a directory below that has a list beside its folders: a list is looked
 * for only in the directory that the user gives. */
static fby_err check_lists_below(
    const struct fby_checked_dir *layout, struct fby_error_detail *why)
{
    const struct fby_listing *listing = layout->listing;
    char                      operand[FBY_OPERAND_SIZE];
    uint32_t                  i = 0;
    while (i < listing->count &&
           (listing->entries[i].is_dir ||
               !(fby_text_ends_with(listing->entries[i].name, ".csv") ||
                   fby_text_ends_with(listing->entries[i].name, ".jsonl")))) {
        i++;
    }
    if (i == listing->count || layout->search->in_zip ||
        !fby_listing_has_dirs(listing)) {
        return FBY_OK;
    }
    fby_guess_write_operand(layout->search, layout->path, operand);
    return fby_error_set(why, FBY_CONFIG,
        "the list %.60s is in this folder: give init the folder itself: "
        "forebay init %s",
        fby_text_show(listing->entries[i].name).text, operand);
}

/* Check the directories below, as long as each is alone at its level. */
static fby_err check_below(const struct fby_checked_dir *outer, unsigned depth,
    struct fby_error_detail *why)
{
    const char        *dir     = fby_guess_find_only_dir(outer->listing);
    struct fby_listing listing = {0};
    char               path[FBY_PATH_SIZE];
    if (dir == NULL || depth == 0) {
        return FBY_OK;
    }
    struct fby_checked_dir layout = {.search = outer->search, .path = path};
    FBY_TRY(fby_path_join(outer->path, dir, path, why));
    fby_err err =
        fby_refuse_list_below(outer->search, outer->path, dir, &listing, why);
    layout.listing = &listing;
    if (err == FBY_OK) {
        err = check_folders(&layout, why);
    }
    if (err == FBY_OK) {
        err = check_unread(&layout, why);
    }
    err = fby_guess_unpack_first(outer->search, err, why);
    if (err == FBY_OK) {
        err = check_lists_below(&layout, why);
    }
    if (err == FBY_OK) {
        err = fby_refuse_roles(outer->search, path, &listing, why);
    }
    if (err == FBY_CONFIG) {
        fby_error_prefix(why, err, "in %s", fby_text_show(path).text);
    } else if (err == FBY_OK) {
        err = check_below(&layout, depth - 1, why);
    }
    fby_listing_fini(&listing);
    return err;
}

fby_err fby_refuse_layout(struct fby_search *search, const char *path,
    const struct fby_listing *listing, struct fby_error_detail *why)
{
    const struct fby_checked_dir layout = {
        .search = search, .path = path, .listing = listing};
    if (search->class_depth != FBY_GUESS_ANY_DEPTH) {
        return FBY_OK; /* the user knows that they are class folders */
    }
    fby_err err = check_folders(&layout, why);
    if (err == FBY_OK) {
        err = check_unread(&layout, why);
    }
    err = fby_guess_unpack_first(search, err, why);
    if (err == FBY_OK) {
        err = fby_refuse_text_lines(search, path, listing, why);
    }
    if (err == FBY_OK) {
        err = fby_refuse_unused_lists(search, path, listing, why);
    }
    if (err == FBY_OK) {
        err = fby_refuse_numbers(search, path, listing, why);
    }
    if (err == FBY_OK) {
        err = fby_refuse_roles(search, path, listing, why);
    }
    return err == FBY_OK ? check_below(&layout, MAX_DEPTH, why) : err;
}
