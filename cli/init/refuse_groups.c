/* SPDX-License-Identifier: Apache-2.0 */
/* refuse_groups.c - refuse folders that all have folders of the same names: these
 * seem to be the classes, and the outer ones groups, as of patients. */
#include <stdio.h>
#include <string.h>

#include "cli/init/guess_folders.h"
#include "cli/init/names.h"
#include "cli/init/programs.h"
#include "cli/init/refuse_layouts.h"
#include "cli/init/roles.h"
#include "cli/init/split_names.h"
#include "common/shell.h"
#include "pipeline/text.h"

/* Write the folders in `name` as "a/b/". Returns their number; 0 if there are
 * pictures beside them, or names of parallel folders. */
static uint32_t list_inner_folders(struct fby_search *search, const char *path,
    const char *name, char *out, size_t size)
{
    struct fby_listing listing = {0};
    const char        *names[FBY_SURVEY_FOLDERS];
    uint32_t           n    = 0;
    size_t             used = 0;
    out[0]                  = '\0';
    if (fby_refuse_list_below(search, path, name, &listing, NULL) == FBY_OK &&
        !fby_init_has_pictures(&listing)) {
        for (uint32_t i = 0; i < listing.count && used < size; i++) {
            const char *inner = listing.entries[i].name;
            if (listing.entries[i].is_dir) {
                used += (size_t)snprintf(out + used, size - used, "%s/", inner);
                names[n < FBY_SURVEY_FOLDERS ? n : 0] = inner;
                n++;
            }
        }
    }
    bool is_parallel =
        n <= FBY_SURVEY_FOLDERS && fby_roles_are_parallel(names, n);
    fby_listing_fini(&listing);
    return used < size && !is_parallel ? n : 0;
}

/* Are the folders, as "a1/a2/", called by one word with numbers? */
static bool are_numbered(const char *folders)
{
    static const char digits[] = "0123456789";
    size_t            word     = strcspn(folders, "0123456789/");
    const char       *at       = folders;
    while (word > 0 && strncmp(at, folders, word) == 0 &&
           strspn(at + word, digits) > 0) {
        at += word + strspn(at + word, digits);
        at += *at == '/' ? 1 : 0;
    }
    return word > 0 && *at == '\0';
}

/* Are the lists of folders the same? Of numbered ones, one may have more. */
static bool are_same_folders(const char *folders, const char *others)
{
    size_t n = strlen(folders);
    size_t k = strlen(others);
    return are_numbered(folders) && are_numbered(others)
               ? strncmp(folders, others, n < k ? n : k) == 0
               : strcmp(folders, others) == 0;
}

/* Have all folders the same folders, of which there are several? */
static bool have_same_folders(struct fby_search *search, const char *path,
    const char *const *names, uint32_t n, char *first, size_t size)
{
    char other[FBY_GUESS_NOTES];
    bool are_same =
        n > 1 && list_inner_folders(search, path, names[0], first, size) > 1;
    for (uint32_t i = 1; are_same && i < n; i++) {
        are_same = list_inner_folders(
                       search, path, names[i], other, sizeof(other)) > 1 &&
                   are_same_folders(first, other);
    }
    return are_same;
}

/* Write the commands that give each folder the name of the split in its own, as
 * that of 01_train. Returns false if not all have one, each another. */
static bool write_moves(
    const char *const *names, uint32_t n, char *out, size_t size)
{
    const char *splits[FBY_KNOWN_SPLITS];
    size_t      used = 0;
    out[0]           = '\0';
    for (uint32_t i = 0; i < n; i++) {
        const char *split = fby_split_word(names[i]);
        for (uint32_t k = 0; split != NULL && k < i; k++) {
            split = splits[k] == split ? NULL : split;
        }
        if (split == NULL || !fby_shell_is_plain(names[i])) {
            return false;
        }
        splits[i] = split;
        if (strcmp(names[i], split) != 0) {
            used += (size_t)snprintf(out + used, size - used, "%smv -n %s %s",
                used > 0 ? " && " : "", names[i], split);
        }
        if (used >= size) {
            return false;
        }
    }
    return used > 0;
}

static fby_err refuse(struct fby_search *search, const char *path,
    const char *const *names, uint32_t n, const char *classes,
    struct fby_error_detail *why)
{
    char list[160];
    char operand[FBY_OPERAND_SIZE];
    char class[100];
    char moves[300];
    snprintf(class, sizeof(class), "%.40s/%.*s",
        fby_text_show_begin(names[0], 40).text, (int)strcspn(classes, "/"),
        fby_text_show(classes).text);
    fby_roles_list_names(names, n, list, sizeof(list));
    if (are_numbered(classes)) {
        fby_guess_write_operand(search, path, operand);
        return fby_error_set(why, FBY_CONFIG,
            "the folders %s have the same folders (%.40s), whose names are "
            "only numbered: if each is a class of its own, as %s: forebay init "
            "%s --class-depth 2; if the outer ones are classes, add "
            "--class-depth 1",
            list, fby_text_show(classes).text, class, operand);
    }
    fby_roles_write_operand(search, path, names[0], operand);
    if (write_moves(names, n, moves, sizeof(moves))) {
        return fby_error_set(why, FBY_CONFIG,
            "the folders %s have the same folders (%.40s), which seem to be "
            "the classes: if the outer ones are classes, add --class-depth 1, "
            "or 2 if each is one, as %s; if they are splits, rename them%s",
            list, fby_text_show(classes).text, class,
            fby_guess_set_renames(search, path, "%s", moves));
    }
    fby_guess_set_command(search, path, FBY_PYTHON "V = ''; %s; %s\"",
        fby_program_class_folders, fby_program_write_lists);
    return fby_error_set(why, FBY_CONFIG,
        "the folders %s have the same folders (%.40s), which seem to be the "
        "classes: for one of them: forebay init %s; if the outer ones are "
        "splits, rename them to train, val and test; if classes, add "
        "--class-depth 1, or 2 if each is one, as %s%s",
        list, fby_text_show(classes).text, operand, class,
        search->in_zip
            ? ""
            : "; to train on all, write a list, and run init again:");
}

fby_err fby_refuse_groups(
    const struct fby_roles *self, struct fby_error_detail *why)
{
    char classes[FBY_GUESS_NOTES];
    if (!have_same_folders(self->search, self->path, self->names,
            self->survey->n, classes, sizeof(classes))) {
        return FBY_OK;
    }
    FBY_TRY(fby_refuse_pairs_below(
        self->search, self->path, self->names[0], NULL, why));
    return refuse(
        self->search, self->path, self->names, self->survey->n, classes, why);
}
