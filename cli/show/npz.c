#include "cli/show/npz.h"

#include <archive.h>
#include <archive_entry.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/show/tensor.h"
#include "common/mem.h"

enum { HEADER_ROOM = 256, HEADER_ALIGN = 64, MAGIC = 10 };

/* ---- The header of one array --------------------------------------------- */

static char kind_of(const DLTensor *tensor)
{
    switch ((DLDataTypeCode)tensor->dtype.code) {
    case kDLInt:
        return 'i';
    case kDLFloat:
        return 'f';
    case kDLBool:
        return 'b';
    case kDLUInt:
    case kDLBfloat:
        break;
    }
    return 'u';
}

static size_t print_shape(
    const DLTensor *tensor, uint32_t rows, char *out, size_t room)
{
    int n = snprintf(out, room, "(%" PRIu32 ",", rows);
    for (int32_t d = 1; d < tensor->ndim; d++) {
        n += snprintf(out + n, room - (size_t)n, " %" PRId64 "%s",
            tensor->shape[d], d + 1 < tensor->ndim ? "," : "");
    }
    return (size_t)n + (size_t)snprintf(out + n, room - (size_t)n, ")");
}

/* A header is "\x93NUMPY", version 1.0, the length of the rest, and a Python
 * dictionary, padded so that the values begin at a multiple of 64 bytes. */
static size_t make_header(
    const DLTensor *tensor, uint32_t rows, char out[HEADER_ROOM])
{
    size_t bytes = fby_tensor_element(tensor);
    int    n     = snprintf(out + MAGIC, HEADER_ROOM - MAGIC,
               "{'descr': '%c%c%zu', 'fortran_order': False, 'shape': ",
        bytes > 1 ? '<' : '|', kind_of(tensor), bytes);
    size_t end   = MAGIC + (size_t)n;
    end += print_shape(tensor, rows, out + end, HEADER_ROOM - end);
    end += (size_t)snprintf(out + end, HEADER_ROOM - end, ", }");
    size_t size = (end + 1 + HEADER_ALIGN - 1) / HEADER_ALIGN * HEADER_ALIGN;
    memset(out + end, ' ', size - end);
    out[size - 1] = '\n';
    memcpy(out, "\x93NUMPY\x01", 8); /* with the NUL: version 1.0 */
    out[8] = (char)((size - MAGIC) & 0xff);
    out[9] = (char)((size - MAGIC) >> 8);
    return size;
}

/* ---- The archive --------------------------------------------------------- */

static fby_err failed(struct archive *archive, struct fby_why *why)
{
    const char *text = archive_error_string(archive);
    int         code = archive_errno(archive);
    return fby_because(why, FBY_IO, "cannot write the archive: %s",
        code > 0       ? strerror(code)
        : text != NULL ? text
                       : "no cause given");
}

static fby_err put(struct archive *archive, const void *bytes, size_t size,
    struct fby_why *why)
{
    return archive_write_data(archive, bytes, size) == (la_ssize_t)size
               ? FBY_OK
               : failed(archive, why);
}

static fby_err begin_entry(
    struct archive *archive, const char *name, size_t size, struct fby_why *why)
{
    char                  path[128];
    struct archive_entry *entry = archive_entry_new();
    snprintf(path, sizeof(path), "%s.npy", name);
    archive_entry_set_pathname(entry, path);
    archive_entry_set_size(entry, (la_int64_t)size);
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_entry_set_perm(entry, 0644);
    int result = archive_write_header(archive, entry);
    archive_entry_free(entry);
    return result == ARCHIVE_OK ? FBY_OK : failed(archive, why);
}

static fby_err put_tensor(struct archive *archive, const char *name,
    const DLTensor *tensor, uint32_t rows, struct fby_why *why)
{
    char    header[HEADER_ROOM];
    size_t  size = make_header(tensor, rows, header);
    size_t  row  = fby_tensor_row_elements(tensor) * fby_tensor_element(tensor);
    void   *copy = fby_zalloc(row);
    fby_err err  = begin_entry(archive, name, size + row * rows, why);
    if (err == FBY_OK) {
        err = put(archive, header, size, why);
    }
    for (uint32_t i = 0; i < rows && err == FBY_OK; i++) {
        fby_tensor_copy_row(tensor, i, copy);
        err = put(archive, copy, row, why);
    }
    free(copy);
    return err;
}

