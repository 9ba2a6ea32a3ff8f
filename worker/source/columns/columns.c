#include "worker/source/columns/columns.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/mem.h"
#include "common/utf8.h"
#include "pipeline/text.h"
#include "worker/source/columns/csr.h"
#include "worker/source/columns/ragged.h"
#include "worker/source/listing.h"
#include "worker/source/zip_file.h"

struct scan {
    const struct fby_root *root;
    struct fby_shard      *out;
    uint8_t               *head;                 /* FBY_NPY_HEAD bytes */
    uint64_t               rows;                 /* of the first column */
    char                   first[FBY_NAME_SIZE]; /* "": none yet */
};

struct part { /* of an open file: one NumPy file */
    const struct fby_object *object;
    uint64_t                 offset;
    uint64_t                 size;
    const char              *name; /* "NAME.npy" */
};

/* ---- a column ---- */

uint64_t fby_column_row_bytes(const struct fby_column *column)
{
    uint64_t bytes = fby_npy_type_bytes(column->type);
    for (uint32_t i = 0; i < column->n_dims; i++) {
        if (column->dims[i] == 0 || bytes > INT64_MAX / column->dims[i]) {
            return 0;
        }
        bytes *= column->dims[i];
    }
    return bytes;
}

static bool is_one_line(const char *text)
{
    const char *at = text;
    while ((unsigned char)*at >= 0x20 && *at != 0x7f) {
        at++;
    }
    return *at == '\0' && at > text;
}

fby_err fby_shard_add_column(struct fby_shard *self,
    const struct fby_column *column, struct fby_why *why)
{
    uint32_t n = self->n_columns;
    if (n >= FBY_SHARD_MAX_COLUMNS) {
        return fby_because(
            why, FBY_CONFIG, "more than %d columns", FBY_SHARD_MAX_COLUMNS);
    }
    if (!is_one_line(column->name) ||
        !fby_is_utf8(column->name, strlen(column->name))) {
        return fby_because(why, FBY_CONFIG,
            "a column's name is UTF-8 without control characters");
    }
    self->columns    = fby_array_grow(self->columns, n, sizeof(*self->columns));
    self->columns[n] = *column;
    self->n_columns  = n + 1;
    return FBY_OK;
}

static fby_err name_column(
    const char *file, struct fby_column *out, struct fby_why *why)
{
    size_t n = strlen(file) - strlen(".npy"); /* or .npz */
    if (n >= sizeof(out->name)) {
        return fby_because(why, FBY_CONFIG,
            "a column's name has at most %zu bytes", sizeof(out->name) - 1);
    }
    memcpy(out->name, file, n);
    out->name[n] = '\0';
    return FBY_OK;
}

/* From the header of the whole file to that of one row. */
static fby_err take_header(
    const struct fby_npy *npy, struct fby_column *out, struct fby_why *why)
{
    if (!fby_npy_is_c_order(npy)) {
        return fby_because(why, FBY_CONFIG,
            "its values are in Fortran order; save np.ascontiguousarray(x)");
    }
    out->type       = npy->type;
    out->big_endian = npy->big_endian;
    out->n_dims     = npy->n_dims > 0 ? npy->n_dims - 1 : 0;
    memcpy(out->dims, npy->dims + 1, out->n_dims * sizeof(out->dims[0]));
    out->row_bytes = npy->n_dims > 0 ? fby_column_row_bytes(out) : 0;
    out->rows      = npy->dims[0];
    if (out->row_bytes == 0 ||
        (out->rows == 0 && out->part != FBY_COLUMN_VALUES)) {
        char shape[FBY_NPY_SHAPE_TEXT];
        return fby_because(why, FBY_CONFIG,
            "its shape is %s: the first dimension of a column counts its "
            "samples, and there is at least one of at least one value",
            fby_npy_shape_text(npy->dims, npy->n_dims, shape));
    }
    return FBY_OK;
}

