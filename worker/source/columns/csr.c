/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/source/columns/csr.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "common/plural.h"
#include "worker/npy/convert.h"
#include "worker/source/columns/ragged.h"
#include "worker/source/npy_reader.h"
#include "worker/source/zip/file.h"

/* The arrays that SciPy writes for a CSR matrix, each as a member of the .npz
 * file. FORMAT is a word; the others are numbers. */
enum csr_member { DATA, INDICES, INDPTR, SHAPE, FORMAT, MEMBERS };

enum {
    FORMAT_SIZE     = 8, /* bytes of the word in FORMAT, with NUL, at most */
    MAX_SHAPE_BYTES = 16 /* bytes of the two integers in SHAPE, at most */
};

static const char *const member_names[MEMBERS] = {
    "data", "indices", "indptr", "shape", "format"};

struct csr_file { /* arrays have one element per member */
    struct fby_zip_file   zip;
    bool                  has[MEMBERS];
    struct fby_zip_member members[MEMBERS];
    struct fby_file_array numbers[MEMBERS]; /* unused for FORMAT */
    uint64_t              count[MEMBERS];   /* number of values */
    int64_t               shape[2];         /* rows; values of a dense row */
};

/* Put the name of the member before the text of the error `err`, which may be
 * FBY_OK. A bad member makes the whole file unusable: FBY_CONFIG. */
static fby_err prefix_member_error(
    enum csr_member member, fby_err err, struct fby_error_detail *why)
{
    err = err == FBY_BAD_SAMPLE ? FBY_CONFIG : err;
    return fby_error_prefix(why, err, "%s.npy", member_names[member]);
}

/* ---- members ---- */

static fby_err find_members(struct csr_file *file, struct fby_error_detail *why)
{
    struct fby_zip_member member;
    while (fby_zip_file_has_more(&file->zip)) {
        FBY_TRY(fby_zip_file_next(&file->zip, &member, NULL, why));
        for (int i = 0; i < MEMBERS; i++) {
            if (fby_zip_is_array(&member, member_names[i])) {
                file->members[i] = member;
                file->has[i]     = true;
            }
        }
    }
    return FBY_OK;
}

static fby_err find_offset(const struct csr_file *file, enum csr_member member,
    uint64_t *offset, struct fby_error_detail *why)
{
    return file->has[member]
               ? fby_zip_file_find_content(
                     &file->zip, &file->members[member], offset, why)
               : fby_error_set(why, FBY_CONFIG,
                     "it is missing; save_npz writes it for a csr_matrix");
}

/* Read the word in format.npy, such as "csr". */
static fby_err read_format(const struct csr_file *file, char word[FORMAT_SIZE],
    struct fby_error_detail *why)
{
    uint64_t offset = 0;
    uint64_t size   = file->members[FORMAT].size;
    FBY_TRY(find_offset(file, FORMAT, &offset, why));
    size = size < FBY_NPY_HEAD ? size : FBY_NPY_HEAD; /* has the word, too */
    uint8_t *bytes = fby_zalloc(size);
    fby_err  err = fby_object_read(file->zip.object, offset, bytes, size, why);
    if (err == FBY_OK) {
        err = fby_npy_read_word(bytes, size, word, FORMAT_SIZE, why);
    }
    free(bytes);
    return err;
}

static fby_err check_format(
    const struct csr_file *file, struct fby_error_detail *why)
{
    char word[FORMAT_SIZE] = "";
    FBY_TRY(read_format(file, word, why));
    return strcmp(word, "csr") == 0
               ? FBY_OK
               : fby_error_set(why, FBY_CONFIG,
                     "it is saved as %s; save tocsr() instead", word);
}

static fby_err check_array(enum csr_member member, const struct fby_npy *npy,
    struct fby_error_detail *why)
{
    if (npy->n_dims != 1) {
        return fby_error_set(why, FBY_CONFIG,
            "it has %" PRIu32 " dimensions; it must have one", npy->n_dims);
    }
    return member == DATA || fby_npy_is_integer(npy->type)
               ? FBY_OK
               : fby_error_set(why, FBY_CONFIG,
                     "it is of %s; it must be of integers",
                     fby_npy_dtype_name(npy->type));
}

/* Read the header of a member. The values must fill the rest of the member. */
static fby_err read_array_header(
    struct csr_file *file, enum csr_member member, struct fby_error_detail *why)
{
    struct fby_npy    npy;
    size_t            head_size = 0;
    struct fby_extent extent    = {0, file->members[member].size};
    FBY_TRY(find_offset(file, member, &extent.offset, why));
    FBY_TRY(fby_npy_file_read_head(
        file->zip.object, extent, &npy, &head_size, why));
    FBY_TRY(check_array(member, &npy, why));
    uint64_t width        = fby_npy_type_bytes(npy.type);
    file->count[member]   = npy.n_values;
    file->numbers[member] = (struct fby_file_array){
        .type       = npy.type,
        .big_endian = npy.big_endian,
        .item_size  = (uint32_t)width,
        .offset     = extent.offset + head_size,
    };
    uint64_t size = extent.size - head_size;
    return size % width == 0 && size / width == npy.n_values
               ? FBY_OK
               : fby_error_set(why, FBY_CONFIG,
                     "%" PRIu64 " bytes follow the header, instead of %" PRIu64
                     " values of %" PRIu64 " bytes",
                     size, npy.n_values, width);
}

