/* SPDX-License-Identifier: Apache-2.0 */
/* rows.c - make rows of a batch from columns or tokens in mapped files. The
 * rows of a run (source/row_reader.h) are made together, field by field. Dense
 * rows are gathered (copied next to each other), then cast (converted to the
 * wire type). Bad rows are only marked. To get the reason, the caller makes the
 * row again with fby_rows_write_one(). */
#include "worker/plan/rows.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/bytes.h"
#include "common/mem.h"
#include "common/plural.h"
#include "pipeline/derived.h"
#include "pipeline/fields/kind.h"
#include "worker/npy/convert.h"
#include "worker/source/columns/ragged.h"
#include "worker/transform/bits.h"
#include "worker/transform/decoders.h"
#include "worker/transform/field.h"
#include "worker/transform/sparse.h"
#include "worker/transform/tokens.h"

enum {
    PREFETCH_ROWS   = 16, /* rows are prefetched so many rows ahead */
    CACHE_LINE      = 64, /* bytes */
    PREFETCH_BYTES  = 4 * CACHE_LINE, /* limit of the bytes of one row */
    GATHER_BYTES    = 32768, /* limit of the rows that are cast together */
    LARGE_ROW_BYTES = 4096   /* from this size on, rows are cast one by one */
};

struct fby_rows {
    const struct fby_content *content;
    const struct fby_dataset *dataset;
    /* picks[field][shard]: index of the field's column in the shard. NULL for a
     * field of tokens. */
    uint16_t *picks[FBY_MAX_FIELDS];
};

/* ---- checks of columns --------------------------------------------------- */

static bool has_shape(
    const struct fby_column *column, const struct fby_shape *shape)
{
    bool is_equal = column->n_dims == shape->n_dims;
    for (uint32_t i = 0; is_equal && i < column->n_dims; i++) {
        is_equal = column->dims[i] == shape->dims[i];
    }
    return is_equal;
}

static fby_err refuse_shape(const struct fby_column *column,
    const struct fby_shape *shape, struct fby_error_detail *why)
{
    char     found[FBY_NPY_SHAPE_TEXT];
    char     wanted[FBY_NPY_SHAPE_TEXT];
    uint64_t dims[FBY_MAX_DIMS] = {0};
    for (uint32_t i = 0; i < shape->n_dims; i++) {
        dims[i] = shape->dims[i];
    }
    return fby_error_set(why, FBY_CONFIG,
        column->role == FBY_COLUMN_VALUES
            ? "the shape of its entries is %s, the field's %s"
            : "the shape of its rows is %s, the field's %s",
        fby_npy_shape_text(column->dims, column->n_dims, found),
        fby_npy_shape_text(dims, shape->n_dims, wanted));
}

static fby_err check_width(const struct fby_field_content *field,
    const struct fby_column *column, struct fby_error_detail *why)
{
    uint64_t wanted = fby_dense_values(&field->shape);
    return column->dense_width == wanted
               ? FBY_OK
               : fby_error_set(why, FBY_CONFIG,
                     "its rows have %s, those of the field's shape %" PRIu64,
                     fby_plural(column->dense_width, "value").text, wanted);
}

static fby_err check_column(const struct fby_field_content *field,
    const struct fby_column *column, struct fby_error_detail *why)
{
    if (column->role == FBY_COLUMN_CSR) {
        return check_width(field, column, why);
    }
    bool is_ragged = column->role == FBY_COLUMN_VALUES;
    bool is_packed = fby_field_packed_bits(field) > 0;
    /* A field that is ragged or packed as bits has another shape than its
     * column. */
    const struct fby_shape *shape =
        is_ragged || is_packed ? fby_array_shape(field) : &field->shape;
    if (!has_shape(column, shape)) {
        return refuse_shape(column, shape, why);
    }
    bool is_float = column->type >= FBY_NPY_F2; /* floats are the last types */
    if (is_float && is_packed) {
        return fby_error_set(why, FBY_CONFIG,
            "its dtype is %s; bits come from bools or whole numbers",
            fby_npy_dtype_name(column->type));
    }
    if (is_float && fby_field_values(field) == FBY_VALUES_CLASSES) {
        return fby_error_set(why, FBY_CONFIG,
            "its dtype is %s; a label is made of whole numbers",
            fby_npy_dtype_name(column->type));
    }
    return FBY_OK;
}

