/* csv.c - a strict reader of comma-separated values.
 *
 * It makes one pass over the text. The fields of a row are copied, without
 * quotes, into one buffer, which the next row reuses. */
#include <string.h>

#include "common/bytes.h"
#include "common/utf8.h"
#include "worker/source/list/list.h"

struct csv {
    const char       *at, *end; /* the text not yet read */
    uint64_t          line;     /* number of the line of `at`, from 1 */
    struct fby_buffer row;      /* the fields, each followed by a NUL */
    size_t   begins[FBY_LIST_MAX_COLUMNS]; /* per field: offset in `row` */
    size_t   sizes[FBY_LIST_MAX_COLUMNS];  /* per field: bytes, without NUL */
    uint32_t n_fields;                     /* number of fields in `row` */
    struct fby_error_detail *why;
};

static fby_err refuse(const struct csv *csv, const char *fault)
{
    return fby_list_refuse(csv->line, fault, csv->why);
}

static fby_err append_text(struct csv *csv, const char *text, size_t size)
{
    if (csv->row.size + size > FBY_LIST_MAX_ROW) {
        return refuse(csv, "a row of more than 1 MiB; does a quote not end?");
    }
    fby_put_bytes(&csv->row, text, size);
    return FBY_OK;
}

static bool at_line_end(const struct csv *csv)
{
    size_t left = (size_t)(csv->end - csv->at);
    return left == 0 || csv->at[0] == '\n' ||
           (left >= 2 && csv->at[0] == '\r' && csv->at[1] == '\n');
}

/* Read a quoted field, which may have several lines. */
static fby_err read_quoted(struct csv *csv)
{
    uint64_t first_line = csv->line;
    for (csv->at++;;) {
        const char *quote = memchr(csv->at, '"', (size_t)(csv->end - csv->at));
        const char *stop  = quote != NULL ? quote : csv->end;
        /* append_text() refuses `most` bytes, which make the row too long. */
        size_t most = FBY_LIST_MAX_ROW + 1 - csv->row.size;
        size_t size = (size_t)(stop - csv->at);
        FBY_TRY(append_text(csv, csv->at, size < most ? size : most));
        for (const char *p = csv->at; p < stop; p++) {
            csv->line += *p == '\n' ? 1 : 0;
        }
        if (quote == NULL) {
            csv->line = first_line;
            return refuse(csv, "a quote that does not end");
        }
        csv->at = quote + 1;
        if (csv->at == csv->end || *csv->at != '"') {
            return FBY_OK;
        }
        FBY_TRY(append_text(csv, csv->at++, 1)); /* "" is one quote */
    }
}

static fby_err read_plain(struct csv *csv)
{
    const char *begin = csv->at;
    while (!at_line_end(csv) && *csv->at != ',') {
        if (*csv->at == '"') {
            return refuse(csv, "a quote within a field that is not quoted");
        }
        if (*csv->at == '\r') {
            return refuse(csv, "a lone carriage return; lines end with LF or "
                               "CRLF");
        }
        csv->at++;
    }
    return append_text(csv, begin, (size_t)(csv->at - begin));
}

static fby_err read_field(struct csv *csv)
{
    if (csv->n_fields == FBY_LIST_MAX_COLUMNS) {
        return refuse(csv, "more than 256 columns");
    }
    uint32_t i     = csv->n_fields++;
    csv->begins[i] = csv->row.size;
    bool    quoted = csv->at < csv->end && *csv->at == '"';
    fby_err err    = quoted ? read_quoted(csv) : read_plain(csv);
    csv->sizes[i]  = csv->row.size - csv->begins[i];
    if (err == FBY_OK && !at_line_end(csv) && *csv->at != ',') {
        err = refuse(csv, "text behind a quote that ended; a comma is needed");
    }
    if (err == FBY_OK && csv->sizes[i] > 0 &&
        !fby_is_utf8(csv->row.data + csv->begins[i], csv->sizes[i])) {
        err = refuse(csv, "is not UTF-8 text");
    }
    return err == FBY_OK ? append_text(csv, "", 1) : err; /* the NUL */
}

/* Read the next row that is not empty, up to the end of its line, and set *line
 * to its first line. Returns FBY_NOT_FOUND at the end of the text. */
