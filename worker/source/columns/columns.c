#include "worker/source/columns/columns.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/mem.h"
#include "pipeline/text.h"
#include "worker/source/columns/csr.h"
#include "worker/source/columns/ragged.h"
#include "worker/source/listing.h"
#include "worker/source/npy_file.h"

struct scan {
    const struct fby_root *root;
    struct fby_shard      *out;
    uint64_t               rows; /* number of samples of the first column */
    char first[FBY_NAME_SIZE];   /* name of that column; "": none yet */
};

/* The bytes of one column: a whole file NAME.npy or, if SciPy wrote it,
 * NAME.npz; or the member NAME.npy of a .npz. */
struct npy_extent {
    const struct fby_object *object;
    struct fby_extent        extent;
    const char              *name; /* with its extension */
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

static fby_err name_column(
    const char *file, struct fby_column *out, struct fby_error_detail *why)
{
    size_t n = strlen(file) - strlen(".npy"); /* as long as .npz */
    if (n >= sizeof(out->name)) {
        return fby_error_set(why, FBY_CONFIG,
            "a column's name has at most %zu bytes", sizeof(out->name) - 1);
    }
    memcpy(out->name, file, n);
    out->name[n] = '\0';
    return FBY_OK;
}

/* Set the type and shape of a row, and the number of rows. */
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
        (out->rows == 0 && out->part != FBY_COLUMN_VALUES)) {
        char shape[FBY_NPY_SHAPE_TEXT];
        return fby_error_set(why, FBY_CONFIG,
            "its shape is %s: the first dimension of a column counts its "
            "samples, and there is at least one of at least one value",
            fby_npy_shape_text(npy->dims, npy->n_dims, shape));
    }
    return FBY_OK;
}

/* Check that the column has as many samples as the first column; `note`
 * explains the number in the message. */
static fby_err check_samples(struct scan *s, const struct fby_column *column,
    uint64_t rows, const char *note, struct fby_error_detail *why)
{
    if (s->first[0] == '\0') {
        memcpy(s->first, column->name, sizeof(s->first));
        s->rows = rows;
    }
    if (rows != s->rows || rows == 0) {
        return fby_error_set(why, FBY_CONFIG,
            "it has %" PRIu64 " rows%s, and column %s has %" PRIu64
            "; all columns of a shard have as many, one at least",
            rows, note, s->first, s->rows);
    }
    return rows <= UINT32_MAX
               ? FBY_OK
               : fby_error_set(why, FBY_CONFIG,
                     "%" PRIu64 " rows are more than the %u of a shard; cut "
                     "it into several",
                     rows, UINT32_MAX);
}

/* Check the number of rows. A column of offsets has samples + 1 rows; a column
 * of values has any number of rows. */
static fby_err check_rows(struct scan *s, const struct fby_column *column,
    struct fby_error_detail *why)
{
    bool offsets = column->part == FBY_COLUMN_OFFSETS;
    if (column->part == FBY_COLUMN_VALUES) {
        return FBY_OK;
    }
    return check_samples(s, column, column->rows - (offsets ? 1 : 0),
        offsets ? " (its offsets are one more)" : "", why);
}

static fby_err read_head(const struct npy_extent *array, struct fby_column *out,
    struct fby_error_detail *why)
{
    struct fby_npy npy  = {.n_dims = 0};
    size_t         head = 0;
    size_t         stem = 0;
    FBY_TRY(name_column(array->name, out, why));
    out->part = fby_ragged_part(out->name, &stem);
    fby_err err =
        fby_npy_file_head(array->object, array->extent, &npy, &head, why);
    if (err != FBY_OK) {
        return err == FBY_BAD_SAMPLE ? FBY_CONFIG : err;
    }
    FBY_TRY(set_shape(&npy, out, why));
    out->offset    = array->extent.offset + head;
    uint64_t bytes = out->rows * out->row_bytes;
    return bytes == array->extent.size - head
               ? FBY_OK
               : fby_error_set(why, FBY_CONFIG,
                     "%" PRIu64 " bytes follow the header; %" PRIu64
                     " rows of %" PRIu64 " bytes are %" PRIu64,
                     array->extent.size - head, out->rows, out->row_bytes,
                     bytes);
}

static fby_err read_offset_ends(const struct fby_object *object,
    struct fby_column *column, struct fby_error_detail *why)
{
    if (column->n_dims > 0 || !fby_npy_is_integer(column->type)) {
        char shape[FBY_NPY_SHAPE_TEXT];
        return fby_error_set(why, FBY_CONFIG,
            "its rows are %s of %s; offsets are whole numbers in one dimension",
            fby_npy_shape_text(column->dims, column->n_dims, shape),
            fby_npy_dtype(column->type));
    }
    struct fby_numbers offsets = fby_column_numbers(column);
    return fby_ragged_read_ends(object, &offsets, column->rows, column, why);
}

