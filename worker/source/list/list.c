/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/source/list/list.h"

#include <stdio.h>
#include <string.h>

#include "common/utf8.h"
#include "pipeline/text.h"
#include "worker/source/list/path.h"

struct row_context {
    const struct fby_list    *list;
    struct fby_shard_builder *builder; /* the virtual shards so far */
    uint64_t                  line;    /* number of the first line of the row */
    uint32_t columns_with_path; /* bit i: some row has a path in files[i] */
};

/* Write a column's name in lower case. Returns false if no field can select the
 * column. The `from:` of a field has extensions, so the name must be a valid
 * extension without dots. */
static bool lower_name(const char *column, char out[FBY_NAME_SIZE])
{
    size_t n = strlen(column);
    if (n >= FBY_NAME_SIZE) {
        return false;
    }
    for (size_t i = 0; i <= n; i++) {
        bool is_upper = column[i] >= 'A' && column[i] <= 'Z';
        out[i]        = (char)(is_upper ? column[i] - 'A' + 'a' : column[i]);
    }
    return fby_text_is_extension(out) && strchr(out, '.') == NULL;
}

/* Returns the index of a column in list->files; n_files if it has no paths. */
static uint32_t find_file_column(const struct fby_list *list, const char *name)
{
    uint32_t i = 0;
    while (i < list->n_files && strcmp(list->files[i], name) != 0) {
        i++;
    }
    return i;
}

fby_err fby_list_refuse(
    uint64_t line, const char *fault, struct fby_error_detail *why)
{
    return fby_error_set(
        why, FBY_CONFIG, "line %llu: %s", (unsigned long long)line, fault);
}

static fby_err refuse_cell(const struct fby_list_row *row,
    const struct fby_list_cell *cell, const char *fault,
    struct fby_error_detail *why)
{
    return fby_error_set(why, FBY_CONFIG, "line %llu, column %s: %s",
        (unsigned long long)row->line, fby_text_show(cell->column).text, fault);
}

/* ---- paths ---- */

/* Write COLUMN.EXTENSION, or COLUMN if the file has no extension. Returns false
 * if the suffix is too long. */
static bool make_suffix(
    const char *column, const char *path, size_t size, char out[FBY_NAME_SIZE])
{
    size_t name = size; /* offset of the file name in `path` */
    while (name > 0 && path[name - 1] != '/') {
        name--;
    }
    const char *end = path + size;
    const char *dot = memchr(path + name, '.', size - name);
    const char *ext = dot != NULL ? dot : end; /* with the dot */
    int         n =
        snprintf(out, FBY_NAME_SIZE, "%s%.*s", column, (int)(end - ext), ext);
    return n > 0 && n < FBY_NAME_SIZE;
}

/* ---- rows ---- */

enum cell_kind { CELL_IS_PATH, CELL_IS_VALUE };

/* Add a cell as a member. If it is a file, ops.c sets its size later. */
static fby_err add_member(struct row_context *context, const char *suffix,
    const struct fby_list_cell *cell, enum cell_kind kind,
    struct fby_error_detail *why)
{
    struct fby_shard *shard    = fby_shard_builder_last_shard(context->builder);
    bool              is_value = kind == CELL_IS_VALUE;
    size_t            bytes    = is_value ? cell->size : 0;
    fby_err           err = fby_shard_add_member(shard, suffix, 0, bytes, why);
    if (err == FBY_OK) {
        shard->size += bytes;
        err = fby_shard_add_text(shard, cell->text, cell->size, is_value, why);
    }
    return fby_error_prefix(
        why, err, "line %llu", (unsigned long long)context->line);
}

static fby_err add_file(struct row_context *context,
    const struct fby_list_row *row, const struct fby_list_cell *cell,
    const char *name, struct fby_error_detail *why)
{
    const struct fby_list *list = context->list;
    char                   path[FBY_PATH_SIZE];
    char                   suffix[FBY_NAME_SIZE];
    const char            *fault =
        fby_list_resolve_path(list->base != NULL ? list->base : "",
            list->root_dir != NULL ? list->root_dir : "", cell->text,
            cell->size, path);
    if (fault != NULL) {
        return refuse_cell(row, cell, fault, why);
    }
    struct fby_list_cell resolved = *cell;
    resolved.text                 = path;
    resolved.size                 = strlen(path);
    if (!make_suffix(name, resolved.text, resolved.size, suffix)) {
        return refuse_cell(row, cell,
            "the column's name and the extension have more than 63 bytes", why);
    }
    return add_member(context, suffix, &resolved, CELL_IS_PATH, why);
}

