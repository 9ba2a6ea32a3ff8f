/* SPDX-License-Identifier: Apache-2.0 */
/* refuse_missing_files.c - refuse lists of which some rows have no picture: the
 * file is not there, the cell is empty, or the picture is not decoded. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/init/guess_lists.h"
#include "cli/init/guess_notes.h"
#include "cli/init/list_command.h"
#include "cli/init/names.h"
#include "cli/init/programs.h"
#include "cli/init/text_state.h"
#include "common/plural.h"
#include "common/shell.h"
#include "pipeline/text.h"
#include "pipeline/unread.h"

/* Remove the root's name from a path: "line 2: data:a.jpg" gives "a.jpg". */
static void remove_root_name(struct fby_error_detail *why)
{
    static const char name[] = ": data:";
    char             *at     = strstr(why->text, name);
    if (at != NULL) {
        char *path = at + strlen(name);
        memmove(at + 2, path, strlen(path) + 1);
    }
}

/* Append "'NAME'" to a list of Python. Returns false if it needs more quotes. */
static bool append_name(struct fby_buffer *out, const char *name)
{
    fby_init_printf(out, "'%s', ", name);
    return fby_shell_is_plain(name);
}

/* Set the command to the one that leaves out the rows without their files. Returns
 * false if there is none. */
static bool advise(
    const struct fby_list_command *list, const struct fby_guess_split *split)
{
    struct fby_buffer settings = {0};
    fby_init_append(&settings, "S = [");
    bool is_plain = append_name(&settings, list->list);
    fby_init_append(&settings, "]; C = [");
    for (uint32_t i = 0; i < split->n_file_columns; i++) {
        is_plain = append_name(&settings, split->file_columns[i]) && is_plain;
    }
    fby_init_append(&settings, "]");
    bool has_command = is_plain && fby_list_command_set(
                                       list, &settings, fby_program_list_found);
    fby_buffer_fini(&settings);
    return has_command;
}

/* Write the folder of a list. Returns its name. */
static const char *split_path(const char *list_path, char dir[FBY_PATH_SIZE])
{
    const char *slash = strrchr(list_path, '/');
    snprintf(dir, FBY_PATH_SIZE, "%.*s",
        slash != NULL ? (int)(slash - list_path) : 0, list_path);
    return slash != NULL ? slash + 1 : list_path;
}

/* Refuse the rows for the reason `what`, with the command that leaves them out,
 * if there is one. */
static fby_err refuse_rows(struct fby_search *search, const char *list_path,
    const struct fby_guess_split *split, const char *what,
    struct fby_error_detail *why)
{
    char                          dir[FBY_PATH_SIZE];
    const struct fby_list_command list = {
        search, dir, split_path(list_path, dir), "found"};
    bool has_command = advise(&list, split);
    return fby_error_set(why, FBY_CONFIG, "%.300s: %s", what,
        has_command ? "to leave such rows out:"
                    : "add the file, or remove the row from the list");
}

fby_err fby_guess_explain_missing_files(struct fby_search *search,
    const char *list_path, const struct fby_guess_split *split,
    struct fby_error_detail *why)
{
    struct fby_error_detail original = *why;
    remove_root_name(&original);
    return refuse_rows(search, list_path, split, original.text, why);
}

/* ---- columns of which some rows have no picture ---- */

struct column_files { /* the files of a column, by their kind */
    uint64_t                      files;
    uint64_t                      pictures; /* that are decoded */
    const struct fby_init_member *unread;   /* pictures that are not, or NULL */
};

static struct column_files count_files(
    const struct fby_guess_split *split, const char *column)
{
    struct column_files found = {.files = 0};
    size_t              n     = strlen(column);
    for (uint32_t i = 0; i < split->n_members; i++) {
        const struct fby_init_member *member = &split->members[i];
        if (member->value != FBY_INIT_NO_VALUE ||
            strncmp(member->extension, column, n) != 0 ||
            member->extension[n] != '.') {
            continue;
        }
        found.files += member->count;
        found.pictures += fby_init_is_picture(member) ? member->count : 0;
        if (fby_unread_picture(member->extension) != NULL) {
            found.unread = member;
        }
    }
    return found;
}

static fby_err refuse_unread(struct fby_search *search, const char *list_path,
    const char *column, const struct column_files *found,
    struct fby_error_detail *why)
{
    char        dir[FBY_PATH_SIZE];
    char        converted[FBY_PATH_SIZE];
    const char *list  = split_path(list_path, dir);
    const char *type  = strrchr(found->unread->extension, '.');
    const char *colon = "";
    if (fby_shell_is_plain(list)) {
        fby_guess_name_list(list, "paths", converted);
        colon = fby_guess_set_command(search, dir,
            "set -C && find . -iname '*%s' -exec %s && "
            "sed 's/\\%s\\b/.png/Ig' %s > %s",
            type, FBY_UNREAD_CONVERT, type, list, converted);
        fby_guess_end_command(search, dir, converted);
    }
    return fby_error_set(why, FBY_CONFIG,
        "%.40s: the column %.40s has %s pictures (*%s), which are not decoded; "
        "convert them, and write a list of the new ones%s",
        fby_text_show(list).text, column,
        fby_unread_picture(found->unread->extension), type, colon);
}

/* Refuse the column of pictures if some rows have none. */
static fby_err check_column(struct fby_search *search, const char *list_path,
    const struct fby_guess_split *split, const char *column,
    struct fby_error_detail *why)
{
    struct column_files found = count_files(split, column);
    char                what[200];
    if (found.unread != NULL) {
        return refuse_unread(search, list_path, column, &found, why);
    }
    if (found.pictures == 0 || found.files == split->samples) {
        return FBY_OK;
    }
    const char *slash = strrchr(list_path, '/');
    snprintf(what, sizeof(what),
        "%.40s: the column %.40s has no path in %s of %" PRIu64,
        fby_text_show(slash != NULL ? slash + 1 : list_path).text, column,
        fby_plural(split->samples - found.files, "row").text, split->samples);
    return refuse_rows(search, list_path, split, what, why);
}

fby_err fby_refuse_missing_files(struct fby_search *search,
    const char *list_path, const struct fby_guess_split *split,
    struct fby_error_detail *why)
{
    for (uint32_t i = 0; i < split->n_file_columns; i++) {
        if (count_files(split, split->file_columns[i]).pictures ==
            split->samples) {
            return FBY_OK; /* the pipeline has this one */
        }
    }
    for (uint32_t i = 0; i < split->n_file_columns; i++) {
        FBY_TRY(check_column(
            search, list_path, split, split->file_columns[i], why));
    }
    return FBY_OK;
}