static fby_err add_column(struct scan *s, const struct npy_extent *array,
    struct fby_error_detail *why)
{
    struct fby_column column = {.name = ""};
    FBY_TRY(read_head(array, &column, why));
    FBY_TRY(check_rows(s, &column, why));
    if (column.part == FBY_COLUMN_OFFSETS) {
        FBY_TRY(read_offset_ends(array->object, &column, why));
    }
    return fby_shard_add_column(s->out, &column, why);
}

/* ---- a directory ---- */

static fby_err add_csr_column(struct scan *s, const struct npy_extent *array,
    struct fby_error_detail *why)
{
    struct fby_column column = {.name = ""};
    uint64_t          rows   = 0;
    FBY_TRY(
        fby_csr_scan(array->object, array->extent.size, &column, &rows, why));
    FBY_TRY(name_column(array->name, &column, why));
    FBY_TRY(check_samples(s, &column, rows, "", why));
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
    uint32_t          n   = out->n_columns;
    FBY_TRY(fby_path_join(dir, entry->name, path, why));
    FBY_TRY(fby_object_open_stamped(s->root, path, &object, &stamp, why));
    const struct npy_extent array = {&object, {0, stamp.size}, entry->name};
    fby_err err = fby_is_npz(entry->name) ? add_csr_column(s, &array, why)
                                          : add_column(s, &array, why);
    fby_object_close(&object);
    if (err == FBY_OK) {
        out->stamps    = fby_array_grow(out->stamps, n, sizeof(*out->stamps));
        out->stamps[n] = stamp;
        out->size += stamp.size;
    }
    bool foreign = fby_is_npz(entry->name) && err == FBY_NOT_FOUND;
    return foreign ? FBY_OK : err;
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
    for (uint32_t i = 0; err == FBY_OK && i < listing.count; i++) {
        const struct fby_entry *entry = &listing.entries[i];
        bool column = is_npy(entry->name) || fby_is_npz(entry->name);
        if (!entry->is_dir && column) {
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
    struct npy_extent array = {zip->object, {0, member->size}, member->name};
    FBY_TRY(fby_zip_file_offset(zip, member, &array.extent.offset, why));
    return add_column(s, &array, why);
}

static fby_err scan_members(
    struct scan *s, struct fby_zip_file *zip, struct fby_error_detail *why)
{
    while (zip->left.left > 0) {
        struct fby_zip_member member;
        FBY_TRY(fby_zip_next_member(&zip->left, &member, why));
        if (is_npy(member.name)) {
            FBY_TRY(fby_error_prefix(why, scan_member(s, zip, &member, why),
                "%s", fby_text_show(member.name).text));
        }
    }
    return FBY_OK;
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

/* Sort by name. A listing is sorted by file name, where "a-b.npy" is before
 * "a.npy". */
static void sort_columns(struct fby_shard *out)
{
    uint32_t            n       = out->n_columns;
    bool                stamped = fby_shard_stamps(out) == n;
    struct column_file *all     = fby_zalloc(n * sizeof(*all));
    for (uint32_t i = 0; i < n; i++) {
        all[i].column = out->columns[i];
        all[i].stamp  = out->stamps[stamped ? i : 0];
    }
    qsort(all, n, sizeof(*all), by_name);
    for (uint32_t i = 0; i < n; i++) {
        out->columns[i]              = all[i].column;
        out->stamps[stamped ? i : 0] = all[i].stamp;
    }
    free(all);
}

static fby_err refuse_same_names(
    const struct fby_shard *out, struct fby_error_detail *why)
{
    for (uint32_t i = 0; i < out->n_columns; i++) {
        for (uint32_t k = 0; k < i; k++) {
            if (fby_suffix_is(out->columns[i].name, out->columns[k].name)) {
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
        if (column->part == FBY_COLUMN_OFFSETS &&
            !fby_ragged_within(values, column->first, column->last)) {
            return fby_error_set(why, FBY_CONFIG,
                "%s.npy: its offsets go from %s to %s; %s.npy has %" PRIu64
                " entries",
                column->name, fby_ragged_offset_text(column->first).text,
                fby_ragged_offset_text(column->last).text, values->name,
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
    s->out->samples = (uint32_t)s->rows;
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
