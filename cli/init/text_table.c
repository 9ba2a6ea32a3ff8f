/* SPDX-License-Identifier: Apache-2.0 */
/* text_table.c - the columns of a text: see text_table.h.
 *
 * A separator splits all lines into as many cells, or it is none. Of several the one
 * with the most cells is taken. Blanks are also in texts, so they are taken only if
 * there is no other one, or if a line has several in a row beside tabs. */
#include "cli/init/text_table.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/init/names.h"
#include "common/mem.h"

enum {
    MAX_LINES = 64,
    MAX_CELLS = 64 /* of a line, whose values are looked at */
};

struct table_cell {
    const char *text;
    size_t      size;
    bool        is_quoted;
};

struct table_row {
    struct table_cell cells[MAX_CELLS];
    uint32_t          n; /* more than MAX_CELLS are only counted */
};

struct table_lines {
    const char *lines[MAX_LINES];
    uint32_t    n;
};

/* ---- lines and cells ---- */

/* Split the text into lines without the empty ones and the last one, if that is
 * cut. */
static void find_lines(char *text, bool is_cut, struct table_lines *out)
{
    char *next = text;
    out->n     = 0;
    while (next != NULL && out->n < MAX_LINES) {
        char *line = next;
        char *end  = strchr(line, '\n');
        next       = end != NULL ? end + 1 : NULL;
        if (end != NULL) {
            *end = '\0';
        }
        line[strcspn(line, "\r")] = '\0';
        if (line[strspn(line, " \t")] != '\0' && (end != NULL || !is_cut)) {
            out->lines[out->n++] = line;
        }
    }
}

/* The bytes of the separator at the begin of `text`; 0: another text. */
static size_t separator_at(const char *text, const char *separator)
{
    size_t n = strlen(separator);
    return separator[0] == ' '                ? strspn(text, " \t")
           : strncmp(text, separator, n) == 0 ? n
                                              : 0;
}

/* The end of the text in quotes at the begin of a cell: a separator or the end of the
 * line. NULL: there is none. */
static const char *find_quoted_end(const char *cell, const char *separator)
{
    const char *at = cell[0] == '"' ? cell + 1 : NULL;
    while (at != NULL && (at = strchr(at, '"')) != NULL && at[1] == '"') {
        at += 2;
    }
    bool is_end =
        at != NULL && (at[1] == '\0' || separator_at(at + 1, separator) > 0);
    return is_end ? at + 1 : NULL;
}

static const char *find_end(const char *cell, const char *separator)
{
    while (*cell != '\0' && separator_at(cell, separator) == 0) {
        cell++;
    }
    return cell;
}

/* Split the line into cells. */
static void split(const char *line, const char *separator, bool has_quotes,
    struct table_row *out)
{
    const char *at   = line + strspn(line, " ");
    bool        more = true;
    out->n           = 0;
    while (more) {
        const char *quoted = has_quotes ? find_quoted_end(at, separator) : NULL;
        const char *end    = quoted != NULL ? quoted : find_end(at, separator);
        size_t      n      = *end != '\0' ? separator_at(end, separator) : 0;
        if (out->n < MAX_CELLS) {
            size_t quote       = quoted != NULL ? 1 : 0;
            out->cells[out->n] = (struct table_cell){
                at + quote, (size_t)(end - at) - 2 * quote, quoted != NULL};
        }
        out->n++;
        more = n > 0 && !(separator[0] == ' ' && end[n] == '\0');
        at   = end + n;
        at += more ? strspn(at, " ") : 0;
    }
}

/* ---- separators ---- */

/* The columns of all lines; 0: they have different numbers of them. */
static uint32_t count_columns(
    const struct table_lines *lines, const char *separator, bool has_quotes)
{
    struct table_row row;
    uint32_t         n = 0;
    for (uint32_t i = 0; i < lines->n; i++) {
        split(lines->lines[i], separator, has_quotes, &row);
        if (i > 0 && row.n != n) {
            return 0;
        }
        n = row.n;
    }
    return n;
}

