/* SPDX-License-Identifier: Apache-2.0 */
/* named_files.c - find the files that a list names.
 *
 * The values of the first rows are looked for in all folders, first with the
 * whole path of a value, then without its first folders. Of several files, one in
 * a folder of the list's split is best, since train and test may have files of
 * one name; then one in a folder of pictures, or for a column of masks, of masks. */
#include "cli/init/named_files.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/init/guess_values.h"
#include "cli/init/list_begin.h"
#include "cli/init/names.h"
#include "cli/init/split_names.h"
#include "cli/init/words.h"
#include "common/mem.h"
#include "pipeline/text.h"

enum {
    MAX_DEPTH   = 5,    /* levels below the list's folder */
    MAX_FOLDERS = 2000, /* that are looked into */
    MAX_ROWS    = 4,    /* that are looked at */
    MAX_NAMES   = 100   /* rows with names of pictures that are looked at */
};

/* ---- the folders ---- */

static unsigned depth_of(const char *path)
{
    unsigned depth = path[0] != '\0' ? 1 : 0;
    for (const char *c = path; *c != '\0'; c++) {
        depth += *c == '/' ? 1 : 0;
    }
    return depth;
}

/* Add the folders directly in the folder `self->paths[i]`. */
static void add_inner(struct fby_search *search, const char *path,
    struct fby_folders_below *self, uint32_t i)
{
    struct fby_listing inner = {0};
    char               below[FBY_PATH_SIZE];
    if (fby_path_join(path, self->paths[i], below, NULL) != FBY_OK ||
        fby_guess_list_dir(search, below, NULL, &inner, NULL) != FBY_OK) {
        fby_listing_fini(&inner);
        return;
    }
    for (uint32_t k = 0; k < inner.count && self->n < MAX_FOLDERS; k++) {
        if (inner.entries[k].is_dir &&
            fby_path_join(self->paths[i], inner.entries[k].name, below, NULL) ==
                FBY_OK) {
            self->paths[self->n++] = fby_strdup(below);
        }
    }
    fby_listing_fini(&inner);
}

void fby_folders_below_find(
    struct fby_search *search, const char *path, struct fby_folders_below *out)
{
    out->paths    = fby_zalloc(MAX_FOLDERS * sizeof(*out->paths));
    out->paths[0] = fby_strdup("");
    out->n        = 1;
    for (uint32_t i = 0; i < out->n && out->n < MAX_FOLDERS; i++) {
        if (depth_of(out->paths[i]) < MAX_DEPTH) {
            add_inner(search, path, out, i);
        }
    }
}

void fby_folders_below_fini(struct fby_folders_below *self)
{
    for (uint32_t i = 0; i < self->n; i++) {
        free(self->paths[i]);
    }
    free(self->paths);
    *self = (struct fby_folders_below){.paths = NULL};
}

/* ---- the file of a value ---- */

struct named_search { /* the files of one list */
    const struct fby_search        *search;
    const char                     *dir; /* of the list, below the root */
    const struct fby_folders_below *folders;
    const struct fby_list_begin    *begin;
    const char                     *split; /* of the list; NULL: none */
    enum fby_named_numbers          numbers;
    bool                            is_whole; /* values have extensions */
    uint32_t                        n_rows;
    struct fby_named_files         *out;
};

static bool is_of_split(const char *folder, const char *split)
{
    const char *word   = fby_split_word(folder);
    const char *called = fby_split_of_folder(folder);
    return (word != NULL && strcmp(word, split) == 0) ||
           (called != NULL && strcmp(called, split) == 0);
}

/* The bytes of the path up to and with a folder of the split and its slash; 0:
 * there is none. */
static size_t find_split(const char *path, const char *split)
{
    const char *slash;
    for (const char *at = path; split != NULL && (slash = strchr(at, '/'));
         at             = slash + 1) {
        char folder[FBY_NAME_SIZE];
        snprintf(folder, sizeof(folder), "%.*s", (int)(slash - at), at);
        if (is_of_split(folder, split)) {
            return (size_t)(slash + 1 - path);
        }
    }
    return 0;
}

