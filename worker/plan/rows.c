#include "worker/plan/rows.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/bytes.h"
#include "common/mem.h"
#include "pipeline/derived.h"
#include "pipeline/fields/kind.h"
#include "worker/npy/convert.h"
#include "worker/source/columns/ragged.h"
#include "worker/transform/bits.h"
#include "worker/transform/field.h"
#include "worker/transform/scalar.h"
#include "worker/transform/sparse.h"
#include "worker/transform/tokens.h"

enum {
    PREFETCH_ROWS   = 16,             /* rows prefetched before their copy */
    CACHE_LINE      = 64,             /* bytes of a cache line */
    PREFETCH_BYTES  = 4 * CACHE_LINE, /* bytes prefetched of a row */
    GATHER_BYTES    = 32768,          /* bytes gathered before they are cast */
    LARGE_ROW_BYTES = 4096 /* bytes of a row that is cast without gathering */
};

struct fby_rows {
    const struct fby_content *content;
    const struct fby_dataset *dataset;
    uint16_t                 *picks[FBY_MAX_FIELDS];
};

/* ---- checks of columns --------------------------------------------------- */

static bool has_shape(
    const struct fby_column *column, const struct fby_shape *shape)
{
    bool same = column->n_dims == shape->n_dims;
    for (uint32_t i = 0; same && i < column->n_dims; i++) {
        same = column->dims[i] == shape->dims[i];
    }
    return same;
}

static fby_err refuse_shape(const struct fby_column *column,
    const struct fby_shape *shape, struct fby_why *why)
{
    char     found[FBY_NPY_SHAPE_TEXT];
    char     wanted[FBY_NPY_SHAPE_TEXT];
    uint64_t dims[FBY_MAX_DIMS] = {0};
    for (uint32_t i = 0; i < shape->n_dims; i++) {
        dims[i] = shape->dims[i];
    }
    return fby_because(why, FBY_CONFIG,
        column->part == FBY_COLUMN_VALUES
            ? "the shape of its entries is %s, the field's %s"
            : "the shape of its rows is %s, the field's %s",
        fby_npy_shape_text(column->dims, column->n_dims, found),
        fby_npy_shape_text(dims, shape->n_dims, wanted));
}

static fby_err check_width(const struct fby_field_content *field,
    const struct fby_column *column, struct fby_why *why)
{
    uint64_t dense = fby_dense_values(&field->shape);
    return column->width == dense
               ? FBY_OK
               : fby_because(why, FBY_CONFIG,
                     "its rows have %" PRIu64
                     " values, those of the field's shape %" PRIu64,
                     column->width, dense);
}

static fby_err check_column(const struct fby_field_content *field,
    const struct fby_column *column, struct fby_why *why)
{
    bool                    entries = column->part == FBY_COLUMN_VALUES;
    const struct fby_shape *shape   = fby_field_maps(field) > 0 || entries
                                          ? fby_array_shape(field)
                                          : &field->shape;
    if (column->part == FBY_COLUMN_CSR) {
        return check_width(field, column, why);
    }
    if (!has_shape(column, shape)) {
        return refuse_shape(column, shape, why);
    }
    if (fby_field_maps(field) > 0 && column->type >= FBY_NPY_F2) {
        return fby_because(why, FBY_CONFIG,
            "its dtype is %s; bits come from bools or whole numbers",
            fby_npy_dtype(column->type));
    }
    if (fby_field_values(field) == FBY_VALUES_CLASSES &&
        column->type >= FBY_NPY_F2) {
        return fby_because(why, FBY_CONFIG,
            "its dtype is %s; a label is made of whole numbers",
            fby_npy_dtype(column->type));
    }
    return FBY_OK;
}

static fby_err check_field(
    const struct fby_rows *self, uint32_t field, struct fby_why *why)
{
    for (uint32_t s = 0; s < fby_dataset_shards(self->dataset); s++) {
        const struct fby_column *column =
            fby_dataset_column(self->dataset, self->picks[field], s);
        fby_err err = check_column(&self->content->fields[field], column, why);
        if (err != FBY_OK) {
            return fby_because_in(why, err, "shard %s, column %s",
                fby_dataset_shard_name(self->dataset, s), column->name);
        }
    }
    return FBY_OK;
}

