/* SPDX-License-Identifier: Apache-2.0 */
/* refuse_class_texts.c - refuse class folders of texts, as pos/0_9.txt, with
 * the command that writes lists of them (also if their names have no extension, as those
 * of 20 Newsgroups), or of series, as walk/0.csv, with the one
 * that makes a table.
 *
 * A folder that another split lacks is no class, as unsup/ in train/ of the
 * IMDB reviews. */
#include <stdio.h>
#include <string.h>

#include "cli/init/guess_notes.h"
#include "cli/init/names.h"
#include "cli/init/programs.h"
#include "cli/init/refuse_layouts.h"
#include "common/shell.h"

/* Are the only files of that type, in class folders? */
static bool is_of_type(const struct fby_guess_split *split, const char *type)
{
    return split->kind == FBY_SOURCE_FOLDER && split->class_depth == 1 &&
           split->n_members == 1 &&
           fby_init_has_type(split->members[0].extension, type);
}

/* The path of the split below the root. */
static const char *path_of(
    const struct fby_search *search, const struct fby_guess_split *split)
{
    const char *path = split->pattern + strlen(fby_root_dir(search->root));
    return path + strspn(path, "/");
}

/* Write the names and folders of the splits. Returns false if a folder needs
 * quotes. */
static bool write_splits(
    const struct fby_search *search, char *out, size_t size)
{
    const struct fby_guess *guess = search->out;
    size_t                  used  = 0;
    for (uint32_t i = 0; i < guess->n_splits && used < size; i++) {
        const char *path = path_of(search, &guess->splits[i]);
        if (!fby_shell_is_plain(path)) {
            return false;
        }
        used += (size_t)snprintf(out + used, size - used, "%s('%s', '%s')",
            i > 0 ? ", " : "", guess->splits[i].name, path);
    }
    return used < size;
}

/* Has the folder a list beside its folders? */
static bool has_list(struct fby_search *search, const char *dir)
{
    struct fby_listing listing = {0};
    bool               found =
        fby_guess_list_dir(search, dir, NULL, &listing, NULL) == FBY_OK &&
        fby_guess_find_file(&listing, ".csv") != NULL;
    fby_listing_fini(&listing);
    return found;
}

fby_err fby_refuse_class_texts(
    struct fby_search *search, struct fby_error_detail *why)
{
    const struct fby_guess *guess = search->out;
    char                    splits[480];
    char                    below[FBY_PATH_SIZE];
    char                    operand[FBY_OPERAND_SIZE];
    bool is_csv = guess->n_splits > 0 && is_of_type(&guess->splits[0], "csv");
    bool is_txt = guess->n_splits > 0 && is_of_type(&guess->splits[0], "txt");
    if (guess->n_splits == 0 ||
        !(is_csv || is_txt || is_of_type(&guess->splits[0], ""))) {
        return FBY_OK;
    }
    if (search->in_zip) {
        return fby_guess_unpack_first(search,
            fby_error_set(why, FBY_CONFIG, "%s in class folders are not read",
                is_csv ? "lists" : "texts"),
            why);
    }
    const char *dir =
        guess->n_splits > 1 ? "" : path_of(search, &guess->splits[0]);
    if (guess->n_splits == 1) {
        snprintf(splits, sizeof(splits), "('%s', '.')", guess->splits[0].name);
    } else if (!write_splits(search, splits, sizeof(splits))) {
        snprintf(splits, sizeof(splits), "('train', 'FOLDER')");
    }
    FBY_TRY(fby_path_join(dir, is_csv ? "series" : "texts", below, why));
    fby_guess_write_operand(search, below, operand);
    if (is_csv) {
        fby_guess_set_command(search, dir,
            FBY_PYTHON "O = 'series'; S = [%s]; %s; %s; %s\"", splits,
            fby_program_folder_begin, fby_program_class_series,
            fby_program_folder_end);
        return fby_error_set(why, FBY_CONFIG,
            "lists in class folders are not read: if each is a series of one "
            "class, make tables of them (needs NumPy)%s, then: forebay init "
            "%s:",
            has_list(search, dir) ? ", without the lists beside these folders"
                                  : "",
            operand);
    }
    fby_guess_set_command(search, dir,
        FBY_PYTHON "S = [%s]; X = '%s'; %s; %s\"", splits, is_txt ? ".txt" : "",
        fby_program_class_texts, fby_program_write_lists);
    return fby_error_set(why, FBY_CONFIG,
        "texts in class folders are not read: write lists of those in the "
        "folders that all splits have (none called unsup or unlabeled), then: "
        "forebay init %s:",
        operand);
}