/* All columns have as many; `note` is what more there is to say. */
static fby_err check_samples(struct scan *s, const struct fby_column *column,
    uint64_t rows, const char *note, struct fby_why *why)
{
    if (s->first[0] == '\0') {
        memcpy(s->first, column->name, sizeof(s->first));
        s->rows = rows;
    }
    if (rows != s->rows || rows == 0) {
        return fby_because(why, FBY_CONFIG,
            "it has %" PRIu64 " rows%s, and column %s has %" PRIu64
            "; all columns of a shard have as many, one at least",
            rows, note, s->first, s->rows);
    }
    return rows <= UINT32_MAX
               ? FBY_OK
               : fby_because(why, FBY_CONFIG,
                     "%" PRIu64 " rows are more than the %u of a shard; cut "
                     "it into several",
                     rows, UINT32_MAX);
}

/* Offsets have one more row than there are samples, values any number. */
static fby_err check_rows(
    struct scan *s, const struct fby_column *column, struct fby_why *why)
{
    bool offsets = column->part == FBY_COLUMN_OFFSETS;
    if (column->part == FBY_COLUMN_VALUES) {
        return FBY_OK;
    }
    return check_samples(s, column, column->rows - (offsets ? 1 : 0),
        offsets ? " (its offsets are one more)" : "", why);
}

static fby_err read_head(struct scan *s, const struct part *part,
    struct fby_column *out, struct fby_why *why)
{
    struct fby_npy npy  = {.n_dims = 0};
    size_t         head = 0;
    size_t         stem = 0;
    size_t         n    = part->size < FBY_NPY_HEAD ? part->size : FBY_NPY_HEAD;
    fby_err err = fby_object_read(part->object, part->offset, s->head, n, why);
    if (err == FBY_OK) {
        err = name_column(part->name, out, why);
    }
    if (err != FBY_OK) {
        return err;
    }
    out->part   = fby_ragged_part(out->name, &stem);
    out->offset = part->offset;
    if (fby_npy_read_head(s->head, n, &npy, &head, why) != FBY_OK ||
        take_header(&npy, out, why) != FBY_OK) {
        return FBY_CONFIG;
    }
    out->offset += head;
    uint64_t bytes = out->rows * out->row_bytes;
    return bytes == part->size - head
               ? FBY_OK
               : fby_because(why, FBY_CONFIG,
                     "%" PRIu64 " bytes follow the header; %" PRIu64
                     " rows of %" PRIu64 " bytes are %" PRIu64,
                     part->size - head, out->rows, out->row_bytes, bytes);
}

/* The first offset and the last one. */
static fby_err read_ends(const struct fby_object *object,
    struct fby_column *column, struct fby_why *why)
{
    uint8_t  raw[2][8] = {{0}};
    uint64_t last      = (column->rows - 1) * column->row_bytes;
    if (column->n_dims > 0 || !fby_npy_is_whole(column->type)) {
        char shape[FBY_NPY_SHAPE_TEXT];
        return fby_because(why, FBY_CONFIG,
            "its rows are %s of %s; offsets are whole numbers in one dimension",
            fby_npy_shape_text(column->dims, column->n_dims, shape),
            fby_npy_dtype(column->type));
    }
    fby_err err =
        fby_object_read(object, column->offset, raw[0], column->row_bytes, why);
    if (err == FBY_OK) {
        err = fby_object_read(
            object, column->offset + last, raw[1], column->row_bytes, why);
    }
    struct fby_numbers offsets = fby_column_numbers(column);
    column->first              = fby_ragged_offset(&offsets, raw[0]);
    column->last               = fby_ragged_offset(&offsets, raw[1]);
    return err;
}

static fby_err take_column(
    struct scan *s, const struct part *part, struct fby_why *why)
{
    struct fby_column column = {.name = ""};
    fby_err           err    = read_head(s, part, &column, why);
    if (err == FBY_OK) {
        err = check_rows(s, &column, why);
    }
    if (err == FBY_OK && column.part == FBY_COLUMN_OFFSETS) {
        err = read_ends(part->object, &column, why);
    }
    return err == FBY_OK ? fby_shard_add_column(s->out, &column, why) : err;
}

