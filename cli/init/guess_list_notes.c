/* SPDX-License-Identifier: Apache-2.0 */
/* guess_list_notes.c - notes of columns of lists that no field can read, with the
 * command that writes lists in which they can be read: those with names that no
 * field can have, numbers that some rows lack, texts that some rows lack, as the
 * `input` of Alpaca, and several labels in a cell. */
#include <stdio.h>
#include <string.h>

#include "cli/init/guess_lists.h"
#include "cli/init/guess_members.h"
#include "cli/init/guess_notes.h"
#include "cli/init/guess_values.h"
#include "cli/init/names.h"
#include "cli/init/programs.h"
#include "cli/init/words.h"
#include "common/shell.h"
#include "pipeline/text.h"

enum { COLUMNS_SIZE = 160, LISTS_SIZE = 400 };

void fby_guess_dir_of_list(const struct fby_search *search,
    const char *list_path, char out[FBY_PATH_SIZE])
{
    const char *root  = fby_root_dir(search->root);
    size_t      n     = strcmp(root, "/") == 0 ? 1 : strlen(root) + 1;
    const char *slash = strrchr(list_path + n, '/');
    snprintf(out, FBY_PATH_SIZE, "%.*s",
        slash != NULL ? (int)(slash - (list_path + n)) : 0, list_path + n);
}

/* Add the note with a program that writes the lists "PREFIX-NAME" of the lists L.
 * `before` sets what else it needs. */
static void add_note(struct fby_search *search, const char *purpose,
    const char *prefix, const char *before, const char *program)
{
    struct fby_guess *out   = search->out;
    const char       *first = out->splits[0].pattern;
    char              lists[LISTS_SIZE];
    char              made[FBY_PATH_SIZE];
    char              dir[FBY_PATH_SIZE];
    fby_guess_dir_of_list(search, first, dir);
    fby_guess_name_list(strrchr(first, '/') + 1, prefix, made);
    if (fby_guess_name_lists(out, lists, sizeof(lists)) &&
        fby_guess_set_command(search, dir,
            FBY_PYTHON "L = '%s'.split(); %s%s; %s\"", lists, before, program,
            fby_program_write_lists)[0] != '\0') {
        fby_guess_end_command(search, dir, made);
        fby_guess_note(search, "note: to %s: %s", purpose, out->command);
        out->command[0] = '\0';
    }
}

/* ---- names that no field can have ---- */

/* Has the list a column with a name that no field can have? */
static bool has_other_names(const struct fby_guess_split *split)
{
    bool found = false;
    for (uint32_t i = 0; i < split->n_members; i++) {
        const struct fby_init_member *column = &split->members[i];
        char                          name[FBY_NAME_SIZE];
        found = found || (column->value != FBY_INIT_NO_VALUE &&
                             !fby_init_to_field_name(column->extension, name));
    }
    return found;
}

/* ---- texts that some rows lack ---- */

static bool is_text_with_gaps(
    const struct fby_guess_split *split, const struct fby_init_member *column)
{
    return column->value == FBY_INIT_TEXT && column->n_values > 0 &&
           column->n_values < split->samples &&
           4 * column->n_numbers < 3 * column->n_values &&
           !fby_init_are_classes(column) &&
           fby_shell_is_plain(column->extension);
}

typedef bool is_wanted_fn(
    const struct fby_guess_split *split, const struct fby_init_member *column);

/* Append the columns that are wanted: "'a', 'b'". One that does not fit is left out. */
static void append_columns(const struct fby_guess_split *split,
    is_wanted_fn *is_wanted, char out[COLUMNS_SIZE])
{
    for (uint32_t i = 0; i < split->n_members; i++) {
        size_t used = strlen(out);
        char   quoted[FBY_NAME_SIZE + 4];
        snprintf(quoted, sizeof(quoted), "'%s'", split->members[i].extension);
        if (is_wanted(split, &split->members[i]) &&
            strstr(out, quoted) == NULL &&
            used + strlen(quoted) + 3 <= COLUMNS_SIZE) {
            snprintf(out + used, COLUMNS_SIZE - used, "%s%s",
                used > 0 ? ", " : "", quoted);
        }
    }
}