static fby_err add_field_name(const struct fby_rows *self, uint32_t field,
    fby_err err, struct fby_why *why)
{
    return err == FBY_OK ? FBY_OK
                         : fby_because_in(why, err, "field %s",
                               self->content->fields[field].name);
}

fby_err fby_rows_create(const struct fby_content *content,
    const struct fby_dataset *dataset, struct fby_rows **out,
    struct fby_why *why)
{
    struct fby_rows *self = fby_zalloc(sizeof(*self));
    fby_err          err  = FBY_OK;
    self->content         = content;
    self->dataset         = dataset;
    uint32_t n = fby_dataset_has_tokens(dataset) ? 0 : content->n_fields;
    for (uint32_t i = 0; err == FBY_OK && i < n; i++) {
        const struct fby_field_content *field = &content->fields[i];
        err = fby_dataset_pick(dataset, field, &self->picks[i], why);
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
    struct fby_run *run, struct fby_why *why)
{
    const uint16_t *pick = self->picks[field];
    fby_err err = pick == NULL ? fby_run_open_tokens(run, self->dataset, why)
                               : fby_run_open(run, self->dataset, pick, why);
    return add_field_name(self, field, err, why);
}

fby_err fby_rows_close(const struct fby_rows *self, uint32_t field,
    struct fby_run *run, struct fby_why *why)
{
    return add_field_name(
        self, field, fby_run_close(run, self->dataset, why), why);
}

/* ---- copies -------------------------------------------------------------- */

/* Rows are scattered in the file: without prefetching, each copy would wait for
 * memory. */
static void prefetch(const uint8_t *row, size_t bytes)
{
    size_t limit = bytes < PREFETCH_BYTES ? bytes : PREFETCH_BYTES;
    for (size_t at = 0; at < limit; at += CACHE_LINE) {
        __builtin_prefetch(row + at);
    }
}

static void copy_rows(const uint8_t *const *rows, uint32_t n, uint32_t most,
    size_t bytes, uint8_t *dst)
{
    for (uint32_t i = 0; i < n; i++) {
        if (i + PREFETCH_ROWS < most) {
            prefetch(rows[i + PREFETCH_ROWS], bytes);
        }
        memcpy(dst + i * bytes, rows[i], bytes);
    }
}

/* The compiler turns copies of a constant size into one instruction each. */
static void gather(const struct fby_run *run, uint32_t first, uint32_t n,
    size_t bytes, uint8_t *dst)
{
    const uint8_t *const *rows = run->at + first;
    uint32_t              most = run->n - first;
    switch (bytes) {
    case 1:
        copy_rows(rows, n, most, 1, dst);
        break;
    case 2:
        copy_rows(rows, n, most, 2, dst);
        break;
    case 4:
        copy_rows(rows, n, most, 4, dst);
        break;
    case 8:
        copy_rows(rows, n, most, 8, dst);
        break;
    default:
        copy_rows(rows, n, most, bytes, dst);
        break;
    }
}

/* ---- casts --------------------------------------------------------------- */

struct cast {
    const struct fby_field_content *field;
    const struct fby_dataset       *dataset;
    const struct fby_run           *run;
    const struct fby_column        *column; /* of the rows being cast */
    bool                            is_copy;
    uint64_t                        values; /* of a row, or of an entry */
    size_t                          out_bytes;
    bool                           *bad;
    uint32_t                       *lengths; /* of ragged and sparse rows */
    uint8_t                        *indices; /* of sparse rows */
    struct fby_transform           *transform;
};

static struct fby_npy npy_of(
    const struct fby_column *column, const uint8_t *data, uint64_t values)
{
    return (struct fby_npy){.type = column->type,
        .big_endian               = column->big_endian,
        .values                   = values,
        .data                     = data};
}

/* Convert the values of `npy`; returns what fby_convert returns. */
static uint64_t convert(
    const struct fby_field_content *field, struct fby_npy *npy, uint8_t *dst)
{
    if (fby_field_maps(field) == 0) {
        return fby_convert(npy, field->wire_type, dst);
    }
    npy->n_dims = 1;
    npy->dims[0] =
        fby_field_maps(field); /* each group of `maps` bits is packed */
    return fby_bits_of_npy(npy, dst);
}

/* Cast `n` adjacent rows. If a value does not fit, cast each row by itself, to
 * find the bad ones. */
static void cast_rows(const struct cast *c, const uint8_t *raw, uint32_t first,
    uint32_t n, uint8_t *dst)
{
    struct fby_npy all = npy_of(c->column, raw, n * c->values);
    if (convert(c->field, &all, dst) == all.values) {
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        struct fby_npy one =
            npy_of(c->column, raw + i * c->column->row_bytes, c->values);
        uint64_t good     = convert(c->field, &one, dst + i * c->out_bytes);
        c->bad[first + i] = c->bad[first + i] || good != c->values;
    }
}

static void gather_and_cast(
    const struct cast *c, uint32_t first, uint32_t n, uint8_t *dst)
{
    uint8_t  raw[GATHER_BYTES];
    size_t   bytes = c->column->row_bytes;
    uint32_t many  = (uint32_t)(GATHER_BYTES / bytes);
    for (uint32_t i = 0; i < n; i += many) {
        uint32_t k = n - i < many ? n - i : many;
        gather(c->run, first + i, k, bytes, raw);
        cast_rows(c, raw, first + i, k, dst + i * c->out_bytes);
    }
}

static void cast_in_place(
    const struct cast *c, uint32_t first, uint32_t n, uint8_t *dst)
{
    for (uint32_t i = 0; i < n; i++) {
        cast_rows(
            c, c->run->at[first + i], first + i, 1, dst + i * c->out_bytes);
    }
}

static void cast_same_dtype(
    const struct cast *c, uint32_t first, uint32_t n, uint8_t *dst)
{
    if (c->is_copy) {
        gather(c->run, first, n, c->column->row_bytes, dst);
    } else if (c->column->row_bytes < LARGE_ROW_BYTES) {
        gather_and_cast(c, first, n, dst);
    } else {
        cast_in_place(c, first, n, dst);
    }
}

/* ---- labels -------------------------------------------------------------- */

static uint64_t label_at(
    const struct fby_field_content *field, const uint8_t *dst, uint32_t i)
{
    size_t            width = fby_type_bytes(field->wire_type);
    struct fby_reader r     = fby_reader(dst + i * width, width);
    return fby_read_le(&r, width);
}

static void check_labels(const struct fby_field_content *field,
    const uint8_t *dst, uint32_t n, bool *bad)
{
    uint64_t most = fby_label_most(field);
    for (uint32_t i = 0; i < n; i++) {
        bad[i] = bad[i] || label_at(field, dst, i) > most;
    }
}

/* ---- rows ---------------------------------------------------------------- */

static const struct fby_column *column_of(
    const struct fby_run *run, uint32_t row)
{
    return run->column[run->slot[row]];
}

/* The number of rows from `first` on, at most n, whose files have one dtype. */
static uint32_t same_dtype_rows(
    const struct fby_run *run, uint32_t first, uint32_t n)
{
    const struct fby_column *column = column_of(run, first);
    uint32_t                 k      = run->n_shards == 1 ? n : 1;
    for (; k < n; k++) {
        const struct fby_column *next = column_of(run, first + k);
        if (next->type != column->type ||
            next->big_endian != column->big_endian) {
            break;
        }
    }
    return k;
}

static void use_column(struct cast *c, const struct fby_column *column)
{
    struct fby_npy any = npy_of(column, NULL, 0);
    c->column          = column;
    c->values          = column->row_bytes / fby_npy_type_bytes(column->type);
    c->is_copy         = fby_field_maps(c->field) == 0 &&
                 fby_convert_is_copy(&any, c->field->wire_type);
}

static void make_dense(struct cast *c, uint32_t first, uint32_t n, uint8_t *dst)
{
    for (uint32_t i = 0; i < n;) {
        use_column(c, column_of(c->run, first + i));
        uint32_t k = same_dtype_rows(c->run, first + i, n - i);
        cast_same_dtype(c, first + i, k, dst + i * c->out_bytes);
        i += k;
    }
    if (fby_field_values(c->field) == FBY_VALUES_CLASSES) {
        check_labels(c->field, dst, n, c->bad + first);
    }
}

/* ---- ragged rows --------------------------------------------------------- */

/* Set *out to the number of entries that row `i` of the run is written with.
 * Errors: FBY_BAD_SAMPLE  its offsets are invalid or it is too long. */
static fby_err entry_count(
    const struct cast *c, uint32_t i, uint32_t *out, struct fby_why *why)
{
    int64_t begin = c->run->begin[i];
    int64_t end   = c->run->end[i];
    *out          = 0;
    if (c->run->at[i] == NULL) {
        return fby_ragged_refuse(column_of(c->run, i), begin, end, why);
    }
    uint64_t                   n   = (uint64_t)(end - begin);
    const struct fby_field_job job = {.field = c->field, .length = out};
    if (n <= c->field->max_length) {
        *out = (uint32_t)n;
        return FBY_OK;
    }
    return fby_length_settle(&job, n, out, why);
}

static void make_ragged_row(
    struct cast *c, uint32_t i, uint32_t length, uint8_t *dst)
{
    const struct fby_column *column = column_of(c->run, i);
    if (c->column == NULL || c->column != column) {
        use_column(c, column);
    }
    if (c->is_copy) {
        memcpy(dst, c->run->at[i], length * column->row_bytes);
        return;
    }
    struct fby_npy all = npy_of(column, c->run->at[i], length * c->values);
    c->bad[i] = c->bad[i] || convert(c->field, &all, dst) != all.values;
}

static void make_ragged_rows(
    struct cast *c, uint32_t first, uint32_t n, uint8_t *dst)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t row = first + i;
        if (row + PREFETCH_ROWS < c->run->n &&
            c->run->at[row + PREFETCH_ROWS] != NULL) {
            prefetch(c->run->at[row + PREFETCH_ROWS], PREFETCH_BYTES);
        }
        if (entry_count(c, row, &c->lengths[i], NULL) == FBY_OK) {
            make_ragged_row(c, row, c->lengths[i], dst + i * c->out_bytes);
        } else {
            c->bad[row] = true;
        }
    }
}

