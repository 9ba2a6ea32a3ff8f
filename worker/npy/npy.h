/* npy.h - the header of one NumPy file in memory.
 *
 * Format versions 1.0 to 3.0: a magic string, the length of a text, and the
 * text, a Python dict of exactly the keys descr, fortran_order and shape, which
 * nothing but blanks follows. This reader is stricter than NumPy's: the values
 * must end with the file, and what is no plain number has no type here.
 *
 * A file is trusted in nothing: every product is checked before it is made. */
#ifndef FBY_WORKER_NPY_H
#define FBY_WORKER_NPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"

enum {
    FBY_NPY_MAX_DIMS   = 32,    /* NumPy's own limit, up to version 1 of it */
    FBY_NPY_MAX_HEADER = 65535, /* bytes of the text */
    FBY_NPY_SHAPE_TEXT = 256    /* bytes of a shape as text, with NUL */
};

enum fby_npy_type {
    FBY_NPY_B1, /* bool: a byte, 0 or 1 */
    FBY_NPY_I1,
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

/* "f4", as files and digests have it; "float32", as people read it; bytes of a
 * value. */
const char *fby_npy_type_name(enum fby_npy_type type);
const char *fby_npy_dtype(enum fby_npy_type type);
size_t      fby_npy_type_bytes(enum fby_npy_type type);

/* Are its values whole numbers? Bools are none. */
static inline bool fby_npy_is_whole(enum fby_npy_type type)
{
    return type > FBY_NPY_B1 && type < FBY_NPY_F2;
}

struct fby_npy {
    enum fby_npy_type type;
    bool              big_endian; /* never of one-byte types */
    bool              fortran;    /* the first dimension runs fastest */
    uint32_t          n_dims;
    uint64_t          dims[FBY_NPY_MAX_DIMS];
    uint64_t          values; /* their product */
    const uint8_t    *data;   /* borrowed: values * bytes of the type */
};

/* Read the header of `size` bytes and find the values.
 * Errors: FBY_BAD_SAMPLE, `why` says what is wrong with the file. */
FBY_CHECKED fby_err fby_npy_read(const uint8_t *bytes, size_t size,
    struct fby_npy *out, struct fby_why *why);

/* Read the header alone, from the first bytes of a file: all of them, or
 * FBY_NPY_HEAD. `out` has no data; *head is where its values begin.
 * Errors: as above. */
enum { FBY_NPY_HEAD = FBY_NPY_MAX_HEADER + 12 };
FBY_CHECKED fby_err fby_npy_read_head(const uint8_t *bytes, size_t size,
    struct fby_npy *out, size_t *head, struct fby_why *why);

/* A file of one word, as np.array("csr") or np.array(b"csr") is saved: below
 * `room` letters, and a NUL.
 * Errors: as above. */
FBY_CHECKED fby_err fby_npy_read_word(const uint8_t *bytes, size_t size,
    char *out, size_t room, struct fby_why *why);

/* Is the order of the values that of C? Where at most one dimension is larger
 * than 1, both orders are the same. */
bool fby_npy_is_c_order(const struct fby_npy *npy);

/* "[240, 320]"; what is too long ends with "...". Returns `out`. */
const char *fby_npy_shape_text(
    const uint64_t *dims, uint32_t n_dims, char out[FBY_NPY_SHAPE_TEXT]);

#endif