/* ---- numbers that some rows lack ---- */

/* Has the column numbers in most rows, and something else or nothing in others? */
static bool lacks_numbers(
    const struct fby_guess_split *split, const struct fby_init_member *column)
{
    bool are_numbers =
        column->value == FBY_INIT_DIGITS || column->value == FBY_INIT_NUMBER;
    bool are_mostly = column->value == FBY_INIT_TEXT &&
                      4 * column->n_numbers >= 3 * column->n_values &&
                      !fby_guess_are_unclear_numbers(column) &&
                      !fby_init_are_classes(column);
    bool is_used = 2 * column->n_values > split->samples;
    return is_used && !column->has_huge &&
           fby_shell_is_plain(column->extension) &&
           strchr(column->extension, '\'') == NULL &&
           ((are_numbers && column->n_values < split->samples) || are_mostly);
}

static bool has_decimal_commas(
    const struct fby_guess_split *split, const struct fby_init_member *column)
{
    return lacks_numbers(split, column) && column->has_decimal_comma;
}

/* Have the numbers of a column decimal commas in one list, and points in another? */
static bool have_two_signs(const struct fby_guess *guess)
{
    bool found = false;
    for (uint32_t i = 0; i < guess->n_splits; i++) {
        for (uint32_t k = 0; k < guess->splits[i].n_members; k++) {
            const struct fby_init_member *member = &guess->splits[i].members[k];
            struct fby_init_member        both   = *member;
            uint32_t                      its    = fby_guess_find_key(
                                        &guess->splits[0], member->extension, member->key);
            if (its < guess->splits[0].n_members) {
                const struct fby_init_member *first =
                    &guess->splits[0].members[its];
                both.has_decimal_comma |= first->has_decimal_comma;
                both.has_thousands |= first->has_thousands;
                both.has_point |= first->has_point;
            }
            found = found || (fby_guess_are_unclear_numbers(&both) &&
                                 !fby_guess_are_unclear_numbers(member));
        }
    }
    return found;
}

/* Set the command of the search to the one that writes the lists "PREFIX-NAME" with a
 * program; `settings` is what that needs. Returns false if there is none. */
static bool advise_lists(struct fby_search *search, const char *prefix,
    const char *settings, const char *program)
{
    const char *first  = search->out->splits[0].pattern;
    bool        is_csv = fby_text_ends_with(first, ".csv");
    char        lists[LISTS_SIZE];
    char        made[FBY_PATH_SIZE];
    char        dir[FBY_PATH_SIZE];
    if (!fby_guess_name_lists(search->out, lists, sizeof(lists))) {
        return false;
    }
    fby_guess_dir_of_list(search, first, dir);
    const char *colon = fby_guess_set_command(search, dir,
        FBY_PYTHON "%s; W = '%s'; S = '%s'.split(); %s; %s; %s; %s; %s\"",
        settings, prefix, lists, fby_program_list_begin,
        is_csv ? fby_program_list_csv : fby_program_list_json, program,
        fby_program_list_end, fby_program_write_lists);
    fby_guess_name_list(strrchr(first, '/') + 1, prefix, made);
    fby_guess_end_command(search, dir, made);
    return colon[0] != '\0';
}

/* Add a note of the columns of numbers that some rows lack. Returns false if there are
 * none. */
static bool note_numbers(struct fby_search *search)
{
    const struct fby_guess *out                   = search->out;
    char                    columns[COLUMNS_SIZE] = "";
    char                    commas[COLUMNS_SIZE]  = "";
    char                    settings[2 * COLUMNS_SIZE + 64];
    for (uint32_t i = 0; i < out->n_splits; i++) {
        append_columns(&out->splits[i], lacks_numbers, columns);
        append_columns(&out->splits[i], has_decimal_commas, commas);
    }
    snprintf(settings, sizeof(settings), "how = 'drop'; C = {%s}; D = [%s]",
        columns, commas);
    if (columns[0] == '\0' || have_two_signs(out) ||
        !advise_lists(search, "filled", settings, fby_program_list_numbers)) {
        return false;
    }
    fby_guess_note(search,
        "note: to have only numbers in %s, without the rows that lack one (or, "
        "with how = 'mean', with the mean there): %s",
        columns, out->command);
    search->out->command[0] = '\0';
    return true;
}

