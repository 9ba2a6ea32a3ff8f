/* SPDX-License-Identifier: Apache-2.0 */
/* sparse_file.c - read a sparse row from a .npz file that SciPy saved in one of
 * two formats. COO has three arrays: the values, their rows and their columns.
 * CSR has the values, their columns (indices) and each row's offset (indptr).
 * Rows and columns become indices into the dense row: all rows of the file, one
 * after the other, with their zeros.
 *
 * The shape is read first. The memory for the other members follows from the
 * shape and the zip directory, and is reserved before they are inflated. A
 * member that is too large for max_length values is not inflated. */
#include <inttypes.h>
#include <string.h>

#include "common/plural.h"
#include "worker/npy/convert.h"
#include "worker/transform/decoders.h"
#include "worker/transform/npz.h"
#include "worker/transform/sparse.h"
#include "worker/transform/transform_private.h"

enum member { SHAPE, DATA, FORMAT, INDICES, INDPTR, ROW, COL, N_MEMBERS };

enum {
    FORMAT_SIZE   = 8,  /* bytes of a buffer for the name of a format */
    SMALL_BYTES   = 64, /* most bytes of the values in shape or in format */
    INFLATE_BYTES = 1 << 16, /* bytes that zlib allocates */
    /* Bytes of the index, row and scratch of each value. */
    MEMORY_PER_VALUE = 2 * sizeof(int64_t) + FBY_SPARSE_SCRATCH_BYTES
};

struct sparse_file {
    const struct fby_field_job *job;
    struct fby_npz_member       members[N_MEMBERS];
    struct fby_npy              npy[N_MEMBERS]; /* set when a member is read */
    uint64_t                    rows; /* of the shape; until it is read, the
                                         most that the field allows */
    uint64_t                    columns;
    int64_t                    *indices; /* of each value in the dense row */
    int64_t                    *row_of;  /* COO: row of each value */
    uint8_t                    *scratch; /* for fby_sparse_row */
    uint8_t                    *buffer;  /* next free byte for an inflated
                                            member */
};

/* ---- members ---- */

static fby_err find_members(
    struct sparse_file *file, struct fby_error_detail *why)
{
    static const char *const names[N_MEMBERS] = {
        "shape", "data", "format", "indices", "indptr", "row", "col"};
    for (int i = 0; i < N_MEMBERS; i++) {
        file->members[i].name = names[i];
    }
    return fby_npz_find_members(
        file->job->bytes, file->job->size, file->members, N_MEMBERS, why);
}

/* The most bytes that the values of a member may have. */
static uint64_t max_value_bytes(const struct sparse_file *file, enum member id)
{
    if (id == SHAPE || id == FORMAT) {
        return SMALL_BYTES;
    }
    uint64_t max_values =
        id == INDPTR ? file->rows + 1 : file->job->field->max_length;
    return max_values * sizeof(int64_t);
}

static fby_err check_sizes(
    const struct sparse_file *file, struct fby_error_detail *why)
{
    for (int i = 0; i < N_MEMBERS; i++) {
        uint64_t size = fby_npz_buffer_bytes(&file->members[i]);
        uint64_t max  = FBY_NPY_HEAD + max_value_bytes(file, (enum member)i);
        if (size > max) {
            return fby_error_set(why, FBY_BAD_SAMPLE,
                "its %s.npy has %" PRIu64 " bytes; a row of max_length %" PRIu32
                " has at most %" PRIu64,
                file->members[i].name, size, file->job->field->max_length, max);
        }
    }
    return FBY_OK;
}

/* Allocate memory for all members except the shape, which is read already: the
 * arrays of the struct, then buffers to inflate members. A value has at least
 * one byte, so the size of data.npy limits the number of values. */
static fby_err alloc_all(struct fby_transform *transform,
    struct sparse_file *file, struct fby_error_detail *why)
{
    uint64_t data_bytes     = file->members[DATA].entry.size;
    uint64_t max_length     = file->job->field->max_length;
    uint64_t max_values     = data_bytes < max_length ? data_bytes : max_length;
    uint64_t inflated_bytes = 0;
    for (int i = DATA; i < N_MEMBERS; i++) { /* all after SHAPE */
        inflated_bytes += fby_npz_buffer_bytes(&file->members[i]);
    }
    fby_err err = fby_sparse_alloc(transform,
        max_values * MEMORY_PER_VALUE + inflated_bytes,
        max_values * FBY_SPARSE_SORT_BYTES + INFLATE_BYTES, &file->buffer, why);
    if (err == FBY_OK) {
        file->indices = (int64_t *)(void *)file->buffer;
        file->row_of  = file->indices + max_values;
        file->scratch = (uint8_t *)(file->row_of + max_values);
        file->buffer  = file->scratch + max_values * FBY_SPARSE_SCRATCH_BYTES;
    }
    return err;
}