/* ---- sparse rows --------------------------------------------------------- */

/* Write row `row` of the run, the i-th of this part. Errors: FBY_BAD_SAMPLE. */
static fby_err make_sparse_row(const struct cast *c, uint32_t row, uint32_t i,
    uint8_t *dst, struct fby_why *why)
{
    const struct fby_column *column = column_of(c->run, row);
    if (c->run->at[row] == NULL) {
        return fby_ragged_refuse(
            column, c->run->begin[row], c->run->end[row], why);
    }
    uint64_t n = (uint64_t)(c->run->end[row] - c->run->begin[row]);
    const struct fby_sparse_lists lists = {
        .indices = {.type = column->indices.type,
            .big_endian   = column->indices.big_endian,
            .values       = n,
            .data         = fby_run_indices(c->run, row)},
        .values  = npy_of(column, c->run->at[row], n),
    };
    const struct fby_field_job job = {.field = c->field,
        .length                              = &c->lengths[i],
        .indices = c->indices + i * fby_field_index_bytes(c->field)};
    return fby_sparse_row_write(c->transform, &job, &lists, dst, why);
}

static void make_sparse_rows(
    const struct cast *c, uint32_t first, uint32_t n, uint8_t *dst)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t row = first + i;
        if (row + PREFETCH_ROWS < c->run->n &&
            c->run->at[row + PREFETCH_ROWS] != NULL) {
            prefetch(c->run->at[row + PREFETCH_ROWS], PREFETCH_BYTES);
            prefetch(
                fby_run_indices(c->run, row + PREFETCH_ROWS), PREFETCH_BYTES);
        }
        c->lengths[i] = 0;
        if (make_sparse_row(c, row, i, dst + i * c->out_bytes, NULL) !=
            FBY_OK) {
            c->bad[row] = true;
        }
    }
}

