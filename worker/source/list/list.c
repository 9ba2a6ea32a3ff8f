#include "worker/source/list/list.h"

#include <stdio.h>
#include <string.h>

#include "common/utf8.h"
#include "pipeline/text.h"

struct builder {
    const struct fby_list *list;
    struct fby_parts      *parts;
    uint64_t               line; /* of the row that is taken */
    uint32_t               seen; /* bit i: a row has a file of column i */
};

/* The column's name as fields say it; false when none can. */
static bool lower_name(const char *column, char out[FBY_NAME_SIZE])
{
    size_t n = strlen(column);
    if (n >= FBY_NAME_SIZE) {
        return false;
    }
    for (size_t i = 0; i <= n; i++) {
        bool upper = column[i] >= 'A' && column[i] <= 'Z';
        out[i]     = (char)(upper ? column[i] - 'A' + 'a' : column[i]);
    }
    return fby_text_is_extension(out) && strchr(out, '.') == NULL;
}

/* Its place among the columns of paths; n_files when it is none. */
static uint32_t file_column(const struct fby_list *list, const char *name)
{
    uint32_t i = 0;
    while (i < list->n_files && strcmp(list->files[i], name) != 0) {
        i++;
    }
    return i;
}

static fby_err wrong(const struct fby_list_row *row,
    const struct fby_list_cell *cell, const char *what, struct fby_why *why)
{
    return fby_because(why, FBY_CONFIG, "line %llu, column %s: %s",
        (unsigned long long)row->line, fby_text_show(cell->column).text, what);
}

/* ---- paths ---- */

/* Leads downwards, to one line of names. */
static const char *fault_of_path(const char *path, size_t size)
{
    if (size >= FBY_PATH_SIZE) {
        return "a path of more than 4095 bytes";
    }
    for (size_t i = 0; i < size; i++) {
        if ((unsigned char)path[i] < 0x20 || path[i] == 0x7f) {
            return "a path with a control character in it";
        }
    }
    for (size_t at = 0; at <= size;) {
        size_t n = 0;
        while (at + n < size && path[at + n] != '/') {
            n++;
        }
        bool dots =
            n > 0 && n <= 2 && path[at] == '.' && path[at + n - 1] == '.';
        if (n == 0 || dots) {
            return "a path is relative to the list's folder, without '.', '..' "
                   "and '//'; put the list into a folder that all its files "
                   "are below, or give that folder as --data NAME=DIR and the "
                   "list as NAME:FILE";
        }
        at += n + 1;
    }
    return NULL;
}

/* COLUMN.EXTENSION, or COLUMN where the file has none. */
static bool make_suffix(
    const char *column, const char *path, size_t size, char out[FBY_NAME_SIZE])
{
    size_t base = size;
    while (base > 0 && path[base - 1] != '/') {
        base--;
    }
    const char *dot = memchr(path + base, '.', size - base);
    size_t      n   = dot != NULL ? (size_t)(path + size - dot) : 0;

    int m = snprintf(
        out, FBY_NAME_SIZE, "%s%.*s", column, (int)n, dot != NULL ? dot : "");
    return m > 0 && m < FBY_NAME_SIZE;
}

/* ---- rows ---- */

static fby_err add_member(struct builder *b, const char *suffix,
    const struct fby_list_cell *cell, bool is_value, struct fby_why *why)
{
    struct fby_shard *shard = fby_parts_last(b->parts);
    size_t            bytes = is_value ? cell->size : 0;
    fby_err           err = fby_shard_add_member(shard, suffix, 0, bytes, why);
    if (err == FBY_OK) {
        shard->size += bytes;
        err = fby_shard_add_text(shard, cell->text, cell->size, is_value, why);
    }
    return err == FBY_OK ? FBY_OK
                         : fby_because_in(why, err, "line %llu",
                               (unsigned long long)b->line);
}

static fby_err add_file(struct builder *b, const struct fby_list_row *row,
    const struct fby_list_cell *cell, const char *name, struct fby_why *why)
{
    char        suffix[FBY_NAME_SIZE];
    const char *fault = fault_of_path(cell->text, cell->size);
    if (fault != NULL) {
        return wrong(row, cell, fault, why);
    }
    if (!make_suffix(name, cell->text, cell->size, suffix)) {
        return wrong(row, cell,
            "the column's name and the extension have more than 63 bytes", why);
    }
    return add_member(b, suffix, cell, false, why);
}

static fby_err add_cell(struct builder *b, const struct fby_list_row *row,
    const struct fby_list_cell *cell, struct fby_why *why)
{
    char name[FBY_NAME_SIZE];
    if (cell->size == 0 || !lower_name(cell->column, name)) {
        return FBY_OK;
    }
    uint32_t i = file_column(b->list, name);
    if (i == b->list->n_files) {
        return add_member(b, name, cell, true, why);
    }
    b->seen |= 1U << i;
    return add_file(b, row, cell, name, why);
}

static fby_err take_row(
    void *arg, const struct fby_list_row *row, struct fby_why *why)
{
    struct builder *b = arg;
    char            key[24];
    b->line = row->line;
    int n   = snprintf(key, sizeof(key), "%llu", (unsigned long long)row->line);
    fby_err err = fby_parts_begin_sample(
        b->parts, key, (size_t)n, FBY_SHARD_NO_CLASS, why);
    for (uint32_t i = 0; err == FBY_OK && i < row->n; i++) {
        err = add_cell(b, row, &row->cells[i], why);
    }
    if (err != FBY_OK) {
        return err;
    }
    const struct fby_shard *shard = fby_parts_last(b->parts);
    return shard->first[shard->samples - 1] < shard->members
               ? FBY_OK
               : fby_because(why, FBY_CONFIG,
                     "line %llu: a row with nothing "
                     "in it that a field could name",
                     (unsigned long long)row->line);
}

static fby_err check_seen(const struct builder *b, struct fby_why *why)
{
    for (uint32_t i = 0; i < b->list->n_files; i++) {
        if ((b->seen >> i & 1U) == 0) {
            return fby_because(why, FBY_CONFIG,
                "no row has a path in the column '%s', which 'files' names",
                b->list->files[i]);
        }
    }
    return FBY_OK;
}

fby_err fby_list_parts(
    const struct fby_list *list, struct fby_parts *out, struct fby_why *why)
{
    *out                         = (struct fby_parts){.kind = FBY_SOURCE_LIST};
    struct builder             b = {.list = list, .parts = out};
    const struct fby_list_sink sink = {take_row, &b};
    fby_err err = list->json ? fby_list_json(list->text, list->size, &sink, why)
                             : fby_list_csv(list->text, list->size, &sink, why);
    if (err == FBY_OK) {
        err = fby_parts_finish(out, why);
    }
    if (err == FBY_OK && out->count == 0) {
        return fby_because(why, FBY_CONFIG, "it has no rows");
    }
    return err == FBY_OK ? check_seen(&b, why) : err;
}
