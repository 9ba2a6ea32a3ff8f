/* SPDX-License-Identifier: Apache-2.0 */
/* archives.h - writes uncompressed archives, and the sparse matrices that are
 * archives, for the data sets of benches. Errors end the bench. */
#ifndef FBY_BENCH_ARCHIVES_H
#define FBY_BENCH_ARCHIVES_H

#include <archive.h>
#include <stddef.h>
#include <stdint.h>

struct bench_csr { /* a sparse matrix */
    uint32_t  rows, columns;
    uint32_t *indptr;  /* [rows + 1]: index of the first value of each row, then
                          the number of values */
    uint32_t *indices; /* column of each value */
    float    *values;
};

/* Write a matrix as SciPy saves CSR: a zip file of NumPy files. */
void bench_write_csr(const char *path, const struct bench_csr *csr);

/* Create an archive. Then add its members, and close it. */
enum bench_archive_format { BENCH_TAR, BENCH_ZIP };
struct archive *bench_archive_create(
    const char *path, enum bench_archive_format format);

void bench_archive_add(
    struct archive *self, const char *name, const void *data, size_t size);
void bench_archive_close(struct archive *self);

#endif
