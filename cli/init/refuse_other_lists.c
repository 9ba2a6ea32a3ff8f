/* SPDX-License-Identifier: Apache-2.0 */
/* refuse_other_lists.c - refuse lists in formats that are not read (.json, .tsv,
 * .txt), with the command that writes lists that are. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/init/guess_lists.h"
#include "cli/init/guess_notes.h"
#include "cli/init/list_begin.h"
#include "cli/init/list_files.h"
#include "cli/init/named_files.h"
#include "cli/init/names.h"
#include "cli/init/programs.h"
#include "cli/init/refuse_lists.h"
#include "cli/init/split_names.h"
#include "cli/init/text_table.h"
#include "cli/init/words.h"
#include "common/shell.h"
#include "pipeline/text.h"

/* ---- other formats ---- */

static fby_err refuse_tabs(const struct fby_list_files *files, const char *name,
    struct fby_error_detail *why)
{
    char path[FBY_PATH_SIZE];
    char body[FBY_LIST_BODY_SIZE];
    FBY_TRY(fby_path_join(files->path, name, path, why));
    const char *encoding = fby_guess_find_utf16(files->search, path);
    snprintf(body, sizeof(body),
        FBY_PYTHON "f, g = sys.argv[1:]; e = '%s'; D = '\\t'; "
                   "%s; "
                   "%s\" \"$f\" \"${f%%.*}.csv\"",
        encoding != NULL ? encoding : "utf-8-sig", fby_program_read_rows,
        fby_program_write_lists);
    fby_list_files_advise(files, body, ".csv");
    return fby_error_set(why, FBY_CONFIG,
        "%s has tabs: write a list with commas:",
        fby_text_show_begin(name, 60).text);
}

/* The endings of lists that are read only under another name, in any case. */
static const struct {
    const char *ending, *what, *body, *converted;
} endings[] = {{".csv.gz", "unpack it", "gunzip -k \"$f\"", ".csv"},
    {".jsonl.gz", "unpack it", "gunzip -k \"$f\"", ".jsonl"},
    {".ndjson", "copy it", "cat < \"$f\" " FBY_GUESS_INTO("${f%.*}.jsonl"),
        ".jsonl"},
    {".jsonl", "copy it", "cat < \"$f\" " FBY_GUESS_INTO("${f%.*}.jsonl"),
        ".jsonl"},
    {".csv", "copy it", "cat < \"$f\" " FBY_GUESS_INTO("${f%.*}.csv"), ".csv"}};
enum { N_ENDINGS = sizeof(endings) / sizeof(endings[0]) };

/* The index of the name's ending; N_ENDINGS: none, or a list that is read. */
static size_t find_ending(const char *name)
{
    bool is_read =
        fby_text_ends_with(name, ".csv") || fby_text_ends_with(name, ".jsonl");
    size_t i = is_read ? N_ENDINGS : 0;
    while (i < N_ENDINGS && !fby_list_has_ending(name, endings[i].ending)) {
        i++;
    }
    return i;
}

static fby_err refuse_ending(const struct fby_list_files *files,
    const char *name, size_t i, struct fby_error_detail *why)
{
    fby_list_files_advise(files, endings[i].body, endings[i].converted);
    return fby_error_set(why, FBY_CONFIG,
        "%s is not read as a list: %s:", fby_text_show_begin(name, 60).text,
        endings[i].what);
}

fby_err fby_refuse_other_list(struct fby_search *search, const char *path,
    const char *name, struct fby_error_detail *why)
{
    struct fby_list_files files;
    size_t                i       = find_ending(name);
    bool                  is_json = fby_list_has_ending(name, ".json");
    if (!is_json && i == N_ENDINGS && !fby_list_has_ending(name, ".tsv")) {
        return FBY_OK;
    }
    FBY_TRY(fby_list_files_find(search, path,
        i < N_ENDINGS ? endings[i].ending
        : is_json     ? ".json"
                      : ".tsv",
        &files, why));
    return i < N_ENDINGS ? refuse_ending(&files, name, i, why)
           : is_json     ? fby_refuse_json_list(&files, name, why)
                         : refuse_tabs(&files, name, why);
}

/* ---- lists of lines in .txt ---- */

enum { LINE_SIZE = 512 };

/* Read the first line of a file. Returns false if it has none, or a longer one. */
static bool read_line(const struct fby_search *search, const char *path,
    const char *name, char out[LINE_SIZE])
{
    if (!fby_guess_read_begin(search->root, path, name, out, LINE_SIZE)) {
        return false;
    }
    size_t line     = strcspn(out, "\r\n");
    bool   is_whole = out[line] != '\0' || (line > 0 && line < LINE_SIZE - 1);
    out[line]       = '\0';
    return is_whole;
}

