/* SPDX-License-Identifier: Apache-2.0 */
/* refuse_lone_pictures.c - refuse folders of which only one has pictures: the others
 * may have their texts, boxes or splits. */
#include <stdio.h>
#include <string.h>

#include "cli/init/guess_folders.h"
#include "cli/init/names.h"
#include "cli/init/programs.h"
#include "cli/init/refuse_layouts.h"
#include "cli/init/roles.h"
#include "common/shell.h"
#include "pipeline/text.h"

/* Find the only folder with pictures beside folders without. NULL: there are
 * others, or it is not certain. */
static const struct fby_survey_folder *find_only_pictures(
    const struct fby_survey *survey)
{
    const struct fby_survey_folder *found = NULL;
    for (uint32_t i = 0; i < survey->n; i++) {
        const struct fby_survey_folder *folder = &survey->folders[i];
        if (!folder->is_whole || folder->is_empty ||
            (folder->picture != NULL && found != NULL)) {
            return NULL;
        }
        found = folder->picture != NULL ? folder : found;
    }
    return survey->n > 1 ? found : NULL;
}

/* Another folder with a file of the picture's sample, as labels/a.txt beside
 * images/a.jpg; NULL: none. */
static const char *find_partner(struct fby_search *search, const char *path,
    const struct fby_survey *survey, const struct fby_survey_folder *pictures)
{
    char               partners[FBY_PATH_SIZE];
    char               dir[FBY_PATH_SIZE];
    char               glob[FBY_PATH_SIZE];
    const char        *slash   = strrchr(pictures->picture, '/');
    const char        *file    = slash != NULL ? slash + 1 : pictures->picture;
    const char        *partner = NULL;
    struct fby_listing found   = {0};
    snprintf(glob, sizeof(glob), "%.*s.*", (int)strcspn(file, "."), file);
    for (uint32_t i = 0; i < survey->n && partner == NULL; i++) {
        const struct fby_survey_folder *other = &survey->folders[i];
        snprintf(partners, sizeof(partners), "%s/%.*s", other->name,
            (int)(file - pictures->picture), pictures->picture);
        if (other == pictures ||
            fby_path_join(path, partners, dir, NULL) != FBY_OK) {
            continue;
        }
        dir[strlen(dir) - 1] = '\0'; /* the slash at its end */
        if (fby_listing_read(search->root, dir, glob, &found, NULL) == FBY_OK &&
            found.count > 0) {
            partner = other->name;
        }
        fby_listing_fini(&found);
    }
    return partner;
}

/* Has the folder a text with the name of the picture? */
static bool has_text_of(struct fby_search *search, const char *path,
    const char *folder, const char *picture)
{
    char        dir[FBY_PATH_SIZE];
    char        file[FBY_PATH_SIZE];
    const char *dot = strrchr(picture, '.');
    if (dot == NULL || strchr(picture, '/') != NULL || search->in_zip) {
        return false;
    }
    snprintf(file, sizeof(file), "%.*s.txt", (int)(dot - picture), picture);
    return fby_path_join(path, folder, dir, NULL) == FBY_OK &&
           fby_guess_has_file(search->root, dir, file);
}

static fby_err refuse_texts(struct fby_search *search, const char *path,
    const char *pictures, const char *texts, struct fby_error_detail *why)
{
    fby_guess_set_command(search, path,
        FBY_PYTHON "F = '%s'; X = '%s'; %s; %s\"", pictures, texts,
        fby_program_picture_texts, fby_program_write_lists);
    return fby_error_set(why, FBY_CONFIG,
        "%.60s has texts of the pictures in %.60s: write a list of both, and "
        "run init %s:",
        texts, pictures, path[0] != '\0' ? "on that folder" : "again");
}

/* Refuse a folder of boxes beside the one of the pictures. Returns FBY_OK if it has
 * none. */
static fby_err refuse_boxes(struct fby_search *search, const char *path,
    const struct fby_survey_folder *pictures, const char *boxes,
    struct fby_error_detail *why)
{
    char                dir[FBY_PATH_SIZE];
    char                program[FBY_GUESS_COMMAND];
    enum fby_boxes_kind kind = FBY_BOXES_NONE;
    if (!search->in_zip && fby_path_join(path, boxes, dir, NULL) == FBY_OK) {
        kind = fby_guess_find_boxes(search, dir, false);
    }
    bool is_other = kind == FBY_BOXES_CLASS &&
                    !has_text_of(search, path, boxes, pictures->picture);
    if (is_other ||
        !fby_guess_write_boxes(pictures->name, boxes, kind, program)) {
        return FBY_OK;
    }
    fby_guess_advise(search, path, "", program);
    return fby_error_set(why, FBY_CONFIG,
        "%.60s has %s of the pictures in %.60s: write lists of both, and "
        "run "
        "init %s:",
        boxes, fby_guess_boxes_word(kind), pictures->name,
        path[0] != '\0' ? "on that folder" : "again");
}

