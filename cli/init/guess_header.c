/* SPDX-License-Identifier: Apache-2.0 */
/* guess_header.c - look at the names of a list's columns, before its rows.
 *
 * A CSV without a header would lose its first row, and a column with a name
 * that no field can have would be left out. Only the begin of the list is read,
 * which has at least two rows, since a row has a limit. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/init/guess_lists.h"
#include "cli/init/guess_members.h"
#include "cli/init/guess_notes.h"
#include "cli/init/guess_values.h"
#include "cli/init/list_begin.h"
#include "cli/init/names.h"
#include "common/shell.h"
#include "pipeline/text.h"

enum { SCRIPT_SIZE = 64, VALUE_SIZE = 64 };

struct header { /* the list, and what its first row says */
    struct fby_search    *search;
    const char           *list;               /* its name */
    char                  dir[FBY_PATH_SIZE]; /* below the root */
    struct fby_list_begin begin;
    bool                  names_files; /* a cell is the path of a file */
    bool has_own_name; /* a later row has the name of a column as its value */
    char script[SCRIPT_SIZE];       /* of sed, that adds names; "": none */
    char value[VALUE_SIZE];         /* the first one, then */
    struct fby_guess_split  *split; /* for the columns without a member */
    fby_err                  err;   /* of the check */
    struct fby_error_detail *why;   /* the text of `err` */
};

/* Read the begin of the list. Returns false if that fails. */
static bool read_begin(
    struct fby_search *search, const char *list_path, struct header *out)
{
    const char *slash = strrchr(list_path, '/');
    out->search       = search;
    out->list         = slash != NULL ? slash + 1 : list_path;
    snprintf(out->dir, sizeof(out->dir), "%.*s",
        slash != NULL ? (int)(slash - list_path) : 0, list_path);
    return fby_list_begin_read(search, list_path, &out->begin);
}

/* ---- a first row of values ---- */

static bool is_number(const struct fby_list_cell *cell)
{
    struct fby_init_member member = {.count = 0};
    if (cell->size > 0) {
        fby_guess_add_value(&member, cell->text, cell->size);
    }
    return member.value == FBY_INIT_DIGITS || member.value == FBY_INIT_NUMBER;
}

/* True for the path of a file, which is noted. */
static bool is_path(struct header *self, const struct fby_list_cell *cell)
{
    bool found = fby_guess_is_path_of_file(
        self->search, self->dir, cell->text, cell->size);
    self->names_files = self->names_files || found;
    return found;
}

/* True for the path of a file, and for the name of a picture. */
static bool is_file(struct header *self, const struct fby_list_cell *cell)
{
    const char *dot = memrchr(cell->text, '.', cell->size);
    return is_path(self, cell) ||
           (dot != NULL && fby_init_is_picture_suffix(dot + 1));
}

/* True if the cells are 0, 1, 2 and so on: the names that pandas gives. */
static bool are_positions(const struct fby_list_row *row)
{
    uint32_t i = 0;
    while (i < row->n_cells && strtoul(row->cells[i].text, NULL, 10) == i &&
           fby_guess_is_digits(row->cells[i].text, row->cells[i].size)) {
        i++;
    }
    return i == row->n_cells;
}

/* True for a name that a field can have, or has after a change of its case. */
static bool is_name(const struct fby_list_cell *cell)
{
    char name[FBY_NAME_SIZE];
    return fby_init_to_field_name(cell->text, name);
}

/* Are the numbers values, although names are beside them? As names of columns,
 * numbers are small and rise, as years or the positions of pixels do, or are
 * after a name, and no name is missing. */
static bool are_values(const struct fby_list_row *row, uint32_t n_numbers)
{
    enum { MAX_DIGITS = 4 };
    const char *before = "";
    bool        rises  = true;
    bool        small  = true;
    bool        gap    = false; /* the first name may be empty: see csv.c */
    for (uint32_t i = 0; i < row->n_cells; i++) {
        const struct fby_list_cell *cell = &row->cells[i];
        gap                              = gap || (i > 0 && cell->size == 0);
        if (is_number(cell)) {
            small = small && fby_guess_is_digits(cell->text, cell->size) &&
                    cell->size <= MAX_DIGITS;
            rises = rises &&
                    strtol(cell->text, NULL, 10) >
                        (before[0] != '\0' ? strtol(before, NULL, 10) : -1);
            before = cell->text;
        }
    }
    bool is_first = is_number(&row->cells[0]) && n_numbers == 1 &&
                    strcmp(row->cells[0].text, "0") != 0;
    return n_numbers > 0 && (!small || !rises || is_first || gap);
}

/* Note a row that has the name of a column as its value. The header may be there
 * twice. */
static fby_err find_own_name(
    void *arg, const struct fby_list_row *row, struct fby_error_detail *why)
{
    struct header *self = arg;
    uint32_t       n    = 0;
    (void)why;
    for (uint32_t i = 0; i < row->n_cells; i++) {
        const struct fby_list_cell *cell = &row->cells[i];
        n += cell->size > 0 && strcmp(cell->text, cell->column) == 0 ? 1 : 0;
    }
    self->has_own_name = n > 0 && n < row->n_cells;
    return self->has_own_name ? FBY_GONE : FBY_OK;
}