/* Is the word the name or path of a file? */
static bool is_file(const struct fby_list_files *files, const char *word)
{
    struct fby_folders_below folders = {0};
    struct fby_named_file    found;
    fby_folders_below_find(files->search, files->path, &folders);
    bool is_found = fby_named_file_find(files->search, files->path, "", word,
                        &folders, &found) ||
                    fby_guess_has_file(files->search->root, files->path, word);
    fby_folders_below_fini(&folders);
    return is_found;
}

/* Is the word the path of a file from another folder, as CLASS/1.jpg in Images/?
 * Alone in a line, its class would be lost: fby_refuse_split_texts() keeps it. */
static bool is_path_elsewhere(
    const struct fby_list_files *files, const char *word)
{
    return strchr(word, '/') != NULL &&
           !fby_guess_has_file(files->search->root, files->path, word);
}

/* The number of words in a line whose first word is a file's name; 0: it is
 * none. */
static uint32_t count_words(const struct fby_list_files *files, char *line)
{
    char       *state = NULL;
    uint32_t    n     = 0;
    const char *word  = strtok_r(line, " \t", &state);
    if (word == NULL || strchr(word, '.') == NULL || !is_file(files, word)) {
        return 0;
    }
    const char *first = word;
    while (word != NULL) {
        n++;
        word = strtok_r(NULL, " \t", &state);
    }
    return n == 1 && is_path_elsewhere(files, first) ? 0 : n;
}

/* ---- lists with commas in .txt ---- */

struct first_row { /* of a list */
    const struct fby_list_files *files;
    bool                         has_file; /* a cell of several is one's name */
};

static fby_err look_at_row(
    void *arg, const struct fby_list_row *row, struct fby_error_detail *why)
{
    struct first_row *self = arg;
    (void)why;
    for (uint32_t i = 0; row->n_cells > 1 && i < row->n_cells; i++) {
        const char *text = row->cells[i].text;
        self->has_file   = self->has_file || (strchr(text, '.') != NULL &&
                                               strlen(text) < FBY_NAME_SIZE &&
                                               is_file(self->files, text));
    }
    return FBY_GONE;
}

/* Refuse files with a header and rows of several columns, of which one has names
 * of files. */
static fby_err check_rows(
    struct fby_search *search, const char *path, struct fby_error_detail *why)
{
    struct fby_list_files      files;
    struct first_row           row  = {.files = &files};
    const struct fby_list_sink sink = {look_at_row, &row};
    struct fby_list_begin      begin;
    char                       file[FBY_PATH_SIZE];
    FBY_TRY(fby_list_files_find(search, path, ".txt", &files, why));
    if (files.n == 0 || search->in_zip) {
        return FBY_OK;
    }
    FBY_TRY(fby_path_join(path, files.names[0], file, why));
    if (fby_list_begin_read(search, file, &begin)) {
        fby_list_begin_visit(&begin, &sink);
    }
    fby_list_begin_fini(&begin);
    if (!row.has_file) {
        return FBY_OK;
    }
    fby_list_files_advise(
        &files, "cat < \"$f\" " FBY_GUESS_INTO("${f%.*}.csv"), ".csv");
    return fby_error_set(why, FBY_CONFIG,
        "%s is not read as a list: copy it to a .csv:",
        fby_text_show_begin(files.names[0], 60).text);
}

/* Is there a list of train, or only the one that the user gives? A text of another
 * split may have the classes of its pictures. */
static bool has_train(const struct fby_list_files *files)
{
    bool found = files->search->only_file[0] != '\0' && files->are_splits;
    for (uint32_t i = 0; files->are_splits && i < files->n; i++) {
        found = found || strcmp(fby_split_word(files->names[i]), "train") == 0;
    }
    return found;
}

/* Refuse files of lines with a picture and its boxes: images/1.jpg 8,12,35,49,1. */
static fby_err refuse_box_lines(
    const struct fby_list_files *files, struct fby_error_detail *why)
{
    char body[FBY_LIST_BODY_SIZE];
    snprintf(body, sizeof(body), FBY_PYTHON "%s; %s\" $f ${f%%.*}.jsonl",
        fby_program_box_lines, fby_program_write_lists);
    fby_list_files_advise(files, body, ".jsonl");
    return fby_error_set(why, FBY_CONFIG,
        "%s has boxes in lines: write a list of them:", files->names[0]);
}

