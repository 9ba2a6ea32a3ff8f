/* SPDX-License-Identifier: Apache-2.0 */
/* An .npz file is a zip archive of .npy files, each a header and the values. */
#include "cli/show/npz.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zip.h>

#include "cli/show/tensor.h"
#include "cli/signals.h"
#include "common/mem.h"

enum {
    HEADER_MAX   = 256,    /* bytes of a .npy header */
    HEADER_ALIGN = 64,     /* a header's size is a multiple of this */
    PREAMBLE     = 10,     /* bytes of the magic, version and length */
    MAX_WRITE    = 1 << 24 /* bytes between two checks for a signal */
};

/* ---- The header of one array --------------------------------------------- */

/* numpy's letter for the type; 'u' (unsigned) also for bf16. */
static char type_letter(const DLTensor *tensor)
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
    const DLTensor *tensor, uint32_t rows, char *out, size_t capacity)
{
    int n = snprintf(out, capacity, "(%" PRIu32 ",", rows);
    for (int32_t d = 1; d < tensor->ndim; d++) {
        n += snprintf(out + n, capacity - (size_t)n, " %" PRId64 "%s",
            tensor->shape[d], d + 1 < tensor->ndim ? "," : "");
    }
    return (size_t)n + (size_t)snprintf(out + n, capacity - (size_t)n, ")");
}

/* A header is "\x93NUMPY", version 1.0, the length of the rest, and a Python
 * dictionary, padded so that the values begin at a multiple of 64 bytes. */
static size_t make_header(
    const DLTensor *tensor, uint32_t rows, char out[HEADER_MAX])
{
    size_t bytes = fby_tensor_element_bytes(tensor);
    int    n     = snprintf(out + PREAMBLE, HEADER_MAX - PREAMBLE,
               "{'descr': '%c%c%zu', 'fortran_order': False, 'shape': ",
        bytes > 1 ? '<' : '|', type_letter(tensor), bytes);
    size_t end   = PREAMBLE + (size_t)n;
    end += print_shape(tensor, rows, out + end, HEADER_MAX - end);
    end += (size_t)snprintf(out + end, HEADER_MAX - end, ", }");
    size_t used = end + 1; /* with the newline, which is the last byte */
    size_t size = (used + HEADER_ALIGN - 1) / HEADER_ALIGN * HEADER_ALIGN;
    memset(out + end, ' ', size - end);
    out[size - 1] = '\n';
    memcpy(out, "\x93NUMPY\x01", 8); /* with the NUL: version 1.0 */
    /* The length of the rest, little-endian. */
    out[8] = (char)((size - PREAMBLE) & 0xff);
    out[9] = (char)((size - PREAMBLE) >> 8);
    return size;
}

/* ---- The archive --------------------------------------------------------- */

static fby_err io_error(struct fby_error_detail *why)
{
    return fby_error_set(
        why, FBY_IO, "cannot write the archive: %s", strerror(errno));
}

/* minizip calls this to open the archive. minizip must seek, so the stream is a
 * regular file, or memory if the output is a pipe. */
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

static fby_err write_bytes(zipFile archive, const void *bytes, size_t size,
    struct fby_error_detail *why)
{
    const uint8_t *next = bytes;
    while (size > 0) {
        size_t n = size < MAX_WRITE ? size : MAX_WRITE;
        FBY_TRY(fby_signals_check(why));
        if (zipWriteInFileInZip(archive, next, (unsigned)n) != ZIP_OK) {
            return io_error(why);
        }
        next += n;
        size -= n;
    }
    return FBY_OK;
}

static fby_err begin_entry(zipFile archive, const char *name, size_t size,
    struct fby_error_detail *why)
{
    static const zip_fileinfo info = {.dosDate = 0x21 << 16}; /* 1980-01-01 */
    char                      path[128];
    snprintf(path, sizeof(path), "%s.npy", name);
    /* No extra fields, no comment, no compression. */
    int result = zipOpenNewFileInZip64(archive, path, &info, NULL, 0, NULL, 0,
        NULL, 0, 0, size > UINT32_MAX ? 1 : 0);
    return result == ZIP_OK ? FBY_OK : io_error(why);
}

static fby_err write_array(zipFile archive, const char *name,
    const DLTensor *tensor, uint32_t rows, struct fby_error_detail *why)
{
    char   header[HEADER_MAX];
    size_t header_size = make_header(tensor, rows, header);
    size_t row_size =
        fby_tensor_row_elements(tensor) * fby_tensor_element_bytes(tensor);
    void   *values = fby_zalloc(row_size);
    fby_err err =
        begin_entry(archive, name, header_size + row_size * rows, why);
    if (err == FBY_OK) {
        err = write_bytes(archive, header, header_size, why);
    }
    for (uint32_t i = 0; i < rows && err == FBY_OK; i++) {
        fby_tensor_copy_row(tensor, i, values);
        err = write_bytes(archive, values, row_size, why);
    }
    free(values);
    return err == FBY_OK && zipCloseFileInZip(archive) != ZIP_OK ? io_error(why)
                                                                 : err;
}