static fby_err check_field(
    const struct fby_rows *self, uint32_t field, struct fby_error_detail *why)
{
    for (uint32_t s = 0; s < fby_dataset_shard_count(self->dataset); s++) {
        const struct fby_column *column =
            fby_dataset_column(self->dataset, self->picks[field], s);
        fby_err err = check_column(&self->content->fields[field], column, why);
        if (err != FBY_OK) {
            return fby_error_prefix(why, err, "shard %s, column %s",
                fby_dataset_shard_name(self->dataset, s), column->name);
        }
    }
    return FBY_OK;
}

/* Prefix an error with the name of its field. Returns `err`. */
static fby_err add_field_name(const struct fby_rows *self, uint32_t field,
    fby_err err, struct fby_error_detail *why)
{
    return err == FBY_OK ? FBY_OK
                         : fby_error_prefix(why, err, "field %s",
                               self->content->fields[field].name);
}

fby_err fby_rows_create(const struct fby_content *content,
    const struct fby_dataset *dataset, struct fby_rows **out,
    struct fby_error_detail *why)
{
    struct fby_rows *self = fby_zalloc(sizeof(*self));
    fby_err          err  = FBY_OK;
    self->content         = content;
    self->dataset         = dataset;
    /* A dataset of tokens has no columns. */
    uint32_t n =
        fby_dataset_has_unpacked_tokens(dataset) ? 0 : content->n_fields;
    for (uint32_t i = 0; err == FBY_OK && i < n; i++) {
        const struct fby_field_content *field = &content->fields[i];
        err = fby_dataset_pick_columns(dataset, field, &self->picks[i], why);
        if (err == FBY_OK) {
            err = check_field(self, i, why);
        }
        add_field_name(self, i, err, why);
    }
    if (err != FBY_OK) {
        fby_rows_destroy(&self);
        return err;
    }
    *out = self;
    return FBY_OK;
}

void fby_rows_destroy(struct fby_rows **self_p)
{
    struct fby_rows *self = *self_p;
    if (self == NULL) {
        return;
    }
    *self_p = NULL;
    for (uint32_t i = 0; i < FBY_MAX_FIELDS; i++) {
        free(self->picks[i]);
    }
    free(self);
}

fby_err fby_rows_open(const struct fby_rows *self, uint32_t field,
    struct fby_row_reader *reader, struct fby_error_detail *why)
{
    const uint16_t           *pick    = self->picks[field];
    const struct fby_dataset *dataset = self->dataset;
    fby_err                   err     = FBY_OK;
    if (pick == NULL) {
        err = fby_row_reader_open_tokens(reader, dataset, why);
    } else {
        err = fby_row_reader_open_column(reader, dataset, pick, why);
    }
    return add_field_name(self, field, err, why);
}

fby_err fby_rows_close(const struct fby_rows *self, uint32_t field,
    struct fby_row_reader *reader, struct fby_error_detail *why)
{
    return add_field_name(
        self, field, fby_row_reader_close(reader, self->dataset, why), why);
}

/* ---- copies -------------------------------------------------------------- */

/* Rows are scattered in the file. Without prefetching, each copy would wait for
 * memory. */
static void prefetch(const uint8_t *row, size_t bytes)
{
    size_t limit = bytes < PREFETCH_BYTES ? bytes : PREFETCH_BYTES;
    for (size_t offset = 0; offset < limit; offset += CACHE_LINE) {
        __builtin_prefetch(row + offset);
    }
}

/* Copy n rows of row_bytes each. `rows` has n_known >= n pointers to rows: rows
 * after the first n are prefetched, too. */
