/* sparse_file.c - read CSR and COO as SciPy saves them, in a .npz file.
 *
 * The shape is read first. With the zip directory it gives the memory that the
 * other members need, which is reserved before they are inflated. Members that
 * are too large for a row of max_length values are refused before that. */
#include <inttypes.h>
#include <string.h>

#include "worker/npy/convert.h"
#include "worker/transform/npz.h"
#include "worker/transform/scratch.h"
#include "worker/transform/sparse.h"

enum member { SHAPE, DATA, FORMAT, INDICES, INDPTR, ROW, COL, MEMBERS };

enum {
    FORMAT_SIZE     = 8,  /* buffer for the name of a format */
    SMALL_BYTES     = 64, /* bytes of values of shape and format, at most */
    INFLATE_BYTES   = 1 << 16, /* bytes that zlib takes */
    BYTES_PER_VALUE = 2 * sizeof(int64_t) + FBY_SPARSE_SPARE /* for each */
};

struct sparse_file {
    const struct fby_field_job *job;
    struct fby_npz_member       members[MEMBERS];
    struct fby_npy              npy[MEMBERS]; /* of the opened members */
    uint64_t                    rows; /* upper bound until the shape is read */
    uint64_t                    columns;
    uint64_t                    most;   /* values that there may be */
    int64_t                    *at;     /* most of them */
    int64_t                    *other;  /* likewise */
    uint8_t                    *spare;  /* for as many values */
    uint8_t                    *buffer; /* for members */
};

/* ---- members ---- */

static fby_err find_members(struct sparse_file *file, struct fby_why *why)
{
    static const char *const names[MEMBERS] = {
        "shape", "data", "format", "indices", "indptr", "row", "col"};
    for (int i = 0; i < MEMBERS; i++) {
        file->members[i].name = names[i];
    }
    return fby_npz_find(
        file->job->bytes, file->job->size, file->members, MEMBERS, why);
}

/* The most bytes of values in a member. */
static uint64_t most_bytes(const struct sparse_file *file, enum member id)
{
    if (id == SHAPE || id == FORMAT) {
        return SMALL_BYTES;
    }
    return (id == INDPTR ? file->rows + 1 : file->job->field->max_length) *
           sizeof(int64_t);
}

static fby_err check_sizes(const struct sparse_file *file, struct fby_why *why)
{
    for (int i = 0; i < MEMBERS; i++) {
        uint64_t size = fby_npz_room(&file->members[i]);
        uint64_t most = FBY_NPY_HEAD + most_bytes(file, (enum member)i);
        if (size > most) {
            return fby_because(why, FBY_BAD_SAMPLE,
                "its %s.npy has %" PRIu64 " bytes; a row of max_length %" PRIu32
                " has at most %" PRIu64,
                file->members[i].name, size, file->job->field->max_length,
                most);
        }
    }
    return FBY_OK;
}

/* Reserve `need` and set file->buffer to its first buffer. */
static fby_err take_memory(struct fby_transform *transform,
    const struct fby_need *need, struct sparse_file *file, struct fby_why *why)
{
    struct fby_scratch *scratch = &transform->decoded[0];
    fby_err             err     = fby_transform_reserve(transform, need, why);
    if (err == FBY_OK) {
        err = fby_scratch_need(scratch, (size_t)need->decoded[0] + 1);
    }
    file->buffer = scratch->memory;
    return err;
}

/* Reserve the memory of all but the shape; the members come last. */
static fby_err reserve_all(struct fby_transform *transform,
    struct sparse_file *file, struct fby_why *why)
{
    uint64_t size  = file->members[DATA].entry.size;
    uint64_t most  = file->job->field->max_length;
    uint64_t bytes = 0;
    most           = size < most ? size : most;
    for (int i = DATA; i < MEMBERS; i++) {
        bytes += fby_npz_room(&file->members[i]);
    }
    const struct fby_need need = {
        .decoded   = {most * BYTES_PER_VALUE + bytes},
        .libraries = most * FBY_SPARSE_SORT + INFLATE_BYTES,
    };
    fby_err err = take_memory(transform, &need, file, why);
    if (err == FBY_OK) {
        file->most   = most;
        file->at     = transform->decoded[0].memory;
        file->other  = file->at + most;
        file->spare  = (uint8_t *)(file->other + most);
        file->buffer = file->spare + most * FBY_SPARSE_SPARE;
    }
    return err;
}

