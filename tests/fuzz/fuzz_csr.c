/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_csr.c - any bytes as a SciPy file used as a column: refused, or lists
 * within the file. Each row is refused or has ascending indices. */
#include <string.h>

#include "tests/fuzz/demand.h"
#include "tests/worker/source/memory_object.h"
#include "worker/source/columns/csr.h"
#include "worker/source/columns/ragged.h"
#include "worker/transform/sparse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST = 8, ROWS = 16 };

static struct fby_transform *transform;

static void check_list(
    uint64_t offset, uint64_t n, uint64_t bytes, uint64_t size)
{
    demand(bytes > 0 && offset <= size && n <= (size - offset) / bytes);
}

static void check_row(
    const uint8_t *indices, uint32_t length, uint32_t width, uint64_t dense)
{
    int64_t last = -1;
    demand(length <= MOST);
    for (uint32_t i = 0; i < length; i++) {
        uint32_t index = 0;
        for (uint32_t b = 0; b < width; b++) {
            index |= (uint32_t)indices[i * width + b] << (8 * b);
        }
        demand((int64_t)index > last && index < dense);
        last = index;
    }
}

static void make_row(const struct fby_column *column, const uint8_t *data,
    int64_t begin, uint64_t n)
{
    uint8_t                  indices[MOST * 4];
    uint8_t                  values[MOST * 4];
    uint32_t                 length = 0;
    struct fby_shape         shape  = {1, {(uint32_t)column->dense_width}};
    struct fby_field_content field  = {.decode = FBY_DECODE_SPARSE,
         .wire_type                            = FBY_F32,
         .max_length                           = MOST,
         .too_long                             = FBY_TOO_LONG_REFUSE,
         .as.sparse.shape                      = shape,
         .shape                                = shape};
    struct fby_field_job     job    = {
               .field = &field, .length = &length, .indices = indices};
    const struct fby_sparse_lists lists = {
        .indices = {.type = column->indices.type,
            .big_endian   = column->indices.big_endian,
            .n_values     = n,
            .data         = data + column->indices.offset +
                    (uint64_t)begin * column->indices.item_size},
        .values  = {.type = column->type,
             .big_endian  = column->big_endian,
             .n_values    = n,
             .data =
                 data + column->offset + (uint64_t)begin * column->row_bytes},
    };
    struct fby_error_detail why = {{0}};
    fby_err err = fby_sparse_write_lists(transform, &job, &lists, values, &why);
    demand(err == FBY_OK || err == FBY_BAD_SAMPLE);
    if (err == FBY_OK) {
        check_row(
            indices, length, fby_bytes_per_index(&shape), column->dense_width);
    }
}

static void make_rows(
    const struct fby_column *column, uint64_t rows, const uint8_t *data)
{
    for (uint64_t i = 0; i < rows && i < ROWS; i++) {
        const uint8_t *at =
            data + column->indptr.offset + i * column->indptr.item_size;
        int64_t begin = fby_ragged_load_offset(&column->indptr, at);
        int64_t end   = fby_ragged_load_offset(
              &column->indptr, at + column->indptr.item_size);
        if (fby_ragged_within(column, begin, end)) {
            make_row(column, data, begin, (uint64_t)(end - begin));
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fby_column       column = {.name = "a"};
    struct fby_error_detail why    = {{0}};
    uint64_t                rows   = 0;
    if (transform == NULL) {
        transform = fby_transform_create(NULL);
    }
    struct memory     memory = memory_of(data, size);
    struct fby_object object = memory_object(&memory);
    fby_err           err = fby_csr_scan(&object, size, &column, &rows, &why);
    demand((why.text[0] == '\0') == (err == FBY_OK || err == FBY_NOT_FOUND));
    if (err == FBY_OK) {
        check_list(column.offset, column.rows, column.row_bytes, size);
        check_list(
            column.indices.offset, column.rows, column.indices.item_size, size);
        check_list(
            column.indptr.offset, rows + 1, column.indptr.item_size, size);
        if (column.dense_width <= FBY_MAX_DENSE) {
            make_rows(&column, rows, data);
        }
    }
    return 0;
}
