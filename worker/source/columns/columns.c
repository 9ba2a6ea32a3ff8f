/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/source/columns/columns.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/mem.h"
#include "common/plural.h"
#include "pipeline/text.h"
#include "worker/source/columns/csr.h"
#include "worker/source/columns/ragged.h"
#include "worker/source/listing.h"
#include "worker/source/npy_reader.h"
#include "worker/source/zip/file.h"

struct scan { /* the state of indexing one shard */
    const struct fby_root *root;
    struct fby_shard      *out;
    uint64_t               samples; /* number of samples of the first column */
    char first_name[FBY_NAME_SIZE]; /* name of the first column; "": none yet */
};

/* The bytes of one column in an open file: a NAME.npy, a NAME.npz that SciPy
 * wrote, or the member NAME.npy of another .npz file. */
struct column_extent {
    const struct fby_object *object;
    struct fby_extent        extent;
    const char              *name; /* of the file or member, as NAME.npy */
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

fby_err fby_shard_add_column(struct fby_shard *self,
    const struct fby_column *column, struct fby_error_detail *why)
{
    uint32_t n = self->n_columns;
    if (n >= FBY_SHARD_MAX_COLUMNS) {
        return fby_error_set(
            why, FBY_CONFIG, "more than %d columns", FBY_SHARD_MAX_COLUMNS);
    }
    if (column->name[0] == '\0' || !fby_name_is_plain(column->name)) {
        return fby_error_set(why, FBY_CONFIG,
            "a column's name is UTF-8 without control characters");
    }
    self->columns    = fby_array_grow(self->columns, n, sizeof(*self->columns));
    self->columns[n] = *column;
    self->n_columns  = n + 1;
    return FBY_OK;
}

static fby_err set_column_name(
    const char *file_name, struct fby_column *out, struct fby_error_detail *why)
{
    size_t size = strlen(file_name) - strlen(".npy"); /* or ".npz" */
    if (size >= sizeof(out->name)) {
        return fby_error_set(why, FBY_CONFIG,
            "a column's name has at most %zu bytes", sizeof(out->name) - 1);
    }
    memcpy(out->name, file_name, size);
    out->name[size] = '\0';
    return FBY_OK;
}

/* Set the type and shape of a row, and the number of rows, which is the first
 * dimension. Only the values of a ragged column may have no rows: then all
 * lists are empty. */
static fby_err set_shape(const struct fby_npy *npy, struct fby_column *out,
    struct fby_error_detail *why)
{
    if (!fby_npy_is_c_order(npy)) {
        return fby_error_set(why, FBY_CONFIG,
            "its values are in Fortran order; save np.ascontiguousarray(x)");
    }
    out->type       = npy->type;
    out->big_endian = npy->big_endian;
    out->n_dims     = npy->n_dims > 0 ? npy->n_dims - 1 : 0;
    memcpy(out->dims, npy->dims + 1, out->n_dims * sizeof(out->dims[0]));
    out->row_bytes = npy->n_dims > 0 ? fby_column_row_bytes(out) : 0;
    out->rows      = npy->dims[0];
    if (out->row_bytes == 0 ||
        (out->rows == 0 && out->role != FBY_COLUMN_VALUES)) {
        char shape[FBY_NPY_SHAPE_TEXT];
        return fby_error_set(why, FBY_CONFIG,
            "its shape is %s: the first dimension of a column counts its "
            "samples, and no dimension may be 0",
            fby_npy_shape_text(npy->dims, npy->n_dims, shape));
    }
    return FBY_OK;
}

/* The first column sets the number of samples of the shard. Refuse a later
 * column with another number; the message has `note` after the number. */
static fby_err match_samples(struct scan *s, const struct fby_column *column,
    uint64_t rows, const char *note, struct fby_error_detail *why)
{
    if (s->first_name[0] == '\0') {
        memcpy(s->first_name, column->name, sizeof(s->first_name));
        s->samples = rows;
    }
    if (rows != s->samples || rows == 0) {
        return fby_error_set(why, FBY_CONFIG,
            "it has %s%s, and column %s has %" PRIu64
            "; all columns of a shard have the same number, at least 1",
            fby_plural(rows, "row").text, note, s->first_name, s->samples);
    }
    return rows <= UINT32_MAX
               ? FBY_OK
               : fby_error_set(why, FBY_CONFIG,
                     "%" PRIu64 " rows are more than the %u of a shard; cut "
                     "it into several",
                     rows, UINT32_MAX);
}

/* Check the number of rows against the number of samples. A column of offsets
 * has samples + 1 rows; a column of values has any number of rows. */
static fby_err match_rows(struct scan *s, const struct fby_column *column,
    struct fby_error_detail *why)
{
    bool is_offsets = column->role == FBY_COLUMN_OFFSETS;
    if (column->role == FBY_COLUMN_VALUES) {
        return FBY_OK;
    }
    return match_samples(s, column, column->rows - (is_offsets ? 1 : 0),
        is_offsets ? " (its offsets are one more)" : "", why);
}

/* Set the name, type, shape and position of a column from its header. */
static fby_err read_head(const struct column_extent *array,
    struct fby_column *out, struct fby_error_detail *why)
{
    struct fby_npy npy         = {.n_dims = 0};
    size_t         head_size   = 0;
    size_t         unused_stem = 0;
    FBY_TRY(set_column_name(array->name, out, why));
    out->role   = fby_ragged_role(out->name, &unused_stem);
    fby_err err = fby_npy_file_read_head(
        array->object, array->extent, &npy, &head_size, why);
    if (err != FBY_OK) {
        return err == FBY_BAD_SAMPLE ? FBY_CONFIG : err; /* no NumPy file */
    }
    FBY_TRY(set_shape(&npy, out, why));
    out->offset    = array->extent.offset + head_size;
    uint64_t bytes = out->rows * out->row_bytes;
    return bytes == array->extent.size - head_size
               ? FBY_OK
               : fby_error_set(why, FBY_CONFIG,
                     "%" PRIu64 " bytes follow the header; %" PRIu64
                     " rows of %" PRIu64 " bytes are %" PRIu64,
                     array->extent.size - head_size, out->rows, out->row_bytes,
                     bytes);
}

/* Read the first and the last offset of a column of offsets into `column`. */
static fby_err read_offset_ends(const struct fby_object *object,
    struct fby_column *column, struct fby_error_detail *why)
{
    if (column->n_dims > 0 || !fby_npy_is_integer(column->type)) {
        char shape[FBY_NPY_SHAPE_TEXT];
        return fby_error_set(why, FBY_CONFIG,
            "its rows are %s of %s; offsets are whole numbers in one dimension",
            fby_npy_shape_text(column->dims, column->n_dims, shape),
            fby_npy_dtype_name(column->type));
    }
    struct fby_file_array offsets = fby_column_as_file_array(column);
    return fby_ragged_read_ends(object, &offsets, column->rows, column, why);
}

static fby_err add_column(struct scan *s, const struct column_extent *array,
    struct fby_error_detail *why)
{
    struct fby_column column = {.name = ""};
    FBY_TRY(read_head(array, &column, why));
    FBY_TRY(match_rows(s, &column, why));
    if (column.role == FBY_COLUMN_OFFSETS) {
        FBY_TRY(read_offset_ends(array->object, &column, why));
    }
    return fby_shard_add_column(s->out, &column, why);
}

/* ---- a directory ---- */

/* Add a sparse matrix, which SciPy wrote to a .npz file (csr.h). */
static fby_err add_csr_column(struct scan *s, const struct column_extent *array,
    struct fby_error_detail *why)
{
    struct fby_column column = {.name = ""};
    uint64_t          rows   = 0;
    FBY_TRY(
        fby_csr_scan(array->object, array->extent.size, &column, &rows, why));
    FBY_TRY(set_column_name(array->name, &column, why));
    FBY_TRY(match_samples(s, &column, rows, "", why));
    return fby_shard_add_column(s->out, &column, why);
}

/* Add the column of a file. A .npz file that SciPy did not write is skipped. */
static fby_err scan_file(struct scan *s, const char *dir,
    const struct fby_entry *entry, struct fby_error_detail *why)
{
    char              path[FBY_PATH_SIZE];
    struct fby_stamp  stamp = {0};
    struct fby_object object;
    struct fby_shard *out = s->out;
    uint32_t          i   = out->n_columns; /* index of the new column */
    FBY_TRY(fby_path_join(dir, entry->name, path, why));
    FBY_TRY(fby_object_open_stamped(s->root, path, &object, &stamp, why));
    const struct column_extent array = {&object, {0, stamp.size}, entry->name};
    fby_err err = fby_is_npz(entry->name) ? add_csr_column(s, &array, why)
                                          : add_column(s, &array, why);
    fby_object_close(&object);
    if (err == FBY_OK) {
        out->stamps    = fby_array_grow(out->stamps, i, sizeof(*out->stamps));
        out->stamps[i] = stamp;
        out->size += stamp.size;
    }
    bool is_foreign_npz = fby_is_npz(entry->name) && err == FBY_NOT_FOUND;
    return is_foreign_npz ? FBY_OK : err;
}

static bool is_npy(const char *name)
{
    return fby_text_ends_with(name, ".npy");
}

static fby_err scan_dir(
    struct scan *s, const char *path, struct fby_error_detail *why)
{
    struct fby_listing listing = {0};
    fby_err err = fby_listing_read(s->root, path, NULL, &listing, why);
    fby_listing_log_dangling(s->root, path, listing.n_dangling);
    for (uint32_t i = 0; err == FBY_OK && i < listing.count; i++) {
        const struct fby_entry *entry = &listing.entries[i];
        bool is_column = is_npy(entry->name) || fby_is_npz(entry->name);
        if (!entry->is_dir && is_column) {
            err = fby_error_prefix(
                why, scan_file(s, path, entry, why), "%s", entry->name);
        }
    }
    fby_listing_fini(&listing);
    return err;
}

/* ---- a .npz ---- */

static fby_err scan_member(struct scan *s, const struct fby_zip_file *zip,
    const struct fby_zip_member *member, struct fby_error_detail *why)
{
    struct column_extent array = {
        zip->object, {0, member->size}, member->short_name};
    FBY_TRY(fby_zip_file_find_content(zip, member, &array.extent.offset, why));
    return add_column(s, &array, why);
}

static fby_err scan_members(
    struct scan *s, struct fby_zip_file *zip, struct fby_error_detail *why)
{
    uint64_t n = 0;
    for (; fby_zip_file_has_more(zip); n++) {
        struct fby_zip_member member;
        FBY_TRY(fby_zip_file_next(zip, &member, NULL, why));
        if (is_npy(member.short_name)) {
            FBY_TRY(fby_error_prefix(why, scan_member(s, zip, &member, why),
                "%s", fby_text_show(member.short_name).text));
        }
    }
    return fby_zip_check_count(&zip->directory, n, why);
}

static fby_err scan_npz(
    struct scan *s, const char *path, struct fby_error_detail *why)
{
    struct fby_object   object;
    struct fby_stamp    stamp = {0};
    struct fby_zip_file zip;
    FBY_TRY(fby_object_open_stamped(s->root, path, &object, &stamp, why));
    s->out->size   = stamp.size;
    s->out->stamps = fby_memdup(&stamp, sizeof(stamp));
    fby_err err    = fby_zip_file_open(&zip, &object, stamp.size, why);
    if (err == FBY_OK) {
        err = scan_members(s, &zip, why);
    }
    fby_zip_file_fini(&zip);
    fby_object_close(&object);
    return err;
}

/* ---- the whole shard ---- */

struct column_file { /* a column with the stamp of its file, to be sorted */
    struct fby_column column;
    struct fby_stamp  stamp;
};

static int by_name(const void *a, const void *b)
{
    const struct column_file *x = a;
    const struct column_file *y = b;
    return strcmp(x->column.name, y->column.name);
}

/* Sort the columns by name. Before, they are in order of file names, where
 * "a-b.npy" is before "a.npy". In a folder each column has a stamp, which moves
 * with it. All columns of a .npz file share stamps[0]. */
static void sort_columns(struct fby_shard *out)
{
    uint32_t            n                = out->n_columns;
    bool                stamp_per_column = fby_shard_count_stamps(out) == n;
    struct column_file *sorted           = fby_zalloc(n * sizeof(*sorted));
    for (uint32_t i = 0; i < n; i++) {
        sorted[i].column = out->columns[i];
        sorted[i].stamp  = out->stamps[stamp_per_column ? i : 0];
    }
    qsort(sorted, n, sizeof(*sorted), by_name);
    for (uint32_t i = 0; i < n; i++) {
        out->columns[i]                       = sorted[i].column;
        out->stamps[stamp_per_column ? i : 0] = sorted[i].stamp;
    }
    free(sorted);
}

static fby_err refuse_same_names(
    const struct fby_shard *out, struct fby_error_detail *why)
{
    for (uint32_t i = 0; i < out->n_columns; i++) {
        for (uint32_t k = 0; k < i; k++) {
            if (fby_equal_ignoring_case(
                    out->columns[i].name, out->columns[k].name)) {
                return fby_error_set(why, FBY_CONFIG,
                    "two columns named %s (the case of letters does not tell "
                    "them apart)",
                    out->columns[i].name);
            }
        }
    }
    return FBY_OK;
}

static fby_err check_offset_ends(
    const struct fby_shard *out, struct fby_error_detail *why)
{
    for (uint32_t i = 0; i < out->n_columns; i++) {
        const struct fby_column *column = &out->columns[i];
        const struct fby_column *values = &out->columns[column->partner];
        if (column->role == FBY_COLUMN_OFFSETS &&
            !fby_ragged_within(
                values, column->first_offset, column->last_offset)) {
            return fby_error_set(why, FBY_CONFIG,
                "%s.npy: its offsets go from %s to %s; %s.npy has %" PRIu64
                " entries",
                column->name, fby_ragged_offset_text(column->first_offset).text,
                fby_ragged_offset_text(column->last_offset).text, values->name,
                values->rows);
        }
    }
    return FBY_OK;
}

static fby_err finish_shard(struct scan *s, struct fby_error_detail *why)
{
    if (s->out->n_columns == 0) {
        return fby_error_set(why, FBY_CONFIG,
            "it holds no column: NAME.npy files, in a folder or a .npz, or "
            "files of scipy.sparse.save_npz in a folder");
    }
    s->out->n_samples = (uint32_t)s->samples;
    sort_columns(s->out);
    FBY_TRY(refuse_same_names(s->out, why));
    FBY_TRY(fby_ragged_pair(s->out, why));
    return check_offset_ends(s->out, why);
}

fby_err fby_columns_scan(const struct fby_root *root, const char *path,
    struct fby_shard *out, struct fby_error_detail *why)
{
    struct scan s = {.root = root, .out = out};
    FBY_TRY(fby_is_npz(out->name) ? scan_npz(&s, path, why)
                                  : scan_dir(&s, path, why));
    return finish_shard(&s, why);
}
