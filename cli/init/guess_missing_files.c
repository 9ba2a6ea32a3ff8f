/* SPDX-License-Identifier: Apache-2.0 */
/* guess_missing_files.c - say how rows are left out of a list whose files are
 * not there. */
#include <stdio.h>
#include <string.h>

#include "cli/init/guess_search.h"
#include "common/shell.h"
#include "pipeline/text.h"

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

/* Write the command that writes found.csv. Returns false if there is none. */
static bool write_command(const struct fby_search *search, const char *dir,
    const char *list, const struct fby_guess_split *split, char *out,
    size_t size)
{
    char operand[FBY_OPERAND_SIZE];
    char columns[COLUMNS_SIZE];
    fby_guess_write_operand(search, dir, operand);
    if (!fby_text_ends_with(list, ".csv") || !fby_shell_is_plain(list) ||
        !write_columns(split, columns)) {
        return false;
    }
    int n = snprintf(out, size,
        "(cd %s && python3 -c \"import csv, os; r = list(csv.reader(open('%s', "
        "newline='', encoding='utf-8-sig'))); k = [i for i, c in "
        "enumerate(r[0]) if c.lower() in [%s]]; csv.writer(open('found.csv', "
        "'x')).writerows(r[:1] + [x for x in r[1:] if x and "
        "all(os.path.isfile(x[i]) for i in k)])\")",
        operand, list, columns);
    return n >= 0 && (size_t)n < size;
}

fby_err fby_guess_explain_missing_files(const struct fby_search *search,
    const char *list_path, const struct fby_guess_split *split,
    struct fby_error_detail *why)
{
    const char             *slash    = strrchr(list_path, '/');
    const char             *list     = slash != NULL ? slash + 1 : list_path;
    struct fby_error_detail original = *why;
    char                    dir[FBY_PATH_SIZE];
    char                    command[400];
    remove_root_name(&original);
    snprintf(dir, sizeof(dir), "%.*s",
        slash != NULL ? (int)(slash - list_path) : 0, list_path);
    bool has_command =
        write_command(search, dir, list, split, command, sizeof(command)) &&
        strlen(command) + strlen(original.text) + 48 < sizeof(why->text);
    fby_error_set(why, FBY_CONFIG, "%.300s: %s%s", original.text,
        has_command ? "to leave such rows out: "
                    : "add the file, or remove the row from the list",
        has_command ? command : "");
    if (has_command) {
        fby_guess_append_then(search, dir, "found.csv", why);
    }
    return FBY_CONFIG;
}