static void copy_rows(const uint8_t *const *rows, uint32_t n, uint32_t n_known,
    size_t row_bytes, uint8_t *dst)
{
    for (uint32_t i = 0; i < n; i++) {
        if (i + PREFETCH_ROWS < n_known) {
            prefetch(rows[i + PREFETCH_ROWS], row_bytes);
        }
        memcpy(dst + i * row_bytes, rows[i], row_bytes);
    }
}

/* Copy n rows, from row `first` of the run on, next to each other. The compiler
 * turns a copy of a constant size into one instruction. */
static void gather_rows(const struct fby_row_reader *reader, uint32_t first,
    uint32_t n, size_t row_bytes, uint8_t *dst)
{
    const uint8_t *const *rows    = reader->at + first;
    uint32_t              n_known = reader->n_rows - first;
    if (row_bytes == 1) {
        copy_rows(rows, n, n_known, 1, dst);
    } else if (row_bytes == 2) {
        copy_rows(rows, n, n_known, 2, dst);
    } else if (row_bytes == 4) {
        copy_rows(rows, n, n_known, 4, dst);
    } else if (row_bytes == 8) {
        copy_rows(rows, n, n_known, 8, dst);
    } else {
        copy_rows(rows, n, n_known, row_bytes, dst);
    }
}

/* ---- casts --------------------------------------------------------------- */

struct cast { /* makes the rows of one field from the rows of a run */
    const struct fby_field_content *field;
    const struct fby_dataset       *dataset;
    const struct fby_row_reader    *reader;
    const struct fby_column        *column;    /* of the rows being cast */
    bool                            is_copy;   /* the cast changes no byte */
    uint64_t                        values;    /* per row; ragged: per entry */
    size_t                          out_bytes; /* of a row in the batch */
    bool                           *bad; /* per row of the run: it is refused */
    uint32_t                       *lengths; /* as in fby_rows_group */
    uint8_t                        *indices; /* as in fby_rows_group */
    struct fby_transform           *transform;
};

/* Returns an array of `values` values at `data`, of the type of `column`. */
static struct fby_npy as_npy(
    const struct fby_column *column, const uint8_t *data, uint64_t values)
{
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): of a run, never NULL */
    return (struct fby_npy){.type = column->type,
        .big_endian               = column->big_endian,
        .n_values                 = values,
        .data                     = data};
}

/* Convert values to the wire type, or pack them as bits. Returns the number of
 * values before the first that does not fit; npy->n_values if all fit. */
static uint64_t convert_values(
    const struct fby_field_content *field, struct fby_npy *npy, uint8_t *dst)
{
    if (fby_field_packed_bits(field) == 0) {
        return fby_convert(npy, field->wire_type, dst);
    }
    /* fby_bits_pack_npy packs the maps of each position together. */
    npy->n_dims  = 1;
    npy->dims[0] = fby_field_packed_bits(field);
    return fby_bits_pack_npy(npy, dst);
}

/* Cast `n` adjacent rows at `raw`. If a value does not fit, cast each row by
 * itself, to find the bad rows. */
static void cast_rows(const struct cast *c, const uint8_t *raw, uint32_t first,
    uint32_t n, uint8_t *dst)
{
    struct fby_npy all = as_npy(c->column, raw, n * c->values);
    if (convert_values(c->field, &all, dst) == all.n_values) {
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        struct fby_npy one =
            as_npy(c->column, raw + i * c->column->row_bytes, c->values);
        uint64_t good = convert_values(c->field, &one, dst + i * c->out_bytes);
        c->bad[first + i] = c->bad[first + i] || good != c->values;
    }
}

static void gather_and_cast(
    const struct cast *c, uint32_t first, uint32_t n, uint8_t *dst)
{
    uint8_t  raw[GATHER_BYTES];
    size_t   row_bytes = c->column->row_bytes;
    uint32_t max_rows  = (uint32_t)(GATHER_BYTES / row_bytes);
    for (uint32_t i = 0; i < n; i += max_rows) {
        uint32_t n_rows = n - i < max_rows ? n - i : max_rows;
        gather_rows(c->reader, first + i, n_rows, row_bytes, raw);
        cast_rows(c, raw, first + i, n_rows, dst + i * c->out_bytes);
    }
}