/* ---- A batch ------------------------------------------------------------- */

/* Write `values`, one for each row, as an array that is not a field of the
 * batch. `form` has their number (shape) and type, but no data. */
static fby_err write_row_values(zipFile archive, const char *name,
    const void *values, const DLTensor *form, struct fby_error_detail *why)
{
    int64_t  stride = 1;
    DLTensor tensor = *form;
    uint32_t rows   = (uint32_t)tensor.shape[0];
    tensor.ndim     = 1;
    tensor.strides  = &stride;
    tensor.data     = fby_memdup(values, rows * fby_tensor_element_bytes(form));
    fby_err err     = write_array(archive, name, &tensor, rows, why);
    free(tensor.data);
    return err;
}

/* True if field `i` has one entry per row. Other fields are written whole:
 *   - of ragged and sparse rows: NAME, and its NAME.offsets or NAME.indices;
 *   - arrays with an entry per token, which have more entries than rows. */
static bool is_per_row(const struct forebay_batch *batch, uint32_t i)
{
    static const char *const suffixes[] = {".offsets", ".indices"};
    char                     sibling[128];
    const char              *name = forebay_batch_field_name(batch, i);
    const char              *dot  = strrchr(name, '.');
    bool                     per_row =
        forebay_batch_tensor(batch, i)->shape[0] <= forebay_batch_rows(batch);
    for (size_t k = 0; k < sizeof(suffixes) / sizeof(suffixes[0]); k++) {
        snprintf(sibling, sizeof(sibling), "%s%s", name, suffixes[k]);
        per_row = per_row && forebay_batch_field(batch, sibling) < 0 &&
                  (dot == NULL || strcmp(dot, suffixes[k]) != 0);
    }
    return per_row;
}

static fby_err write_fields(zipFile archive, const struct forebay_batch *batch,
    uint32_t rows, struct fby_error_detail *why)
{
    fby_err  err = FBY_OK;
    uint32_t n   = forebay_batch_n_fields(batch);
    for (uint32_t i = 0; i < n && err == FBY_OK; i++) {
        const char     *name   = forebay_batch_field_name(batch, i);
        const DLTensor *tensor = forebay_batch_tensor(batch, i);
        err                    = write_array(archive, name, tensor,
            is_per_row(batch, i) ? rows : (uint32_t)tensor->shape[0], why);
    }
    int64_t        shape        = rows;
    const DLTensor samples      = {.shape = &shape, .dtype = {kDLUInt, 64, 1}};
    const DLTensor valid        = {.shape = &shape, .dtype = {kDLBool, 8, 1}};
    bool           is_name_used = forebay_batch_field(batch, "samples") >= 0;
    if (err == FBY_OK) {
        err = write_row_values(archive, is_name_used ? "samples_" : "samples",
            forebay_batch_samples(batch), &samples, why);
    }
    /* With `last: pad`, `valid` is already a field of the batch. */
    if (err == FBY_OK && forebay_batch_field(batch, "valid") < 0) {
        err = write_row_values(
            archive, "valid", forebay_batch_valid(batch), &valid, why);
    }
    return err;
}

static fby_err write_archive(const struct forebay_batch *batch, uint32_t rows,
    FILE *stream, struct fby_error_detail *why)
{
    zipFile archive = open_archive(stream);
    fby_err err     = archive == NULL ? io_error(why)
                                      : write_fields(archive, batch, rows, why);
    if (archive != NULL && zipClose(archive, NULL) != ZIP_OK && err == FBY_OK) {
        err = io_error(why);
    }
    return err;
}

/* Make the archive in memory, and then write it. */
static fby_err write_through_memory(const struct forebay_batch *batch,
    uint32_t rows, FILE *file, struct fby_error_detail *why)
{
    char   *bytes  = NULL;
    size_t  size   = 0;
    FILE   *stream = open_memstream(&bytes, &size);
    fby_err err    = stream == NULL ? io_error(why)
                                    : write_archive(batch, rows, stream, why);
    if (stream != NULL) {
        fclose(stream);
    }
    if (err == FBY_OK && fwrite(bytes, 1, size, file) != size) {
        err = io_error(why);
    }
    free(bytes);
    return err;
}

fby_err fby_npz_write(const struct forebay_batch *batch, uint32_t rows,
    FILE *file, struct fby_error_detail *why)
{
    struct stat st;
    bool is_regular = fstat(fileno(file), &st) == 0 && S_ISREG(st.st_mode);
    return is_regular ? write_archive(batch, rows, file, why)
                      : write_through_memory(batch, rows, file, why);
}
