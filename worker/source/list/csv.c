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
    uint64_t          line;     /* of `at`, from 1 */
    struct fby_buffer row;      /* the fields, each followed by a NUL */
    size_t            begins[FBY_LIST_MAX_COLUMNS]; /* per field: in `row` */
    size_t            sizes[FBY_LIST_MAX_COLUMNS];  /* per field: bytes */
    uint32_t          n;                            /* number of fields */
    struct fby_error_detail *why;
};

static fby_err refuse(const struct csv *c, const char *fault)
{
    return fby_list_refuse(c->line, fault, c->why);
}

static fby_err append_text(struct csv *c, const char *text, size_t size)
{
    if (c->row.size + size > FBY_LIST_MAX_ROW) {
        return refuse(c, "a row of more than 1 MiB; does a quote not end?");
    }
    fby_put_bytes(&c->row, text, size);
    return FBY_OK;
}

static bool at_line_end(const struct csv *c)
{
    bool lf   = c->at < c->end && *c->at == '\n';
    bool crlf = c->end - c->at >= 2 && c->at[0] == '\r' && c->at[1] == '\n';
    return c->at == c->end || lf || crlf;
}

static fby_err read_quoted(struct csv *c)
{
    uint64_t first = c->line;
    for (c->at++;;) {
        const char *quote = memchr(c->at, '"', (size_t)(c->end - c->at));
        const char *stop  = quote != NULL ? quote : c->end;
        size_t      left  = FBY_LIST_MAX_ROW + 1 - c->row.size; /* 1 too many */
        size_t      size  = (size_t)(stop - c->at);
        FBY_TRY(append_text(c, c->at, size < left ? size : left));
        for (const char *p = c->at; p < stop; p++) {
            c->line += *p == '\n' ? 1 : 0;
        }
        if (quote == NULL) {
            c->line = first;
            return refuse(c, "a quote that does not end");
        }
        c->at = quote + 1;
        if (c->at == c->end || *c->at != '"') {
            return FBY_OK;
        }
        FBY_TRY(append_text(c, c->at++, 1));
    }
}

static fby_err read_plain(struct csv *c)
{
    const char *from = c->at;
    while (!at_line_end(c) && *c->at != ',') {
        if (*c->at == '"') {
            return refuse(c, "a quote within a field that is not quoted");
        }
        if (*c->at == '\r') {
            return refuse(c, "a lone carriage return; lines end with LF or "
                             "CRLF");
        }
        c->at++;
    }
    return append_text(c, from, (size_t)(c->at - from));
}

static fby_err read_field(struct csv *c)
{
    if (c->n == FBY_LIST_MAX_COLUMNS) {
        return refuse(c, "more than 256 columns");
    }
    uint32_t i     = c->n++;
    c->begins[i]   = c->row.size;
    bool    quoted = c->at < c->end && *c->at == '"';
    fby_err err    = quoted ? read_quoted(c) : read_plain(c);
    c->sizes[i]    = c->row.size - c->begins[i];
    if (err == FBY_OK && !at_line_end(c) && *c->at != ',') {
        err = refuse(c, "text behind a quote that ended; a comma is needed");
    }
    if (err == FBY_OK && c->sizes[i] > 0 &&
        !fby_is_utf8(c->row.data + c->begins[i], c->sizes[i])) {
        err = refuse(c, "is not UTF-8 text");
    }
    return err == FBY_OK ? append_text(c, "", 1) : err;
}

/* Read the next row that is not empty. Returns FBY_NOT_FOUND at the end. */
static fby_err next_row(struct csv *c, uint64_t *line)
{
    while (c->at < c->end && at_line_end(c)) {
        c->at += *c->at == '\r' ? 2 : 1;
        c->line++;
    }
    if (c->at == c->end) {
        return FBY_NOT_FOUND;
    }
    *line       = c->line;
    c->n        = 0;
    c->row.size = 0;
    FBY_TRY(read_field(c));
    while (c->at < c->end && *c->at == ',') {
        c->at++;
        FBY_TRY(read_field(c));
    }
    return FBY_OK;
}

/* ---- header and rows ---- */

struct header {
    struct fby_buffer    names;
    struct fby_list_cell cells[FBY_LIST_MAX_COLUMNS];
    uint32_t             n;
};

/* Refuse a header of one column whose name has another separator in it. */
static fby_err check_commas(const struct csv *c, const struct header *h)
{
    size_t at = h->n == 1 ? strcspn(h->cells[0].column, ";\t|") : 0;
    if (h->n != 1 || h->cells[0].column[at] == '\0') {
        return FBY_OK;
    }
    char mark = h->cells[0].column[at];
    return fby_error_set(c->why, FBY_CONFIG,
        "line %llu: it has no comma, but %s; columns are separated by commas: "
        "write the file anew with them",
        (unsigned long long)c->line,
        mark == ';'   ? "';'"
        : mark == '|' ? "'|'"
                      : "tabs");
}

static fby_err check_names(const struct csv *c, const struct header *h)
{
    for (uint32_t i = 0; i < h->n; i++) {
        if (h->cells[i].column[0] == '\0') {
            return refuse(c, "a column without a name");
        }
        for (uint32_t k = 0; k < i; k++) {
            if (fby_suffix_is(h->cells[k].column, h->cells[i].column)) {
                return fby_error_set(c->why, FBY_CONFIG,
                    "line %llu: column '%.60s' is there twice (the case of "
                    "letters does not tell them apart)",
                    (unsigned long long)c->line, h->cells[i].column);
            }
        }
    }
    return FBY_OK;
}

static fby_err read_header(struct csv *c, struct header *h)
{
    uint64_t line = 0;
    fby_err  err  = next_row(c, &line);
    if (err == FBY_NOT_FOUND) {
        return fby_error_set(
            c->why, FBY_CONFIG, "it is empty; a header of names is needed");
    }
    if (err != FBY_OK) {
        return err;
    }
    fby_put_bytes(&h->names, c->row.data, c->row.size);
    h->n = c->n;
    for (uint32_t i = 0; i < h->n; i++) {
        h->cells[i].column = (const char *)h->names.data + c->begins[i];
    }
    err = check_commas(c, h);
    return err == FBY_OK ? check_names(c, h) : err;
}

static fby_err send_row(struct csv *c, struct header *h, uint64_t line,
    const struct fby_list_sink *sink)
{
    if (c->n != h->n) {
        return fby_error_set(c->why, FBY_CONFIG,
            "line %llu: %u fields, but the header has %u",
            (unsigned long long)line, c->n, h->n);
    }
    for (uint32_t i = 0; i < c->n; i++) {
        h->cells[i].text = (const char *)c->row.data + c->begins[i];
        h->cells[i].size = c->sizes[i];
    }
    struct fby_list_row row = {line, h->n, h->cells};
    return sink->row(sink->arg, &row, c->why);
}

static fby_err read_all(
    struct csv *c, struct header *h, const struct fby_list_sink *sink)
{
    fby_err err = read_header(c, h);
    while (err == FBY_OK) {
        uint64_t line = 0;
        err           = next_row(c, &line);
        if (err == FBY_OK) {
            err = send_row(c, h, line, sink);
        }
    }
    return err == FBY_NOT_FOUND ? FBY_OK : err;
}

fby_err fby_list_csv(const char *text, size_t size,
    const struct fby_list_sink *sink, struct fby_error_detail *why)
{
    struct csv    c   = {.at = text, .end = text + size, .line = 1, .why = why};
    struct header h   = {.n = 0};
    fby_err       err = read_all(&c, &h, sink);
    fby_buffer_fini(&c.row);
    fby_buffer_fini(&h.names);
    return err;
}