/* Is a folder of the path one of another split? */
static bool is_of_other_split(const char *path, const char *split)
{
    bool found = false;
    for (size_t k = 0; k < FBY_KNOWN_SPLITS; k++) {
        found = found || (strcmp(fby_known_splits[k], split) != 0 &&
                             find_split(path, fby_known_splits[k]) > 0);
    }
    return found;
}

/* Is one of the folders of the split? */
static bool has_folder_of_split(
    const struct fby_folders_below *folders, const char *split)
{
    bool found = false;
    for (uint32_t i = 0; !found && i < folders->n; i++) {
        char path[FBY_PATH_SIZE + 1];
        snprintf(path, sizeof(path), "%s/", folders->paths[i]);
        found = find_split(path, split) > 0;
    }
    return found;
}

bool fby_has_folder_of_train(const struct fby_folders_below *folders)
{
    return has_folder_of_split(folders, "train");
}

bool fby_is_evaluation_folder(const char *name)
{
    char path[FBY_PATH_SIZE + 1];
    snprintf(path, sizeof(path), "%s/", name);
    return find_split(path, "train") == 0 && is_of_other_split(path, "train");
}

/* Is the path better for the list than those in folders of other splits? A list
 * without a split is that of train, if there is a folder of it. */
static bool fits_split(
    const struct named_search *self, const char *path, size_t split_size)
{
    return self->split != NULL ? split_size > 0
                               : !is_of_other_split(path, "train") ||
                                     !fby_has_folder_of_train(self->folders);
}

/* How well the file fits the list and the column. */
static unsigned rate_match(const struct named_search *self, const char *column,
    const char *path, size_t split_size)
{
    char        folder[FBY_VALUE_SIZE];
    const char *slash   = strrchr(path, '/');
    bool        is_mask = fby_init_is_partner_name(column);
    snprintf(folder, sizeof(folder), "%.*s",
        slash != NULL ? (int)(slash - path) : 0, path);
    unsigned of_split = fits_split(self, path, split_size) ? 2 : 0;
    unsigned of_kind  = fby_init_is_partner_name(folder) == is_mask ? 1 : 0;
    return of_split + of_kind;
}

/* Is the file `rest` in the folder? If only the case of its extension is another,
 * `out` gets that of the file. */
static bool has_file(const struct named_search *self, const char *folder,
    const char *rest, char out[FBY_PATH_SIZE])
{
    int (*const cases[])(int) = {NULL, tolower, toupper};
    bool found                = false;
    for (size_t i = 0; !found && i < sizeof(cases) / sizeof(cases[0]); i++) {
        char path[FBY_PATH_SIZE];
        if (fby_path_join(folder, rest, out, NULL) != FBY_OK) {
            return false;
        }
        char *dot = strrchr(out, '.');
        for (char *c = dot; cases[i] != NULL && c != NULL && *c != '\0'; c++) {
            *c = (char)cases[i]((unsigned char)*c);
        }
        found = fby_path_join(self->dir, out, path, NULL) == FBY_OK &&
                fby_object_exists(self->search->root, path);
    }
    return found;
}

/* Look for the file `rest` in the folder, also with an extension. */
static bool is_there(const struct named_search *self, const char *folder,
    const char *rest, char out[FBY_PATH_SIZE], char ending[FBY_NAME_SIZE])
{
    char within[FBY_PATH_SIZE];
    ending[0] = '\0';
    if (has_file(self, folder, rest, out)) {
        return true;
    }
    return fby_path_join(folder, rest, out, NULL) == FBY_OK &&
           fby_path_join(self->dir, folder, within, NULL) == FBY_OK &&
           !self->is_whole &&
           fby_guess_find_picture(
               self->search->root, within, rest, strlen(rest), ending);
}

/* May a file anywhere be that of `rest`, a part of the value `text`? The name
 * alone of one in a folder may be that of others, too. */
static bool may_match_anywhere(const char *text, const char *rest)
{
    return strchr(rest, '/') != NULL || text + strspn(text, "./") >= rest;
}

