/* SPDX-License-Identifier: Apache-2.0 */
/* refuse_missing_files.c - refuse lists of which some rows have no picture: the
 * file is not there, the cell is empty, or the picture is not decoded. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/init/guess_lists.h"
#include "cli/init/guess_notes.h"
#include "cli/init/names.h"
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

enum { COLUMNS_SIZE = 80 };

/* Write the columns of paths: "'image', 'mask'". Returns false if they do not fit
 * or have characters of the shell. */
static bool write_columns(
    const struct fby_guess_split *split, char out[COLUMNS_SIZE])
{
    size_t used = 0;
    for (uint32_t i = 0; i < split->n_file_columns; i++) {
        const char *column = split->file_columns[i];
        if (!fby_shell_is_plain(column) ||
            used + strlen(column) + 5 > COLUMNS_SIZE) { /* 5: "''", ", ", NUL */
            return false;
        }
        used += (size_t)snprintf(out + used, COLUMNS_SIZE - used, "%s'%s'",
            i > 0 ? ", " : "", column);
    }
    return true;
}

/* Write the command that writes found.csv or found.jsonl. Returns false if
 * there is none. */
static bool write_command(const struct fby_search *search, const char *dir,
    const char *list, const struct fby_guess_split *split, char *out,
    size_t size)
{
    static const char csv[] =
        "(cd %s && python3 -c \"import csv, os; r = list(csv.reader(open('%s', "
        "newline='', encoding='utf-8-sig'))); k = [i for i, c in "
        "enumerate(r[0]) if c.lower() in [%s]]; csv.writer(open('found-%s', "
        "'x')).writerows(r[:1] + [x for x in r[1:] if x and "
        "all(os.path.isfile(x[i]) for i in k)])\")";
    static const char json[] =
        "(cd %s && python3 -c \"import json, os; r = [(x, json.loads(x)) for x "
        "in open('%s', encoding='utf-8-sig') if x.strip()]; "
        "open('found-%s', 'x').writelines(x for x, d in r if "
        "sum(os.path.isfile(str(d[k])) for k in d if k.lower() in [%s]) == "
        "%u)\")";
    char operand[FBY_OPERAND_SIZE];
    char columns[COLUMNS_SIZE];
    fby_guess_write_operand(search, dir, operand);
    if (!fby_shell_is_plain(list) || !write_columns(split, columns)) {
        return false;
    }
    int n = fby_text_ends_with(list, ".csv")
                ? snprintf(out, size, csv, operand, list, columns, list)
                : snprintf(out, size, json, operand, list, list, columns,
                      split->n_file_columns);
    return n >= 0 && (size_t)n < size;
}

/* Refuse the rows for the reason `what`, with the command that leaves them out,
 * if there is one. */
static fby_err refuse_rows(const struct fby_search *search,
    const char *list_path, const struct fby_guess_split *split,
    const char *what, struct fby_error_detail *why)
{
    const char *slash = strrchr(list_path, '/');
    const char *list  = slash != NULL ? slash + 1 : list_path;
    char        dir[FBY_PATH_SIZE];
    char        name[FBY_PATH_SIZE];
    char        command[400];
    snprintf(dir, sizeof(dir), "%.*s",
        slash != NULL ? (int)(slash - list_path) : 0, list_path);
    bool has_command =
        write_command(search, dir, list, split, command, sizeof(command)) &&
        strlen(command) + strlen(what) + 48 < sizeof(why->text);
    fby_error_set(why, FBY_CONFIG, "%.300s: %s%s", what,
        has_command ? "to leave such rows out: "
                    : "add the file, or remove the row from the list",
        has_command ? command : "");
    if (has_command) {
        fby_guess_name_list(list, "found", name);
        fby_guess_append_then(search, dir, name, why);
    }
    return FBY_CONFIG;
}

fby_err fby_guess_explain_missing_files(const struct fby_search *search,
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

static fby_err refuse_unread(const struct fby_search *search,
    const char *list_path, const char *column, const struct column_files *found,
    struct fby_error_detail *why)
{
    const char *slash = strrchr(list_path, '/');
    const char *list  = slash != NULL ? slash + 1 : list_path;
    const char *type  = strrchr(found->unread->extension, '.');
    char        dir[FBY_PATH_SIZE];
    char        operand[FBY_OPERAND_SIZE];
    snprintf(dir, sizeof(dir), "%.*s",
        slash != NULL ? (int)(slash - list_path) : 0, list_path);
    fby_guess_write_operand(search, dir, operand);
    return fby_error_set(why, FBY_CONFIG,
        "%.40s: the column %.40s has %s pictures (*%s), which are not decoded; "
        "to convert them, and the list: (cd %s && find . -iname '*%s' -exec "
        "mogrify -format png {} + && sed -i 's/\\%s\\b/.png/Ig' %s)",
        fby_text_show(list).text, column,
        fby_unread_picture(found->unread->extension), type, operand, type, type,
        fby_shell_is_plain(list) && strlen(list) <= 60 ? list : "LIST");
}

/* Refuse the column of pictures if some rows have none. */
static fby_err check_column(const struct fby_search *search,
    const char *list_path, const struct fby_guess_split *split,
    const char *column, struct fby_error_detail *why)
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

fby_err fby_refuse_missing_files(const struct fby_search *search,
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