/* ---- sequences of tokens ------------------------------------------------- */

/* Write row `row` of the run. Errors: FBY_BAD_SAMPLE. */
static fby_err make_sequence(
    const struct cast *c, uint32_t row, uint8_t *dst, struct fby_why *why)
{
    uint32_t first  = strcmp(c->field->from[0], "target") == 0 ? 1 : 0;
    uint32_t length = c->field->as.tokens.length;
    for (uint32_t done = 0; done < length;) {
        struct fby_run_piece piece = fby_run_tokens(
            c->run, c->dataset, row, first + done, length - done);
        struct fby_npy in = fby_tokens_npy(piece.at, piece.width, piece.tokens);
        uint64_t       good = fby_tokens_convert(&in, c->field->wire_type, dst);
        if (good < in.values) {
            return fby_tokens_refuse(
                &in, good, done + good, c->field->wire_type, why);
        }
        dst += in.values * fby_type_bytes(c->field->wire_type);
        done += (uint32_t)in.values;
    }
    return FBY_OK;
}

static void make_sequences(
    const struct cast *c, uint32_t first, uint32_t n, uint8_t *dst)
{
    for (uint32_t i = 0; i < n; i++) {
        if (make_sequence(c, first + i, dst + i * c->out_bytes, NULL) !=
            FBY_OK) {
            c->bad[first + i] = true;
        }
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

void fby_rows_make(const struct fby_rows *self, uint32_t field,
    const struct fby_run *run, struct fby_rows_part part, bool *bad)
{
    struct cast c = {.field = &self->content->fields[field],
        .dataset            = self->dataset,
        .run                = run,
        .lengths            = part.lengths,
        .indices            = part.indices,
        .transform          = part.transform};
    c.bad         = bad;
    make_rows(&c, part.first, part.n, part.dst);
}

/* Return the reason why the only row of the run is refused. */
static fby_err refuse(const struct cast *c, uint8_t *dst, struct fby_why *why)
{
    const struct fby_field_content *field = c->field;
    if (fby_field_values(field) == FBY_VALUES_TOKENS) {
        return make_sequence(c, 0, dst, why);
    }
    if (fby_field_form(field) == FBY_FORM_SPARSE) {
        return make_sparse_row(c, 0, 0, dst, why);
    }
    const struct fby_column *column = column_of(c->run, 0);
    uint64_t values = column->row_bytes / fby_npy_type_bytes(column->type);
    if (fby_field_form(field) == FBY_FORM_RAGGED) {
        uint32_t length = 0;
        fby_err  err    = entry_count(c, 0, &length, why);
        if (err != FBY_OK) {
            return err;
        }
        values *= length;
    }
    struct fby_npy npy = npy_of(column, c->run->at[0], values);
    char           text[FBY_CONVERT_TEXT];
    if (fby_field_values(field) == FBY_VALUES_CLASSES) {
        return fby_label_refuse(field, fby_convert_text(&npy, 0, text), why);
    }
    uint64_t good = convert(field, &npy, dst);
    if (fby_field_maps(field) > 0) {
        return fby_because(why, FBY_BAD_SAMPLE,
            "value %" PRIu64 " is %s (%s); a bit is 0 or 1", good,
            fby_convert_text(&npy, good, text), fby_npy_dtype(npy.type));
    }
    return fby_convert_refuse(&npy, good, field->wire_type, why);
}

fby_err fby_rows_one(const struct fby_rows *self,
    const struct fby_rows_ask *ask, struct fby_run *run, uint8_t *dst,
    struct fby_why *why)
{
    bool        bad = false;
    struct cast c   = {.field = ask->as,
          .dataset            = self->dataset,
          .run                = run,
          .bad                = &bad,
          .lengths            = ask->length,
          .indices            = ask->indices,
          .transform          = ask->transform};
    if (c.field == NULL) {
        c.field = &self->content->fields[ask->field];
    }
    fby_run_place(run, self->dataset, &ask->sample, 1);
    fby_err err = fby_rows_open(self, ask->field, run, why);
    if (err != FBY_OK) {
        return err;
    }
    make_rows(&c, 0, 1, dst);
    fby_err refused = bad ? refuse(&c, dst, why) : FBY_OK;
    err             = fby_rows_close(self, ask->field, run, bad ? NULL : why);
    return err != FBY_OK ? err : add_field_name(self, ask->field, refused, why);
}
