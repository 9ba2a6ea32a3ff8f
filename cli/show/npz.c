#include "cli/show/npz.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <zip.h>

#include "cli/show/tensor.h"
#include "common/mem.h"

enum { HEADER_ROOM = 256, HEADER_ALIGN = 64, MAGIC = 10 };
enum { PIECE = 1 << 30 }; /* bytes that minizip takes at once */

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

static fby_err failed(struct fby_why *why, const char *cause)
{
    return fby_because(why, FBY_IO, "cannot write the archive: %s", cause);
}

/* The archive is written to a stream in memory, which can seek; minizip opens
 * it by this function. */
static void *open_stream(void *stream, const void *name, int mode)
{
    (void)name;
    (void)mode;
    return stream;
}

static int close_stream(void *opaque, void *stream)
{
    (void)opaque;
    return fflush(stream);
}

static zipFile open_archive(FILE *stream)
{
    zlib_filefunc64_def functions;
    fill_fopen64_filefunc(&functions);
    functions.zopen64_file = open_stream;
    functions.zclose_file  = close_stream;
    functions.opaque       = stream;
    return zipOpen2_64("", APPEND_STATUS_CREATE, NULL, &functions);
}

static fby_err put(
    zipFile archive, const void *bytes, size_t size, struct fby_why *why)
{
    const uint8_t *at  = bytes;
    const uint8_t *end = at + size;
    while (at < end) {
        size_t n = (size_t)(end - at) < PIECE ? (size_t)(end - at) : PIECE;
        if (zipWriteInFileInZip(archive, at, (unsigned)n) != ZIP_OK) {
            return failed(why, "no memory");
        }
        at += n;
    }
    return FBY_OK;
}

static fby_err begin_entry(
    zipFile archive, const char *name, size_t size, struct fby_why *why)
{
    static const zip_fileinfo info = {.dosDate = 0x21}; /* 1980-01-01 */
    char                      path[128];
    snprintf(path, sizeof(path), "%s.npy", name);
    int result = zipOpenNewFileInZip64(archive, path, &info, NULL, 0, NULL, 0,
        NULL, 0, 0, size > UINT32_MAX ? 1 : 0);
    return result == ZIP_OK ? FBY_OK : failed(why, "no memory");
}

static fby_err put_tensor(zipFile archive, const char *name,
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
    return err == FBY_OK && zipCloseFileInZip(archive) != ZIP_OK
               ? failed(why, "no memory")
               : err;
}

/* ---- A batch ------------------------------------------------------------- */

/* Write an array of one value per row that is not a field of the batch. */
static fby_err put_column(zipFile archive, const char *name,
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

static fby_err put_samples(zipFile archive, const struct forebay_batch *batch,
    uint32_t rows, struct fby_why *why)
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

static fby_err put_valid(zipFile archive, const struct forebay_batch *batch,
    uint32_t rows, struct fby_why *why)
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

static fby_err put_batch(zipFile archive, const struct forebay_batch *batch,
    uint32_t rows, struct fby_why *why)
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
    char   *bytes   = NULL;
    size_t  size    = 0;
    FILE   *stream  = open_memstream(&bytes, &size);
    zipFile archive = stream == NULL ? NULL : open_archive(stream);
    fby_err err     = archive == NULL ? failed(why, "no memory")
                                      : put_batch(archive, batch, rows, why);
    if (archive != NULL && zipClose(archive, NULL) != ZIP_OK && err == FBY_OK) {
        err = failed(why, "no memory");
    }
    if (stream != NULL) {
        fclose(stream);
    }
    if (err == FBY_OK && fwrite(bytes, 1, size, file) != size) {
        err = failed(why, strerror(errno));
    }
    free(bytes);
    return err;
}
