/* SPDX-License-Identifier: Apache-2.0 */
/* guess_folders.c - recognise a folder of class folders, or of pictures alone.
 *
 * All files are counted. Samples have a picture; other files, such as
 * notes.txt, are counted by their type and left out. */
#include "cli/init/guess_folders.h"

#include <stdio.h>
#include <string.h>

#include "cli/init/class_folders.h"
#include "cli/init/guess_notes.h"
#include "cli/init/guess_pairs.h"
#include "cli/init/names.h"
#include "cli/init/refuse_layouts.h"
#include "pipeline/sources/traits.h"
#include "pipeline/text.h"

enum { MAX_NAMED = 3 }; /* folders that a message names */

/* Write the first names of the folders in a class folder: "cat, dog, ...". */
static fby_err list_inner_folders(const struct fby_class_folders *folders,
    char *out, size_t size, struct fby_error_detail *why)
{
    char               path[FBY_PATH_SIZE];
    struct fby_listing inner = {0};
    uint32_t           n     = 0;
    out[0]                   = '\0';
    FBY_TRY(fby_path_join(folders->path, folders->classes[0].name, path, why));
    fby_err err =
        fby_listing_read(folders->search->root, path, NULL, &inner, why);
    for (uint32_t i = 0; i < inner.count && n <= MAX_NAMED; i++) {
        size_t used = strlen(out);
        if (inner.entries[i].is_dir) {
            snprintf(out + used, size - used, "%s%s", n > 0 ? ", " : "",
                n == MAX_NAMED
                    ? "..."
                    : fby_text_show_begin(inner.entries[i].name, 40).text);
            n++;
        }
    }
    fby_listing_fini(&inner);
    return err;
}

/* Refuse files of which none is a picture, if the format of one is not read. */
static fby_err check_types(
    const struct fby_class_folders *folders, struct fby_error_detail *why)
{
    const struct fby_folder_counts *counts = &folders->counts;
    for (uint32_t i = 0; counts->n_with_picture == 0 && i < counts->n_types;
         i++) {
        FBY_TRY(fby_refuse_unread(
            folders->search, folders->path, counts->types[i].first, why));
    }
    return FBY_OK;
}

/* ---- class folders of texts without an extension ---- */

/* Keep the first file without an extension in `arg`, a char[FBY_PATH_SIZE]. */
static fby_err keep_unnamed(
    void *arg, const struct fby_entry *entry, struct fby_error_detail *why)
{
    (void)why;
    if (entry->is_dir || strchr(entry->name, '.') != NULL) {
        return FBY_OK;
    }
    snprintf(arg, FBY_PATH_SIZE, "%s", entry->name);
    return FBY_GONE;
}

static bool is_text_file(const struct fby_search *search, const char *path)
{
    struct fby_object object;
    char              begin[1024];
    size_t            size = sizeof(begin);
    if (fby_object_open(search->root, path, &object, NULL) != FBY_OK) {
        return false;
    }
    fby_err err = fby_object_read_some(&object, 0, begin, &size, NULL);
    fby_object_close(&object);
    return err == FBY_OK && size > 0 && memchr(begin, '\0', size) == NULL;
}

/* Is a file without an extension in each class folder, and is it a text, as in the
 * first split? */
static bool have_unnamed_texts(const struct fby_class_folders *folders,
    const struct fby_guess_split                              *split)
{
    const struct fby_guess_split *first = &folders->search->out->splits[0];
    bool                          is_like_first =
        split == first || (first->n_members == 1 && first->samples == 0);
    bool found =
        is_like_first && folders->n > 0 && folders->counts.n_types == 0;
    for (uint32_t i = 0; i < folders->n && found; i++) {
        char dir[FBY_PATH_SIZE];
        char path[FBY_PATH_SIZE];
        char name[FBY_PATH_SIZE] = "";
        found = fby_path_join(folders->path, folders->classes[i].name, dir,
                    NULL) == FBY_OK &&
                fby_guess_visit_dir(folders->search, dir, NULL, keep_unnamed,
                    name, NULL, NULL) == FBY_GONE &&
                fby_path_join(dir, name, path, NULL) == FBY_OK &&
                is_text_file(folders->search, path);
    }
    return found;
}