/* The number of cells in a line with tabs, of which the first is a file's name; 0:
 * it is none. */
static uint32_t count_cells(const struct fby_list_files *files, char *line)
{
    uint32_t n = 1;
    for (const char *at = line; *at != '\0'; at++) {
        n += *at == '\t' ? 1 : 0;
    }
    line[strcspn(line, "\t")] = '\0';
    return strchr(line, '.') != NULL && is_file(files, line) ? n : 0;
}

/* Are the second cells of the lines texts? Those of labels are numbers, or the first
 * lines have each one twice. */
static bool has_texts(const struct fby_list_files *files)
{
    enum { HEAD_SIZE = 8192 };
    struct fby_init_member cells = {.extension = "text"};
    char                   head[HEAD_SIZE];
    char                  *state     = NULL;
    bool                   is_number = true;
    if (!fby_guess_read_begin(files->search->root, files->path, files->names[0],
            head, sizeof(head))) {
        return false;
    }
    for (const char *line = strtok_r(head, "\r\n", &state); line != NULL;
         line             = strtok_r(NULL, "\r\n", &state)) {
        const char *tab = strchr(line, '\t'); /* NULL: the last line is cut */
        size_t      n   = tab != NULL ? strcspn(tab + 1, "\t") : 0;
        if (n > 0) {
            is_number = is_number && strspn(tab + 1, "0123456789.+-") >= n;
            fby_init_add_word(&cells, tab + 1, n);
        }
    }
    bool are_texts = !is_number && !fby_init_are_classes(&cells);
    fby_init_free_words(&cells);
    return are_texts;
}

/* Refuse files of lines with `n` cells between tabs. */
static fby_err refuse_tab_lines(const struct fby_list_files *files, uint32_t n,
    struct fby_error_detail *why)
{
    char   body[FBY_LIST_BODY_SIZE];
    char   header[128];
    size_t used = (size_t)snprintf(header, sizeof(header), "'image', '%s'",
        has_texts(files) ? "text" : "label");
    for (uint32_t i = 3; i <= n; i++) {
        used += (size_t)snprintf(
            header + used, sizeof(header) - used, ", 'c%u'", i);
    }
    snprintf(body, sizeof(body),
        FBY_PYTHON "f, g = sys.argv[1:]; H = [%s]; %s; %s\" \"$f\" "
                   "\"${f%%.*}.csv\"",
        header, fby_program_tab_lines, fby_program_write_lists);
    fby_list_files_advise(files, body, ".csv");
    return fby_error_set(why, FBY_CONFIG,
        "%s is not read as a list: write one with commas and a header:",
        fby_text_show_begin(files->names[0], 60).text);
}

/* Is there a file with captions? Lines of names alone are then of splits. */
static bool has_captions(const struct fby_listing *listing)
{
    uint32_t i = 0;
    while (i < listing->count &&
           !fby_init_is_caption_file(listing->entries[i].name)) {
        i++;
    }
    return i < listing->count;
}

/* Refuse files of lines that begin with the path or name of a file. */
static fby_err check_lines(struct fby_search *search, const char *path,
    const struct fby_listing *listing, struct fby_error_detail *why)
{
    struct fby_list_files files;
    char                  line[LINE_SIZE];
    char                  body[FBY_LIST_BODY_SIZE];
    char                  header[96] = "image,label";
    FBY_TRY(fby_list_files_find(search, path, ".txt", &files, why));
    if (!has_train(&files) || !read_line(search, path, files.names[0], line)) {
        return FBY_OK;
    }
    bool     has_tabs = strchr(line, '\t') != NULL;
    uint32_t n =
        has_tabs ? count_cells(&files, line)
                 : count_words(&files, line); /* it cuts the line into words */
    if (!has_tabs && n > 1 && strchr(line + strlen(line) + 1, ',') != NULL) {
        return refuse_box_lines(&files, why);
    }
    if (n == 0 || n > 8 || (n == 1 && has_captions(listing))) {
        return FBY_OK;
    }
    if (has_tabs) {
        return refuse_tab_lines(&files, n, why);
    }
    header[n == 1 ? strlen("image") : strlen(header)] = '\0';
    for (uint32_t i = 3; i <= n; i++) {
        size_t used = strlen(header);
        snprintf(header + used, sizeof(header) - used, ",c%u", i);
    }
    snprintf(body, sizeof(body),
        "(echo %s; tr -d '\\r' < \"$f\" | tr -s ' \\t' ,) > \"${f%%.*}.csv\"",
        header);
    fby_list_files_advise(&files, body, ".csv");
    return fby_error_set(why, FBY_CONFIG,
        "%s is not read as a list: write one with commas and a header:",
        fby_text_show_begin(files.names[0], 60).text);
}