static fby_err read_members(struct csr_file *file, struct fby_error_detail *why)
{
    FBY_TRY(prefix_member_error(FORMAT, check_format(file, why), why));
    for (int i = 0; i < FORMAT; i++) { /* every member except FORMAT */
        enum csr_member member = (enum csr_member)i;
        FBY_TRY(prefix_member_error(
            member, read_array_header(file, member, why), why));
    }
    return FBY_OK;
}

/* ---- the matrix ---- */

/* Set file->shape to the two numbers in SHAPE, which have any integer type. */
static fby_err read_shape(struct csr_file *file, struct fby_error_detail *why)
{
    uint8_t                      raw[MAX_SHAPE_BYTES];
    const struct fby_file_array *shape = &file->numbers[SHAPE];
    struct fby_npy               npy   = {.type = shape->type,
                        .big_endian             = shape->big_endian,
                        .n_dims                 = 1,
                        .dims                   = {2},
                        .n_values               = 2,
                        .data                   = raw};
    if (file->count[SHAPE] != 2) {
        return fby_error_set(why, FBY_CONFIG,
            "its shape has %s; it must have 2: rows, and values of a row",
            fby_plural(file->count[SHAPE], "dimension").text);
    }
    FBY_TRY(fby_object_read(file->zip.object, shape->offset, raw,
        (size_t)2 * shape->item_size, why));
    size_t converted = fby_convert(&npy, FBY_I64, (uint8_t *)file->shape);
    if (converted != 2 || file->shape[0] < 1 || file->shape[1] < 1) {
        char rows[FBY_CONVERT_TEXT];
        char width[FBY_CONVERT_TEXT];
        return fby_error_set(why, FBY_CONFIG,
            "its shape is [%s, %s]; both must be from 1 to 2^63 - 1",
            fby_convert_text(&npy, 0, rows), fby_convert_text(&npy, 1, width));
    }
    return FBY_OK;
}

static fby_err check_counts(
    const struct csr_file *file, struct fby_error_detail *why)
{
    uint64_t values  = file->count[DATA];
    uint64_t indices = file->count[INDICES];
    uint64_t offsets = file->count[INDPTR];
    if (values != indices) {
        return fby_error_set(why, FBY_CONFIG,
            "its data.npy has %s, its indices.npy %" PRIu64,
            fby_plural(values, "value").text, indices);
    }
    return offsets == (uint64_t)file->shape[0] + 1
               ? FBY_OK
               : fby_error_set(why, FBY_CONFIG,
                     "its indptr.npy has %" PRIu64 " offsets; %" PRId64
                     " rows need %" PRIu64,
                     offsets, file->shape[0], (uint64_t)file->shape[0] + 1);
}

static void fill_column(const struct csr_file *file, struct fby_column *out)
{
    const struct fby_file_array *data = &file->numbers[DATA];
    out->role                         = FBY_COLUMN_CSR;
    out->type                         = data->type;
    out->big_endian                   = data->big_endian;
    out->n_dims                       = 0;
    out->row_bytes                    = data->item_size;
    out->rows                         = file->count[DATA];
    out->offset                       = data->offset;
    out->indices                      = file->numbers[INDICES];
    out->indptr                       = file->numbers[INDPTR];
    out->dense_width                  = (uint64_t)file->shape[1];
}

static fby_err read_matrix(
    struct csr_file *file, struct fby_column *out, struct fby_error_detail *why)
{
    FBY_TRY(read_members(file, why));
    FBY_TRY(read_shape(file, why));
    FBY_TRY(check_counts(file, why));
    fill_column(file, out);
    FBY_TRY(fby_ragged_read_ends(
        file->zip.object, &out->indptr, file->count[INDPTR], out, why));
    return out->first_offset == 0 &&
                   fby_ragged_within(out, out->first_offset, out->last_offset)
               ? FBY_OK
               : fby_error_set(why, FBY_CONFIG,
                     "its indptr.npy goes from %s to %s; it must begin at "
                     "0, and there are %" PRIu64 " values",
                     fby_ragged_offset_text(out->first_offset).text,
                     fby_ragged_offset_text(out->last_offset).text, out->rows);
}

fby_err fby_csr_scan(const struct fby_object *object, uint64_t size,
    struct fby_column *out, uint64_t *rows, struct fby_error_detail *why)
{
    struct csr_file *file = fby_zalloc(sizeof(*file));
    fby_err          err  = fby_zip_file_open(&file->zip, object, size, why);
    if (err == FBY_OK) {
        err = find_members(file, why);
    }
    if (err == FBY_OK) {
        err = file->has[FORMAT] ? read_matrix(file, out, why) : FBY_NOT_FOUND;
    }
    *rows = (uint64_t)file->shape[0];
    fby_zip_file_fini(&file->zip);
    free(file);
    return err;
}