static fby_err open_member(struct sparse_file *file, enum member id,
    const uint8_t **out, struct fby_why *why)
{
    const struct fby_npz_member *member = &file->members[id];
    if (member->packed == NULL) {
        return fby_because(why, FBY_BAD_SAMPLE,
            "it has no %s.npy, which scipy.sparse.save_npz writes for CSR and "
            "COO",
            member->name);
    }
    fby_err err = fby_npz_open(member, file->buffer, out, why);
    file->buffer += fby_npz_room(member);
    return err;
}

/* Open a member that is an array of one dimension. */
static fby_err open_numbers(
    struct sparse_file *file, enum member id, struct fby_why *why)
{
    const uint8_t               *bytes  = NULL;
    const struct fby_npz_member *member = &file->members[id];
    struct fby_npy              *npy    = &file->npy[id];
    fby_err                      err    = open_member(file, id, &bytes, why);
    if (err == FBY_OK) {
        err = fby_npy_read(bytes, (size_t)member->entry.size, npy, why);
        if (err != FBY_OK) {
            return fby_because_in(why, err, "its %s.npy", member->name);
        }
    }
    return err == FBY_OK && npy->n_dims != 1
               ? fby_because(why, FBY_BAD_SAMPLE,
                     "its %s.npy has %" PRIu32 " dimensions; one is right",
                     member->name, npy->n_dims)
               : err;
}

struct value_range {
    uint64_t first, n;
};

/* Read a range of a member as integers. */
static fby_err read_wholes(const struct sparse_file *file, enum member id,
    struct value_range range, int64_t *out, struct fby_why *why)
{
    struct fby_npy slice = file->npy[id];
    slice.data += range.first * fby_npy_type_bytes(slice.type);
    slice.values = range.n;
    return fby_npy_is_whole(slice.type) &&
                   fby_convert(&slice, FBY_I64, (uint8_t *)out) == range.n
               ? FBY_OK
               : fby_because(why, FBY_BAD_SAMPLE,
                     "its %s.npy has %s; whole numbers up to 2^63 are needed",
                     file->members[id].name, fby_npy_dtype(slice.type));
}

/* ---- shape ---- */

/* The shape must be one row of the dense values, or the field's two dimensions.
 */
static bool has_shape(const struct sparse_file *file)
{
    const struct fby_shape *shape = &file->job->field->shape;
    return (file->rows == 1 && file->columns == fby_dense_values(shape)) ||
           (shape->n_dims == 2 && file->rows == shape->dims[0] &&
               file->columns == shape->dims[1]);
}

static fby_err refuse_shape(const struct sparse_file *file, struct fby_why *why)
{
    char                    found[FBY_NPY_SHAPE_TEXT];
    char                    wanted[FBY_NPY_SHAPE_TEXT];
    const struct fby_shape *shape              = &file->job->field->shape;
    uint64_t                has[2]             = {file->rows, file->columns};
    uint64_t                dims[FBY_MAX_DIMS] = {0};
    for (uint32_t i = 0; i < shape->n_dims; i++) {
        dims[i] = shape->dims[i];
    }
    return fby_because(why, FBY_BAD_SAMPLE,
        "its shape is %s, the field's %s; a row has [1, %" PRIu64 "]",
        fby_npy_shape_text(has, 2, found),
        fby_npy_shape_text(dims, shape->n_dims, wanted),
        fby_dense_values(shape));
}

