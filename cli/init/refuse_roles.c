/* SPDX-License-Identifier: Apache-2.0 */
/* refuse_roles.c - refuse folders that are no classes: splits, folders of splits, and
 * those whose classes are not at one level. See roles.h for others.
 *
 * Without these checks each would be taken for a class. The errors end with a
 * command that can be copied. */
#include <stdio.h>
#include <string.h>

#include "cli/init/guess_folders.h"
#include "cli/init/names.h"
#include "cli/init/refuse_layouts.h"
#include "cli/init/roles.h"
#include "cli/init/split_names.h"
#include "common/shell.h"
#include "pipeline/text.h"

enum { MAX_NAMED = 3 /* folders that a message names */ };

void fby_roles_write_operand(const struct fby_search *search, const char *path,
    const char *name, char out[FBY_OPERAND_SIZE])
{
    char below[FBY_PATH_SIZE];
    if (fby_path_join(path, name, below, NULL) != FBY_OK) {
        snprintf(below, sizeof(below), "%s", name);
    }
    fby_guess_write_operand(search, below, out);
}

void fby_roles_list_names(
    const char *const *names, uint32_t n, char *out, size_t size)
{
    out[0] = '\0';
    for (uint32_t i = 0; i < n && i <= MAX_NAMED; i++) {
        struct fby_shown name =
            fby_text_show_begin(i == MAX_NAMED ? "..." : names[i], 40);
        fby_text_append_name(out, size, name.text);
    }
}

bool fby_roles_are_parallel(const char *const *names, uint32_t n)
{
    bool has_pictures = false;
    bool has_partners = false;
    for (uint32_t i = 0; i < n; i++) {
        bool is_pictures = fby_init_is_picture_name(names[i]);
        has_pictures     = has_pictures || is_pictures;
        has_partners     = has_partners ||
                       (!is_pictures && fby_init_is_partner_name(names[i]));
    }
    return has_pictures && has_partners;
}

/* Refuse pairs in the folders of splits, as our485/low and our485/high beside
 * eval15/low and eval15/high. */
static fby_err refuse_pairs_of_splits(struct fby_search *search,
    const char *path, const char *const *splits, uint32_t n, const char *train,
    struct fby_error_detail *why)
{
    char     lists[480] = "[";
    size_t   used       = 1;
    unsigned seen       = 0;
    for (uint32_t i = 0; i < n; i++) {
        const char *word = fby_split_word(splits[i]);
        unsigned    k    = 0;
        word             = splits[i] == train || word == NULL ? "train" : word;
        while (strcmp(fby_known_splits[k], word) != 0) {
            k++;
        }
        if ((seen >> k & 1) == 1 || !fby_shell_is_plain(splits[i]) ||
            strlen(splits[i]) > 40) {
            return FBY_OK;
        }
        seen |= 1U << k;
        used += (size_t)snprintf(lists + used, sizeof(lists) - used,
            "%s('', '%s.csv', ['%s/'])", i > 0 ? ", " : "", word, splits[i]);
    }
    memcpy(lists + used, "]", 2);
    return fby_refuse_pairs_below(search, path, train, lists, why);
}

static fby_err refuse_splits(struct fby_search *search, const char *path,
    const char *const *names, uint32_t n, const char *train,
    struct fby_error_detail *why)
{
    const char *splits[FBY_SURVEY_FOLDERS];
    uint32_t    n_splits = 0;
    char        operand[FBY_OPERAND_SIZE];
    char        list[160];
    for (uint32_t i = 0; i < n; i++) {
        if (names[i] == train || fby_is_split_name(names[i])) {
            splits[n_splits++] = names[i];
        }
    }
    FBY_TRY(refuse_pairs_of_splits(search, path, splits, n_splits, train, why));
    fby_roles_write_operand(search, path, train, operand);
    fby_roles_list_names(splits, n_splits, list, sizeof(list));
    const char *names_of_splits = /* more folders have several parts */
        n_splits <= 3 ? "or, so that all number the classes alike, rename them "
                        "to train, val and test; "
                      : "";
    return fby_error_set(why, FBY_CONFIG,
        "the folders %s look like splits, not classes: write a pipeline for "
        "each: forebay init %s; %sif files of one name in two folders are "
        "pairs, name the folders images and masks; if all are classes, add "
        "--class-depth 1",
        list, operand, names_of_splits);
}

/* Refuse the folders `names` with a sentence after "the folders A, B", and a
 * command for the first one. */
static fby_err refuse_each(const struct fby_search *search, const char *path,
    const char *const *names, uint32_t n, const char *sentence,
    struct fby_error_detail *why)
{
    char operand[FBY_OPERAND_SIZE];
    char list[160];
    fby_roles_write_operand(search, path, names[0], operand);
    fby_roles_list_names(names, n, list, sizeof(list));
    return fby_error_set(why, FBY_CONFIG,
        "the folders %s %s: forebay init %s; if they are classes, add "
        "--class-depth 1",
        list, sentence, operand);
}

/* Refuse a folder with files beside one of folders: their classes are not at one
 * level. */