/* Are the cells values: one is a file; or one a number, and none a name, or the
 * number is no name; or one is no name, and one is a value of its column? */
static bool has_values(struct header *self, const struct fby_list_row *row)
{
    uint32_t n_names   = 0;
    uint32_t n_numbers = 0;
    uint32_t n_files   = 0;
    for (uint32_t i = 0; i < row->n_cells; i++) {
        n_files += is_file(self, &row->cells[i]) ? 1 : 0;
        n_names += is_name(&row->cells[i]) ? 1 : 0;
        n_numbers += is_number(&row->cells[i]) ? 1 : 0;
    }
    return n_files > 0 || (n_names == 0 && n_numbers > 0) ||
           (n_names < row->n_cells && self->has_own_name) ||
           are_values(row, n_numbers);
}

/* Write the script of sed that adds names, in quotes: image and label for a file
 * and a value, else c1, c2 and so on. */
static void write_script(
    struct header *self, const struct fby_list_row *row, char out[SCRIPT_SIZE])
{
    bool is_first  = is_file(self, &row->cells[0]);
    bool is_second = row->n_cells == 2 && is_file(self, &row->cells[1]);
    if (row->n_cells == 2 && is_first != is_second) {
        snprintf(out, SCRIPT_SIZE, "'1i %s'",
            is_first ? "image,label" : "label,image");
    } else {
        snprintf(out, SCRIPT_SIZE, "\"1%c $(seq -s, -f c%%g %u)\"",
            are_positions(row) ? 'c' : 'i', row->n_cells);
    }
}

static fby_err find_script(
    void *arg, const struct fby_list_row *row, struct fby_error_detail *why)
{
    struct header *self = arg;
    (void)why;
    if (has_values(self, row)) {
        write_script(self, row, self->script);
        snprintf(self->value, sizeof(self->value), "%s",
            fby_text_show_begin(row->cells[0].text, 40).text);
    }
    return FBY_GONE; /* only the first row is wanted */
}

/* Set self->script if the first row has values. */
static void look_at_first_row(struct header *self)
{
    const struct fby_list_sink first = {find_script, self};
    const struct fby_list_sink rows  = {find_own_name, self};
    if (!self->begin.is_json) {
        fby_list_begin_visit(&self->begin, &rows);
        fby_err err = fby_list_csv_first_row(
            self->begin.text, self->begin.size, &first, NULL);
        (void)err; /* reading the whole list will say it */
    }
}

enum { OPERANDS_SIZE = 1024 };

/* Append the name of a list to the operands. Returns false if it does not fit. */
static bool append_operand(const char *list, char out[OPERANDS_SIZE])
{
    size_t used = strlen(out);
    if (used + 2 > OPERANDS_SIZE ||
        !fby_shell_quote(list, out + used + 1, OPERANDS_SIZE - used - 1)) {
        return false;
    }
    out[used] = ' ';
    return true;
}

/* Append the lists beside it whose first row needs the same, as far as they fit. */
static void append_others(
    const struct header *self, char operands[OPERANDS_SIZE])
{
    struct fby_listing listing = {0};
    fby_err            err =
        self->search->only_file[0] != '\0'
                       ? FBY_GONE
                       : fby_guess_list_dir(self->search, self->dir, NULL, &listing, NULL);
    for (uint32_t i = 0; err == FBY_OK && i < listing.count; i++) {
        struct header other = {.why = NULL};
        const char   *name  = listing.entries[i].name;
        char          path[FBY_PATH_SIZE];
        if (strcmp(name, self->list) != 0 &&
            fby_list_is_read(&listing, &listing.entries[i]) &&
            fby_path_join(self->dir, name, path, NULL) == FBY_OK &&
            read_begin(self->search, path, &other)) {
            look_at_first_row(&other);
            if (strcmp(other.script, self->script) == 0) {
                (void)append_operand(name, operands);
            }
        }
        fby_list_begin_fini(&other.begin);
    }
    fby_listing_fini(&listing);
}

/* Set the command to the one that writes lists with names of columns. Returns ":",
 * or "" if there is none. */
static const char *advise(const struct header *self)
{
    char operands[OPERANDS_SIZE] = "";
    char converted[FBY_PATH_SIZE];
    if (self->why == NULL || !append_operand(self->list, operands)) {
        return "";
    }
    append_others(self, operands);
    const char *colon = fby_guess_set_command(self->search, self->dir,
        "set -C && for f in%s; do sed %s < \"$f\" > \"names-$f\" || exit; done",
        operands, self->script);
    fby_guess_name_list(self->list, "names", converted);
    fby_guess_end_command(self->search, self->dir, converted);
    return colon;
}

static fby_err refuse_values(struct header *self)
{
    bool is_replaced = self->script[strlen("\"1")] == 'c';
    return fby_error_set(self->why, FBY_CONFIG,
        "%s: line 1 has values (%s) where the names of the columns must be: "
        "write a list with %s%s",
        fby_text_show(self->list).text, self->value,
        is_replaced ? "another line" : "one more line", advise(self));
}