/* ---- a directory ---- */

/* A .npz file that is none of SciPy's is passed over: then *is_column is
 * false. */
static fby_err take_csr(struct scan *s, const struct part *part,
    bool *is_column, struct fby_why *why)
{
    struct fby_column column = {.name = ""};
    uint64_t          rows   = 0;
    fby_err err = fby_csr_scan(part->object, part->size, &column, &rows, why);
    *is_column  = err != FBY_NOT_FOUND;
    if (!*is_column) {
        return FBY_OK;
    }
    if (err == FBY_OK) {
        err = name_column(part->name, &column, why);
    }
    if (err == FBY_OK) {
        err = check_samples(s, &column, rows, "", why);
    }
    return err == FBY_OK ? fby_shard_add_column(s->out, &column, why) : err;
}

static void keep_stamp(struct fby_shard *out, const struct fby_stamp *stamp)
{
    uint32_t n     = out->n_columns - 1;
    out->stamps    = fby_array_grow(out->stamps, n, sizeof(*out->stamps));
    out->stamps[n] = *stamp;
    out->size += stamp->size;
}

static fby_err scan_file(struct scan *s, const char *dir,
    const struct fby_entry *entry, struct fby_why *why)
{
    char              path[FBY_PATH_SIZE];
    struct fby_stamp  stamp = {0};
    struct fby_object object;
    bool              is_column = true;
    fby_err           err       = fby_path_join(dir, entry->name, path, why);
    if (err == FBY_OK) {
        err = fby_object_open_stamped(s->root, path, &object, &stamp, why);
    }
    if (err == FBY_OK) {
        const struct part part = {&object, 0, stamp.size, entry->name};
        err = fby_is_npz(entry->name) ? take_csr(s, &part, &is_column, why)
                                      : take_column(s, &part, why);
        fby_object_close(&object);
    }
    if (err != FBY_OK) {
        return fby_because_in(why, err, "%s", entry->name);
    }
    if (is_column) {
        keep_stamp(s->out, &stamp);
    }
    return FBY_OK;
}

static bool is_npy(const char *name)
{
    size_t n = strlen(name);
    return n > 4 && strcmp(name + n - 4, ".npy") == 0;
}

static fby_err scan_dir(struct scan *s, const char *path, struct fby_why *why)
{
    struct fby_listing listing = {0};
    fby_err err = fby_listing_read(s->root, path, NULL, &listing, why);
    for (uint32_t i = 0; err == FBY_OK && i < listing.count; i++) {
        const struct fby_entry *entry = &listing.entries[i];
        bool one = is_npy(entry->name) || fby_is_npz(entry->name);
        if (!entry->is_dir && one) {
            err = scan_file(s, path, entry, why);
        }
    }
    fby_listing_fini(&listing);
    return err;
}

/* ---- a .npz ---- */

static fby_err scan_member(struct scan *s, const struct fby_zip_file *zip,
    const struct fby_zip_member *member, struct fby_why *why)
{
    struct part part = {.object = zip->object, .size = member->size};
    part.name        = member->name;
    fby_err err      = fby_zip_file_place(zip, member, &part.offset, why);
    return err == FBY_OK ? take_column(s, &part, why) : err;
}

static fby_err scan_members(
    struct scan *s, struct fby_zip_file *zip, struct fby_why *why)
{
    fby_err err = FBY_OK;
    while (err == FBY_OK && fby_zip_file_more(zip)) {
        struct fby_zip_member member;
        err = fby_zip_file_next(zip, &member, why);
        if (err == FBY_OK && is_npy(member.name)) {
            err = scan_member(s, zip, &member, why);
            if (err != FBY_OK) {
                fby_because_in(why, err, "%s", fby_text_show(member.name).text);
            }
        }
    }
    return err;
}

