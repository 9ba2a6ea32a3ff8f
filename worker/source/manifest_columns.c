#include "worker/source/manifest_columns.h"

#include <stdio.h>
#include <string.h>

#include "common/mem.h"
#include "worker/source/columns.h"
#include "worker/source/ragged.h"

enum { /* keys of a shard's record */
    KEY_ROWS = 13,
    KEY_COLUMNS
};

enum { /* of a column's record */
    COLUMN_NAME = 1,
    COLUMN_TYPE, /* "<f4" */
    COLUMN_ROW,  /* its dimensions */
    COLUMN_OFFSET,
    COLUMN_PART,   /* of a ragged one; this and the next: only of those */
    COLUMN_ENTRIES /* of values */
};

static void put_column_record(
    const struct fby_column *column, uint16_t key, struct fby_buffer *out)
{
    char    type[8];
    int64_t dims[FBY_NPY_MAX_DIMS];
    size_t  mark = fby_record_open(out, key);
    bool    one  = fby_npy_type_bytes(column->type) == 1;
    snprintf(type, sizeof(type), "%c%s",
        one                  ? '|'
        : column->big_endian ? '>'
                             : '<',
        fby_npy_type_name(column->type));
    for (uint32_t i = 0; i < column->n_dims; i++) {
        dims[i] = (int64_t)column->dims[i];
    }
    fby_record_put_text(out, COLUMN_NAME, column->name);
    fby_record_put_text(out, COLUMN_TYPE, type);
    fby_record_put_i64s(out, COLUMN_ROW, dims, column->n_dims);
    fby_record_put_i64(out, COLUMN_OFFSET, (int64_t)column->offset);
    if (column->part != FBY_COLUMN_WHOLE) {
        fby_record_put_i64(out, COLUMN_PART, column->part);
    }
    if (column->part == FBY_COLUMN_VALUES) {
        fby_record_put_i64(out, COLUMN_ENTRIES, (int64_t)column->rows);
    }
    fby_record_close(out, mark);
}

void fby_columns_encode(const struct fby_shard *shard, struct fby_buffer *out)
{
    fby_record_put_i64(out, KEY_ROWS, shard->samples);
    size_t mark = fby_record_open(out, KEY_COLUMNS);
    for (uint32_t i = 0; i < shard->n_columns; i++) {
        put_column_record(&shard->columns[i], (uint16_t)(i + 1), out);
    }
    fby_record_close(out, mark);
}

static fby_err bad(struct fby_why *why, const char *what)
{
    return fby_because(why, FBY_PROTO, "manifest of a shard: %s", what);
}

static void read_type(struct fby_record *r, struct fby_column *out)
{
    char text[8] = "";
    fby_record_text(r, COLUMN_TYPE, text, sizeof(text));
    for (int i = 0; i < FBY_NPY_TYPES; i++) {
        enum fby_npy_type type = (enum fby_npy_type)i;
        bool              one  = fby_npy_type_bytes(type) == 1;
        bool order = text[0] == '|' ? one : !one && strchr("<>", text[0]);
        if (order && text[0] != '\0' &&
            strcmp(text + 1, fby_npy_type_name(type)) == 0) {
            out->type       = type;
            out->big_endian = text[0] == '>';
            return;
        }
    }
    fby_record_refuse(r, COLUMN_TYPE, "names a dtype that is not known");
}

static void read_part(
    struct fby_record *r, uint32_t samples, struct fby_column *out)
{
    out->rows = samples;
    if (fby_record_has(r, COLUMN_PART)) {
        out->part = (enum fby_column_part)fby_record_between(
            r, COLUMN_PART, FBY_COLUMN_OFFSETS, FBY_COLUMN_VALUES);
    }
    if (out->part == FBY_COLUMN_VALUES) {
        out->rows =
            (uint64_t)fby_record_between(r, COLUMN_ENTRIES, 0, INT64_MAX);
    } else if (out->part == FBY_COLUMN_OFFSETS) {
        out->rows++;
    }
}

static void read_column_record(struct fby_record *list,
    const struct fby_shard *shard, struct fby_column *out)
{
    uint16_t          key = (uint16_t)(shard->n_columns + 1);
    int64_t           dims[FBY_NPY_MAX_DIMS];
    struct fby_record r = fby_record_nested(list, key);
    fby_record_text(&r, COLUMN_NAME, out->name, sizeof(out->name));
    read_type(&r, out);
    out->n_dims =
        (uint32_t)fby_record_i64s(&r, COLUMN_ROW, dims, FBY_NPY_MAX_DIMS - 1);
    for (uint32_t i = 0; i < out->n_dims; i++) {
        out->dims[i] = dims[i] > 0 ? (uint64_t)dims[i] : 0;
    }
    out->offset = (uint64_t)fby_record_between(&r, COLUMN_OFFSET, 0, INT64_MAX);
    out->row_bytes = fby_column_row_bytes(out);
    read_part(&r, shard->samples, out);
    fby_record_leave(list, &r);
}

static fby_err check_column(const struct fby_shard *shard,
    const struct fby_column *column, struct fby_why *why)
{
    uint64_t room = shard->size - (column->offset < shard->size ? column->offset
                                                                : shard->size);
    bool     numbers = column->type > FBY_NPY_B1 && column->type < FBY_NPY_F2;
    if (column->part == FBY_COLUMN_OFFSETS &&
        (!numbers || column->n_dims > 0)) {
        return bad(why, "offsets that are no whole numbers");
    }
    if (column->row_bytes == 0 || shard->samples == 0 ||
        column->rows > room / column->row_bytes) {
        return bad(why, "a column beyond the end");
    }
    return shard->n_columns == 0 ||
                   strcmp(shard->columns[shard->n_columns - 1].name,
                       column->name) < 0
               ? FBY_OK
               : bad(why, "columns that are not in order");
}

fby_err fby_columns_decode(
    struct fby_record *r, struct fby_shard *out, struct fby_why *why)
{
    fby_err err  = FBY_OK;
    out->samples = (uint32_t)fby_record_between(r, KEY_ROWS, 1, UINT32_MAX);
    struct fby_record list = fby_record_nested(r, KEY_COLUMNS);
    while (err == FBY_OK && fby_record_more(&list)) {
        struct fby_column column = {.name = ""};
        read_column_record(&list, out, &column);
        err = check_column(out, &column, why);
        if (err == FBY_OK) {
            err = fby_shard_add_column(out, &column, why);
        }
    }
    if (err != FBY_OK) {
        return FBY_PROTO;
    }
    fby_record_leave(r, &list);
    if (fby_record_end(r, "manifest of a shard", why) != FBY_OK) {
        return FBY_PROTO;
    }
    if (out->n_columns == 0) {
        return bad(why, "no columns");
    }
    if (fby_ragged_pair(out, NULL) != FBY_OK) {
        return bad(why, "a part of a ragged column without the other");
    }
    out->stamps = fby_zalloc(fby_shard_stamps(out) * sizeof(*out->stamps));
    return FBY_OK;
}
