/* SPDX-License-Identifier: Apache-2.0 */
/* guess.c - find the splits of a directory: the order in which the kinds of data
 * are tried. */
#include "cli/init/guess.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/init/guess_columns.h"
#include "cli/init/guess_folders.h"
#include "cli/init/guess_lists.h"
#include "cli/init/guess_notes.h"
#include "cli/init/guess_tars.h"
#include "cli/init/guess_tokens.h"
#include "cli/init/guess_zip.h"
#include "cli/init/names.h"
#include "cli/init/refuse_layouts.h"
#include "cli/init/refuse_lists.h"
#include "cli/init/split_names.h"
#include "cli/init/text_state.h"
#include "common/shell.h"
#include "pipeline/text.h"
#include "pipeline/unread.h"
#include "worker/source/listing.h"
#include "worker/source/roots.h"

static fby_err add_table_split(struct fby_search *search, const char *path,
    const char *name, const struct fby_listing *listing,
    struct fby_error_detail *why)
{
    struct fby_guess_split *split = fby_guess_add_split(search, name);
    struct fby_guess_tables found = {.shards = 0};
    if (split == NULL) {
        return FBY_OK;
    }
    FBY_TRY(fby_guess_find_tables(search->root, path, listing, &found, why));
    search->out->kind = FBY_SOURCE_COLUMNS;
    bool    is_file   = search->only_file[0] != '\0';
    fby_err err       = fby_refuse_name(fby_root_dir(search->root), why);
    if (err == FBY_OK) {
        err = fby_guess_set_pattern(
            search, is_file ? found.first : found.pattern, split, why);
    }
    if (err == FBY_OK) {
        err = fby_guess_scan_columns(search, &found, split, why);
    }
    if (err == FBY_OK) {
        fby_guess_note_token_array(search, split);
        if (path[0] == '\0' && search->out->n_splits == 1) {
            fby_guess_name_tables(&found, split);
        }
    }
    return err;
}