static fby_err add_cell(struct row_context *context,
    const struct fby_list_row *row, const struct fby_list_cell *cell,
    struct fby_error_detail *why)
{
    char name[FBY_NAME_SIZE];
    if (cell->size == 0 || !lower_name(cell->column, name)) {
        return FBY_OK; /* an empty cell or a skipped column: no member */
    }
    uint32_t i = find_file_column(context->list, name);
    if (i == context->list->n_files) {
        return add_member(context, name, cell, CELL_IS_VALUE, why);
    }
    context->columns_with_path |= 1U << i;
    return add_file(context, row, cell, name, why);
}

/* Refuse a row without a value: all are empty, or no name of a column is valid. */
static fby_err refuse_row(
    const struct fby_list_row *row, struct fby_error_detail *why)
{
    char     name[FBY_NAME_SIZE];
    uint32_t i = 0;
    while (i < row->n_cells && !lower_name(row->cells[i].column, name)) {
        i++;
    }
    if (i < row->n_cells || row->n_cells == 0) {
        return fby_list_refuse(row->line,
            "a row without any value that a field could select", why);
    }
    return fby_error_set(why, FBY_CONFIG,
        "line %llu: " FBY_LIST_NO_FIELD
        ", as '%.60s': letters, digits, _ and -",
        (unsigned long long)row->line, row->cells[0].column);
}

static fby_err add_row(
    void *arg, const struct fby_list_row *row, struct fby_error_detail *why)
{
    struct row_context *context = arg;
    char                key[24]; /* a 64-bit number in decimal */
    context->line = row->line;
    int n = snprintf(key, sizeof(key), "%llu", (unsigned long long)row->line);
    FBY_TRY(fby_shard_builder_begin_sample(
        context->builder, key, (size_t)n, FBY_SHARD_NO_CLASS, why));
    for (uint32_t i = 0; i < row->n_cells; i++) {
        FBY_TRY(add_cell(context, row, &row->cells[i], why));
    }
    const struct fby_shard *shard =
        fby_shard_builder_last_shard(context->builder);
    bool has_members =
        shard->first_member[shard->n_samples - 1] < shard->n_members;
    return has_members ? FBY_OK : refuse_row(row, why);
}

static fby_err check_file_columns(
    const struct row_context *context, struct fby_error_detail *why)
{
    for (uint32_t i = 0; i < context->list->n_files; i++) {
        if ((context->columns_with_path >> i & 1U) == 0) {
            return fby_error_set(why, FBY_CONFIG,
                "no row has a path in the column '%s', which 'files' names",
                context->list->files[i]);
        }
    }
    return FBY_OK;
}

fby_err fby_list_build_shards(const struct fby_list *list,
    struct fby_shard_builder *out, struct fby_error_detail *why)
{
    static const char    byte_order_mark[3] = {'\xef', '\xbb', '\xbf'};
    struct row_context   context            = {.list = list, .builder = out};
    struct fby_list_sink sink               = {add_row, &context};
    bool                 has_mark =
        list->size >= sizeof(byte_order_mark) &&
        memcmp(list->text, byte_order_mark, sizeof(byte_order_mark)) == 0;
    size_t      skip = has_mark ? sizeof(byte_order_mark) : 0;
    const char *text = list->text + skip;
    size_t      size = list->size - skip;
    *out             = (struct fby_shard_builder){.kind = FBY_SOURCE_LIST};
    FBY_TRY(list->json ? fby_list_json(text, size, &sink, why)
                       : fby_list_csv(text, size, &sink, why));
    FBY_TRY(fby_shard_builder_finish(out, why));
    return out->count > 0
               ? check_file_columns(&context, why)
               : fby_error_set(why, FBY_CONFIG,
                     "it has no rows: write one row for each sample");
}
