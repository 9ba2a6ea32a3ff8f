/* csv.c - comma-separated values, strictly.
 *
 * One pass over the text. A row's fields are put together without their quotes
 * in one buffer, which the next row uses again. */
#include <string.h>

#include "common/bytes.h"
#include "common/utf8.h"
#include "worker/source/list/list.h"

struct csv {
    const char       *at, *end;
    uint64_t          line; /* we are in */
    struct fby_buffer row;  /* fields, each with a NUL behind */
    size_t            begins[FBY_LIST_MAX_COLUMNS]; /* of each in `row` */
    size_t            sizes[FBY_LIST_MAX_COLUMNS];
    uint32_t          n;
    struct fby_why   *why;
};

static fby_err wrong(const struct csv *c, const char *what)
{
    return fby_because(
        c->why, FBY_CONFIG, "line %llu: %s", (unsigned long long)c->line, what);
}

static fby_err take(struct csv *c, const char *text, size_t size)
{
    if (c->row.size + size > FBY_LIST_MAX_ROW) {
        return wrong(c, "a row of more than 1 MiB; does a quote not end?");
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

static fby_err take_quoted(struct csv *c)
{
    uint64_t first = c->line;
    for (c->at++;;) {
        const char *quote = memchr(c->at, '"', (size_t)(c->end - c->at));
        const char *stop  = quote != NULL ? quote : c->end;
        size_t      left  = FBY_LIST_MAX_ROW + 1 - c->row.size;
        size_t      size  = (size_t)(stop - c->at);
        fby_err     err   = take(c, c->at, size < left ? size : left);
        if (err != FBY_OK) {
            return err;
        }
        for (const char *p = c->at; p < stop; p++) {
            c->line += *p == '\n' ? 1 : 0;
        }
        if (quote == NULL) {
            c->line = first;
            return wrong(c, "a quote that does not end");
        }
        c->at = quote + 1;
        if (c->at == c->end || *c->at != '"') {
            return FBY_OK;
        }
        err = take(c, c->at++, 1); /* two of them are one */
        if (err != FBY_OK) {
            return err;
        }
    }
}

static fby_err take_plain(struct csv *c)
{
    const char *from = c->at;
    while (!at_line_end(c) && *c->at != ',') {
        if (*c->at == '"') {
            return wrong(c, "a quote within a field that is not quoted");
        }
        if (*c->at == '\r') {
            return wrong(c, "a lone carriage return; lines end with LF or "
                            "CRLF");
        }
        c->at++;
    }
    return take(c, from, (size_t)(c->at - from));
}

static fby_err take_field(struct csv *c)
{
    if (c->n == FBY_LIST_MAX_COLUMNS) {
        return wrong(c, "more than 256 columns");
    }
    uint32_t i     = c->n++;
    c->begins[i]   = c->row.size;
    bool    quoted = c->at < c->end && *c->at == '"';
    fby_err err    = quoted ? take_quoted(c) : take_plain(c);
    c->sizes[i]    = c->row.size - c->begins[i];
    if (err == FBY_OK && !at_line_end(c) && *c->at != ',') {
        err = wrong(c, "text behind a quote that ended; a comma is needed");
    }
    if (err == FBY_OK && c->sizes[i] > 0 &&
        !fby_is_utf8(c->row.data + c->begins[i], c->sizes[i])) {
        err = wrong(c, "is not UTF-8 text");
    }
    return err == FBY_OK ? take(c, "", 1) : err;
}

/* The fields of the next row that is not empty. FBY_NOT_FOUND: the end. */
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
    fby_err err = take_field(c);
    while (err == FBY_OK && c->at < c->end && *c->at == ',') {
        c->at++;
        err = take_field(c);
    }
    return err;
}

/* ---- header and rows ---- */

struct header {
    struct fby_buffer    names;
    struct fby_list_cell cells[FBY_LIST_MAX_COLUMNS];
    uint32_t             n;
};

/* What others put between columns stands in the name of an only one. */
static fby_err check_commas(const struct csv *c, const struct header *h)
{
    size_t at = h->n == 1 ? strcspn(h->cells[0].column, ";\t|") : 0;
    if (h->n != 1 || h->cells[0].column[at] == '\0') {
        return FBY_OK;
    }
    char mark = h->cells[0].column[at];
    return fby_because(c->why, FBY_CONFIG,
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
            return wrong(c, "a column without a name");
        }
        for (uint32_t k = 0; k < i; k++) {
            if (fby_suffix_is(h->cells[k].column, h->cells[i].column)) {
                return fby_because(c->why, FBY_CONFIG,
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
        return fby_because(
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

static fby_err hand_on(struct csv *c, struct header *h, uint64_t line,
    const struct fby_list_sink *sink)
{
    if (c->n != h->n) {
        return fby_because(c->why, FBY_CONFIG,
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
            err = hand_on(c, h, line, sink);
        }
    }
    return err == FBY_NOT_FOUND ? FBY_OK : err;
}

fby_err fby_list_csv(const char *text, size_t size,
    const struct fby_list_sink *sink, struct fby_why *why)
{
    static const char mark[3] = {'\xef', '\xbb', '\xbf'};
    struct csv    c = {.at = text, .end = text + size, .line = 1, .why = why};
    struct header h = {.n = 0};
    if (size >= sizeof(mark) && memcmp(text, mark, sizeof(mark)) == 0) {
        c.at += sizeof(mark);
    }
    fby_err err = read_all(&c, &h, sink);
    fby_buffer_fini(&c.row);
    fby_buffer_fini(&h.names);
    return err;
}