/* ---- the names of columns ---- */

/* Write the name in lower case. Returns false if no `from` can have it. */
static bool lower_column(const char *name, char out[FBY_NAME_SIZE])
{
    (void)fby_init_to_field_name(name, out);
    return strlen(name) < FBY_NAME_SIZE && fby_text_is_extension(out) &&
           strchr(out, '.') == NULL;
}

/* Has the name blanks around it, without which a field can read the column? */
static bool has_blanks_around(const char *name)
{
    char   lower[FBY_NAME_SIZE];
    char   inner[FBY_NAME_SIZE];
    size_t before = strspn(name, " ");
    size_t size   = strlen(name);
    while (size > before && name[size - 1] == ' ') {
        size--;
    }
    snprintf(inner, sizeof(inner), "%.*s", (int)(size - before), name + before);
    return strlen(name) < FBY_NAME_SIZE && strcmp(inner, name) != 0 &&
           lower_column(inner, lower);
}

/* Refuse names with blanks around them, as in "a, b": the columns would be left
 * out. */
static void check_blanks(struct header *self, const struct fby_list_row *row)
{
    uint32_t i = 0;
    while (i < row->n_cells && !has_blanks_around(row->cells[i].column)) {
        i++;
    }
    if (i < row->n_cells) {
        self->err = fby_error_set(self->why, FBY_CONFIG,
            "%s: the column '%s' " FBY_GUESS_BLANKS,
            fby_text_show(self->list).text,
            fby_text_show(row->cells[i].column).text);
    }
}

static fby_err check_columns(
    void *arg, const struct fby_list_row *row, struct fby_error_detail *why)
{
    struct header *self = arg;
    (void)why;
    for (uint32_t i = 0; i < row->n_cells; i++) {
        char name[FBY_NAME_SIZE];
        bool has_path = is_path(self, &row->cells[i]);
        if (has_path && !lower_column(row->cells[i].column, name)) {
            fby_init_propose_name(row->cells[i].column, name);
            self->err = fby_error_set(self->why, FBY_CONFIG,
                "%s: the column '%s' has paths of files, but no field can read "
                "a column of that name: rename it in the list, as in %.40s",
                fby_text_show(self->list).text,
                fby_text_show(row->cells[i].column).text, name);
            break;
        }
    }
    if (self->err == FBY_OK && !self->begin.is_json) {
        check_blanks(self, row);
    }
    return FBY_GONE; /* only the first row is wanted */
}

static void add_column(struct fby_guess_split *split, const char *name)
{
    char lower[FBY_NAME_SIZE];
    (void)lower_column(name, lower);
    if (fby_guess_find_member(split, name) == NULL &&
        !fby_guess_is_file_column(split, lower) &&
        split->n_members < FBY_GUESS_MEMBERS) {
        struct fby_init_member *member = &split->members[split->n_members++];
        *member = (struct fby_init_member){.value = FBY_INIT_TEXT};
        snprintf(member->extension, sizeof(member->extension), "%s", name);
    }
}

static fby_err add_columns(
    void *arg, const struct fby_list_row *row, struct fby_error_detail *why)
{
    struct fby_guess_split *split = ((struct header *)arg)->split;
    (void)why;
    for (uint32_t i = 0; i < row->n_cells; i++) {
        add_column(split, row->cells[i].column);
    }
    return FBY_GONE;
}

/* Add the columns that are null in the first line of JSON: a row has no cells of
 * them. */
static void add_null_columns(const struct header *self)
{
    const char *name   = NULL;
    json_t     *value  = NULL;
    const char *text   = self->begin.text;
    json_t     *object = self->begin.is_json
                             ? json_loadb(text, strcspn(text, "\n"), 0, NULL)
                             : NULL;
    json_object_foreach(object, name, value)
    {
        if (json_is_null(value)) {
            add_column(self->split, name);
        }
    }
    json_decref(object);
}

fby_err fby_refuse_header(struct fby_search *search, const char *list_path,
    bool *names_files, struct fby_error_detail *why)
{
    struct header              self    = {.why = why};
    const struct fby_list_sink columns = {check_columns, &self};
    if (read_begin(search, list_path, &self)) {
        look_at_first_row(&self);
        if (self.script[0] != '\0') {
            self.err = refuse_values(&self);
        } else {
            fby_list_begin_visit(&self.begin, &columns);
        }
    }
    fby_list_begin_fini(&self.begin);
    *names_files = self.names_files;
    return self.err;
}

void fby_guess_add_other_columns(struct fby_search *search,
    const char *list_path, struct fby_guess_split *split)
{
    struct header              self = {.split = split};
    const struct fby_list_sink sink = {add_columns, &self};
    if (read_begin(search, list_path, &self)) {
        fby_list_begin_visit(&self.begin, &sink);
        add_null_columns(&self);
    }
    fby_list_begin_fini(&self.begin);
}