static fby_err scan_npz(struct scan *s, const char *path, struct fby_why *why)
{
    struct fby_object   object;
    struct fby_stamp    stamp = {0};
    struct fby_zip_file zip;
    fby_err err = fby_object_open_stamped(s->root, path, &object, &stamp, why);
    if (err != FBY_OK) {
        return err;
    }
    s->out->size   = stamp.size;
    s->out->stamps = fby_memdup(&stamp, sizeof(stamp));
    err            = fby_zip_file_open(&zip, &object, stamp.size, why);
    if (err == FBY_OK) {
        err = scan_members(s, &zip, why);
    }
    fby_zip_file_fini(&zip);
    fby_object_close(&object);
    return err;
}

/* ---- both ---- */

struct both { /* to be sorted together */
    struct fby_column column;
    struct fby_stamp  stamp;
};

static int by_name(const void *a, const void *b)
{
    const struct both *left  = a;
    const struct both *right = b;
    return strcmp(left->column.name, right->column.name);
}

/* Names of files are in order with their ".npy"; "a-b.npy" before "a.npy". */
static void sort_columns(struct fby_shard *out)
{
    uint32_t     n    = out->n_columns;
    bool         each = fby_shard_stamps(out) == n;
    struct both *all  = fby_zalloc(n * sizeof(*all));
    for (uint32_t i = 0; i < n; i++) {
        all[i].column = out->columns[i];
        all[i].stamp  = out->stamps[each ? i : 0];
    }
    qsort(all, n, sizeof(*all), by_name);
    for (uint32_t i = 0; i < n; i++) {
        out->columns[i] = all[i].column;
        if (each) {
            out->stamps[i] = all[i].stamp;
        }
    }
    free(all);
}

static fby_err refuse_twins(const struct fby_shard *out, struct fby_why *why)
{
    for (uint32_t i = 0; i < out->n_columns; i++) {
        for (uint32_t k = 0; k < i; k++) {
            if (fby_suffix_is(out->columns[i].name, out->columns[k].name)) {
                return fby_because(why, FBY_CONFIG,
                    "two columns named %s (the case of letters does not tell "
                    "them apart)",
                    out->columns[i].name);
            }
        }
    }
    return FBY_OK;
}

static fby_err check_ends(const struct fby_shard *out, struct fby_why *why)
{
    for (uint32_t i = 0; i < out->n_columns; i++) {
        const struct fby_column *column = &out->columns[i];
        const struct fby_column *values = &out->columns[column->partner];
        if (column->part == FBY_COLUMN_OFFSETS &&
            !fby_ragged_within(values, column->first, column->last)) {
            return fby_because(why, FBY_CONFIG,
                "%s.npy: its offsets go from %s to %s; %s.npy has %" PRIu64
                " entries",
                column->name, fby_ragged_show(column->first).text,
                fby_ragged_show(column->last).text, values->name, values->rows);
        }
    }
    return FBY_OK;
}

static fby_err finish(struct scan *s, struct fby_why *why)
{
    if (s->out->n_columns == 0) {
        return fby_because(why, FBY_CONFIG,
            "it holds no column: NAME.npy files, in a folder or a .npz, or "
            "files of scipy.sparse.save_npz in a folder");
    }
    s->out->samples = (uint32_t)s->rows;
    sort_columns(s->out);
    fby_err err = refuse_twins(s->out, why);
    if (err == FBY_OK) {
        err = fby_ragged_pair(s->out, why);
    }
    return err == FBY_OK ? check_ends(s->out, why) : err;
}

fby_err fby_columns_scan(const struct fby_root *root, const char *path,
    struct fby_shard *out, struct fby_why *why)
{
    struct scan s = {.root = root, .out = out};
    s.head        = fby_zalloc(FBY_NPY_HEAD);
    fby_err err   = fby_is_npz(out->name) ? scan_npz(&s, path, why)
                                          : scan_dir(&s, path, why);
    if (err == FBY_OK) {
        err = finish(&s, why);
    }
    free(s.head);
    return err;
}
