/* SPDX-License-Identifier: Apache-2.0 */
/* guess_invalid_lists.c - the commands that make valid lists of invalid ones. */
#include <stdio.h>
#include <string.h>

#include "cli/init/guess_lists.h"
#include "cli/init/guess_notes.h"
#include "cli/init/list_begin.h"
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
    const char *word; /* of the new list; NULL: fby_guess_set_wide_command() */
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
        "iconv -f CP1252 -t UTF-8 \"$f\" " FBY_GUESS_INTO("utf8-$f")

#define ONE_LINE "line 1: "

static const struct remedy remedies[] = {
    {".csv", FBY_LIST_NOT_UTF8, LATIN},
    {".csv", FBY_LIST_NUL_BYTE, "remove it", "utf8", NULL,
        "tr -d '\\000' < \"$f\" " FBY_GUESS_INTO("utf8-$f")},
    {".csv", FBY_LIST_NO_COMMA "';'", COMMAS(";")},
    {".csv", FBY_LIST_NO_COMMA "'|'", COMMAS("|")},
    {".csv", FBY_LIST_NO_COMMA "tabs", COMMAS("\\t")},
    {".csv", FBY_LIST_TOO_WIDE, FBY_GUESS_WIDE_PURPOSE, NULL, NULL, NULL},
    {".jsonl", FBY_LIST_NOT_UTF8, LATIN},
    {".jsonl", FBY_LIST_NO_OBJECT, "convert it", "lines", NULL,
        "jq -c '.[]' \"$f\" " FBY_GUESS_INTO("lines-$f")},
    {".jsonl", ONE_LINE FBY_LIST_CUT_JSON, "convert it", "lines", NULL,
        "jq -c . \"$f\" " FBY_GUESS_INTO("lines-$f")},
    {".jsonl", FBY_LIST_CUT_JSON, "leave out lines that are cut", "lines", NULL,
        "jq -Rr 'select(fromjson? | objects)' \"$f\" " FBY_GUESS_INTO(
            "lines-$f")},
    {".csv", FBY_LIST_NO_FIELD, NAMES},
    {".csv", FBY_LIST_NO_NAME, NAMES},
    {".csv", FBY_GUESS_BLANKS, NAMES},
};

/* Is the fault in the text of the error? ONE_LINE before it: of line 1. */
static bool has_fault(const char *text, const char *fault)
{
    size_t n          = strlen(ONE_LINE);
    bool   is_of_line = strncmp(fault, ONE_LINE, n) == 0;
    return strstr(text, fault + (is_of_line ? n : 0)) != NULL &&
           (!is_of_line || strstr(text, ONE_LINE) != NULL);
}

/* End the error with the command of the search. */
static void advise(struct fby_search *search, const char *dir, const char *list,
    const struct remedy *remedy, struct fby_error_detail *why)
{
    char   converted[FBY_PATH_SIZE];
    size_t used = strlen(why->text);
    if (remedy->word == NULL) {
        fby_guess_set_wide_command(search, dir, list);
    } else if (remedy->settings != NULL) {
        fby_guess_set_command(search, dir, FBY_PYTHON "f = '%s'; %s%s; %s\"",
            list, remedy->settings, remedy->program, fby_program_write_lists);
    } else {
        fby_guess_set_command(
            search, dir, "set -C && f=%s && %s", list, remedy->program);
    }
    if (remedy->word != NULL) {
        fby_guess_name_list(list, remedy->word, converted);
        fby_guess_end_command(search, dir, converted);
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

/* ---- other separators ---- */

static const struct separator {
    char        sign;
    const char *name, *fault;
} separators[] = {{'|', "'|'", FBY_LIST_NO_COMMA "'|'"},
    {'\t', "tabs", FBY_LIST_NO_COMMA "tabs"},
    {';', "';'", FBY_LIST_NO_COMMA "';'"}};
enum { N_SEPARATORS = sizeof(separators) / sizeof(separators[0]) };

/* The number of signs in each line of a text; 0: the numbers differ. The last line
 * may be cut. */
static uint32_t count_in_lines(const char *text, char sign)
{
    uint32_t first = 0;
    for (const char *line = text, *end; (end = strchr(line, '\n')) != NULL;
         line             = end + 1) {
        uint32_t n = 0;
        for (const char *c = line; c < end; c++) {
            n += *c == sign ? 1 : 0;
        }
        first = line == text ? n : first;
        if (n != first && end - line > 1) { /* 1: an empty line with CR */
            return 0;
        }
    }
    return first;
}

/* The separator of which all first lines have as many, where their numbers of commas
 * differ; NULL: there is none. */
static const struct separator *find_separator(const struct fby_search *search,
    const char *list_path, const struct fby_error_detail *why)
{
    const struct separator *found = NULL;
    struct fby_list_begin   begin;
    if (strstr(why->text, FBY_LIST_OF_HEADER) == NULL) {
        return NULL;
    }
    if (fby_list_begin_read(search, list_path, &begin)) {
        for (size_t i = 0; found == NULL && i < N_SEPARATORS; i++) {
            bool has_as_many =
                count_in_lines(begin.text, separators[i].sign) > 0;
            found = has_as_many ? &separators[i] : NULL;
        }
    }
    fby_list_begin_fini(&begin);
    return found;
}

/* The remedy for the list; NULL: none is known. `utf16` is one with the program
 * `program`. */
static const struct remedy *find_remedy(const struct fby_search *search,
    const char *list_path, struct fby_error_detail *why, struct remedy *utf16,
    char program[UTF16_SIZE])
{
    const char *encoding = fby_guess_find_utf16(search, list_path);
    const char *fault    = why->text;
    size_t      i        = 0;

    const struct separator *other = find_separator(search, list_path, why);
    if (encoding != NULL) {
        snprintf(program, UTF16_SIZE,
            "iconv -f %s -t UTF-8 \"$f\" " FBY_GUESS_INTO("utf8-$f"), encoding);
        *utf16 = (struct remedy){"", "", "convert it", "utf8", NULL, program};
        return utf16;
    }
    if (other != NULL) {
        fault = other->fault;
        (void)fby_error_set(why, FBY_CONFIG,
            "%s: its columns seem to be separated by %s, not by commas: each "
            "line has as many",
            fby_text_show(list_path).text, other->name);
    }
    while (i < sizeof(remedies) / sizeof(remedies[0]) &&
           (!fby_text_ends_with(list_path, remedies[i].ending) ||
               !has_fault(fault, remedies[i].fault))) {
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