static fby_err no_known_data(struct fby_search *search, const char *path,
    const struct fby_listing *listing, struct fby_error_detail *why)
{
    bool is_file = search->only_file[0] != '\0';
    if (search->in_zip) {
        return fby_refuse_zip(search, listing, why);
    }
    if (listing->count == 0 && path[0] != '\0') {
        char operand[FBY_OPERAND_SIZE];
        fby_guess_write_operand(search, path, operand);
        return fby_error_set(why, FBY_CONFIG,
            "the folder is empty: fill it, or remove it: rmdir %s", operand);
    }
    for (uint32_t i = 0; i < listing->count; i++) {
        if (!listing->entries[i].is_dir) {
            FBY_TRY(
                fby_refuse_unread(search, path, listing->entries[i].name, why));
        }
    }
    FBY_TRY(fby_refuse_texts(search, path, listing, why));
    FBY_TRY(fby_refuse_text_tables(search, path, NULL, why));
    if (!is_file && fby_init_has_pictures(listing)) {
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

/* Add a note of pictures beside class folders. */
static void note_pictures_beside(
    struct fby_search *search, const struct fby_listing *listing)
{
    for (uint32_t i = 0; i < listing->count; i++) {
        const struct fby_entry *entry = &listing->entries[i];
        if (!entry->is_dir && fby_init_is_any_picture(entry->name)) {
            fby_guess_note(search,
                "left out: pictures beside the class folders, as %.60s: move "
                "them into one of these",
                fby_text_show(entry->name).text);
            return;
        }
    }
}

/* Refuse class folders in the root if texts beside them, or in a folder with such a
 * name, say which pictures are of which split. */
static fby_err refuse_split_texts(struct fby_search *search,
    const struct fby_listing *listing, struct fby_error_detail *why)
{
    static const char *const names[] = {"meta", "splits", "split", "lists"};
    const char              *dirs[sizeof(names) / sizeof(names[0])];
    uint32_t                 n = 0;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const struct fby_entry *entry = fby_listing_find(listing, names[i]);
        if (entry != NULL && entry->is_dir) {
            dirs[n++] = names[i];
        }
    }
    return fby_refuse_split_texts(search, "", "", dirs, n, why);
}

/* Add class folders whose depth is not given, or a folder that is alone. */
static fby_err add_class_folders(struct fby_search *search, const char *path,
    const char *name, const struct fby_listing *listing,
    struct fby_error_detail *why)
{
    char     only[FBY_PATH_SIZE] = "";
    uint32_t index               = search->out->n_splits;
    bool     has_dirs            = fby_listing_has_dirs(listing);
    if (has_dirs) {
        FBY_TRY(fby_guess_only_folder(search, path, listing, only, why));
    }
    const char *evaluation = fby_evaluation_split_of(only);
    if (path[0] == '\0' && evaluation != NULL) {
        search->main_split = name = evaluation;
    }
    bool has_classes = has_dirs && only[0] == '\0' &&
                       !fby_guess_are_img2dataset(search, path, listing);
    uint32_t depth = has_classes ? 1 : 0;
    if (has_classes && path[0] == '\0') {
        FBY_TRY(refuse_split_texts(search, listing, why));
    }
    if (has_classes) {
        FBY_TRY(fby_refuse_configurations(search, path, listing, why));
        FBY_TRY(fby_refuse_same_names(search, path, listing, why));
    }
    FBY_TRY(fby_guess_class_folders(search, path, depth, name, why));
    if (index == search->out->n_splits) {
        return FBY_OK; /* there are too many splits */
    }
    fby_guess_note_npy(search, &search->out->splits[index]);
    if (only[0] != '\0') {
        fby_guess_note_only_folder(search, only);
        fby_guess_note_files_beside(search, path);
    } else if (depth == 1) {
        note_pictures_beside(search, listing);
        fby_guess_note_class_files(search, path);
        fby_guess_note_lists(search, path, listing);
    } else if (!has_dirs) {
        fby_guess_note_files_among(search, path, &search->out->splits[index]);
    }
    return FBY_OK;
}

/* Add class folders, a folder without classes, or zip archives. */
static fby_err add_folders(struct fby_search *search, const char *path,
    const char *name, const struct fby_listing *listing,
    struct fby_error_detail *why)
{
    bool has_dirs  = fby_listing_has_dirs(listing);
    bool is_chosen = search->class_depth != FBY_GUESS_ANY_DEPTH;
    bool is_file   = search->only_file[0] != '\0';
    if (is_chosen && (has_dirs || (search->class_depth == 0 && !is_file))) {
        return fby_guess_class_folders(
            search, path, search->class_depth, name, why);
    }
    if (has_dirs || (fby_init_has_pictures(listing) && !is_file)) {
        return add_class_folders(search, path, name, listing, why);
    }
    uint32_t before = fby_guess_n_splits(search);
    fby_err  err    = search->in_zip
                          ? FBY_OK
                          : fby_guess_zips(search, path, name, listing, why);
    return err == FBY_OK && fby_guess_n_splits(search) == before
               ? no_known_data(search, path, listing, why)
               : err;
}

/* Add the data of a directory with .npy files: a list of pictures, pictures with
 * .npy files of the same names, or a table. */
static fby_err add_npy(struct fby_search *search, const char *path,
    const char *name, const struct fby_listing *listing,
    struct fby_error_detail *why)
{
    uint32_t before = fby_guess_n_splits(search);
    if (fby_init_has_pictures(listing)) {
        FBY_TRY(fby_guess_lists_of_files(search, path, listing, why));
    }
    if (fby_guess_n_splits(search) > before) {
        return FBY_OK;
    }
    if (fby_guess_is_npy_paired(search->root, path, listing)) {
        return add_folders(search, path, name, listing, why);
    }
    FBY_TRY(add_table_split(search, path, name, listing, why));
    fby_guess_note_folders(
        search, path, listing, "only the .npy files beside are read");
    if (fby_guess_n_splits(search) > before && search->out->n_left_out == 0) {
        fby_guess_note_lists_beside_npy(
            search, path, listing, &search->out->splits[before]);
        fby_guess_note_files_beside_npy(search, path);
        fby_guess_note_rounded_arrays(
            search, path, &search->out->splits[before]);
    }
    return FBY_OK;
}

/* Look for tables without noting links: data of another kind may be found, which
 * does not need the linked folders. */
static fby_err look_for_tables(struct fby_search *search, const char *path,
    const struct fby_listing *listing, struct fby_guess_tables *tables,
    struct fby_error_detail *why)
{
    bool before           = search->ignores_links;
    search->ignores_links = true;
    fby_err err =
        fby_guess_find_tables(search->root, path, listing, tables, why);
    search->ignores_links = before;
    return err;
}

/* Add the data directly in `path`, of the first of these kinds that is found:
 * .npy files, lists, parallel folders, other tables, class folders. */
static fby_err add_first_kind(struct fby_search *search, const char *path,
    const char *name, const struct fby_listing *listing,
    struct fby_error_detail *why)
{
    struct fby_guess_tables found  = {.shards = 0};
    uint32_t                before = fby_guess_n_splits(search);
    fby_err                 err    = FBY_OK;
    if (!search->in_zip) { /* an archive is read only as folders */
        err = look_for_tables(search, path, listing, &found, why);
    }
    if (err == FBY_OK && found.is_table) {
        return add_npy(search, path, name, listing, why);
    }
    bool are_chosen = search->class_depth != FBY_GUESS_ANY_DEPTH &&
                      fby_listing_has_dirs(listing); /* class folders */
    if (err == FBY_OK && !search->in_zip && !are_chosen) {
        err = fby_guess_lists(search, path, listing, why);
    }
    if (err == FBY_OK && found.shards == 0 &&
        fby_guess_n_splits(search) == before) {
        err = fby_refuse_untyped_tokens(search, path, listing, why);
    }
    if (err == FBY_OK && fby_guess_n_splits(search) == before) {
        err = fby_refuse_layout(search, path, listing, why);
    }
    if (err == FBY_OK && fby_guess_n_splits(search) == before) {
        err = fby_guess_parallel(search, path, listing, why);
    }
    if (err != FBY_OK || fby_guess_n_splits(search) > before) {
        return err;
    }
    if (found.shards > 0) {
        return add_table_split(search, path, name, listing, why);
    }
    return add_folders(search, path, name, listing, why);
}

/* True if several lists from the split `first` on have no split word in their
 * names: nothing says which one is train. */
static bool are_many_lists(const struct fby_guess *out, uint32_t first)
{
    uint32_t n = 0;
    for (uint32_t i = first; i < out->n_splits; i++) {
        n += fby_split_word(out->splits[i].name) == NULL ? 1 : 0;
    }
    return out->kind == FBY_SOURCE_LIST && n > 1;
}

/* If no split has the name `name`, give it to the first of those from `first` on
 * that is alone or has no split word in its name: extra.csv is train only where
 * there is no train.csv. A split for evaluation that is alone in all of the data
 * (`is_root`) keeps its name. */
static void give_default_name(
    struct fby_search *search, uint32_t first, const char *name, bool is_root)
{
    struct fby_guess *out      = search->out;
    bool              is_alone = out->n_splits == first + 1;
    uint32_t          i        = first;
    while (i < out->n_splits && !is_alone &&
           fby_split_word(out->splits[i].name) != NULL) {
        i++;
    }
    if (i == out->n_splits) {
        return;
    }
    if (is_root && is_alone &&
        fby_text_is_evaluation_split(out->splits[i].name)) {
        search->main_split = out->splits[i].name;
        return;
    }
    snprintf(out->splits[i].name, FBY_NAME_SIZE, "%s", name);
}

/* Add the splits of the data directly in `path`. One that has no split word gets
 * the name `name`. */
static fby_err add_data(struct fby_search *search, const char *path,
    const char *name, struct fby_error_detail *why)
{
    struct fby_listing listing     = {0};
    uint32_t           first_split = search->out->n_splits;
    uint32_t           n_before    = fby_guess_n_splits(search);
    const char        *only_file =
        search->only_file[0] != '\0' ? search->only_file : NULL;
    if (strpbrk(search->only_file, "{}*?") != NULL) { /* it means other files */
        return fby_refuse_name(search->only_file, why);
    }
    search->default_name = name;
    fby_err err = fby_guess_list_dir(search, path, only_file, &listing, why);
    search->out->n_dangling += listing.n_dangling;
    if (err == FBY_OK && !search->in_zip) {
        err = fby_guess_tars(search, path, &listing, why);
    }
    if (err == FBY_OK && path[0] == '\0' && !search->in_zip) {
        err = fby_refuse_split_text_alone(search, &listing, why);
    }
    if (err == FBY_OK && fby_guess_n_splits(search) == n_before) {
        err = search->in_zip ? FBY_OK
                             : fby_guess_tokens(search, path, &listing, why);
        if (err == FBY_OK && fby_guess_n_splits(search) > n_before) {
            fby_guess_note_folders(
                search, path, &listing, "only the token files beside are read");
        } else if (err == FBY_OK) {
            err = add_first_kind(search, path, name, &listing, why);
        }
    }
    for (uint32_t i = first_split; i < search->out->n_splits; i++) {
        search->out->splits[i].kind = search->out->kind;
    }
    if (!fby_guess_has_split(search, name) &&
        !are_many_lists(search->out, first_split)) {
        give_default_name(search, first_split, name, path[0] == '\0');
    }
    fby_listing_fini(&listing);
    return err;
}

/* ---- folders of splits ---- */

/* Add the data of the folder `dir` of a split, or of the lists in `path`, which
 * sets *has_lists. A list of the files of train is the better advice, if there is
 * one, than what is wrong with their names. */
static fby_err add_split_folder(struct fby_search *search, const char *path,
    const struct fby_listing *listing, const char *dir, const char *name,
    bool *has_lists, struct fby_error_detail *why)
{
    char                        below[FBY_PATH_SIZE];
    struct fby_error_detail     of_lists = {{0}};
    const struct fby_guess_mark before   = fby_guess_mark_of(search->out);
    FBY_TRY(fby_path_join(path, dir, below, why));
    fby_err err = add_data(search, below, name, why);
    if (err == FBY_CONFIG) {
        fby_error_prefix(why, err, "in %.60s", dir);
    }
    if (strcmp(name, "train") != 0 || search->out->n_left_out > 0 ||
        (err != FBY_OK && err != FBY_CONFIG)) {
        return err;
    }
    fby_err lists = fby_guess_lists_of_train(
        search, path, listing, &before, has_lists, &of_lists);
    if (*has_lists) {
        if (!fby_guess_has_split(search, name)) {
            give_default_name(search, before.n_splits, name, path[0] == '\0');
        }
        return FBY_OK;
    }
    return lists != FBY_OK ? fby_error_set(why, lists, "%s", of_lists.text)
                           : err;
}

/* Add a note of the folders that are not among the `n` used ones. */
static void note_other_folders(struct fby_search *search, const char *path,
    const struct fby_listing *listing, const char *const *used, size_t n)
{
    struct fby_unused_folders unused = {.n = 0};
    for (uint32_t i = 0; i < listing->count; i++) {
        size_t k = 0;
        while (k < n && used[k] != listing->entries[i].name) {
            k++;
        }
        if (k == n) {
            fby_guess_add_unused(&unused, &listing->entries[i]);
        }
    }
    fby_guess_note_unused(search, path, &unused, FBY_SPLIT_NAMES);
}

/* Is the first split a folder without classes, as far as init knows? */
static bool is_without_classes(const struct fby_search *search)
{
    const struct fby_guess_split *first = &search->out->splits[0];
    return search->out->n_splits > 0 && first->kind == FBY_SOURCE_FOLDER &&
           first->class_depth == 0 &&
           search->class_depth == FBY_GUESS_ANY_DEPTH;
}

/* Add notes of files beside the folders of splits. */
static void note_files_beside(struct fby_search *search, const char *path)
{
    const struct fby_guess_split *first = &search->out->splits[0];
    bool                          is_folder =
        search->out->n_splits > 0 && first->kind == FBY_SOURCE_FOLDER;
    if (is_folder && first->class_depth == 0) {
        fby_guess_note_files_beside(search, path);
    } else if (is_folder) {
        fby_guess_note_class_files(search, path);
    }
}

/* Add the data of the folders train, val and so on in `path`. */
static fby_err add_split_folders(struct fby_search *search, const char *path,
    const struct fby_listing *listing, struct fby_error_detail *why)
{
    const char *used[FBY_KNOWN_SPLITS];
    size_t      n         = 0;
    bool        has_lists = false;
    fby_err     err       = search->class_depth == FBY_GUESS_ANY_DEPTH
                                ? fby_refuse_pairs(search, path, listing, why)
                                : FBY_OK;
    err                   = fby_guess_unpack_first(search, err, why);
    for (size_t i = 0; err == FBY_OK && !has_lists && i < FBY_KNOWN_SPLITS;
         i++) {
        const char *name = fby_known_splits[i];
        const char *dir  = fby_find_split_folder(listing, name);
        if (dir != NULL && !fby_guess_has_split(search, name)) {
            err = add_split_folder(
                search, path, listing, dir, name, &has_lists, why);
            used[n++] = dir;
        }
    }
    if (!has_lists && err == FBY_OK && is_without_classes(search)) {
        err = fby_refuse_coco(search, path, why);
    }
    if (!has_lists && err == FBY_OK) {
        fby_guess_note_lists(search, path, listing);
        note_other_folders(search, path, listing, used, n);
        note_files_beside(search, path);
    }
    return err;
}

/* Refuse a folder that a command of init has left, which did not end: it is no data. */
static fby_err refuse_part(
    const struct fby_listing *listing, struct fby_error_detail *why)
{
    for (uint32_t i = 0; i < listing->count; i++) {
        const struct fby_entry *entry = &listing->entries[i];
        if (entry->is_dir && fby_text_ends_with(entry->name, ".part")) {
            return fby_error_set(why, FBY_CONFIG,
                "the folder %.60s seems to be of a command that did not end: "
                "remove it, or give it another name",
                fby_text_show(entry->name).text);
        }
    }
    return FBY_OK;
}

fby_err fby_guess_splits_below(struct fby_search *search, const char *path,
    const char *name, struct fby_error_detail *why)
{
    struct fby_listing listing = {0};
    fby_err err = fby_guess_list_dir(search, path, NULL, &listing, why);
    if (err == FBY_OK && path[0] == '\0' && !search->in_zip) {
        err = refuse_part(&listing, why);
    }
    if (err == FBY_OK) {
        err = fby_find_split_folder(&listing, "train") != NULL
                  ? add_split_folders(search, path, &listing, why)
                  : add_data(search, path, name, why);
    }
    fby_listing_fini(&listing);
    return err;
}

/* Look at the directory or the only file of the search. */
static fby_err search_path(
    struct fby_search *search, struct fby_error_detail *why)
{
    char file[FBY_PATH_SIZE];
    memcpy(file, search->only_file, sizeof(file));
    const char *name = search->main_split;
    if (fby_guess_is_zip_path(file)) {
        return fby_guess_zip(search, file, name, why);
    }
    return file[0] != '\0' ? add_data(search, "", name, why)
                           : fby_guess_splits_below(search, "", name, why);
}

/* An example of the name of a split train. */
static const char *example_of(enum fby_source_kind kind)
{
    static const char *const examples[FBY_N_SOURCES] = {
        [FBY_SOURCE_LIST]     = "train.csv",
        [FBY_SOURCE_COLUMNS]  = "train.npz",
        [FBY_SOURCE_SHARDS]   = "train-0.tar",
        [FBY_SOURCE_TOKENS]   = "train.bin",
        [FBY_SOURCE_PARALLEL] = "images/train"};
    return examples[kind] != NULL ? examples[kind] : "train";
}

/* Refuse several splits of which none is train: one of them would be it. */
static fby_err check_train(
    struct fby_search *search, struct fby_error_detail *why)
{
    const struct fby_guess *out = search->out;
    char                    list[160];
    char                    word[FBY_OPERAND_SIZE];
    if (out->n_splits < 2 || fby_guess_has_split(search, search->main_split)) {
        return FBY_OK;
    }
    uint32_t most = 0;
    list[0]       = '\0';
    for (uint32_t i = 0; i < out->n_splits; i++) {
        fby_text_append_name(list, sizeof(list), out->splits[i].name);
        most = out->splits[i].samples > out->splits[most].samples ? i : most;
    }
    bool is_list = out->kind == FBY_SOURCE_LIST;
    bool is_file = is_list && fby_shell_quote(out->splits[most].pattern, word,
                                  sizeof(word));
    return fby_error_set(why, FBY_CONFIG,
        "found the %s %s, and none is called train: rename the one for "
        "training, as in %s%s%s%s",
        is_list ? "lists" : "splits", list, example_of(out->kind),
        is_file ? "; to stream one by itself: forebay init " : "",
        is_file ? word : "", fby_guess_advise_join(search));
}

/* Move the split with the name `first` to the front. */
static void move_first(struct fby_guess *out, const char *first)
{
    for (uint32_t i = 1; i < out->n_splits; i++) {
        if (strcmp(out->splits[i].name, first) == 0) {
            struct fby_guess_split train = out->splits[i];
            out->splits[i]               = out->splits[0];
            out->splits[0]               = train;
            return;
        }
    }
}

/* Add a note if the first split is one for evaluation. */
static void note_evaluation(struct fby_search *search)
{
    const struct fby_guess_split *first = &search->out->splits[0];
    if (search->out->n_splits > 0 && strcmp(first->name, "train") != 0) {
        fby_guess_note(search,
            "note: the split is called %s, so it is neither shuffled nor "
            "augmented; to train on it, rename it, as to %s, and run init "
            "again",
            first->name, example_of(first->kind));
        fby_guess_note_numbering(search);
    }
}

/* The split of a folder or archive: train, or the one for evaluation that it is
 * called after. */
static const char *main_split_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *found =
        fby_evaluation_split_of(slash != NULL ? slash + 1 : path);
    return found != NULL ? found : "train";
}