/* Set *out to the bytes of a member, inflated to file->buffer if necessary. */
static fby_err read_member(struct sparse_file *file, enum member id,
    const uint8_t **out, struct fby_error_detail *why)
{
    const struct fby_npz_member *member = &file->members[id];
    if (member->data == NULL) {
        return fby_error_set(why, FBY_BAD_SAMPLE,
            "it has no %s.npy, which scipy.sparse.save_npz writes for CSR and "
            "COO",
            member->name);
    }
    fby_err err = fby_npz_read_member(member, file->buffer, out, why);
    file->buffer += fby_npz_buffer_bytes(member);
    return err;
}

/* Read a member that is an array of one dimension, and set file->npy[id]. */
static fby_err read_array(
    struct sparse_file *file, enum member id, struct fby_error_detail *why)
{
    const uint8_t               *bytes  = NULL;
    const struct fby_npz_member *member = &file->members[id];
    struct fby_npy              *npy    = &file->npy[id];
    fby_err                      err    = read_member(file, id, &bytes, why);
    if (err == FBY_OK) {
        err = fby_npy_read(bytes, (size_t)member->entry.size, npy, why);
        if (err != FBY_OK) {
            return fby_error_prefix(why, err, "its %s.npy", member->name);
        }
    }
    return err == FBY_OK && npy->n_dims != 1
               ? fby_error_set(why, FBY_BAD_SAMPLE,
                     "its %s.npy has %" PRIu32 " dimensions; it must have one",
                     member->name, npy->n_dims)
               : err;
}

/* Convert `n` integers of an array, from value `first` on. */
static fby_err convert_to_i64(const struct sparse_file *file, enum member id,
    uint64_t first, uint64_t n, int64_t *out, struct fby_error_detail *why)
{
    struct fby_npy slice = file->npy[id];
    slice.data += first * fby_npy_type_bytes(slice.type);
    slice.n_values = n;
    return fby_npy_is_integer(slice.type) &&
                   fby_convert(&slice, FBY_I64, (uint8_t *)out) == n
               ? FBY_OK
               : fby_error_set(why, FBY_BAD_SAMPLE,
                     "its %s.npy has %s; whole numbers up to 2^63 are needed",
                     file->members[id].name, fby_npy_dtype_name(slice.type));
}

/* ---- shape ---- */

/* True if the file's shape is one row with all dense values of the field, or is
 * equal to the field's shape of two dimensions. */
static bool shape_fits(const struct sparse_file *file)
{
    const struct fby_shape *shape = &file->job->field->shape;
    return (file->rows == 1 && file->columns == fby_dense_values(shape)) ||
           (shape->n_dims == 2 && file->rows == shape->dims[0] &&
               file->columns == shape->dims[1]);
}

static fby_err refuse_shape(
    const struct sparse_file *file, struct fby_error_detail *why)
{
    char                    found[FBY_NPY_SHAPE_TEXT];
    char                    wanted[FBY_NPY_SHAPE_TEXT];
    const struct fby_shape *shape       = &file->job->field->shape;
    uint64_t                own_dims[2] = {file->rows, file->columns};
    uint64_t                field_dims[FBY_MAX_DIMS] = {0};
    for (uint32_t i = 0; i < shape->n_dims; i++) {
        field_dims[i] = shape->dims[i];
    }
    return fby_error_set(why, FBY_BAD_SAMPLE,
        "its shape is %s, the field's %s; a row has [1, %" PRIu64 "]",
        fby_npy_shape_text(own_dims, 2, found),
        fby_npy_shape_text(field_dims, shape->n_dims, wanted),
        fby_dense_values(shape));
}