/* ---- several labels in a cell ---- */

/* Add a note of a column whose classes are combinations of labels. Returns false if
 * there is none. */
static bool note_labels(struct fby_search *search)
{
    const struct fby_guess_split *split     = &search->out->splits[0];
    const char                   *example   = NULL;
    const char                   *name      = NULL;
    char                          separator = '\0';
    char                          settings[FBY_NAME_SIZE + 32];
    for (uint32_t i = 0; i < split->n_members && separator == '\0'; i++) {
        name      = split->members[i].extension;
        separator = fby_init_find_separator(&split->members[i], &example);
    }
    if (separator == '\0') {
        return false;
    }
    snprintf(settings, sizeof(settings), "C = '%s'; D = '%c'", name, separator);
    bool has_command =
        fby_shell_is_plain(name) &&
        advise_lists(search, "labels", settings, fby_program_list_labels);
    fby_guess_note(search,
        "note: column %s has several labels in a cell, as '%s', and each "
        "combination is a class; to have 0 or 1 for each label%s%s",
        name, fby_text_show(example).text,
        has_command ? ": " : ", write a list of these numbers into each cell",
        has_command ? search->out->command : "");
    search->out->command[0] = '\0';
    return true;
}

/* ---- a box in each row ---- */

enum { N_SIDES = 4 };

static bool is_number_column(
    const struct fby_guess_split *split, const char *name)
{
    uint32_t i = fby_guess_find_key(split, name, "");
    return i < split->n_members &&
           (split->members[i].value == FBY_INIT_DIGITS ||
               split->members[i].value == FBY_INIT_NUMBER);
}

/* The columns of the sides of a box; NULL: the list has none. */
static const char *const *find_sides(const struct fby_guess_split *split)
{
    static const char *const names[][N_SIDES] = {
        {"xmin", "ymin", "xmax", "ymax"}, {"x_min", "y_min", "x_max", "y_max"},
        {"x1", "y1", "x2", "y2"}};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        uint32_t n = 0;
        while (n < N_SIDES && is_number_column(split, names[i][n])) {
            n++;
        }
        if (n == N_SIDES) {
            return names[i];
        }
    }
    return NULL;
}

/* The column of boxes, as "[1, 2, 30, 40]"; "": none. */
static const char *find_boxes(const struct fby_guess_split *split)
{
    static const char *const names[] = {"bbox", "box", "bounding_box", NULL};
    const char              *found   = "";
    for (uint32_t i = 0; i < split->n_members; i++) {
        const struct fby_init_member *column = &split->members[i];
        if (column->value == FBY_INIT_NUMBER_LISTS && column->max_length == 4 &&
            fby_text_is_one_of(column->extension, names)) {
            found = column->extension;
        }
    }
    return found;
}

/* The names of columns of classes, the best first; those before them are the ones
 * of fby_init_is_class_name(). */
static const char *const class_columns[] = {"labelname", "object",
    "object_name", "object_class", "category_id", "class_id", "label_id",
    "cat_id", "name", "type", "defect", "defect_type"};

/* The column of classes; "": none. */
static const char *find_classes(const struct fby_guess_split *split)
{
    const size_t n     = sizeof(class_columns) / sizeof(class_columns[0]);
    const char  *found = "";
    for (size_t k = 0; k <= n && found[0] == '\0'; k++) {
        for (uint32_t i = 0; i < split->n_members && found[0] == '\0'; i++) {
            const char *name  = split->members[i].extension;
            bool        is_so = k == 0 ? fby_init_is_class_name(name)
                                       : strcmp(name, class_columns[k - 1]) == 0;
            found             = is_so && fby_shell_is_plain(name) &&
                            split->members[i].value <= FBY_INIT_TEXT &&
                            !fby_guess_is_file_column(split, name)
                                    ? name
                                    : found;
        }
    }
    return found;
}

