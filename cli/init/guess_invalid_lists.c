/* SPDX-License-Identifier: Apache-2.0 */
/* guess_invalid_lists.c - the commands that make valid lists of invalid ones. */
#include <stdio.h>
#include <string.h>

#include "cli/init/guess_lists.h"
#include "cli/init/guess_notes.h"
#include "common/shell.h"
#include "pipeline/text.h"

/* A fault that reading a list reports, and the command that writes `file`:
 * it has the directory and the name of the list. */
struct remedy {
    const char *ending; /* of the list */
    const char *fault;
    const char *before; /* the directory */
    const char *between;
    const char *after; /* the list */
    const char *file;
};

static const struct remedy remedies[] = {
    {".csv", "is not UTF-8 text", "(set -C; cd ",
        " && iconv -f CP1252 -t UTF-8 ", " > utf8.csv)", "utf8.csv"},
    {".csv", "it has no comma, but ';'", "(cd ",
        " && python3 -c \"import csv; csv.writer(open('commas.csv', 'x'))"
        ".writerows(csv.reader(open('",
        "', newline='', encoding='utf-8-sig'), delimiter=';'))\")",
        "commas.csv"},
    {".csv", "more than 256 columns", "(cd ",
        " && python3 -c \"import numpy as n; n.savez('rows.npz', x=n.loadtxt('",
        "', 'f4', delimiter=',', skiprows=1))\")", "rows.npz"},
    {".jsonl", "JSON: unable to decode byte", "(set -C; cd ",
        " && iconv -f CP1252 -t UTF-8 ", " > utf8.jsonl)", "utf8.jsonl"},
    {".jsonl", "line 1: a list where an object is needed", "(set -C; cd ",
        " && jq -c '.[]' ", " > lines.jsonl)", "lines.jsonl"},
    {".jsonl", "line 1: JSON: string or '}' expected near end of file",
        "(set -C; cd ", " && jq -c . ", " > lines.jsonl)", "lines.jsonl"},
};

static void append_remedy(const struct fby_search *search, const char *dir,
    const char *list, const struct remedy *remedy, struct fby_error_detail *why)
{
    char   operand[FBY_OPERAND_SIZE];
    char   command[400];
    size_t used = strlen(why->text);
    size_t left = sizeof(why->text) - used;
    fby_guess_write_operand(search, dir, operand);
    int n = snprintf(command, sizeof(command), ": to convert it: %s%s%s%s%s",
        remedy->before, operand, remedy->between, list, remedy->after);
    if (n >= 0 && (size_t)n < sizeof(command) && (size_t)n + 32 < left) {
        snprintf(why->text + used, left, "%s", command);
        fby_guess_append_then(search, dir, remedy->file, why);
    }
}

bool fby_guess_explain_invalid_list(const struct fby_search *search,
    const char *list_path, struct fby_error_detail *why)
{
    const char *slash = strrchr(list_path, '/');
    const char *list  = slash != NULL ? slash + 1 : list_path;
    char        dir[FBY_PATH_SIZE];
    size_t      i = 0;
    snprintf(dir, sizeof(dir), "%.*s",
        slash != NULL ? (int)(slash - list_path) : 0, list_path);
    while (i < sizeof(remedies) / sizeof(remedies[0]) &&
           (!fby_text_ends_with(list, remedies[i].ending) ||
               strstr(why->text, remedies[i].fault) == NULL)) {
        i++;
    }
    if (i == sizeof(remedies) / sizeof(remedies[0])) {
        return false;
    }
    if (fby_shell_is_plain(list)) {
        append_remedy(search, dir, list, &remedies[i], why);
    }
    return true;
}