static fby_err check_levels(const struct fby_search *search, const char *path,
    const struct fby_survey *survey, struct fby_error_detail *why)
{
    const char *files   = NULL;
    const char *folders = NULL;
    char        operand[FBY_OPERAND_SIZE];
    for (uint32_t i = 0; i < survey->n; i++) {
        const struct fby_survey_folder *folder = &survey->folders[i];
        if (folder->picture != NULL && !folder->has_dirs) {
            files = files == NULL ? folder->name : files;
        } else if (folder->picture != NULL && !folder->has_files) {
            folders = folders == NULL ? folder->name : folders;
        }
    }
    if (files == NULL || folders == NULL) {
        return FBY_OK;
    }
    fby_roles_write_operand(search, path, folders, operand);
    return fby_error_set(why, FBY_CONFIG,
        "the folder %.60s holds only files, and %.60s only folders, so they do "
        "not look like classes: write a pipeline for each: forebay init %s; if "
        "they are classes, add --class-depth 1",
        fby_text_show(files).text, fby_text_show(folders).text, operand);
}

/* Refuse texts of splits beside the only folder of pictures, in which files beside
 * these have boxes, too. */
static fby_err check_only_folder(
    const struct fby_roles *self, struct fby_error_detail *why)
{
    const char *folders[2] = {self->names[0], self->names[0]};
    char        boxes[FBY_GUESS_COMMAND];
    char        below[FBY_PATH_SIZE];

    const struct fby_pairs_dir at = {.search = self->search,
        .path                                = self->path,
        .folders                             = folders,
        .n_folders                           = 2,
        .boxes                               = boxes};
    FBY_TRY(fby_refuse_split_texts(
        self->search, self->path, folders[0], NULL, 0, why));
    FBY_TRY(fby_path_join(self->path, folders[0], below, why));
    return fby_guess_write_boxes_of_pairs(
               fby_guess_find_boxes(self->search, below, true), boxes)
               ? fby_refuse_split_pairs(&at, why)
               : FBY_OK;
}

static fby_err check_survey(
    const struct fby_roles *self, struct fby_error_detail *why)
{
    const struct fby_survey *survey = self->survey;
    bool     is_parallel = fby_roles_are_parallel(self->names, survey->n);
    uint32_t n_train     = 0;
    for (uint32_t i = 0; i < survey->n; i++) {
        n_train += survey->folders[i].has_train ? 1 : 0;
    }
    if (n_train == survey->n && survey->n > 1 && !is_parallel) {
        return refuse_each(self->search, self->path, self->names, survey->n,
            "hold a folder train each: write a pipeline for each", why);
    }
    if (!is_parallel) {
        FBY_TRY(check_levels(self->search, self->path, survey, why));
    }
    FBY_TRY(fby_refuse_folds(self, why));
    if (!is_parallel) {
        FBY_TRY(fby_refuse_groups(self, why));
    }
    if (survey->n == 1 && survey->folders[0].picture != NULL) {
        return check_only_folder(self, why);
    }
    return fby_refuse_lone_pictures(self, why);
}

/* True if all folders are splits for evaluation, as val and test. */
static bool are_without_train(const char *const *names, uint32_t n)
{
    uint32_t i = 0;
    while (i < n && fby_split_of_folder(names[i]) != NULL) {
        i++;
    }
    return n >= 2 && i == n;
}

/* Refuse a text of splits in one of the folders, as in Eval/, if only one has pictures:
 * the others are neither splits nor classes. */
static fby_err check_split_words(
    const struct fby_roles *self, struct fby_error_detail *why)
{
    const struct fby_survey_folder *only = NULL;
    const char                     *others[FBY_SURVEY_FOLDERS];
    char                            pictures[FBY_PATH_SIZE];
    uint32_t                        n          = 0;
    uint32_t                        n_pictures = 0;
    for (uint32_t i = 0; i < self->survey->n; i++) {
        if (self->survey->folders[i].picture != NULL) {
            only = &self->survey->folders[i];
            n_pictures++;
        } else {
            others[n++] = self->names[i];
        }
    }
    if (n_pictures != 1 || self->search->in_zip) {
        return FBY_OK;
    }
    const char *slash = strrchr(only->picture, '/');
    int size = snprintf(pictures, sizeof(pictures), "%s%s%.*s", only->name,
        slash != NULL ? "/" : "",
        slash != NULL ? (int)(slash - only->picture) : 0, only->picture);
    if (size > 0 && (size_t)size < sizeof(pictures)) {
        FBY_TRY(fby_refuse_split_numbers(
            self->search, self->path, pictures, others, n, why));
    }
    return fby_refuse_split_words(
        self->search, self->path, only->name, others, n, why);
}

/* Refuse folders that are splits by their names, or no classes by what is in them. */
static fby_err check_folders(
    const struct fby_roles *self, struct fby_error_detail *why)
{
    uint32_t n = self->survey->n;
    uint32_t train;
    FBY_TRY(check_split_words(self, why));
    if (are_without_train(self->names, n)) {
        return refuse_each(self->search, self->path, self->names, n,
            "are splits, and none is called train: rename the one for training "
            "to train; to stream one by itself",
            why);
    }
    return fby_are_split_names(self->names, n, &train)
               ? refuse_splits(self->search, self->path, self->names, n,
                     self->names[train], why)
               : check_survey(self, why);
}

fby_err fby_refuse_roles(struct fby_search *search, const char *path,
    const struct fby_listing *listing, struct fby_error_detail *why)
{
    const char       *names[FBY_SURVEY_FOLDERS];
    struct fby_survey survey;
    if (fby_find_split_folder(listing, "train") != NULL) {
        return FBY_OK; /* folders of splits, as they are read */
    }
    fby_survey_folders(search, path, listing, &survey);
    for (uint32_t i = 0; i < survey.n; i++) {
        names[i] = survey.folders[i].name;
    }
    const struct fby_roles roles = {search, path, &survey, names};
    fby_err                err   = check_folders(&roles, why);
    fby_survey_fini(&survey);
    return err;
}
