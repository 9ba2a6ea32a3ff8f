/* csr_file.h - CSR matrices as SciPy saves them, uncompressed. */
#ifndef FBY_BENCH_CSR_FILE_H
#define FBY_BENCH_CSR_FILE_H

#include <stdint.h>

struct bench_csr {
    uint32_t     rows, columns;
    uint32_t    *begins; /* a row, and one more: its first value */
    uint32_t    *indices;
    const float *values;
};

/* Write it to `path`, a .npz file of less than 4 GiB. What cannot work ends the
 * bench. */
void bench_csr_write(const struct bench_csr *self, const char *path);

#endif
