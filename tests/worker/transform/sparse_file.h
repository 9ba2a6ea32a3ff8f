/* SPDX-License-Identifier: Apache-2.0 */
/* sparse_file.h - writes files of sparse rows from their parts, and decodes
 * them. */
#ifndef FBY_TESTS_WORKER_TRANSFORM_SPARSE_FILE_H
#define FBY_TESTS_WORKER_TRANSFORM_SPARSE_FILE_H

#include "tests/guard.h"
#include "tests/says.h"
#include "tests/test.h"

#include "tests/worker/transform/npz_file.h"
#include "tests/worker/transform/transform.h"
#include "worker/transform/field.h"
#include "worker/transform/sparse.h"

enum { MOST = 6 }; /* max_length */

static inline struct fby_field_content field_of(
    enum fby_type type, struct fby_shape shape)
{
    return (struct fby_field_content){.name = "f",
        .decode                             = FBY_DECODE_SPARSE,
        .wire_type                          = type,
        .max_length                         = MOST,
        .too_long                           = FBY_TOO_LONG_REFUSE,
        .as.sparse.shape                    = shape,
        .shape                              = shape};
}

struct numbers { /* of i8 */
    size_t         n;
    const int64_t *at;
};

#define NUMBERS(...)                                                          \
    (struct numbers)                                                          \
    {                                                                         \
        sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), (const int64_t[]) \
        {                                                                     \
            __VA_ARGS__                                                       \
        }                                                                     \
    }

struct parts { /* arrays of a file; arrays without a pointer are left out */
    const char    *format;
    struct numbers shape, indices, indptr, row, col, data;
    bool           deflated;
};

static inline void put_numbers(
    struct npz_file *file, const char *name, struct numbers numbers)
{
    char shape[32];
    snprintf(shape, sizeof(shape), "(%zu,)", numbers.n);
    if (numbers.at != NULL) {
        put_npz_array(
            file, name, "<i8", shape, numbers.at, numbers.n * sizeof(int64_t));
    }
}

static inline struct npz_file file_of(const struct parts *parts)
{
    struct npz_file file = {.deflated = parts->deflated};
    put_numbers(&file, "shape", parts->shape);
    put_numbers(&file, "indices", parts->indices);
    put_numbers(&file, "indptr", parts->indptr);
    put_numbers(&file, "row", parts->row);
    put_numbers(&file, "col", parts->col);
    put_numbers(&file, "data", parts->data);
    if (parts->format != NULL) {
        put_npz_array(&file, "format", "|S3", "()", parts->format, 3);
    }
    end_npz(&file);
    return file;
}

struct written {
    uint32_t length;
    uint8_t  indices[MOST * 4];
    uint8_t  values[MOST * 8];
};

static inline fby_err write_bytes(const struct fby_field_content *field,
    const struct fby_buffer *bytes, struct written *out,
    struct fby_error_detail *why)
{
    struct fby_field_job job = {.field = field,
        .bytes                         = bytes->data,
        .size                          = bytes->size,
        .length                        = &out->length,
        .indices                       = out->indices};
    return fby_field_write(transform, &job, out->values, why);
}

static inline struct written write_parts(
    const struct fby_field_content *field, const struct parts *parts)
{
    struct npz_file         file = file_of(parts);
    struct written          out  = {0};
    struct fby_error_detail why  = {{0}};
    if (write_bytes(field, &file.bytes, &out, &why) != FBY_OK) {
        fail_msg("%s", why.text);
    }
    npz_fini(&file);
    return out;
}

static inline void assert_refused_file(const struct fby_field_content *field,
    const struct npz_file *file, const char *words)
{
    struct written          out = {0};
    struct fby_error_detail why = {{0}};
    assert_int_equal(
        write_bytes(field, &file->bytes, &out, &why), FBY_BAD_SAMPLE);
    assert_says(&why, words);
}

static inline void assert_refused(const struct fby_field_content *field,
    const struct parts *parts, const char *words)
{
    struct npz_file file = file_of(parts);
    assert_refused_file(field, &file, words);
    npz_fini(&file);
}

static const int64_t row_shape[]   = {1, 300};
static const int64_t row_indices[] = {299, 0, 7};
static const int64_t row_offsets[] = {0, 3};
static const int64_t row_data[]    = {1, -2, 3};

static inline struct parts csr(void)
{
    return (struct parts){.format = "csr",
        .shape                    = {2, row_shape},
        .indices                  = {3, row_indices},
        .indptr                   = {2, row_offsets},
        .data                     = {3, row_data}};
}

static const int64_t table_shape[]   = {3, 4};
static const int64_t table_rows[]    = {2, 0};
static const int64_t table_columns[] = {1, 3};
static const int64_t table_data[]    = {5, 6};

static inline struct parts coo(void)
{
    return (struct parts){.format = "coo",
        .shape                    = {2, table_shape},
        .row                      = {2, table_rows},
        .col                      = {2, table_columns},
        .data                     = {2, table_data}};
}

static const struct fby_shape list  = {1, {300}};
static const struct fby_shape table = {2, {3, 4}};

#endif
