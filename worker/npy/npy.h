/* SPDX-License-Identifier: Apache-2.0 */
/* npy.h - read the header of a NumPy file in memory.
 *
 * A file has a magic string, the length of the header text, the header text,
 * and the values. The text is a Python dict of exactly the keys descr (the
 * type), fortran_order and shape, followed only by blanks. Format versions 1.0
 * to 3.0 are read. This reader is stricter than NumPy's: the values must end
 * with the file, and must be plain numbers.
 *
 * Files are untrusted: every product is checked for overflow. */
#ifndef FBY_WORKER_NPY_H
#define FBY_WORKER_NPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"

enum {
    FBY_NPY_MAX_DIMS   = 32,    /* limit of NumPy 1 */
    FBY_NPY_MAX_HEADER = 65535, /* bytes of the header text, at most */
    FBY_NPY_SHAPE_TEXT = 256    /* bytes of a shape as text, with NUL */
};

/* The types of values. A type is named as in descr: a letter, and the number of
 * bytes. Booleans come first, then integers, then floats. */
enum fby_npy_type {
    FBY_NPY_B1, /* bool: a byte, 0 or 1 */
    FBY_NPY_I1, /* I: signed, U: unsigned */
    FBY_NPY_U1,
    FBY_NPY_I2,
    FBY_NPY_U2,
    FBY_NPY_I4,
    FBY_NPY_U4,
    FBY_NPY_I8,
    FBY_NPY_U8,
    FBY_NPY_F2,
    FBY_NPY_F4,
    FBY_NPY_F8,
    FBY_NPY_TYPES
};

/* The name of a type in NumPy files and digests, such as "f4". */
const char *fby_npy_type_name(enum fby_npy_type type);

/* The name of a type for messages, such as "float32". */
const char *fby_npy_dtype_name(enum fby_npy_type type);

/* Bytes of one value of a type. */
size_t fby_npy_type_bytes(enum fby_npy_type type);

/* Is the type an integer type? bool is not. */
static inline bool fby_npy_is_integer(enum fby_npy_type type)
{
    return type > FBY_NPY_B1 && type < FBY_NPY_F2;
}

/* An array whose values are in memory, or only the header of one. */
struct fby_npy {
    enum fby_npy_type type;
    bool              big_endian; /* false for one-byte types */
    bool              fortran;    /* column-major: the first index is fastest */
    uint32_t          n_dims;
    uint64_t          dims[FBY_NPY_MAX_DIMS]; /* sizes of the dimensions */
    uint64_t          n_values; /* number of values: the product of dims */
    const uint8_t    *data;     /* the values, borrowed; NULL: only a header */
};

/* Read a whole file of `size` bytes. out->data points to its values; NULL after
 * an error. Errors: FBY_BAD_SAMPLE, `why` says what is wrong with the file. */
FBY_CHECKED fby_err fby_npy_read(const uint8_t *bytes, size_t size,
    struct fby_npy *out, struct fby_error_detail *why);

/* Limit of the bytes before the values: magic, version, length, header text. */
enum { FBY_NPY_HEAD = 6 + 2 + 4 + FBY_NPY_MAX_HEADER };

/* Read the header from the first FBY_NPY_HEAD bytes of a file, or from all of a
 * shorter file. Sets out->data to NULL, and *head_size to the bytes before the
 * values. Errors: as fby_npy_read. */
FBY_CHECKED fby_err fby_npy_read_head(const uint8_t *bytes, size_t size,
    struct fby_npy *out, size_t *head_size, struct fby_error_detail *why);

/* Read a file of one word, such as a saved np.array("csr") or np.array(b"csr").
 * `out` has `out_size` bytes. It gets the word, with a NUL.
 * Errors: as fby_npy_read. */
FBY_CHECKED fby_err fby_npy_read_word(const uint8_t *bytes, size_t size,
    char *out, size_t out_size, struct fby_error_detail *why);

/* Are the values in C order (row-major)? If at most one dimension is larger
 * than 1, both orders are the same. */
bool fby_npy_is_c_order(const struct fby_npy *npy);

/* Write a shape as text, "[240, 320]"; longer text is cut and ends with "...]".
 * Returns `out`. */
const char *fby_npy_shape_text(
    const uint64_t *dims, uint32_t n_dims, char out[FBY_NPY_SHAPE_TEXT]);

#endif
