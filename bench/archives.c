/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/archives.h"

#include <archive_entry.h>
#include <stdbool.h>
#include <stdio.h>

#include "bench/bench.h"
#include "bench/data_files.h"

static void die_unless(bool ok, struct archive *archive)
{
    if (!ok) {
        bench_die("archive: %s", archive_error_string(archive));
    }
}

struct archive *bench_archive_create(
    const char *path, enum bench_archive_format format)
{
    struct archive *self = archive_write_new();
    if (format == BENCH_ZIP) {
        archive_write_set_format_zip(self);
        archive_write_zip_set_compression_store(self);
    } else {
        archive_write_set_format_ustar(self);
    }
    die_unless(archive_write_open_filename(self, path) == ARCHIVE_OK, self);
    return self;
}

static void begin_member(struct archive *self, const char *name, size_t size)
{
    struct archive_entry *entry = archive_entry_new();
    archive_entry_set_pathname(entry, name);
    archive_entry_set_size(entry, (int64_t)size);
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_entry_set_perm(entry, 0644);
    die_unless(archive_write_header(self, entry) == ARCHIVE_OK, self);
    archive_entry_free(entry);
}

static void write_data(struct archive *self, const void *data, size_t size)
{
    die_unless(archive_write_data(self, data, size) == (la_ssize_t)size, self);
}

void bench_archive_add(
    struct archive *self, const char *name, const void *data, size_t size)
{
    begin_member(self, name, size);
    write_data(self, data, size);
}

void bench_archive_close(struct archive *self)
{
    die_unless(archive_write_close(self) == ARCHIVE_OK, self);
    archive_write_free(self);
}

void bench_write_csr(const char *path, const struct bench_csr *csr)
{
    const uint32_t n_values = csr->indptr[csr->rows];
    const uint32_t n_indptr = csr->rows + 1;
    const uint64_t dims[]   = {csr->rows, csr->columns};
    char           values_shape[16];
    char           indptr_shape[16];
    snprintf(values_shape, sizeof(values_shape), "%u,", n_values);
    snprintf(indptr_shape, sizeof(indptr_shape), "%u,", n_indptr);
    const struct member {
        const char        *name;
        struct bench_array array;
    } members[] = {
        {"indices.npy",
            {"<i4", values_shape, csr->indices, n_values * sizeof(uint32_t)}},
        {"indptr.npy",
            {"<i4", indptr_shape, csr->indptr, n_indptr * sizeof(uint32_t)}},
        {"format.npy", {"|S3", "", "csr", 3}},
        {"shape.npy", {"<i8", "2,", dims, sizeof(dims)}},
        {"data.npy",
            {"<f4", values_shape, csr->values, n_values * sizeof(float)}},
    };
    struct archive *zip = bench_archive_create(path, BENCH_ZIP);
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        const struct bench_array *array = &members[i].array;
        char                      head[BENCH_NPY_HEAD];
        bench_npy_head(head, array);
        begin_member(zip, members[i].name, sizeof(head) + array->bytes);
        write_data(zip, head, sizeof(head));
        write_data(zip, array->values, array->bytes);
    }
    bench_archive_close(zip);
}