static fby_err read_shape(struct sparse_file *file, struct fby_why *why)
{
    int64_t  dims[2] = {1, 0};
    fby_err  err     = open_numbers(file, SHAPE, why);
    uint64_t n       = file->npy[SHAPE].values;
    if (err == FBY_OK && n != 1 && n != 2) {
        return fby_because(why, FBY_BAD_SAMPLE,
            "its shape has %" PRIu64 " dimensions; 1 or 2 are right", n);
    }
    if (err == FBY_OK) {
        err = read_wholes(
            file, SHAPE, (struct value_range){0, n}, dims + 2 - n, why);
    }
    file->rows    = (uint64_t)dims[0];
    file->columns = (uint64_t)dims[1];
    return err != FBY_OK || has_shape(file) ? err : refuse_shape(file, why);
}

/* ---- values and their indices ---- */

/* Open a member with one number for each value. */
static fby_err open_indices(
    struct sparse_file *file, enum member id, struct fby_why *why)
{
    fby_err  err    = open_numbers(file, id, why);
    uint64_t values = file->npy[DATA].values;
    if (err != FBY_OK || file->npy[id].values == values) {
        return err;
    }
    return fby_because(why, FBY_BAD_SAMPLE,
        "its data.npy has %" PRIu64 " values, its %s.npy %" PRIu64, values,
        file->members[id].name, file->npy[id].values);
}

static fby_err open_data(struct sparse_file *file, struct fby_why *why)
{
    fby_err err = open_numbers(file, DATA, why);
    return err != FBY_OK || file->npy[DATA].values <= file->most
               ? err
               : fby_because(why, FBY_BAD_SAMPLE,
                     "the row has %" PRIu64 " values, max_length is %" PRIu64
                     "; raise it",
                     file->npy[DATA].values, file->most);
}

static fby_err check_index(
    int64_t at, uint64_t most, const char *what, struct fby_why *why)
{
    return at >= 0 && (uint64_t)at < most
               ? FBY_OK
               : fby_because(why, FBY_BAD_SAMPLE,
                     "%s %" PRId64 " is beyond the %" PRIu64 " of its shape",
                     what, at, most);
}

/* Turn the column indices of values [from, to) into indices of the dense row.
 */
static fby_err flatten_row(struct sparse_file *file, uint64_t row,
    uint64_t from, uint64_t to, struct fby_why *why)
{
    fby_err err = FBY_OK;
    for (uint64_t i = from; i < to && err == FBY_OK; i++) {
        err = check_index(file->at[i], file->columns, "index", why);
        if (err == FBY_OK) {
            file->at[i] += (int64_t)(row * file->columns);
        }
    }
    return err;
}

/* Read offset `row`, which must not be below the one before, `from`. */
static fby_err read_offset(const struct sparse_file *file, uint64_t row,
    int64_t from, int64_t *out, struct fby_why *why)
{
    uint64_t n = file->npy[DATA].values;
    fby_err  err =
        read_wholes(file, INDPTR, (struct value_range){row, 1}, out, why);
    if (err == FBY_OK && *out < from) {
        return fby_because(why, FBY_BAD_SAMPLE,
            "its offsets go back, from %" PRId64 " to %" PRId64, from, *out);
    }
    if (err == FBY_OK && (uint64_t)*out > n) {
        return fby_because(why, FBY_BAD_SAMPLE,
            "an offset is %" PRId64 ", but there are %" PRIu64 " values", *out,
            n);
    }
    return err;
}

static fby_err flatten_rows(struct sparse_file *file, struct fby_why *why)
{
    int64_t  from = 0;
    int64_t  to   = 0;
    uint64_t n    = file->npy[DATA].values;
    fby_err  err  = read_offset(file, 0, 0, &from, why);
    if (err == FBY_OK && from != 0) {
        return fby_because(why, FBY_BAD_SAMPLE,
            "its offsets begin at %" PRId64 ", not at 0", from);
    }
    for (uint64_t row = 0; row < file->rows && err == FBY_OK; row++) {
        err = read_offset(file, row + 1, from, &to, why);
        if (err == FBY_OK) {
            err = flatten_row(file, row, (uint64_t)from, (uint64_t)to, why);
        }
        from = to;
    }
    return err != FBY_OK || (uint64_t)from == n
               ? err
               : fby_because(why, FBY_BAD_SAMPLE,
                     "its offsets end at %" PRId64 ", but there are %" PRIu64
                     " values",
                     from, n);
}

