/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/data_files.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "bench/bench.h"

enum { NPY_TEXT = 10 /* offset of the text in the head */ };

static void write_head_and_data(const char *path, const void *head,
    size_t head_size, const void *data, size_t size)
{
    FILE *file = fopen(path, "wb");
    bool  ok = file != NULL && fwrite(head, 1, head_size, file) == head_size &&
              fwrite(data, 1, size, file) == size;
    if (!ok || fclose(file) != 0) {
        bench_die("%s: %s", path, strerror(errno));
    }
}

void bench_write_file(const char *path, const void *data, size_t size)
{
    write_head_and_data(path, "", 0, data, size);
}

void bench_make_dir(
    const char *parent, const char *name, char out[BENCH_PATH_SIZE])
{
    snprintf(out, BENCH_PATH_SIZE, "%s/%s", parent, name);
    if (mkdir(out, 0777) != 0) {
        bench_die("%s: %s", out, strerror(errno));
    }
}

/* The magic bytes, version 1.0 in two bytes, the length of the text in two
 * bytes, and the text, which ends with a newline. */
void bench_npy_head(char out[BENCH_NPY_HEAD], const struct bench_array *array)
{
    int n = snprintf(out, BENCH_NPY_HEAD,
        "\x93NUMPY%c%c%c%c{'descr': '%s', 'fortran_order': False, "
        "'shape': (%s)}",
        1, 0, BENCH_NPY_HEAD - NPY_TEXT, 0, array->type, array->shape);
    memset(out + n, ' ', (size_t)(BENCH_NPY_HEAD - n));
    out[BENCH_NPY_HEAD - 1] = '\n';
}

void bench_write_npy(const char *path, const struct bench_array *array)
{
    char head[BENCH_NPY_HEAD];
    bench_npy_head(head, array);
    write_head_and_data(path, head, sizeof(head), array->values, array->bytes);
}

void bench_write_column(const char *dir, const struct bench_column *column,
    const void *values, uint64_t rows)
{
    char   path[BENCH_PATH_SIZE];
    char   shape[48];
    size_t value_bytes = (size_t)(column->type[2] - '0'); /* 4 in "<f4" */
    snprintf(path, sizeof(path), "%s/%s.npy", dir, column->name);
    snprintf(shape, sizeof(shape),
        column->width > 1 ? "%" PRIu64 ", %u" : "%" PRIu64 ",", rows,
        column->width);
    bench_write_npy(path, &(struct bench_array){column->type, shape, values,
                              rows * column->width * value_bytes});
}