/* Copy the file `path`, which ends with `rest`, to `out`. */
static void copy_file(const struct named_search *self, const char *text,
    const char *rest, const char *path, const char *ending,
    struct fby_named_file *out)
{
    size_t size = strlen(path);
    memcpy(out->path, path, size);
    memcpy(out->path + size, ending, strlen(ending) + 1);
    snprintf(out->ending, sizeof(out->ending), "%.7s", ending);
    snprintf(
        out->prefix, sizeof(out->prefix), "%.*s", (int)(rest - text), text);
    out->split_size  = find_split(path, self->split);
    out->folder_size = strlen(path) - strlen(rest);
    out->n_parts     = depth_of(rest);
}

/* Look for the best file that ends with `rest`, a part of the value `text`, in the
 * first `n` folders. Returns the number of files, until the best is found. */
static uint32_t find_best(const struct named_search *self, const char *text,
    const char *rest, uint32_t n, struct fby_named_file *out)
{
    unsigned best    = 0;
    uint32_t n_files = 0;
    bool     is_name = !may_match_anywhere(text, rest);
    for (uint32_t i = 0; i < n && (best < 3 || is_name); i++) {
        char path[FBY_PATH_SIZE];
        char ending[FBY_NAME_SIZE];
        if (!is_there(self, self->folders->paths[i], rest, path, ending) ||
            strlen(path) + strlen(ending) >= sizeof(out->path) ||
            strlen(ending) >= sizeof(out->ending)) {
            continue;
        }
        unsigned rated =
            rate_match(self, out->column, path, find_split(path, self->split));
        if (n_files == 0 || rated > best) {
            copy_file(self, text, rest, path, ending, out);
            best    = rated;
            n_files = 1;
        } else if (rated == best) {
            n_files++;
        }
    }
    return n_files;
}

/* Is the value an absolute path, as one of another machine? */
static bool is_absolute(const char *text)
{
    return text[0] == '/' || (text[0] != '\0' && text[1] == ':');
}

/* Look for the best file that ends with `rest`, a part of the value `text`. By the
 * name alone of an absolute path, a picture anywhere is the one if there is no other
 * of that name. */
static bool find_rest(const struct named_search *self, const char *text,
    const char *rest, struct fby_named_file *out)
{
    if (may_match_anywhere(text, rest)) {
        return find_best(self, text, rest, self->folders->n, out) > 0;
    }
    if (find_best(self, text, rest, 1, out) > 0) {
        return true;
    }
    bool found = is_absolute(text) && fby_init_is_any_picture(rest) &&
                 find_best(self, text, rest, self->folders->n, out) == 1;
    out->folder_size = found ? 0 : out->folder_size; /* none is preferred */
    return found;
}

/* Look for the best file of the text, which may be a path on another machine. */
static bool find_text(const struct named_search *self, const char *text,
    struct fby_named_file *out)
{
    const char *rest  = text;
    bool        found = false;
    while (rest != NULL && !found) {
        rest += strspn(rest, "/");
        found = *rest != '\0' && find_rest(self, text, rest, out);
        rest  = strchr(rest, '/');
    }
    return found;
}

/* The digits before ".0", which pandas adds to whole numbers of a column with gaps;
 * 0: the text is another. */
static size_t count_before_point(const char *text, size_t size)
{
    return size > 2 && memcmp(text + size - 2, ".0", 2) == 0 &&
                   fby_guess_is_digits(text, size - 2)
               ? size - 2
               : 0;
}

static bool is_number(const char *text, size_t size)
{
    return fby_guess_is_digits(text, size) ||
           count_before_point(text, size) > 0;
}

/* Find the file of out->value. Returns false if there is none, or if the value is
 * its path. */
static bool find_value(
    const struct named_search *self, struct fby_named_file *out)
{
    char text[FBY_VALUE_SIZE];
    memcpy(text, out->value, sizeof(text));
    for (char *c = text; *c != '\0'; c++) {
        *c = (char)(*c == '\\' ? '/' : *c);
    }
    size_t n_digits = count_before_point(text, strlen(text));
    bool   found    = find_text(self, text, out);
    if (!found && n_digits > 0) {
        text[n_digits] = '\0';
        found          = find_text(self, text, out);
    }
    return found && strcmp(out->path, out->value) != 0;
}