/* Has the list a column of words or whole numbers that may have the classes, but for
 * the sides of boxes, and those of pictures? */
static bool has_others(
    const struct fby_guess_split *split, const char *const sides[N_SIDES])
{
    bool found = false;
    for (uint32_t i = 0; i < split->n_members; i++) {
        const char *name    = split->members[i].extension;
        bool        is_side = strcmp(name, "width") == 0 ||
                       strcmp(name, "height") == 0 ||
                       fby_guess_is_file_column(split, name);
        for (size_t k = 0; k < N_SIDES; k++) {
            is_side = is_side || strcmp(name, sides[k]) == 0;
        }
        found = found || (!is_side && !split->members[i].has_real &&
                             split->members[i].value <= FBY_INIT_TEXT);
    }
    return found;
}

/* Add a note of a list with a box in each row, whose pictures are there several
 * times. Returns false if it is none. */
static bool note_boxes(struct fby_search *search)
{
    static const char *const      made[N_SIDES] = {"x1", "y1", "x2", "y2"};
    const struct fby_guess_split *split         = &search->out->splits[0];
    const char *const            *sides         = find_sides(split);
    const char *boxes   = sides == NULL ? find_boxes(split) : "";
    const char *classes = find_classes(split);
    char        before[512];
    char        purpose[400];
    bool        has_size =
        is_number_column(split, "width") && is_number_column(split, "height");
    if ((sides == NULL && boxes[0] == '\0') || split->n_file_columns == 0 ||
        !fby_shell_is_plain(split->file_columns[0])) {
        return false;
    }
    sides = sides == NULL ? made : sides;
    snprintf(before, sizeof(before),
        "F = '%s'; Y = '%s'; B = '%s'; X = '%s %s %s %s'.split(); S = [%s]; ",
        split->file_columns[0], classes, boxes, sides[0], sides[1], sides[2],
        sides[3], has_size ? "'width', 'height'" : "");
    snprintf(purpose, sizeof(purpose),
        "have a sample for each picture with all its boxes, and not for each "
        "row with one (class, centre and size, from 0 to 1%s%s%s%s)",
        boxes[0] != '\0' ? "; of x, y, width and height in " : "", boxes,
        has_size ? "" : "; Pillow reads the sizes of the pictures",
        classes[0] == '\0' && has_others(split, sides)
            ? "; no column of classes was recognised, so each class is 0: set "
              "Y to the name of that column, if there is one"
            : "");
    add_note(search, purpose, "boxes", before, fby_program_box_rows);
    return true;
}

void fby_guess_note_columns(struct fby_search *search)
{
    const struct fby_guess *out                   = search->out;
    const char             *first                 = out->splits[0].pattern;
    char                    columns[COLUMNS_SIZE] = "";
    char                    purpose[COLUMNS_SIZE + 64];
    char                    before[COLUMNS_SIZE + 16];
    char                    dir[FBY_PATH_SIZE];
    bool                    is_csv = fby_text_ends_with(first, ".csv");
    if (out->kind != FBY_SOURCE_LIST || strchr(first, '/') == NULL) {
        return;
    }
    fby_guess_dir_of_list(search, first, dir);
    if (is_csv && fby_guess_note_wide_list(search, dir)) {
        return;
    }
    if (has_other_names(&out->splits[0])) {
        add_note(search, "write other names of columns", "names", "",
            is_csv ? fby_program_names_csv : fby_program_names_json);
        return; /* one command after the other */
    }
    if ((is_csv && note_boxes(search)) || note_labels(search) ||
        note_numbers(search)) {
        return;
    }
    for (uint32_t i = 0; i < out->n_splits; i++) {
        append_columns(&out->splits[i], is_text_with_gaps, columns);
    }
    if (columns[0] != '\0') {
        snprintf(purpose, sizeof(purpose),
            "have a blank as the text where %s has none", columns);
        snprintf(before, sizeof(before), "c = {%s}; ", columns);
        add_note(search, purpose, "text", before,
            is_csv ? fby_program_blanks_csv : fby_program_blanks_json);
    }
}