/* Refuse several folders of folders if those in the first have names of pairs, as
 * DUTS-TR/Image and DUTS-TR/Mask. */
static fby_err refuse_inner_pairs(const struct fby_class_folders *folders,
    const char *inner, struct fby_error_detail *why)
{
    const char        *names[FBY_FEW_FOLDERS];
    char               operand[FBY_OPERAND_SIZE];
    char               path[FBY_PATH_SIZE];
    struct fby_listing listing = {0};
    FBY_TRY(fby_path_join(folders->path, folders->classes[0].name, path, why));
    FBY_TRY(fby_listing_read(folders->search->root, path, NULL, &listing, why));
    uint32_t n         = fby_guess_name_folders(&listing, names);
    bool     are_pairs = n >= 2 && fby_guess_have_role(names, n);
    fby_listing_fini(&listing);
    if (!are_pairs) {
        return FBY_OK;
    }
    fby_guess_write_operand(folders->search, path, operand);
    return fby_error_set(why, FBY_CONFIG,
        "the class folders hold only folders, which look like pairs (%.160s), "
        "not classes: write a pipeline for each: forebay init %s; if these "
        "are the classes, add --class-depth 2; if the outer ones are, add "
        "--class-depth 1",
        inner, operand);
}

/* Are samples directly in the class folders? Beside the pictures in its folders, a
 * single folder may hold a README. */
static bool has_direct_samples(const struct fby_class_folders *folders)
{
    const struct fby_folder_counts *counts = &folders->counts;
    return folders->n == 1 && counts->n_with_picture > 0
               ? counts->has_direct_pictures
               : counts->has_direct_files;
}

/* Refuse a single folder of folders, which may be a level too high. For several
 * of them, write a note. */
static fby_err check_depth(const struct fby_class_folders *folders,
    struct fby_guess_split *split, struct fby_error_detail *why)
{
    const struct fby_search *search = folders->search;
    const char              *name   = folders->classes[0].name;
    char                     inner[160];
    if (search->class_depth != FBY_GUESS_ANY_DEPTH ||
        has_direct_samples(folders)) {
        return FBY_OK;
    }
    FBY_TRY(check_types(folders, why));
    FBY_TRY(list_inner_folders(folders, inner, sizeof(inner), why));
    split->only_folders = true;
    if (folders->n > 1) {
        FBY_TRY(refuse_inner_pairs(folders, fby_text_show(inner).text, why));
        fby_guess_note(folders->search,
            "note: the class folders hold only folders (%s); if these are the "
            "classes: --class-depth 2",
            fby_text_show(inner).text);
        return FBY_OK;
    }
    return fby_error_set(why, FBY_CONFIG,
        "the only folder, %.60s, holds no pictures but folders (%s); if these "
        "are the classes, add %.60s to the path or --class-depth 2; if %.60s "
        "is the class, add --class-depth 1",
        fby_text_show(name).text, fby_text_show(inner).text,
        fby_text_show(name).text, fby_text_show(name).text);
}

/* The first folder of `names` that `others` lacks; NULL: none. Both are sorted
 * by name. */
static const char *find_missing(const struct fby_folder *names, uint32_t n,
    const struct fby_folder *others, uint32_t n_others)
{
    uint32_t k = 0;
    for (uint32_t i = 0; i < n; i++) {
        while (k < n_others && strcmp(others[k].name, names[i].name) < 0) {
            k++;
        }
        if (k == n_others || strcmp(others[k].name, names[i].name) != 0) {
            return names[i].name;
        }
    }
    return NULL;
}

/* Set split->mismatch if the split has a class that train lacks, because the
 * folders of train number the classes. */