static fby_err read_shape(
    struct sparse_file *file, struct fby_error_detail *why)
{
    int64_t  dims[2] = {1, 0}; /* a shape of one dimension is one row */
    fby_err  err     = read_array(file, SHAPE, why);
    uint64_t n_dims  = file->npy[SHAPE].n_values;
    if (err == FBY_OK && n_dims != 1 && n_dims != 2) {
        return fby_error_set(why, FBY_BAD_SAMPLE,
            "its shape has %" PRIu64 " dimensions; it must have 1 or 2",
            n_dims);
    }
    if (err == FBY_OK) {
        /* A single dimension is the columns, and goes to dims[1]. */
        err = convert_to_i64(file, SHAPE, 0, n_dims, dims + 2 - n_dims, why);
    }
    file->rows    = (uint64_t)dims[0];
    file->columns = (uint64_t)dims[1];
    return err == FBY_OK && !shape_fits(file) ? refuse_shape(file, why) : err;
}

/* ---- values and their indices ---- */

/* Read an array that has one number for each value of the row. */
static fby_err read_index_array(
    struct sparse_file *file, enum member id, struct fby_error_detail *why)
{
    fby_err  err      = read_array(file, id, why);
    uint64_t n_values = file->npy[DATA].n_values;
    if (err != FBY_OK || file->npy[id].n_values == n_values) {
        return err;
    }
    return fby_error_set(why, FBY_BAD_SAMPLE,
        "its data.npy has %s, its %s.npy %" PRIu64,
        fby_plural(n_values, "value").text, file->members[id].name,
        file->npy[id].n_values);
}

/* Check that `index`, which the message calls `name`, is below `limit`. */
static fby_err check_index(int64_t index, uint64_t limit, const char *name,
    struct fby_error_detail *why)
{
    return index >= 0 && (uint64_t)index < limit
               ? FBY_OK
               : fby_error_set(why, FBY_BAD_SAMPLE,
                     "%s %" PRId64 " is beyond the %" PRIu64 " of its shape",
                     name, index, limit);
}

/* Convert the columns of values [from, to), which are in row `row`, to indices
 * into the dense row. */
static fby_err flatten_row(struct sparse_file *file, uint64_t row,
    uint64_t from, uint64_t to, struct fby_error_detail *why)
{
    fby_err err = FBY_OK;
    for (uint64_t i = from; i < to && err == FBY_OK; i++) {
        err = check_index(file->indices[i], file->columns, "index", why);
        if (err == FBY_OK) {
            file->indices[i] += (int64_t)(row * file->columns);
        }
    }
    return err;
}

/* Read the offset of a row (the number of values before it), which must not be
 * below `previous`, the offset of the row before. */
static fby_err read_offset(const struct sparse_file *file, uint64_t row,
    int64_t previous, int64_t *out, struct fby_error_detail *why)
{
    uint64_t n_values = file->npy[DATA].n_values;
    fby_err  err      = convert_to_i64(file, INDPTR, row, 1, out, why);
    if (err == FBY_OK && *out < previous) {
        return fby_error_set(why, FBY_BAD_SAMPLE,
            "its offsets decrease, from %" PRId64 " to %" PRId64, previous,
            *out);
    }
    if (err == FBY_OK && (uint64_t)*out > n_values) {
        return fby_error_set(why, FBY_BAD_SAMPLE,
            "an offset is %" PRId64 ", but there are %" PRIu64 " values", *out,
            n_values);
    }
    return err;
}

/* Convert all columns of a CSR file to indices into the dense row. */
static fby_err flatten_rows(
    struct sparse_file *file, struct fby_error_detail *why)
{
    int64_t  from     = 0; /* offsets of the row and of the next row */
    int64_t  to       = 0;
    uint64_t n_values = file->npy[DATA].n_values;
    fby_err  err      = read_offset(file, 0, 0, &from, why);
    if (err == FBY_OK && from != 0) {
        return fby_error_set(why, FBY_BAD_SAMPLE,
            "its offsets begin at %" PRId64 ", not at 0", from);
    }
    for (uint64_t row = 0; row < file->rows && err == FBY_OK; row++) {
        err = read_offset(file, row + 1, from, &to, why);
        if (err == FBY_OK) {
            err = flatten_row(file, row, (uint64_t)from, (uint64_t)to, why);
        }
        from = to;
    }
    return err == FBY_OK && (uint64_t)from != n_values
               ? fby_error_set(why, FBY_BAD_SAMPLE,
                     "its offsets end at %" PRId64 ", but there are %" PRIu64
                     " values",
                     from, n_values)
               : err;
}

