/* SPDX-License-Identifier: Apache-2.0 */
/* refuse_folds.c - refuse folders that are the folds of cross-validation: fold_1,
 * fold_2 and so on. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "cli/init/programs.h"
#include "cli/init/roles.h"

/* True for fold0, fold_1, Fold-2: the folds of cross-validation. */
static bool is_fold(const char *name)
{
    static const char word[] = "fold";
    size_t            n      = strlen(word);
    return strncasecmp(name, word, n) == 0 &&
           strspn(name + n, "_- 0123456789") == strlen(name + n) &&
           strpbrk(name + n, "0123456789") != NULL;
}

static bool are_folds(const char *const *names, uint32_t n)
{
    uint32_t i = 0;
    while (i < n && is_fold(names[i])) {
        i++;
    }
    return n >= 2 && i == n;
}

static fby_err refuse(struct fby_search *search, const char *path,
    const struct fby_survey *survey, const char *const *names,
    struct fby_error_detail *why)
{
    const char *picture = survey->folders[0].picture;
    char        list[160];
    char        operand[FBY_OPERAND_SIZE];
    fby_roles_list_names(names, survey->n, list, sizeof(list));
    if (picture == NULL || strchr(picture, '/') == NULL) {
        fby_guess_write_operand(search, path, operand);
        return fby_error_set(why, FBY_CONFIG,
            "the folders %s are folds, not classes: to read all of them: "
            "forebay init %s --class-depth 0",
            list, operand);
    }
    fby_roles_write_operand(search, path, names[0], operand);
    if (search->in_zip) {
        return fby_error_set(why, FBY_CONFIG,
            "the folders %s are folds, not classes: for one of them: forebay "
            "init %s",
            list, operand);
    }
    fby_guess_set_command(search, path, FBY_PYTHON "V = '%s'; %s; %s\"",
        names[0], fby_program_class_folders, fby_program_write_lists);
    return fby_error_set(why, FBY_CONFIG,
        "the folders %s are folds, not classes: for one of them: forebay init "
        "%s; for all of them write lists, with %.40s as val, and run init %s:",
        list, operand, names[0], path[0] != '\0' ? "on that folder" : "again");
}

fby_err fby_refuse_folds(
    const struct fby_roles *self, struct fby_error_detail *why)
{
    return are_folds(self->names, self->survey->n)
               ? refuse(
                     self->search, self->path, self->survey, self->names, why)
               : FBY_OK;
}
