/* SPDX-License-Identifier: Apache-2.0 */
/* guess_invalid_lists.c - the commands that make valid lists of invalid ones. */
#include <stdio.h>
#include <string.h>

#include "cli/init/guess_lists.h"
#include "cli/init/guess_notes.h"
#include "cli/init/programs.h"
#include "common/shell.h"
#include "pipeline/text.h"
#include "worker/source/list/list.h"

/* A fault that reading a list reports, and the command for it, which writes the file
 * that fby_guess_name_list() gives of the list `f`. */
struct remedy {
    const char *ending; /* of the list */
    const char *fault;
    const char *purpose;
    const char *word; /* of the new list; NULL: arrays, as train.npz */
    const char
        *settings; /* of a program of Python; NULL: it is one of a shell */
    const char *program;
};

enum { UTF16_SIZE = 160 /* bytes of the program for UTF-16 */ };

#define COMMAS(delimiter)                                            \
    "convert it", "commas",                                          \
        "g = 'commas-' + f; e = 'utf-8-sig'; D = '" delimiter "'; ", \
        fby_program_read_rows
#define NAMES \
    "write other names of columns", "names", "L = [f]; ", fby_program_names_csv
#define LATIN                   \
    "convert it", "utf8", NULL, \
        "iconv -f CP1252 -t UTF-8 $f " FBY_GUESS_INTO("utf8-$f")

static const struct remedy remedies[] = {
    {".csv", FBY_LIST_NOT_UTF8, LATIN},
    {".csv", FBY_LIST_NUL_BYTE, "remove it", "utf8", NULL,
        "tr -d '\\000' < $f " FBY_GUESS_INTO("utf8-$f")},
    {".csv", FBY_LIST_NO_COMMA "';'", COMMAS(";")},
    {".csv", FBY_LIST_NO_COMMA "'|'", COMMAS("|")},
    {".csv", FBY_LIST_NO_COMMA "tabs", COMMAS("\\t")},
    {".csv", FBY_LIST_TOO_WIDE, "convert it", NULL, "T = {}; ",
        fby_program_wide_list},
    {".jsonl", FBY_LIST_NOT_UTF8, LATIN},
    {".jsonl", FBY_LIST_NO_OBJECT, "convert it", "lines", NULL,
        "jq -c '.[]' $f " FBY_GUESS_INTO("lines-$f")},
    {".jsonl", FBY_LIST_CUT_JSON, "convert it", "lines", NULL,
        "jq -c . $f " FBY_GUESS_INTO("lines-$f")},
    {".csv", FBY_LIST_NO_FIELD, NAMES},
    {".csv", FBY_LIST_NO_NAME, NAMES},
    {".csv", FBY_GUESS_BLANKS, NAMES},
};

/* End the error with the command of the search. */
static void advise(struct fby_search *search, const char *dir, const char *list,
    const struct remedy *remedy, struct fby_error_detail *why)
{
    char   converted[FBY_PATH_SIZE];
    size_t used = strlen(why->text);
    if (remedy->settings != NULL) {
        fby_guess_set_command(search, dir, "python3 -c \"f = '%s'; %s%s; %s\"",
            list, remedy->settings, remedy->program, fby_program_write_lists);
    } else {
        fby_guess_set_command(
            search, dir, "set -C && f=%s && %s", list, remedy->program);
    }
    if (remedy->word != NULL) {
        fby_guess_name_list(list, remedy->word, converted);
        fby_guess_end_command(search, dir, converted);
    } else {
        snprintf(converted, sizeof(converted), "%.*s.npz",
            (int)strlen(list) - (int)strlen(remedy->ending), list);
        fby_guess_end_command_with(search, dir, converted);
    }
    snprintf(why->text + used, sizeof(why->text) - used,
        ": to %s:", remedy->purpose);
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

/* The remedy for the list; NULL: none is known. `utf16` is one with the program
 * `program`. */
static const struct remedy *find_remedy(const struct fby_search *search,
    const char *list_path, const struct fby_error_detail *why,
    struct remedy *utf16, char program[UTF16_SIZE])
{
    const char *encoding = fby_guess_find_utf16(search, list_path);
    size_t      i        = 0;
    if (encoding != NULL) {
        snprintf(program, UTF16_SIZE,
            "iconv -f %s -t UTF-8 $f " FBY_GUESS_INTO("utf8-$f"), encoding);
        *utf16 = (struct remedy){"", "", "convert it", "utf8", NULL, program};
        return utf16;
    }
    while (i < sizeof(remedies) / sizeof(remedies[0]) &&
           (!fby_text_ends_with(list_path, remedies[i].ending) ||
               strstr(why->text, remedies[i].fault) == NULL)) {
        i++;
    }
    return i < sizeof(remedies) / sizeof(remedies[0]) ? &remedies[i] : NULL;
}

bool fby_guess_explain_invalid_list(struct fby_search *search,
    const char *list_path, struct fby_error_detail *why)
{
    const char          *slash = strrchr(list_path, '/');
    const char          *list  = slash != NULL ? slash + 1 : list_path;
    char                 dir[FBY_PATH_SIZE];
    char                 program[UTF16_SIZE];
    struct remedy        utf16;
    const struct remedy *remedy =
        find_remedy(search, list_path, why, &utf16, program);
    snprintf(dir, sizeof(dir), "%.*s",
        slash != NULL ? (int)(slash - list_path) : 0, list_path);
    if (remedy != NULL && fby_shell_is_plain(list)) {
        advise(search, dir, list, remedy, why);
    }
    return remedy != NULL;
}
