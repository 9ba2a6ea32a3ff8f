/* SPDX-License-Identifier: Apache-2.0 */
/* data_files.h - writes the data sets of benches: folders, NumPy files. Errors
 * end the bench. */
#ifndef FBY_BENCH_DATA_FILES_H
#define FBY_BENCH_DATA_FILES_H

#include <stddef.h>
#include <stdint.h>

enum { BENCH_PATH_SIZE = 192 };

/* Make the directory `parent`/`name` and write its path to `out`. */
void bench_make_dir(
    const char *parent, const char *name, char out[BENCH_PATH_SIZE]);

/* Write `size` bytes to a new file. */
void bench_write_file(const char *path, const void *data, size_t size);

struct bench_array {   /* a NumPy array */
    const char *type;  /* NumPy's type string, such as "<f4" */
    const char *shape; /* NumPy's tuple without parentheses, such as "10, 3" */
    const void *values;
    size_t      bytes; /* size of all values */
};

/* Write the head of a NumPy file, in front of the values. */
enum { BENCH_NPY_HEAD = 128 };
void bench_npy_head(char out[BENCH_NPY_HEAD], const struct bench_array *array);

/* Write a NumPy file. */
void bench_write_npy(const char *path, const struct bench_array *array);

struct bench_column { /* a NumPy array of rows */
    const char *name;
    const char *type;  /* NumPy's type string, such as "<f4" */
    unsigned    width; /* number of values in a row */
};

/* Write the NumPy file `dir`/NAME.npy. */
void bench_write_column(const char *dir, const struct bench_column *column,
    const void *values, uint64_t rows);

#endif