static fby_err read_csr(struct sparse_file *file, struct fby_error_detail *why)
{
    fby_err err = read_index_array(file, INDICES, why);
    if (err == FBY_OK) {
        err = read_array(file, INDPTR, why);
    }
    if (err == FBY_OK && file->npy[INDPTR].n_values != file->rows + 1) {
        return fby_error_set(why, FBY_BAD_SAMPLE,
            "its indptr.npy has %" PRIu64 " offsets; %" PRIu64
            " rows need %" PRIu64,
            file->npy[INDPTR].n_values, file->rows, file->rows + 1);
    }
    if (err == FBY_OK) {
        err = convert_to_i64(
            file, INDICES, 0, file->npy[DATA].n_values, file->indices, why);
    }
    return err == FBY_OK ? flatten_rows(file, why) : err;
}

static fby_err read_coo(struct sparse_file *file, struct fby_error_detail *why)
{
    uint64_t n   = file->npy[DATA].n_values;
    fby_err  err = read_index_array(file, ROW, why);
    if (err == FBY_OK) {
        err = read_index_array(file, COL, why);
    }
    if (err == FBY_OK) {
        err = convert_to_i64(file, ROW, 0, n, file->row_of, why);
    }
    if (err == FBY_OK) {
        err = convert_to_i64(file, COL, 0, n, file->indices, why);
    }
    for (uint64_t i = 0; i < n && err == FBY_OK; i++) {
        err = check_index(file->row_of[i], file->rows, "row", why);
        if (err == FBY_OK) {
            err = flatten_row(file, (uint64_t)file->row_of[i], i, i + 1, why);
        }
    }
    return err;
}

/* Set file->indices from the members of the file's format. */
static fby_err read_indices(
    struct sparse_file *file, struct fby_error_detail *why)
{
    const uint8_t *bytes               = NULL;
    char           format[FORMAT_SIZE] = "";
    fby_err        err                 = read_member(file, FORMAT, &bytes, why);
    if (err == FBY_OK) {
        err = fby_npy_read_word(bytes, (size_t)file->members[FORMAT].entry.size,
            format, FORMAT_SIZE, why);
    }
    if (err != FBY_OK) {
        return err;
    }
    if (strcmp(format, "csr") == 0) {
        return read_csr(file, why);
    }
    return strcmp(format, "coo") == 0
               ? read_coo(file, why)
               : fby_error_set(why, FBY_BAD_SAMPLE,
                     "it is saved as %s; save tocsr() or tocoo()", format);
}

/* ---- the whole file ---- */

/* Read the shape. Release its memory, so that alloc_all can reserve again. */
static fby_err read_shape_first(struct fby_transform *transform,
    struct sparse_file *file, struct fby_error_detail *why)
{
    fby_err err =
        fby_sparse_alloc(transform, fby_npz_buffer_bytes(&file->members[SHAPE]),
            INFLATE_BYTES, &file->buffer, why);
    if (err == FBY_OK) {
        err = read_shape(file, why);
    }
    fby_transform_release(transform);
    return err;
}

static fby_err write_row(struct fby_transform *transform,
    struct sparse_file *file, uint8_t *dst, struct fby_error_detail *why)
{
    fby_err err = check_sizes(file, why);
    if (err == FBY_OK) {
        err = read_shape_first(transform, file, why);
    }
    if (err == FBY_OK) {
        err = check_sizes(file, why); /* again, with the `rows` of the shape */
    }
    if (err == FBY_OK) {
        err = alloc_all(transform, file, why);
    }
    if (err == FBY_OK) {
        err = read_array(file, DATA, why);
    }
    if (err == FBY_OK) {
        err = fby_sparse_check_length(file->job, file->npy[DATA].n_values, why);
    }
    if (err == FBY_OK) {
        err = read_indices(file, why);
    }
    const struct fby_sparse_row row = {
        file->indices, &file->npy[DATA], file->scratch};
    return err == FBY_OK ? fby_sparse_write(file->job, &row, dst, why) : err;
}

fby_err fby_sparse_file_write(struct fby_transform *transform,
    const struct fby_field_job *job, uint8_t *dst, struct fby_error_detail *why)
{
    const struct fby_shape *shape = &job->field->shape;
    struct sparse_file      file  = {
              .job  = job,
              .rows = shape->n_dims == 2 ? shape->dims[0] : 1,
    };
    fby_err err = find_members(&file, why);
    if (err == FBY_OK) {
        err = write_row(transform, &file, dst, why);
    }
    fby_transform_release(transform);
    return err;
}