fby_err fby_refuse_other_lists(struct fby_search *search, const char *path,
    const struct fby_listing *listing, struct fby_error_detail *why)
{
    for (uint32_t i = 0; i < listing->count; i++) {
        if (!listing->entries[i].is_dir) {
            FBY_TRY(fby_refuse_other_list(
                search, path, listing->entries[i].name, why));
        }
    }
    FBY_TRY(check_rows(search, path, why));
    return check_lines(search, path, listing, why);
}

/* ---- texts ---- */

/* The endings of texts; .tokens and .raw are those of WikiText. */
static const char *const text_endings[] = {".txt", ".tokens", ".raw"};
enum { N_TEXTS = sizeof(text_endings) / sizeof(text_endings[0]) };

/* The index of the name's ending; N_TEXTS: another. */
static size_t find_text_ending(const char *name)
{
    size_t i = 0;
    while (i < N_TEXTS && !fby_list_has_ending(name, text_endings[i])) {
        i++;
    }
    return i;
}

/* Has the file sentences of equally many words? */
static bool is_prose(const struct fby_list_files *files, const char *name)
{
    enum { HEAD_SIZE = 8192 };
    struct fby_text_table table;
    char                  head[HEAD_SIZE];
    if (!fby_guess_read_begin(
            files->search->root, files->path, name, head, sizeof(head))) {
        return false;
    }
    size_t n = strlen(head);
    return fby_text_table_find(head, n, n == sizeof(head) - 1, &table) &&
           table.is_prose;
}

static fby_err refuse_prose(
    const struct fby_list_files *files, struct fby_error_detail *why)
{
    char body[FBY_LIST_BODY_SIZE];
    snprintf(body, sizeof(body),
        FBY_PYTHON "%s; %s\" \"$f\" \"${f%%.*}.jsonl\"", fby_program_text_lines,
        fby_program_write_lists);
    fby_list_files_advise(files, body, ".jsonl");
    return fby_error_set(why, FBY_CONFIG,
        "%s has a sentence in each line: write a list of texts:",
        fby_text_show_begin(files->names[0], 60).text);
}

fby_err fby_refuse_texts(struct fby_search *search, const char *path,
    const struct fby_listing *listing, struct fby_error_detail *why)
{
    struct fby_list_files files;
    size_t                ending = N_TEXTS;
    char                  line[LINE_SIZE];
    for (uint32_t i = 0; i < listing->count; i++) {
        const char *name = listing->entries[i].name;
        size_t      k    = find_text_ending(name);
        if (listing->entries[i].is_dir ||
            (k == N_TEXTS && !fby_list_has_ending(name, ".md"))) {
            return FBY_OK;
        }
        ending = k < N_TEXTS ? k : ending;
    }
    if (ending == N_TEXTS) {
        return FBY_OK;
    }
    files = (struct fby_list_files){.search = search,
        .path                               = path,
        .ending                             = text_endings[ending],
        .takes_all                          = true};
    FBY_TRY(fby_list_files_find_again(&files, why));
    if (files.n == 0) {
        return FBY_OK;
    }
    if (is_prose(&files, files.names[0])) {
        return refuse_prose(&files, why);
    }
    FBY_TRY(fby_refuse_text_tables(search, path, ".txt", why));
    if (read_line(search, path, files.names[0], line) &&
        strchr(line, '\t') != NULL) {
        return refuse_tabs(&files, files.names[0], why);
    }
    fby_list_files_advise(
        &files, "cat < \"$f\" " FBY_GUESS_INTO("${f%.*}.bin"), ".bin");
    strncat(search->out->command, " --tokens u8",
        sizeof(search->out->command) - strlen(search->out->command) - 1);
    size_t stem = strlen(files.names[0]) - strlen(text_endings[ending]);
    snprintf(line, sizeof(line), "%.*s.bin", (int)stem, files.names[0]);
    return fby_error_set(why, FBY_CONFIG,
        "%s is a text without token ids: write those of your tokenizer into "
        "%s; or its bytes, as ids of type u8:",
        fby_text_show_begin(files.names[0], 60).text,
        fby_text_show_begin(line, 60).text);
}