/* ---- the values of a list ---- */

struct repeat_search { /* is a cell in another row, too? */
    const struct fby_list_cell *cell;
    uint64_t                    line; /* of the cell */
    bool                        found;
};

static fby_err find_repeat(
    void *arg, const struct fby_list_row *row, struct fby_error_detail *why)
{
    struct repeat_search *self = arg;
    (void)why;
    for (uint32_t i = 0; row->line != self->line && i < row->n_cells; i++) {
        const struct fby_list_cell *cell = &row->cells[i];
        self->found =
            self->found ||
            (cell->size == self->cell->size &&
                memcmp(cell->text, self->cell->text, cell->size) == 0 &&
                strcmp(cell->column, self->cell->column) == 0);
    }
    return self->found ? FBY_GONE : FBY_OK;
}

/* Is the column called as one of names: id, image_id, file? */
static bool is_of_names(const char *column)
{
    static const char *const words[] = {"file", "name", "path", "index"};
    bool                     found =
        strcmp(column, "id") == 0 || fby_text_ends_with(column, "id") ||
        fby_init_is_picture_name(column) || fby_init_is_partner_name(column);
    for (size_t k = 0; k < sizeof(words) / sizeof(words[0]); k++) {
        found = found || strstr(column, words[k]) != NULL;
    }
    return found;
}

/* May the cell be a name, and no label? A number without zeros in front that is in
 * another row, too, is none, and no number in a column that is called after
 * labels. */
static bool may_be_name(const struct named_search *self, uint64_t line,
    const struct fby_list_cell *cell, const char *column)
{
    if (!is_number(cell->text, cell->size)) {
        return true;
    }
    struct repeat_search       repeat = {.cell = cell, .line = line};
    const struct fby_list_sink sink   = {find_repeat, &repeat};
    bool has_zeros                    = cell->size > 1 && cell->text[0] == '0';
    bool may_be_number =
        self->numbers == FBY_NUMBERS_ANY ||
        (self->numbers == FBY_NUMBERS_BY_COLUMN && is_of_names(column));
    if ((!may_be_number && !has_zeros) || fby_init_is_class_name(column)) {
        return false;
    }
    if (!has_zeros) {
        fby_list_begin_visit(self->begin, &sink);
    }
    return !repeat.found;
}

/* Copy the cell to out->value. Returns false for one that is too long. */
static bool copy_cell(
    const struct fby_list_cell *cell, struct fby_named_file *out)
{
    if (cell->size == 0 || cell->size >= sizeof(out->value) ||
        strlen(cell->column) >= sizeof(out->column)) {
        return false;
    }
    memcpy(out->value, cell->text, cell->size);
    out->value[cell->size] = '\0';
    (void)fby_init_to_field_name(cell->column, out->column);
    return strlen(out->value) == cell->size &&
           strstr(out->value, "://") == NULL;
}

static bool is_picture_name(const struct fby_list_cell *cell)
{
    struct fby_named_file file;
    return copy_cell(cell, &file) && fby_init_is_any_picture(file.value);
}

static bool has_picture_name(const struct fby_list_row *row)
{
    uint32_t i = 0;
    while (i < row->n_cells && !is_picture_name(&row->cells[i])) {
        i++;
    }
    return i < row->n_cells;
}

static fby_err find_in_row(
    void *arg, const struct fby_list_row *row, struct fby_error_detail *why)
{
    struct named_search    *self = arg;
    struct fby_named_files *out  = self->out;
    (void)why;
    self->is_whole = has_picture_name(row);
    for (uint32_t i = 0; i < row->n_cells && out->n < FBY_NAMED_COLUMNS; i++) {
        const struct fby_list_cell *cell = &row->cells[i];
        struct fby_named_file      *file = &out->files[out->n];
        bool is_looked_at = self->n_rows < MAX_ROWS || is_picture_name(cell);
        if (is_looked_at && copy_cell(cell, file) &&
            may_be_name(self, row->line, cell, file->column) &&
            find_value(self, file)) {
            out->n++;
        }
    }
    self->n_rows++;
    return out->n > 0 || self->n_rows == MAX_NAMES ? FBY_GONE : FBY_OK;
}

