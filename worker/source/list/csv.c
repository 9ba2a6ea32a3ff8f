/* SPDX-License-Identifier: Apache-2.0 */
/* csv.c - a strict reader of comma-separated values.
 *
 * It makes one pass over the text. The fields of a row are copied, without
 * quotes, into one buffer, which the next row reuses. */
#include <string.h>

#include "common/bytes.h"
#include "common/plural.h"
#include "common/utf8.h"
#include "worker/source/list/list.h"

#define SEPARATORS ";\t|" /* of columns, as some lists have them */

struct csv {                      /* the state of the reader */
    const char       *next, *end; /* the text not yet read */
    uint64_t          line;       /* number of the line of `next`, from 1 */
    struct fby_buffer row;        /* the fields of a row, each with a NUL */
    size_t   begins[FBY_LIST_MAX_COLUMNS]; /* per field: offset in `row` */
    size_t   sizes[FBY_LIST_MAX_COLUMNS];  /* per field: bytes, without NUL */
    uint32_t n_fields;                     /* number of fields in `row` */
    struct fby_error_detail *why;
};

static fby_err refuse(const struct csv *csv, const char *fault)
{
    return fby_list_refuse(csv->line, fault, csv->why);
}

/* Refuse a header without a comma, but with the separator. */
static fby_err refuse_separator(const struct csv *csv, char separator)
{
    return fby_error_set(csv->why, FBY_CONFIG,
        "line %llu: " FBY_LIST_NO_COMMA "%s; columns are separated by commas: "
        "write the file again with them",
        (unsigned long long)csv->line,
        separator == ';'   ? "';'"
        : separator == '|' ? "'|'"
                           : "tabs");
}

static fby_err append_text(struct csv *csv, const char *text, size_t size)
{
    if (csv->row.size + size > FBY_LIST_MAX_ROW) {
        return refuse(csv, "a row of more than 1 MiB; is a quote not closed?");
    }
    fby_put_bytes(&csv->row, text, size);
    return FBY_OK;
}

static bool at_line_end(const struct csv *csv)
{
    size_t left = (size_t)(csv->end - csv->next);
    return left == 0 || csv->next[0] == '\n' ||
           (left >= 2 && csv->next[0] == '\r' && csv->next[1] == '\n');
}

/* Read a quoted field. It may have several lines, and "" in it is one quote. */
static fby_err read_quoted(struct csv *csv)
{
    uint64_t first_line = csv->line;
    csv->next++; /* the opening quote */
    for (;;) {
        const char *quote =
            memchr(csv->next, '"', (size_t)(csv->end - csv->next));
        const char *end = quote != NULL ? quote : csv->end;
        FBY_TRY(append_text(csv, csv->next, (size_t)(end - csv->next)));
        for (const char *c = csv->next; c < end; c++) {
            csv->line += *c == '\n' ? 1 : 0;
        }
        if (quote == NULL) {
            csv->line = first_line;
            return refuse(csv, "a quote that is not closed");
        }
        csv->next = quote + 1;
        if (csv->next == csv->end || *csv->next != '"') {
            return FBY_OK;
        }
        FBY_TRY(append_text(csv, csv->next, 1)); /* the second quote of "" */
        csv->next++;
    }
}

static fby_err read_plain(struct csv *csv)
{
    const char *begin = csv->next;
    while (!at_line_end(csv) && *csv->next != ',') {
        if (*csv->next == '"') {
            return refuse(csv, "a quote within a field that is not quoted");
        }
        if (*csv->next == '\r') {
            return refuse(csv, "a lone carriage return; lines end with LF or "
                               "CRLF");
        }
        csv->next++;
    }
    return append_text(csv, begin, (size_t)(csv->next - begin));
}

/* Does a separator other than a comma follow the first name of the header? */
static bool is_separator(const struct csv *csv)
{
    return csv->line == 1 && csv->n_fields == 1 && *csv->next != '\0' &&
           strchr(SEPARATORS, *csv->next) != NULL;
}

static fby_err read_field(struct csv *csv)
{
    if (csv->n_fields == FBY_LIST_MAX_COLUMNS) {
        return refuse(csv, FBY_LIST_TOO_WIDE);
    }
    uint32_t i        = csv->n_fields++;
    csv->begins[i]    = csv->row.size;
    bool    is_quoted = csv->next < csv->end && *csv->next == '"';
    fby_err err       = is_quoted ? read_quoted(csv) : read_plain(csv);
    csv->sizes[i]     = csv->row.size - csv->begins[i];
    if (err == FBY_OK && !at_line_end(csv) && *csv->next != ',') {
        err =
            is_separator(csv)
                ? refuse_separator(csv, *csv->next)
                : refuse(csv, "text after a closing quote; a comma is needed");
    }
    if (err == FBY_OK && csv->sizes[i] > 0 &&
        memchr(csv->row.data + csv->begins[i], 0, csv->sizes[i]) != NULL) {
        return refuse(csv, FBY_LIST_NUL_BYTE ", so convert it if it is UTF-16");
    }
    if (err == FBY_OK && csv->sizes[i] > 0 &&
        !fby_is_utf8(csv->row.data + csv->begins[i], csv->sizes[i])) {
        err = refuse(csv, FBY_LIST_NOT_UTF8);
    }
    return err == FBY_OK ? append_text(csv, "", 1) : err; /* the NUL */
}

/* Skip empty lines, read the next row without the end of its last line, and set
 * *line to its first line. Returns FBY_NOT_FOUND at the end of the text. */