static void cast_one_by_one(
    const struct cast *c, uint32_t first, uint32_t n, uint8_t *dst)
{
    for (uint32_t i = 0; i < n; i++) {
        cast_rows(
            c, c->reader->at[first + i], first + i, 1, dst + i * c->out_bytes);
    }
}

static void cast_same_dtype(
    const struct cast *c, uint32_t first, uint32_t n, uint8_t *dst)
{
    if (c->is_copy) {
        gather_rows(c->reader, first, n, c->column->row_bytes, dst);
    } else if (c->column->row_bytes < LARGE_ROW_BYTES) {
        gather_and_cast(c, first, n, dst);
    } else {
        cast_one_by_one(c, first, n, dst);
    }
}

/* ---- labels -------------------------------------------------------------- */

static uint64_t label_at(
    const struct fby_field_content *field, const uint8_t *dst, uint32_t i)
{
    size_t width = fby_type_bytes(field->wire_type);
    return fby_load_le(dst + i * width, width);
}

static void mark_bad_labels(const struct fby_field_content *field,
    const uint8_t *dst, uint32_t n, bool *bad)
{
    uint64_t max = fby_label_max(field);
    for (uint32_t i = 0; i < n; i++) {
        bad[i] = bad[i] || label_at(field, dst, i) > max;
    }
}

/* ---- rows ---------------------------------------------------------------- */

static const struct fby_column *column_of(
    const struct fby_row_reader *reader, uint32_t row)
{
    return reader->column[reader->slot[row]];
}

/* Count the rows from `first` on, at most n, with the dtype of row `first`. */
static uint32_t count_same_dtype(
    const struct fby_row_reader *reader, uint32_t first, uint32_t n)
{
    const struct fby_column *column = column_of(reader, first);
    /* All rows of a shard have the same column. */
    uint32_t n_same = reader->n_shards == 1 ? n : 1;
    for (; n_same < n; n_same++) {
        const struct fby_column *other = column_of(reader, first + n_same);
        if (other->type != column->type ||
            other->big_endian != column->big_endian) {
            break;
        }
    }
    return n_same;
}

static void set_column(struct cast *c, const struct fby_column *column)
{
    const struct fby_npy no_values = as_npy(column, NULL, 0);
    c->column                      = column;
    c->values  = column->row_bytes / fby_npy_type_bytes(column->type);
    c->is_copy = fby_field_packed_bits(c->field) == 0 &&
                 fby_convert_is_copy(&no_values, c->field->wire_type);
}

static void make_dense(struct cast *c, uint32_t first, uint32_t n, uint8_t *dst)
{
    for (uint32_t i = 0; i < n;) {
        set_column(c, column_of(c->reader, first + i));
        uint32_t n_same = count_same_dtype(c->reader, first + i, n - i);
        cast_same_dtype(c, first + i, n_same, dst + i * c->out_bytes);
        i += n_same;
    }
    if (fby_field_values(c->field) == FBY_VALUES_CLASSES) {
        mark_bad_labels(c->field, dst, n, c->bad + first);
    }
}

/* ---- ragged rows --------------------------------------------------------- */

/* Set *out to the number of entries that row `i` of the run gets in the batch.
 * Errors: FBY_BAD_SAMPLE  the offsets of the row are invalid, or it is too long
 *                         and the field does not allow to cut it. */
static fby_err resolve_length(const struct cast *c, uint32_t i, uint32_t *out,
    struct fby_error_detail *why)
{
    int64_t begin = c->reader->begin[i];
    int64_t end   = c->reader->end[i];
    *out          = 0;
    if (c->reader->at[i] == NULL) {
        return fby_ragged_refuse(column_of(c->reader, i), begin, end, why);
    }
    uint64_t                   n   = (uint64_t)(end - begin);
    const struct fby_field_job job = {.field = c->field, .length = out};
    if (n <= c->field->max_length) {
        *out = (uint32_t)n;
        return FBY_OK;
    }
    return fby_length_resolve(&job, n, why);
}