/* ---- A batch ------------------------------------------------------------- */

/* Write an array of one value per row that is not a field of the batch. */
static fby_err put_column(struct archive *archive, const char *name,
    const DLTensor *column, uint32_t rows, struct fby_why *why)
{
    int64_t  shape  = rows;
    int64_t  stride = 1;
    DLTensor tensor = *column;
    tensor.ndim     = 1;
    tensor.shape    = &shape;
    tensor.strides  = &stride;
    return put_tensor(archive, name, &tensor, rows, why);
}

static fby_err put_samples(struct archive *archive,
    const struct forebay_batch *batch, uint32_t rows, struct fby_why *why)
{
    size_t         n      = (size_t)rows * sizeof(uint64_t);
    void          *copy   = fby_memdup(forebay_batch_samples(batch), n);
    const DLTensor column = {.data = copy, .dtype = {kDLUInt, 64, 1}};
    bool           taken  = forebay_batch_field(batch, "samples") >= 0;
    fby_err        err =
        put_column(archive, taken ? "samples_" : "samples", &column, rows, why);
    free(copy);
    return err;
}

static fby_err put_valid(struct archive *archive,
    const struct forebay_batch *batch, uint32_t rows, struct fby_why *why)
{
    void          *copy   = fby_memdup(forebay_batch_valid(batch), rows);
    const DLTensor column = {.data = copy, .dtype = {kDLBool, 8, 1}};
    fby_err        err    = put_column(archive, "valid", &column, rows, why);
    free(copy);
    return err;
}

/* True if field `i` has one entry per row. The values of ragged or sparse rows,
 * their offsets and indices, and those of documents are written whole. */
static bool is_by_row(const struct forebay_batch *batch, uint32_t i)
{
    static const char *const beside[] = {".offsets", ".indices"};
    char                     other[128];
    const char              *name = forebay_batch_field_name(batch, i);
    const char              *dot  = strrchr(name, '.');
    bool                     by_row =
        forebay_batch_tensor(batch, i)->shape[0] <= forebay_batch_rows(batch);
    for (size_t k = 0; k < sizeof(beside) / sizeof(beside[0]); k++) {
        snprintf(other, sizeof(other), "%s%s", name, beside[k]);
        by_row = by_row && forebay_batch_field(batch, other) < 0 &&
                 (dot == NULL || strcmp(dot, beside[k]) != 0);
    }
    return by_row;
}

static fby_err put_batch(struct archive *archive,
    const struct forebay_batch *batch, uint32_t rows, struct fby_why *why)
{
    fby_err  err = FBY_OK;
    uint32_t n   = forebay_batch_n_fields(batch);
    for (uint32_t i = 0; i < n && err == FBY_OK; i++) {
        const char     *name   = forebay_batch_field_name(batch, i);
        const DLTensor *tensor = forebay_batch_tensor(batch, i);
        err                    = put_tensor(archive, name, tensor,
            is_by_row(batch, i) ? rows : (uint32_t)tensor->shape[0], why);
    }
    if (err == FBY_OK) {
        err = put_samples(archive, batch, rows, why);
    }
    /* With `last: pad` it is a field of the batch already. */
    if (err == FBY_OK && forebay_batch_field(batch, "valid") < 0) {
        err = put_valid(archive, batch, rows, why);
    }
    return err;
}

fby_err fby_npz_write(const struct forebay_batch *batch, uint32_t rows,
    FILE *file, struct fby_why *why)
{
    struct archive *archive = archive_write_new();
    archive_write_set_format_zip(archive);
    archive_write_zip_set_compression_store(archive);
    archive_write_set_bytes_in_last_block(archive, 1);
    fby_err err = archive_write_open_FILE(archive, file) == ARCHIVE_OK
                      ? put_batch(archive, batch, rows, why)
                      : failed(archive, why);
    if (err == FBY_OK && archive_write_close(archive) != ARCHIVE_OK) {
        err = failed(archive, why);
    }
    archive_write_free(archive);
    return err;
}
