#include "worker/source/columns/csr.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "worker/npy/convert.h"
#include "worker/source/columns/ragged.h"
#include "worker/source/zip_file.h"

enum part { DATA, INDICES, INDPTR, SHAPE, FORMAT, PARTS };

enum {
    WORD  = 8, /* room for the name of a format */
    SMALL = 64 /* bytes of the values of shape, at most */
};

static const char *const names[PARTS] = {
    "data", "indices", "indptr", "shape", "format"};

struct file {
    struct fby_zip_file   zip;
    uint8_t              *head; /* FBY_NPY_HEAD bytes */
    bool                  has[PARTS];
    struct fby_zip_member members[PARTS];
    uint64_t              at[PARTS];  /* where its bytes begin, */
    struct fby_npy        npy[PARTS]; /* and its values then; no data here */
    int64_t               shape[2];
};

static fby_err in_member(enum part part, fby_err err, struct fby_why *why)
{
    err = err == FBY_BAD_SAMPLE ? FBY_CONFIG : err;
    return err == FBY_OK ? FBY_OK
                         : fby_because_in(why, err, "%s.npy", names[part]);
}

/* ---- members ---- */

static fby_err find_members(struct file *file, struct fby_why *why)
{
    struct fby_zip_member member;
    fby_err               err = FBY_OK;
    while (err == FBY_OK && fby_zip_file_more(&file->zip)) {
        err = fby_zip_file_next(&file->zip, &member, why);
        for (int i = 0; err == FBY_OK && i < PARTS; i++) {
            if (fby_zip_is_array(&member, names[i])) {
                file->members[i] = member;
                file->has[i]     = true;
            }
        }
    }
    return err;
}

static fby_err place_member(
    struct file *file, enum part part, struct fby_why *why)
{
    if (!file->has[part]) {
        return fby_because(why, FBY_CONFIG,
            "it is not there; save_npz writes it of a csr_matrix");
    }
    return fby_zip_file_place(
        &file->zip, &file->members[part], &file->at[part], why);
}

/* The first bytes of it, to file->head. */
static fby_err read_head(
    struct file *file, enum part part, size_t *size, struct fby_why *why)
{
    uint64_t all = file->members[part].size;
    *size        = all < FBY_NPY_HEAD ? all : FBY_NPY_HEAD;
    fby_err err  = place_member(file, part, why);
    return err == FBY_OK ? fby_object_read(file->zip.object, file->at[part],
                               file->head, *size, why)
                         : err;
}

static fby_err check_format(struct file *file, struct fby_why *why)
{
    char    word[WORD] = "";
    size_t  size       = 0;
    fby_err err        = read_head(file, FORMAT, &size, why);
    if (err == FBY_OK) {
        err = fby_npy_read_word(file->head, size, word, WORD, why);
    }
    if (err == FBY_OK && strcmp(word, "csr") != 0) {
        err = fby_because(why, FBY_CONFIG,
            "it is saved as %s; rows can be read of tocsr() only", word);
    }
    return in_member(FORMAT, err, why);
}

static fby_err check_numbers(
    enum part part, const struct fby_npy *npy, struct fby_why *why)
{
    if (npy->n_dims != 1) {
        return fby_because(why, FBY_CONFIG,
            "it has %" PRIu32 " dimensions; one is right", npy->n_dims);
    }
    return part == DATA || fby_npy_is_whole(npy->type)
               ? FBY_OK
               : fby_because(why, FBY_CONFIG,
                     "it is of %s; whole numbers are right",
                     fby_npy_dtype(npy->type));
}

/* A list of numbers that fills its member. */
static fby_err read_list(struct file *file, enum part part, struct fby_why *why)
{
    struct fby_npy *npy  = &file->npy[part];
    size_t          size = 0;
    size_t          head = 0;
    fby_err         err  = read_head(file, part, &size, why);
    if (err == FBY_OK) {
        err = fby_npy_read_head(file->head, size, npy, &head, why);
    }
    if (err == FBY_OK) {
        err = check_numbers(part, npy, why);
    }
    if (err != FBY_OK) {
        return err;
    }
    uint64_t width = fby_npy_type_bytes(npy->type);
    uint64_t left  = file->members[part].size - head;
    file->at[part] += head;
    return left % width == 0 && left / width == npy->values
               ? FBY_OK
               : fby_because(why, FBY_CONFIG,
                     "%" PRIu64 " bytes follow the header; %" PRIu64
                     " values of %" PRIu64 " bytes were to",
                     left, npy->values, width);
}

static fby_err read_lists(struct file *file, struct fby_why *why)
{
    fby_err err = FBY_OK;
    for (int i = 0; err == FBY_OK && i <= SHAPE; i++) {
        enum part part = (enum part)i;
        err            = in_member(part, read_list(file, part, why), why);
    }
    return err;
}

/* ---- what they are together ---- */

