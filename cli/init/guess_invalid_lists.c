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
    const char *purpose;
    const char *before; /* the directory */
    const char *between;
    const char *after; /* the list */
    const char *file;
};

#define COMMAS                                                            \
    "(cd ", " && python3 -c \"import csv; csv.writer(open('commas.csv', " \
            "'x')).writerows(csv.reader(open('"
#define OF_DELIMITER(d)                                         \
    "', newline='', encoding='utf-8-sig'), delimiter='" d "', " \
    "skipinitialspace=True))\")",                               \
        "commas.csv"

static const struct remedy remedies[] = {
    {".csv", "is not UTF-8 text", "convert it", "(set -C; cd ",
        " && iconv -f CP1252 -t UTF-8 ", " > utf8.csv)", "utf8.csv"},
    {".csv", "a NUL byte", "remove it", "(set -C; cd ", " && tr -d '\\000' < ",
        " > utf8.csv)", "utf8.csv"},
    {".csv", "it has no comma, but ';'", "convert it", COMMAS,
        OF_DELIMITER(";")},
    {".csv", "it has no comma, but '|'", "convert it", COMMAS,
        OF_DELIMITER("|")},
    {".csv", "it has no comma, but tabs", "convert it", COMMAS,
        OF_DELIMITER("\\t")},
    {".csv", "more than 256 columns", "convert it", "(cd ",
        " && python3 -c \"import numpy as n; n.savez('rows.npz', x=n.loadtxt('",
        "', 'f4', delimiter=',', skiprows=1))\")", "rows.npz"},
    {".jsonl", "JSON: unable to decode byte", "convert it", "(set -C; cd ",
        " && iconv -f CP1252 -t UTF-8 ", " > utf8.jsonl)", "utf8.jsonl"},
    {".jsonl", "line 1: a list where an object is needed", "convert it",
        "(set -C; cd ", " && jq -c '.[]' ", " > lines.jsonl)", "lines.jsonl"},
    {".jsonl", "line 1: JSON: string or '}' expected near end of file",
        "convert it", "(set -C; cd ", " && jq -c . ", " > lines.jsonl)",
        "lines.jsonl"},
    {".csv", "line 2: a row without any value that a field could select",
        "write other names of columns", "(cd ",
        " && python3 -c \"import csv, re; r = list(csv.reader(open('",
        "', newline='', encoding='utf-8-sig'))); csv.writer(open('names.csv', "
        "'x')).writerows([[re.sub(r'\\W+', '_', c.strip()) for c in r[0]]] + "
        "r[1:])\")",
        "names.csv"},
};

static void append_remedy(const struct fby_search *search, const char *dir,
    const char *list, const struct remedy *remedy, struct fby_error_detail *why)
{
    char   operand[FBY_OPERAND_SIZE];
    char   command[400];
    size_t used = strlen(why->text);
    size_t left = sizeof(why->text) - used;
    fby_guess_write_operand(search, dir, operand);
    int n = snprintf(command, sizeof(command), ": to %s: %s%s%s%s%s",
        remedy->purpose, remedy->before, operand, remedy->between, list,
        remedy->after);
    if (n >= 0 && (size_t)n < sizeof(command) && (size_t)n + 32 < left) {
        snprintf(why->text + used, left, "%s", command);
        fby_guess_append_then(search, dir, remedy->file, why);
    }
}

const char *fby_guess_find_utf16(
    const struct fby_search *search, const char *path)
{
    unsigned char     head[4] = {0};
    size_t            n       = sizeof(head);
    struct fby_object object  = {.ops = NULL};
    if (fby_object_open(search->root, path, &object, NULL) != FBY_OK) {
        return NULL;
    }
    fby_err err = fby_object_read_some(&object, 0, head, &n, NULL);
    fby_object_close(&object);
    if (err != FBY_OK || n < sizeof(head)) {
        return NULL;
    }
    bool has_mark = (head[0] == 0xff && head[1] == 0xfe) ||
                    (head[0] == 0xfe && head[1] == 0xff);
    return has_mark                                       ? "UTF-16"
           : head[0] != 0 && head[1] == 0 && head[3] == 0 ? "UTF-16LE"
           : head[0] == 0 && head[1] != 0 && head[2] == 0 ? "UTF-16BE"
                                                          : NULL;
}

/* Append the command that converts a list in UTF-16. */
static void append_utf16(const struct fby_search *search, const char *dir,
    const char *list, const char *encoding, struct fby_error_detail *why)
{
    char                between[48];
    bool                is_json = fby_text_ends_with(list, ".jsonl");
    const struct remedy remedy  = {.purpose = "convert it",
         .before                            = "(set -C; cd ",
         .between                           = between,
         .after = is_json ? " > utf8.jsonl)" : " > utf8.csv)",
         .file  = is_json ? "utf8.jsonl" : "utf8.csv"};
    snprintf(between, sizeof(between), " && iconv -f %s -t UTF-8 ", encoding);
    if (fby_shell_is_plain(list)) {
        append_remedy(search, dir, list, &remedy, why);
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
    const char *encoding = fby_guess_find_utf16(search, list_path);
    if (encoding != NULL) {
        append_utf16(search, dir, list, encoding, why);
        return true;
    }
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