/* Make `path` the root of the search. If `path` is a file, its directory is the
 * root, and search->only_file its name. */
static fby_err open_search(
    struct fby_search *search, const char *path, struct fby_error_detail *why)
{
    struct stat st;
    char        option[FBY_PATH_SIZE + 8];
    const char *within = ""; /* the path in a zip archive */
    char       *real   = fby_guess_resolve(path, &within);
    if (real == NULL || stat(real, &st) != 0) {
        fby_err err = fby_error_set(
            why, FBY_NOT_FOUND, "cannot look at %s: %s", path, strerror(errno));
        free(real);
        return err;
    }
    if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)) {
        free(real);
        return fby_error_set(why, FBY_CONFIG,
            "cannot look at %s: it is neither a file nor a directory", path);
    }
    char *slash = strrchr(real, '/');
    if (S_ISREG(st.st_mode)) {
        snprintf(search->only_file, sizeof(search->only_file), "%s%s",
            slash + 1, within);
        slash[slash == real ? 1 : 0] = '\0'; /* keep "/" itself */
    }
    bool is_folder     = S_ISDIR(st.st_mode);
    bool is_zip        = fby_guess_is_zip_path(search->only_file);
    search->main_split = is_folder ? main_split_of(real)
                         : is_zip  ? main_split_of(search->only_file)
                                   : "train";
    snprintf(option, sizeof(option), "data=%s", real);
    free(real);
    search->roots = fby_roots_create();
    fby_roots_follow_outside(search->roots, fby_guess_note_link, search);
    fby_err err = fby_roots_add(search->roots, option, why);
    return err == FBY_OK
               ? fby_roots_find(search->roots, "data", &search->root, why)
               : err;
}