/* Have half of the lines a cell in quotes? */
static bool are_quoted(const struct table_lines *lines, const char *separator)
{
    struct table_row row;
    uint32_t         n = 0;
    for (uint32_t i = 0; i < lines->n; i++) {
        bool found = false;
        split(lines->lines[i], separator, true, &row);
        for (uint32_t k = 0; k < row.n && k < MAX_CELLS; k++) {
            found = found || row.cells[k].is_quoted;
        }
        n += found ? 1 : 0;
    }
    return 2 * n >= lines->n;
}

/* Set the separator of `out`, if it splits the lines into more columns. Quotes are
 * usual with commas and semicolons, also if the first lines have none. */
static void try_separator(const struct table_lines *lines,
    const char *separator, struct fby_text_table *out)
{
    uint32_t plain    = count_columns(lines, separator, false);
    uint32_t quoted   = count_columns(lines, separator, true);
    bool     is_usual = strchr(",;", separator[0]) != NULL;
    bool     is_quoted =
        quoted > 1 && (plain < 2 || is_usual || are_quoted(lines, separator));
    uint32_t n = is_quoted ? quoted : plain;
    if (n > 1 && n > out->n_columns) {
        out->separator  = separator;
        out->n_columns  = n;
        out->has_quotes = is_quoted;
    }
}

/* ---- values ---- */

static bool is_number(const struct table_cell *cell)
{
    char *end = NULL;
    (void)strtod(cell->text, &end);
    const char *rest = end;
    while (rest < cell->text + cell->size && *rest == ' ') {
        rest++;
    }
    return cell->size > 0 && end != cell->text &&
           rest == cell->text + cell->size;
}

static bool is_equal(const struct table_cell *a, const struct table_cell *b)
{
    return a->size == b->size && memcmp(a->text, b->text, a->size) == 0;
}

/* Is the cell a value and no name of its column: a number, empty, long, or one that
 * another cell has? */
static bool is_value(const struct table_row *row, uint32_t k,
    const struct table_row *others, uint32_t n_others)
{
    enum { MAX_NAME = 40 };
    const struct table_cell *cell = &row->cells[k];
    bool found = cell->size == 0 || cell->size > MAX_NAME || is_number(cell);
    for (uint32_t i = 0; !found && i < k; i++) {
        found = is_equal(cell, &row->cells[i]);
    }
    for (uint32_t i = 0; !found && i < n_others; i++) {
        found = is_equal(cell, &others[i].cells[k]);
    }
    return found;
}

static bool is_field_name(const struct table_cell *cell)
{
    char name[FBY_NAME_SIZE];
    char lower[FBY_NAME_SIZE];
    snprintf(name, sizeof(name), "%.*s", (int)cell->size, cell->text);
    return cell->size < sizeof(name) && fby_init_to_field_name(name, lower);
}

/* Look for a column of numbers, and for a header: words above numbers, or names of
 * fields, and no cell is a value. */
static void look_at_values(
    const struct table_row *rows, uint32_t n_rows, struct fby_text_table *out)
{
    bool names  = true;
    bool values = false;
    for (uint32_t k = 0; k < out->n_columns && k < MAX_CELLS; k++) {
        uint32_t n = 0;
        for (uint32_t i = 1; i < n_rows; i++) {
            n += is_number(&rows[i].cells[k]) ? 1 : 0;
        }
        out->has_numbers = out->has_numbers || n == n_rows - 1;
        names            = names && is_field_name(&rows[0].cells[k]);
        values = values || is_value(&rows[0], k, rows + 1, n_rows - 1);
    }
    out->has_header = !values && (names || out->has_numbers || out->has_count);
}

/* ---- sentences ---- */

/* Is the cell a word: letters, or <unk>? */
static bool is_word(const struct table_cell *cell)
{
    bool found = cell->size > 0;
    for (size_t i = 0; i < cell->size; i++) {
        unsigned char c = (unsigned char)cell->text[i];
        found = found && (isalpha(c) || c >= 0x80 || strchr("'-<>,", c));
    }
    return found;
}