static fby_err read_shape(struct file *file, struct fby_why *why)
{
    uint8_t        raw[SMALL];
    struct fby_npy npy   = file->npy[SHAPE];
    size_t         bytes = npy.values * fby_npy_type_bytes(npy.type);
    if (npy.values != 2) {
        return fby_because(why, FBY_CONFIG,
            "its shape has %" PRIu64 " dimensions; 2 are right: rows, and "
            "values of a row",
            npy.values);
    }
    fby_err err =
        fby_object_read(file->zip.object, file->at[SHAPE], raw, bytes, why);
    npy.data = raw;
    if (err != FBY_OK) {
        return err;
    }
    if (fby_convert(&npy, FBY_I64, (uint8_t *)file->shape) != 2 ||
        file->shape[0] < 1 || file->shape[1] < 1) {
        char rows[FBY_CONVERT_TEXT];
        char width[FBY_CONVERT_TEXT];
        return fby_because(why, FBY_CONFIG,
            "its shape is [%s, %s]; there is at least one row of at least one "
            "value, and at most 2^63 - 1 of each",
            fby_convert_text(&npy, 0, rows), fby_convert_text(&npy, 1, width));
    }
    return FBY_OK;
}

static fby_err check_counts(const struct file *file, struct fby_why *why)
{
    uint64_t values  = file->npy[DATA].values;
    uint64_t places  = file->npy[INDICES].values;
    uint64_t offsets = file->npy[INDPTR].values;
    if (values != places) {
        return fby_because(why, FBY_CONFIG,
            "its data.npy has %" PRIu64 " values, its indices.npy %" PRIu64,
            values, places);
    }
    return offsets == (uint64_t)file->shape[0] + 1
               ? FBY_OK
               : fby_because(why, FBY_CONFIG,
                     "its indptr.npy has %" PRIu64 " offsets, of %" PRId64
                     " rows %" PRIu64 " are right",
                     offsets, file->shape[0], (uint64_t)file->shape[0] + 1);
}

static struct fby_numbers numbers_of(const struct file *file, enum part part)
{
    const struct fby_npy *npy = &file->npy[part];
    return (struct fby_numbers){
        .type       = npy->type,
        .big_endian = npy->big_endian,
        .width      = (uint32_t)fby_npy_type_bytes(npy->type),
        .offset     = file->at[part],
    };
}

static void fill(const struct file *file, struct fby_column *out)
{
    struct fby_numbers data = numbers_of(file, DATA);
    out->part               = FBY_COLUMN_CSR;
    out->type               = data.type;
    out->big_endian         = data.big_endian;
    out->n_dims             = 0;
    out->row_bytes          = data.width;
    out->rows               = file->npy[DATA].values;
    out->offset             = data.offset;
    out->indices            = numbers_of(file, INDICES);
    out->indptr             = numbers_of(file, INDPTR);
    out->width              = (uint64_t)file->shape[1];
}

/* The first offset and the last one. */
static fby_err read_ends(
    const struct file *file, struct fby_column *out, struct fby_why *why)
{
    const struct fby_numbers *indptr    = &out->indptr;
    uint8_t                   raw[2][8] = {{0}};
    uint64_t last = (file->npy[INDPTR].values - 1) * indptr->width;
    fby_err  err  = fby_object_read(
          file->zip.object, indptr->offset, raw[0], indptr->width, why);
    if (err == FBY_OK) {
        err = fby_object_read(file->zip.object, indptr->offset + last, raw[1],
            indptr->width, why);
    }
    if (err != FBY_OK) {
        return err;
    }
    out->first = fby_ragged_offset(indptr, raw[0]);
    out->last  = fby_ragged_offset(indptr, raw[1]);
    return out->first == 0 && fby_ragged_within(out, out->first, out->last)
               ? FBY_OK
               : fby_because(why, FBY_CONFIG,
                     "its indptr.npy goes from %s to %s; it is to begin at 0, "
                     "and there are %" PRIu64 " values",
                     fby_ragged_show(out->first).text,
                     fby_ragged_show(out->last).text, out->rows);
}

static fby_err read_file(
    struct file *file, struct fby_column *out, struct fby_why *why)
{
    fby_err err = check_format(file, why);
    if (err == FBY_OK) {
        err = read_lists(file, why);
    }
    if (err == FBY_OK) {
        err = read_shape(file, why);
    }
    if (err == FBY_OK) {
        err = check_counts(file, why);
    }
    if (err == FBY_OK) {
        fill(file, out);
        err = read_ends(file, out, why);
    }
    return err;
}

fby_err fby_csr_scan(const struct fby_object *object, uint64_t size,
    struct fby_column *out, uint64_t *rows, struct fby_why *why)
{
    struct file *file = fby_zalloc(sizeof(*file));
    fby_err      err  = fby_zip_file_open(&file->zip, object, size, why);
    if (err == FBY_OK) {
        err = find_members(file, why);
    }
    if (err == FBY_OK && !file->has[FORMAT]) {
        err = FBY_NOT_FOUND;
    }
    if (err == FBY_OK) {
        file->head = fby_zalloc(FBY_NPY_HEAD);
        err        = read_file(file, out, why);
        *rows      = (uint64_t)file->shape[0];
    }
    fby_zip_file_fini(&file->zip);
    free(file->head);
    free(file);
    return err;
}