/* Refuse a folder with other files of the pictures, which is not called as one of
 * parallel folders. */
static fby_err refuse_partner(struct fby_search *search, const char *path,
    const char *pictures, const char *partner, struct fby_error_detail *why)
{
    const char *colon = "";
    const char *first = fby_init_is_picture_name(pictures) ? NULL : pictures;
    if (fby_shell_is_plain(partner) && fby_shell_is_plain(pictures)) {
        colon = fby_guess_set_renames(search, path,
            "[ ! -e labels_%s ] && mv -n %s labels_%s%s%s%s", partner, partner,
            partner, first != NULL ? " && [ ! -e images ] && mv -n " : "",
            first != NULL ? first : "", first != NULL ? " images" : "");
    }
    fby_err err = fby_error_set(why, FBY_CONFIG,
        "%.60s has files with the names of the pictures in %.60s, and such "
        "folders are read together if their names have words as images and "
        "labels: rename %s%s",
        fby_text_show(partner).text, fby_text_show(pictures).text,
        first != NULL ? "both" : "it", colon);
    return fby_guess_unpack_first(search, err, why);
}

/* Refuse lists of the pictures in one of the other folders. */
static fby_err refuse_lists(struct fby_search *search, const char *path,
    const char *pictures, const char *const *others, uint32_t n,
    struct fby_error_detail *why)
{
    const struct fby_pairs_dir at = {.search = search,
        .path                                = path,
        .folders                             = &pictures,
        .n_folders                           = 1,
        .dirs                                = others,
        .n_dirs                              = n};
    return fby_refuse_split_pairs(&at, why);
}

/* Refuse folders of which only `only` has pictures. */
static fby_err refuse_all_but(struct fby_search *search, const char *path,
    const struct fby_survey *survey, const struct fby_survey_folder *only,
    struct fby_error_detail *why)
{
    const char *others[FBY_SURVEY_FOLDERS];
    uint32_t    n = 0;
    char        operand[FBY_OPERAND_SIZE];
    char        list[160];
    fby_err     err = FBY_OK;
    for (uint32_t i = 0; err == FBY_OK && i < survey->n; i++) {
        const char *name = survey->folders[i].name;
        if (&survey->folders[i] == only) {
            continue;
        }
        others[n++] = name;
        err         = refuse_boxes(search, path, only, name, why);
        if (err == FBY_OK && fby_shell_is_plain(name) &&
            fby_shell_is_plain(only->name) &&
            has_text_of(search, path, name, only->picture)) {
            err = refuse_texts(search, path, only->name, name, why);
        }
    }
    if (err == FBY_OK) {
        err = fby_refuse_split_texts(search, path, only->name, others, n, why);
    }
    if (err == FBY_OK) {
        err = refuse_lists(search, path, only->name, others, n, why);
    }
    const char *partner = find_partner(search, path, survey, only);
    if (err == FBY_OK && partner != NULL) {
        err = refuse_partner(search, path, only->name, partner, why);
    }
    if (err != FBY_OK) {
        return err;
    }
    fby_roles_write_operand(search, path, only->name, operand);
    fby_roles_list_names(others, n, list, sizeof(list));
    return fby_error_set(why, FBY_CONFIG,
        "only the folder %.60s has pictures (left out: %s%s): forebay init %s",
        fby_text_show(only->name).text, list,
        strchr(only->picture, '/') != NULL
            ? ""
            : "; if that has labels of the pictures, write them into a .csv "
              "here, with a column of paths",
        operand);
}

fby_err fby_refuse_lone_pictures(
    const struct fby_roles *self, struct fby_error_detail *why)
{
    const struct fby_survey_folder *only = find_only_pictures(self->survey);
    bool is_parallel = fby_roles_are_parallel(self->names, self->survey->n);
    if (only == NULL ||
        (is_parallel && find_partner(self->search, self->path, self->survey,
                            only) != NULL) ||
        (fby_guess_has_no_classes(self->search) &&
            fby_init_is_picture_name(only->name))) {
        return FBY_OK;
    }
    return refuse_all_but(self->search, self->path, self->survey, only, why);
}