static fby_err read_next_row(struct csv *csv, uint64_t *line)
{
    while (csv->next < csv->end && at_line_end(csv)) {
        csv->next += *csv->next == '\r' ? 2 : 1;
        csv->line++;
    }
    if (csv->next == csv->end) {
        return FBY_NOT_FOUND;
    }
    *line         = csv->line;
    csv->n_fields = 0;
    csv->row.size = 0;
    FBY_TRY(read_field(csv));
    while (csv->next < csv->end && *csv->next == ',') {
        csv->next++;
        FBY_TRY(read_field(csv));
    }
    return FBY_OK;
}

/* ---- header and rows ---- */

struct csv_table { /* the columns, and their cells in the current row */
    struct fby_buffer    names; /* of the columns, each followed by a NUL */
    struct fby_list_cell cells[FBY_LIST_MAX_COLUMNS]; /* one for each column */
    uint32_t             n_columns;
    /* 1: the first column has no name, so it only numbers the rows (pandas
     * writes it by default) and is left out; else 0. */
    uint32_t n_index_columns;
};

/* Refuse a header of one column if its name contains another separator. */
static fby_err check_commas(
    const struct csv *csv, const struct csv_table *table)
{
    const char *name      = table->cells[0].column;
    char        separator = name[strcspn(name, SEPARATORS)]; /* or NUL */
    if (table->n_columns != 1 || separator == '\0') {
        return FBY_OK;
    }
    return refuse_separator(csv, separator);
}

static fby_err check_names(const struct csv *csv, const struct csv_table *table)
{
    for (uint32_t i = table->n_index_columns; i < table->n_columns; i++) {
        if (table->cells[i].column[0] == '\0') {
            return refuse(csv,
                FBY_LIST_NO_NAME ": write a name there, or remove the column");
        }
        for (uint32_t k = 0; k < i; k++) {
            if (fby_equal_ignoring_case(
                    table->cells[k].column, table->cells[i].column)) {
                return fby_error_set(csv->why, FBY_CONFIG,
                    "line %llu: column '%.60s' is there twice (the case of "
                    "letters does not tell them apart): rename one of them",
                    (unsigned long long)csv->line, table->cells[i].column);
            }
        }
    }
    return FBY_OK;
}

static fby_err read_header(struct csv *csv, struct csv_table *table)
{
    uint64_t line = 0;
    fby_err  err  = read_next_row(csv, &line);
    if (err == FBY_NOT_FOUND) {
        return fby_error_set(
            csv->why, FBY_CONFIG, "it is empty; a header of names is needed");
    }
    FBY_TRY(err);
    fby_put_bytes(&table->names, csv->row.data, csv->row.size);
    table->n_columns = csv->n_fields;
    for (uint32_t i = 0; i < table->n_columns; i++) {
        table->cells[i].column =
            (const char *)table->names.data + csv->begins[i];
    }
    FBY_TRY(check_commas(csv, table));
    table->n_index_columns =
        table->n_columns > 1 && table->cells[0].column[0] == '\0' ? 1 : 0;
    return check_names(csv, table);
}

static fby_err send_row(struct csv *csv, struct csv_table *table, uint64_t line,
    const struct fby_list_sink *sink)
{
    if (csv->n_fields != table->n_columns) {
        return fby_error_set(csv->why, FBY_CONFIG,
            "line %llu: %s, " FBY_LIST_OF_HEADER
            "%u: each row needs as many, and "
            "a field with a comma needs quotes",
            (unsigned long long)line, fby_plural(csv->n_fields, "field").text,
            table->n_columns);
    }
    for (uint32_t i = 0; i < csv->n_fields; i++) {
        table->cells[i].text = (const char *)csv->row.data + csv->begins[i];
        table->cells[i].size = csv->sizes[i];
    }
    struct fby_list_row row = {line, table->n_columns - table->n_index_columns,
        table->cells + table->n_index_columns};
    return sink->receive(sink->arg, &row, csv->why);
}

static fby_err read_rows(
    struct csv *csv, struct csv_table *table, const struct fby_list_sink *sink)
{
    fby_err err = read_header(csv, table);
    while (err == FBY_OK) {
        uint64_t line = 0;
        err           = read_next_row(csv, &line);
        if (err == FBY_OK) {
            err = send_row(csv, table, line, sink);
        }
    }
    return err == FBY_NOT_FOUND ? FBY_OK : err;
}

fby_err fby_list_csv(const char *text, size_t size,
    const struct fby_list_sink *sink, struct fby_error_detail *why)
{
    struct csv csv = {.next = text, .end = text + size, .line = 1, .why = why};
    struct csv_table table = {.n_columns = 0};
    fby_err          err   = read_rows(&csv, &table, sink);
    fby_buffer_fini(&csv.row);
    fby_buffer_fini(&table.names);
    return err;
}

fby_err fby_list_csv_first_row(const char *text, size_t size,
    const struct fby_list_sink *sink, struct fby_error_detail *why)
{
    struct csv csv = {.next = text, .end = text + size, .line = 1, .why = why};
    struct fby_list_cell cells[FBY_LIST_MAX_COLUMNS];
    uint64_t             line = 0;
    fby_err              err  = read_next_row(&csv, &line);
    if (err == FBY_OK) {
        for (uint32_t i = 0; i < csv.n_fields; i++) {
            cells[i] = (struct fby_list_cell){
                "", (const char *)csv.row.data + csv.begins[i], csv.sizes[i]};
        }
        const struct fby_list_row row = {line, csv.n_fields, cells};
        err                           = sink->receive(sink->arg, &row, why);
    }
    fby_buffer_fini(&csv.row);
    return err;
}