static bool is_sign(const struct table_cell *cell)
{
    return cell->size == 1 && strchr(".,?!", cell->text[0]) != NULL;
}

/* Are the rows sentences: most columns have only words or signs of sentences, and
 * there are five of these, or a row has such a sign? */
static bool are_sentences(const struct table_row *rows, uint32_t n_rows,
    const struct fby_text_table *table)
{
    enum { LEAST = 5 };
    uint32_t n_words  = 0;
    bool     has_sign = false;
    for (uint32_t k = 0; k < table->n_columns && k < MAX_CELLS; k++) {
        uint32_t n = 0;
        for (uint32_t i = 0; i < n_rows; i++) {
            bool sign = is_sign(&rows[i].cells[k]);
            has_sign  = has_sign || sign;
            n += sign || is_word(&rows[i].cells[k]) ? 1 : 0;
        }
        n_words += n == n_rows ? 1 : 0;
    }
    return table->separator[0] == ' ' && !table->has_header &&
           !table->has_count && 2 * n_words > table->n_columns &&
           (has_sign || table->n_columns >= LEAST);
}

/* ---- a count before the header ---- */

static void drop_line(struct table_lines *lines)
{
    lines->n--;
    memmove(lines->lines, lines->lines + 1, lines->n * sizeof(lines->lines[0]));
}

/* Drop the first line, if it is only a whole number and no cell of a table. */
static bool drop_count(struct table_lines *lines)
{
    const char *line = lines->lines[0];
    size_t      n    = strspn(line, "0123456789");
    bool        found =
        lines->n > 2 && n > 0 && line[n + strspn(line + n, " ")] == '\0';
    if (found) {
        drop_line(lines);
    }
    return found;
}

static void find_separator(
    const struct table_lines *lines, struct fby_text_table *out)
{
    static const char *const separators[] = {"::", "\t", ";", "|", ","};
    for (size_t i = 0; i < sizeof(separators) / sizeof(separators[0]); i++) {
        try_separator(lines, separators[i], out);
    }
    if (out->n_columns == 0 || (strcmp(out->separator, "\t") == 0 &&
                                   strstr(lines->lines[0], "  ") != NULL)) {
        try_separator(lines, " ", out);
    }
}

/* Find the separator of lines after a count, of which the first is a header that has
 * other columns. Drops that. */
static void find_without_header(
    struct table_lines *lines, struct fby_text_table *out)
{
    struct table_row row;
    const char      *header = lines->lines[0];
    drop_line(lines);
    if (lines->n > 1) { /* a line by itself is no table */
        find_separator(lines, out);
    }
    if (out->n_columns > 0) {
        split(header, out->separator, out->has_quotes, &row);
        out->lacks_name = row.n + 1 == out->n_columns;
    }
}

bool fby_text_table_find(
    char *text, size_t size, bool is_cut, struct fby_text_table *out)
{
    struct table_lines lines;
    *out = (struct fby_text_table){.n_columns = 0};
    if (memchr(text, '\0', size) != NULL) {
        return false;
    }
    find_lines(text, is_cut, &lines);
    if (lines.n < 2) {
        return false;
    }
    out->has_count = drop_count(&lines);
    find_separator(&lines, out);
    if (out->n_columns == 0 && out->has_count) {
        find_without_header(&lines, out);
    }
    if (out->n_columns == 0) {
        return false;
    }
    struct table_row *rows = fby_realloc(NULL, lines.n * sizeof(*rows));
    for (uint32_t i = 0; i < lines.n; i++) {
        split(lines.lines[i], out->separator, out->has_quotes, &rows[i]);
    }
    look_at_values(rows, lines.n, out);
    out->is_prose = are_sentences(rows, lines.n, out);
    free(rows);
    return out->separator[0] != ' ' || out->has_numbers || out->has_count;
}