static void make_ragged_row(
    struct cast *c, uint32_t i, uint32_t length, uint8_t *dst)
{
    const struct fby_column *column = column_of(c->reader, i);
    if (c->column != column) {
        set_column(c, column);
    }
    if (c->is_copy) {
        memcpy(dst, c->reader->at[i], length * column->row_bytes);
        return;
    }
    struct fby_npy all = as_npy(column, c->reader->at[i], length * c->values);
    c->bad[i] =
        c->bad[i] || convert_values(c->field, &all, dst) != all.n_values;
}

/* Prefetch the row that is PREFETCH_ROWS after row `row` of the run. */
static inline void prefetch_ahead(const struct cast *c, uint32_t row)
{
    row += PREFETCH_ROWS;
    if (row < c->reader->n_rows && c->reader->at[row] != NULL) {
        prefetch(c->reader->at[row], PREFETCH_BYTES);
        if (c->indices != NULL) {
            prefetch(
                fby_row_reader_find_indices(c->reader, row), PREFETCH_BYTES);
        }
    }
}

static void make_ragged_rows(
    struct cast *c, uint32_t first, uint32_t n, uint8_t *dst)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t row = first + i;
        prefetch_ahead(c, row);
        if (resolve_length(c, row, &c->lengths[i], NULL) == FBY_OK) {
            make_ragged_row(c, row, c->lengths[i], dst + i * c->out_bytes);
        } else {
            c->bad[row] = true;
        }
    }
}

/* ---- sparse rows --------------------------------------------------------- */

/* Write row `row` of the run, which is row `i` of the group.
 * Errors: FBY_BAD_SAMPLE. */
static fby_err make_sparse_row(const struct cast *c, uint32_t row, uint32_t i,
    uint8_t *dst, struct fby_error_detail *why)
{
    const struct fby_column *column = column_of(c->reader, row);
    if (c->reader->at[row] == NULL) {
        return fby_ragged_refuse(
            column, c->reader->begin[row], c->reader->end[row], why);
    }
    uint64_t n = (uint64_t)(c->reader->end[row] - c->reader->begin[row]);
    const struct fby_sparse_lists lists = {
        .indices = {.type = column->indices.type,
            .big_endian   = column->indices.big_endian,
            .n_values     = n,
            .data         = fby_row_reader_find_indices(c->reader, row)},
        .values  = as_npy(column, c->reader->at[row], n),
    };
    const struct fby_field_job job = {.field = c->field,
        .length                              = &c->lengths[i],
        .indices = c->indices + i * fby_field_index_bytes(c->field)};
    return fby_sparse_write_lists(c->transform, &job, &lists, dst, why);
}

static void make_sparse_rows(
    const struct cast *c, uint32_t first, uint32_t n, uint8_t *dst)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t row = first + i;
        prefetch_ahead(c, row);
        c->lengths[i] = 0;
        fby_err err = make_sparse_row(c, row, i, dst + i * c->out_bytes, NULL);
        c->bad[row] = c->bad[row] || err != FBY_OK;
    }
}

/* ---- sequences of tokens ------------------------------------------------- */

/* Write row `row` of the run. Errors: FBY_BAD_SAMPLE. */
static fby_err make_sequence(const struct cast *c, uint32_t row, uint8_t *dst,
    struct fby_error_detail *why)
{
    /* The target of each token is the token after it. */
    uint32_t first  = strcmp(c->field->from[0], "target") == 0 ? 1 : 0;
    uint32_t length = c->field->as.tokens.length;
    for (uint32_t done = 0; done < length;) {
        struct fby_token_view view = fby_row_reader_find_tokens(
            c->reader, c->dataset, row, first + done, length - done);
        struct fby_npy in = fby_tokens_as_npy(view.at, view.width, view.tokens);
        uint64_t       good = fby_tokens_convert(&in, c->field->wire_type, dst);
        if (good < in.n_values) {
            return fby_tokens_refuse(
                &in, good, done + good, c->field->wire_type, why);
        }
        dst += in.n_values * fby_type_bytes(c->field->wire_type);
        done += (uint32_t)in.n_values;
    }
    return FBY_OK;
}