static fby_err read_csr(struct sparse_file *file, struct fby_why *why)
{
    fby_err err = open_indices(file, INDICES, why);
    if (err == FBY_OK) {
        err = open_numbers(file, INDPTR, why);
    }
    if (err == FBY_OK && file->npy[INDPTR].values != file->rows + 1) {
        return fby_because(why, FBY_BAD_SAMPLE,
            "its indptr.npy has %" PRIu64 " offsets; %" PRIu64
            " rows need %" PRIu64,
            file->npy[INDPTR].values, file->rows, file->rows + 1);
    }
    if (err == FBY_OK) {
        err = read_wholes(file, INDICES,
            (struct value_range){0, file->npy[DATA].values}, file->at, why);
    }
    return err == FBY_OK ? flatten_rows(file, why) : err;
}

static fby_err read_coo(struct sparse_file *file, struct fby_why *why)
{
    uint64_t n   = file->npy[DATA].values;
    fby_err  err = open_indices(file, ROW, why);
    if (err == FBY_OK) {
        err = open_indices(file, COL, why);
    }
    if (err == FBY_OK) {
        err = read_wholes(
            file, ROW, (struct value_range){0, n}, file->other, why);
    }
    if (err == FBY_OK) {
        err = read_wholes(file, COL, (struct value_range){0, n}, file->at, why);
    }
    for (uint64_t i = 0; i < n && err == FBY_OK; i++) {
        err = check_index(file->other[i], file->rows, "row", why);
        if (err == FBY_OK) {
            err = flatten_row(file, (uint64_t)file->other[i], i, i + 1, why);
        }
    }
    return err;
}

static fby_err read_indices(struct sparse_file *file, struct fby_why *why)
{
    const uint8_t *bytes               = NULL;
    char           format[FORMAT_SIZE] = "";
    fby_err        err                 = open_member(file, FORMAT, &bytes, why);
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
               : fby_because(why, FBY_BAD_SAMPLE,
                     "it is saved as %s; save tocsr() or tocoo()", format);
}

/* ---- the whole file ---- */

/* The shape is read with its own reservation: it limits the offsets' size. */
static fby_err read_shape_first(struct fby_transform *transform,
    struct sparse_file *file, struct fby_why *why)
{
    const struct fby_need need = {
        .decoded   = {fby_npz_room(&file->members[SHAPE])},
        .libraries = INFLATE_BYTES,
    };
    fby_err err = take_memory(transform, &need, file, why);
    if (err == FBY_OK) {
        err = read_shape(file, why);
    }
    fby_transform_release(transform);
    return err;
}

static fby_err write_row(struct fby_transform *transform,
    struct sparse_file *file, uint8_t *dst, struct fby_why *why)
{
    fby_err err = check_sizes(file, why);
    if (err == FBY_OK) {
        err = read_shape_first(transform, file, why);
    }
    if (err == FBY_OK) {
        err = check_sizes(file, why);
    }
    if (err == FBY_OK) {
        err = reserve_all(transform, file, why);
    }
    if (err == FBY_OK) {
        err = open_data(file, why);
    }
    if (err == FBY_OK) {
        err = read_indices(file, why);
    }
    const struct fby_sparse_row row = {file->at, &file->npy[DATA], file->spare};
    return err == FBY_OK ? fby_sparse_write(file->job, &row, dst, why) : err;
}

fby_err fby_sparse_file_write(struct fby_transform *transform,
    const struct fby_field_job *job, uint8_t *dst, struct fby_why *why)
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
