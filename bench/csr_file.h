/* csr_file.h - writes CSR matrices as SciPy saves them, uncompressed. */
#ifndef FBY_BENCH_CSR_FILE_H
#define FBY_BENCH_CSR_FILE_H

#include <stdint.h>

struct bench_csr {
    uint32_t     rows, columns;
    uint32_t    *indptr; /* first value of each row; rows + 1 entries */
    uint32_t    *indices;
    const float *values;
};

/* Write the matrix to `path`, a .npz file of less than 4 GiB. An error ends the
 * bench. */
void bench_csr_write(const struct bench_csr *self, const char *path);

#endif