static void make_sequences(
    const struct cast *c, uint32_t first, uint32_t n, uint8_t *dst)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t row = first + i;
        fby_err  err = make_sequence(c, row, dst + i * c->out_bytes, NULL);
        c->bad[row]  = c->bad[row] || err != FBY_OK;
    }
}

static void make_rows(struct cast *c, uint32_t first, uint32_t n, uint8_t *dst)
{
    c->out_bytes = fby_field_bytes(c->field);
    if (fby_field_values(c->field) == FBY_VALUES_TOKENS) {
        make_sequences(c, first, n, dst);
    } else if (fby_field_form(c->field) == FBY_FORM_RAGGED) {
        make_ragged_rows(c, first, n, dst);
    } else if (fby_field_form(c->field) == FBY_FORM_SPARSE) {
        make_sparse_rows(c, first, n, dst);
    } else {
        make_dense(c, first, n, dst);
    }
}

void fby_rows_write(const struct fby_rows *self, uint32_t field,
    const struct fby_row_reader *reader, struct fby_rows_group group, bool *bad)
{
    struct cast c = {.field = &self->content->fields[field],
        .dataset            = self->dataset,
        .reader             = reader,
        .lengths            = group.lengths,
        .indices            = group.indices,
        .transform          = group.transform};
    c.bad         = bad;
    make_rows(&c, group.first, group.n, group.dst);
}

/* Make the only row of the run again, and return the error that refuses it. */
static fby_err find_refusal(
    const struct cast *c, uint8_t *dst, struct fby_error_detail *why)
{
    const struct fby_field_content *field = c->field;
    if (fby_field_values(field) == FBY_VALUES_TOKENS) {
        return make_sequence(c, 0, dst, why);
    }
    if (fby_field_form(field) == FBY_FORM_SPARSE) {
        return make_sparse_row(c, 0, 0, dst, why);
    }
    const struct fby_column *column = column_of(c->reader, 0);
    uint64_t n_values = column->row_bytes / fby_npy_type_bytes(column->type);
    if (fby_field_form(field) == FBY_FORM_RAGGED) {
        uint32_t length = 0;
        FBY_TRY(resolve_length(c, 0, &length, why));
        n_values *= length;
    }
    struct fby_npy npy = as_npy(column, c->reader->at[0], n_values);
    char           text[FBY_CONVERT_TEXT];
    if (fby_field_values(field) == FBY_VALUES_CLASSES) {
        return fby_label_refuse(field, fby_convert_text(&npy, 0, text), why);
    }
    uint64_t good = convert_values(field, &npy, dst);
    if (fby_field_packed_bits(field) > 0) {
        return fby_error_set(why, FBY_BAD_SAMPLE,
            "value %" PRIu64 " is %s (%s); a bit is 0 or 1", good,
            fby_convert_text(&npy, good, text), fby_npy_dtype_name(npy.type));
    }
    return fby_convert_refuse(&npy, good, field->wire_type, why);
}

fby_err fby_rows_write_one(const struct fby_rows *self,
    const struct fby_row_request *request, struct fby_row_reader *reader,
    uint8_t *dst, struct fby_error_detail *why)
{
    bool        bad = false;
    struct cast c   = {.field = request->settings_override,
          .dataset            = self->dataset,
          .reader             = reader,
          .bad                = &bad,
          .lengths            = request->length,
          .indices            = request->indices,
          .transform          = request->transform};
    if (c.field == NULL) { /* no override */
        c.field = &self->content->fields[request->field];
    }
    fby_row_reader_begin_run(reader, self->dataset, &request->sample, 1);
    FBY_TRY(fby_rows_open(self, request->field, reader, why));
    make_rows(&c, 0, 1, dst);
    fby_err refused = bad ? find_refusal(&c, dst, why) : FBY_OK;
    add_field_name(self, request->field, refused, why);
    /* If closing fails, its error replaces that of a bad row. */
    fby_err err = fby_rows_close(self, request->field, reader, why);
    return err != FBY_OK ? err : refused;
}
