/* SPDX-License-Identifier: Apache-2.0 */
/* guess_box_members.c - boxes in the objects of a list, as Hugging Face's
 * {"objects": {"bbox": [[x, y, w, h], ...], "categories": [...]}}.
 *
 * No field reads lists of lists. The note has the command that writes lists with
 * boxes as numbers. */
#include <stdio.h>
#include <string.h>

#include "cli/init/guess_lists.h"
#include "cli/init/guess_notes.h"
#include "cli/init/programs.h"
#include "common/shell.h"
#include "pipeline/text.h"

enum { LISTS_SIZE = 1024 };

/* The column of objects with boxes; NULL: there is none. */
static const char *find_column(const struct fby_guess_split *split)
{
    for (uint32_t i = 0; i < split->n_members; i++) {
        const struct fby_init_member *column = &split->members[i];
        const char                   *bbox   = strstr(column->keys, "bbox");
        bool is_key = bbox == column->keys || (bbox != NULL && bbox[-1] == ' ');
        if (column->value == FBY_INIT_OBJECT && is_key &&
            fby_shell_is_plain(column->extension)) {
            return column->extension;
        }
    }
    return NULL;
}

/* Write the lists below the root as texts of Python. Returns false if one of them
 * needs quotes, or they do not fit. */
static bool write_lists(const struct fby_search *search, char out[LISTS_SIZE])
{
    const struct fby_guess *guess = search->out;
    size_t                  root  = strlen(fby_root_dir(search->root));
    size_t                  used  = 0;
    for (uint32_t i = 0; i < guess->n_splits && used < LISTS_SIZE; i++) {
        const char *list = guess->splits[i].pattern;
        if (guess->splits[i].kind != FBY_SOURCE_LIST || strlen(list) <= root ||
            !fby_shell_is_plain(list + root + 1)) {
            return false;
        }
        used += (size_t)snprintf(out + used, LISTS_SIZE - used, "%s'%s'",
            i > 0 ? ", " : "", list + root + 1);
    }
    return used < LISTS_SIZE;
}

void fby_guess_note_box_members(struct fby_search *search)
{
    const struct fby_guess_split *first = &search->out->splits[0];
    char                          lists[LISTS_SIZE];
    char                          dir[FBY_PATH_SIZE];
    char                          made[FBY_PATH_SIZE];
    const char *column = search->out->kind == FBY_SOURCE_LIST &&
                                 fby_text_ends_with(first->pattern, ".jsonl")
                             ? find_column(first)
                             : NULL;
    if (column == NULL || search->out->data_root[0] != '\0' ||
        first->n_file_columns == 0 ||
        !fby_shell_is_plain(first->file_columns[0]) ||
        !write_lists(search, lists)) {
        return;
    }
    fby_guess_dir_of_list(search, first->pattern, dir);
    fby_guess_name_list(strrchr(first->pattern, '/') + 1, "boxes", made);
    if (fby_guess_set_command(search, "",
            FBY_PYTHON "L = [%s]; C = '%s'; F = '%s'; %s; %s\"", lists, column,
            first->file_columns[0], fby_program_boxes_members,
            fby_program_write_lists)[0] != '\0') {
        fby_guess_end_command(search, dir, made);
        fby_guess_note(search,
            "note: to read the boxes of \"%s\" (x, y, width and height in "
            "pixels): %s",
            column, search->out->command);
        search->out->command[0] = '\0';
    }
}