void fby_guess_fini(struct fby_guess *self)
{
    fby_guess_free_splits(self, 0);
}

fby_err fby_source_guess(const char *path, enum fby_type token_type,
    struct fby_guess *out, struct fby_error_detail *why)
{
    return fby_source_guess_at_depth(path, token_type, FBY_GUESS_ANY_DEPTH,
        (struct fby_progress){.fn = NULL}, out, why);
}

fby_err fby_source_guess_at_depth(const char *path, enum fby_type token_type,
    uint32_t class_depth, struct fby_progress progress, struct fby_guess *out,
    struct fby_error_detail *why)
{
    struct fby_search search = {.token_type = token_type,
        .class_depth                        = class_depth,
        .progress                           = progress,
        .out                                = out,
        .lock                               = PTHREAD_MUTEX_INITIALIZER};
    struct fby_unread unread;
    memset(out, 0, sizeof(*out));
    if (fby_unread_url(path, &unread)) {
        return fby_error_set(why, FBY_CONFIG, "%s", unread.text);
    }
    fby_err err = open_search(&search, path, why);
    if (err == FBY_OK) {
        err = search_path(&search, why);
    }
    if (err == FBY_OK) {
        err = fby_guess_other_splits(&search, why);
    }
    if (err == FBY_OK) {
        err = check_train(&search, why);
    }
    if (err == FBY_OK) {
        move_first(out, search.main_split);
        note_evaluation(&search);
        fby_guess_note_above(&search);
        err = fby_refuse_split_column(&search, why);
    }
    if (err == FBY_OK) {
        err = fby_guess_share_length(&search, why);
    }
    if (err == FBY_OK) {
        err = fby_refuse_chats(&search, why);
    }
    if (err == FBY_OK) {
        err = fby_refuse_class_texts(&search, why);
    }
    if (err == FBY_OK) {
        fby_guess_note_box_members(&search);
        fby_guess_note_columns(&search);
        err = fby_guess_use_data_root(out, why);
    }
    if (err != FBY_OK && why != NULL) {
        const char *dir = search.root != NULL ? fby_root_dir(search.root) : "";
        fby_guess_replace_root(dir, true, why);
    }
    if (err != FBY_OK && search.root != NULL) {
        fby_error_prefix(why, err, "looking at %s", path);
    }
    if (out->n_splits > 0) {
        out->kind = out->splits[0].kind;
    }
    if (err != FBY_OK) {
        fby_guess_fini(out);
    }
    fby_folders_free(search.train, search.n_train);
    fby_roots_destroy(&search.roots);
    return err;
}