static fby_err read_next_row(struct csv *csv, uint64_t *line)
{
    while (csv->at < csv->end && at_line_end(csv)) {
        csv->at += *csv->at == '\r' ? 2 : 1;
        csv->line++;
    }
    if (csv->at == csv->end) {
        return FBY_NOT_FOUND;
    }
    *line         = csv->line;
    csv->n_fields = 0;
    csv->row.size = 0;
    FBY_TRY(read_field(csv));
    while (csv->at < csv->end && *csv->at == ',') {
        csv->at++;
        FBY_TRY(read_field(csv));
    }
    return FBY_OK;
}

/* ---- header and rows ---- */

struct header {
    struct fby_buffer    names; /* of the columns, each followed by a NUL */
    struct fby_list_cell cells[FBY_LIST_MAX_COLUMNS]; /* of the current row */
    uint32_t             n_columns;
};

/* Refuse a header of one column whose name has another separator in it. */
static fby_err check_commas(const struct csv *csv, const struct header *header)
{
    const char *name = header->cells[0].column;
    char        mark = name[strcspn(name, ";\t|")]; /* NUL: there is none */
    if (header->n_columns != 1 || mark == '\0') {
        return FBY_OK;
    }
    return fby_error_set(csv->why, FBY_CONFIG,
        "line %llu: it has no comma, but %s; columns are separated by commas: "
        "write the file anew with them",
        (unsigned long long)csv->line,
        mark == ';'   ? "';'"
        : mark == '|' ? "'|'"
                      : "tabs");
}

static fby_err check_names(const struct csv *csv, const struct header *header)
{
    for (uint32_t i = 0; i < header->n_columns; i++) {
        if (header->cells[i].column[0] == '\0') {
            return refuse(csv, "a column without a name");
        }
        for (uint32_t k = 0; k < i; k++) {
            if (fby_equal_ignoring_case(
                    header->cells[k].column, header->cells[i].column)) {
                return fby_error_set(csv->why, FBY_CONFIG,
                    "line %llu: column '%.60s' is there twice (the case of "
                    "letters does not tell them apart)",
                    (unsigned long long)csv->line, header->cells[i].column);
            }
        }
    }
    return FBY_OK;
}

static fby_err read_header(struct csv *csv, struct header *header)
{
    uint64_t line = 0;
    fby_err  err  = read_next_row(csv, &line);
    if (err == FBY_NOT_FOUND) {
        return fby_error_set(
            csv->why, FBY_CONFIG, "it is empty; a header of names is needed");
    }
    FBY_TRY(err);
    fby_put_bytes(&header->names, csv->row.data, csv->row.size);
    header->n_columns = csv->n_fields;
    for (uint32_t i = 0; i < header->n_columns; i++) {
        header->cells[i].column =
            (const char *)header->names.data + csv->begins[i];
    }
    FBY_TRY(check_commas(csv, header));
    return check_names(csv, header);
}

static fby_err send_row(struct csv *csv, struct header *header, uint64_t line,
    const struct fby_list_sink *sink)
{
    if (csv->n_fields != header->n_columns) {
        return fby_error_set(csv->why, FBY_CONFIG,
            "line %llu: %u fields, but the header has %u",
            (unsigned long long)line, csv->n_fields, header->n_columns);
    }
    for (uint32_t i = 0; i < csv->n_fields; i++) {
        header->cells[i].text = (const char *)csv->row.data + csv->begins[i];
        header->cells[i].size = csv->sizes[i];
    }
    struct fby_list_row row = {line, header->n_columns, header->cells};
    return sink->receive(sink->arg, &row, csv->why);
}

static fby_err read_rows(
    struct csv *csv, struct header *header, const struct fby_list_sink *sink)
{
    fby_err err = read_header(csv, header);
    while (err == FBY_OK) {
        uint64_t line = 0;
        err           = read_next_row(csv, &line);
        if (err == FBY_OK) {
            err = send_row(csv, header, line, sink);
        }
    }
    return err == FBY_NOT_FOUND ? FBY_OK : err;
}

fby_err fby_list_csv(const char *text, size_t size,
    const struct fby_list_sink *sink, struct fby_error_detail *why)
{
    struct csv    csv = {.at = text, .end = text + size, .line = 1, .why = why};
    struct header header = {.n_columns = 0};
    fby_err       err    = read_rows(&csv, &header, sink);
    fby_buffer_fini(&csv.row);
    fby_buffer_fini(&header.names);
    return err;
}