static void compare_with_train(
    const struct fby_class_folders *folders, struct fby_guess_split *split)
{
    struct fby_search *search = folders->search;
    const char        *extra  = find_missing(
                folders->classes, folders->n, search->train, search->n_train);
    if (search->train == NULL || extra == NULL) {
        return;
    }
    if (folders->n == 1) {
        fby_guess_explain_lone_folder(search, folders->path, extra,
            split->mismatch, sizeof(split->mismatch));
        return;
    }
    snprintf(split->mismatch, sizeof(split->mismatch),
        "it has the class folder '%.60s', which train lacks, so it has no "
        "class id; add it to train, or remove it",
        fby_text_show(extra).text);
}

/* Keep the class folders of split train for compare_with_train(). */
static void keep_train(
    struct fby_search *search, struct fby_class_folders *folders)
{
    fby_folders_free_files(folders->classes, folders->n);
    search->train    = folders->classes;
    search->n_train  = folders->n;
    folders->classes = NULL;
    folders->n       = 0;
}

/* Refuse a path that no pipeline file can have as `folder`. */
static fby_err check_pattern(
    const struct fby_guess_split *split, struct fby_error_detail *why)
{
    const struct fby_source_traits *traits =
        fby_source_traits(FBY_SOURCE_FOLDER);
    if (traits->check_path_rest("", split->pattern, NULL) == FBY_OK) {
        return FBY_OK;
    }
    return fby_error_set(why, FBY_CONFIG,
        "%s has a comma in braces, which the path of a folder in a pipeline "
        "cannot have: rename the folder",
        fby_text_show(split->pattern).text);
}

fby_err fby_guess_class_folders(struct fby_search *search, const char *path,
    uint32_t depth, const char *name, struct fby_error_detail *why)
{
    struct fby_class_folders folders = {.search = search, .path = path};
    struct fby_guess_split  *split   = fby_guess_add_split(search, name);
    if (split == NULL) {
        return FBY_OK;
    }
    search->out->kind = FBY_SOURCE_FOLDER;
    fby_err err       = fby_folder_list_classes(
              search->root, path, depth, &folders.classes, &folders.n, why);
    if (err == FBY_OK) {
        err = fby_refuse_unicode_forms(search, folders.classes, folders.n, why);
    }
    if (err == FBY_OK) {
        err = fby_count_folders(
            search, path, folders.classes, folders.n, &folders.counts, why);
        search->out->n_dangling += folders.counts.n_dangling;
    }
    split->classes     = depth > 0 ? folders.n : 0;
    split->class_depth = depth;
    split->has_sides   = depth > 0 && fby_guess_have_sides(&folders);
    bool are_texts =
        err == FBY_CONFIG && depth == 1 && have_unnamed_texts(&folders, split);
    if (are_texts) { /* which fby_refuse_class_texts() refuses */
        split->n_members = 1;
        err              = FBY_OK;
    }
    if (err == FBY_OK && depth > 0 && !are_texts) {
        err = check_depth(&folders, split, why);
    }
    if (err == FBY_OK && !are_texts) {
        err = fby_guess_set_folder_samples(&folders, split, why);
    }
    if (err == FBY_OK) {
        err = fby_guess_set_pattern(search, path, split, why);
    }
    if (err == FBY_OK) {
        err = check_pattern(split, why);
    }
    if (err == FBY_OK && depth == 1) {
        fby_guess_note_folder_names(&folders);
    }
    if (depth > 0 && search->train == NULL &&
        strcmp(name, search->main_split) == 0) {
        keep_train(search, &folders);
    } else if (depth > 0) {
        compare_with_train(&folders, split);
    } else if (search->train != NULL) {
        fby_guess_explain_flat_folder(
            search, path, split->mismatch, sizeof(split->mismatch));
    }
    fby_folders_free(folders.classes, folders.n);
    fby_folder_counts_fini(&folders.counts);
    return err;
}