/* ---- numbers that are names ---- */

struct number_search { /* how many numbers of a column name no file? */
    const struct named_search *names;
    const char                *column;
    uint32_t                   n_rows, n_missing;
};

static fby_err count_missing(
    void *arg, const struct fby_list_row *row, struct fby_error_detail *why)
{
    struct number_search *self = arg;
    (void)why;
    for (uint32_t i = 0; i < row->n_cells; i++) {
        struct fby_named_file file;
        bool                  is_missing = copy_cell(&row->cells[i], &file) &&
                          strcmp(file.column, self->column) == 0 &&
                          !find_value(self->names, &file);
        self->n_missing += is_missing ? 1 : 0;
    }
    self->n_rows++;
    return self->n_rows == MAX_ROWS ? FBY_GONE : FBY_OK;
}

/* Drop columns of numbers of which half name no files: a table of numbers may
 * lie beside pictures called 1.jpg. Of others, the first is that of the names: an
 * age may be such a number, too. One with zeros in front is no age. */
static void drop_numbers(struct named_search *self)
{
    struct fby_named_files *out  = self->out;
    uint32_t                kept = 0;
    bool                    any  = false; /* a column of numbers is kept */
    for (uint32_t i = 0; i < out->n; i++) {
        const struct fby_named_file *file = &out->files[i];
        struct number_search search = {.names = self, .column = file->column};
        const struct fby_list_sink sink = {count_missing, &search};
        bool is_name = !is_number(file->value, strlen(file->value));
        if (!is_name) {
            fby_list_begin_visit(self->begin, &sink);
        }
        bool is_found =
            search.n_missing == 0 || 2 * search.n_missing < search.n_rows;
        bool has_zeros = file->value[0] == '0' && file->value[1] != '\0';
        bool is_sure   = has_zeros && search.n_missing == 0;
        if (is_name || (is_found && (!any || is_sure))) {
            out->files[kept++] = *file;
            any                = any || !is_name;
        }
    }
    out->n = kept;
}

bool fby_named_file_find(const struct fby_search *search, const char *dir,
    const char *list, const char *name, const struct fby_folders_below *folders,
    struct fby_named_file *out)
{
    const char               *split = fby_split_word(list);
    const struct named_search self  = {.search = search,
         .dir                                  = dir,
         .folders                              = folders,
         .split                                = split,
         .is_whole                             = true};
    *out                            = (struct fby_named_file){.column = ""};
    snprintf(out->value, sizeof(out->value), "%s", name);
    return strlen(name) < sizeof(out->value) && find_value(&self, out) &&
           (split == NULL || out->split_size > 0 ||
               !is_of_other_split(out->path, split) ||
               !has_folder_of_split(folders, split));
}

bool fby_named_files_find(const struct fby_search *search, const char *dir,
    const char *list, const struct fby_folders_below *folders,
    enum fby_named_numbers numbers, struct fby_named_files *out)
{
    struct fby_list_begin      begin = {.text = NULL};
    struct named_search        self  = {.search = search,
                .dir                            = dir,
                .folders                        = folders,
                .begin                          = &begin,
                .split                          = fby_split_word(list),
                .numbers                        = numbers,
                .out                            = out};
    const struct fby_list_sink sink  = {find_in_row, &self};
    char                       path[FBY_PATH_SIZE];
    out->n = 0;
    if (fby_path_join(dir, list, path, NULL) == FBY_OK &&
        fby_list_begin_read(search, path, &begin)) {
        fby_list_begin_visit(&begin, &sink);
        drop_numbers(&self);
    }
    fby_list_begin_fini(&begin);
    return out->n > 0;
}
