#include "bench/csr_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "bench/bench.h"
#include "common/bytes.h"

struct zip {
    struct fby_buffer bytes; /* of the stored members */
    struct fby_buffer directory;
    uint16_t          members;
};

/* Write the fields that the local and the directory header share. */
static void put_common_header(
    struct fby_buffer *out, const struct fby_buffer *member, const char *name)
{
    uint32_t size = (uint32_t)member->size;
    fby_put_u16(out, 20); /* version 2.0 */
    fby_put_u32(out, 0);  /* no flags, stored */
    fby_put_u32(out, 0);  /* no date */
    fby_put_u32(out, (uint32_t)crc32_z(0, member->data, member->size));
    fby_put_u32(out, size);
    fby_put_u32(out, size);
    fby_put_u16(out, (uint16_t)strlen(name));
    fby_put_u16(out, 0);
}

static void put_member(
    struct zip *zip, const char *name, const struct fby_buffer *member)
{
    uint32_t at = (uint32_t)zip->bytes.size;
    fby_put_u32(&zip->bytes, 0x04034b50);
    put_common_header(&zip->bytes, member, name);
    fby_put_bytes(&zip->bytes, name, strlen(name));
    fby_put_bytes(&zip->bytes, member->data, member->size);
    fby_put_u32(&zip->directory, 0x02014b50);
    fby_put_u16(&zip->directory, 20);
    put_common_header(&zip->directory, member, name);
    fby_put_u16(&zip->directory, 0);
    fby_put_u64(&zip->directory, 0);
    fby_put_u32(&zip->directory, at);
    fby_put_bytes(&zip->directory, name, strlen(name));
    zip->members++;
}

static void end_zip(struct zip *zip)
{
    uint32_t at = (uint32_t)zip->bytes.size;
    fby_put_bytes(&zip->bytes, zip->directory.data, zip->directory.size);
    fby_put_u32(&zip->bytes, 0x06054b50);
    fby_put_u32(&zip->bytes, 0);
    fby_put_u16(&zip->bytes, zip->members);
    fby_put_u16(&zip->bytes, zip->members);
    fby_put_u32(&zip->bytes, (uint32_t)zip->directory.size);
    fby_put_u32(&zip->bytes, at);
    fby_put_u16(&zip->bytes, 0);
}

struct npy {
    const char *name, *type, *shape;
    const void *values;
    size_t      bytes;
};

/* Add a member that is a NumPy file. */
static void put_array(struct zip *zip, struct npy npy)
{
    static const uint8_t magic[] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0};
    struct fby_buffer    member  = {0};
    char                 text[118];
    memset(text, ' ', sizeof(text));

    int n = snprintf(text, sizeof(text),
        "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", npy.type,
        npy.shape);

    text[n]                = ' ';
    text[sizeof(text) - 1] = '\n';
    fby_put_bytes(&member, magic, sizeof(magic));
    fby_put_u16(&member, sizeof(text));
    fby_put_bytes(&member, text, sizeof(text));
    fby_put_bytes(&member, npy.values, npy.bytes);
    put_member(zip, npy.name, &member);
    fby_buffer_fini(&member);
}

static void save(const struct zip *zip, const char *path)
{
    FILE *file = fopen(path, "wb");
    bool  ok   = file != NULL && fwrite(zip->bytes.data, 1, zip->bytes.size,
                                     file) == zip->bytes.size;
    if (!ok || fclose(file) != 0) {
        bench_die("%s: %s", path, strerror(errno));
    }
}

void bench_csr_write(const struct bench_csr *self, const char *path)
{
    struct zip     zip              = {.members = 0};
    const uint32_t n                = self->indptr[self->rows];
    const uint64_t shape[]          = {self->rows, self->columns};
    char           values_shape[16] = "";
    char           indptr[16]       = "";
    snprintf(values_shape, sizeof(values_shape), "%u,", n);
    snprintf(indptr, sizeof(indptr), "%u,", self->rows + 1);
    put_array(&zip, (struct npy){"indices.npy", "<i4", values_shape,
                        self->indices, n * sizeof(*self->indices)});
    put_array(&zip, (struct npy){"indptr.npy", "<i4", indptr, self->indptr,
                        (self->rows + 1) * sizeof(*self->indptr)});
    put_array(&zip, (struct npy){"format.npy", "|S3", "", "csr", 3});
    put_array(
        &zip, (struct npy){"shape.npy", "<i8", "2,", shape, sizeof(shape)});
    put_array(&zip, (struct npy){"data.npy", "<f4", values_shape, self->values,
                        n * sizeof(*self->values)});
    end_zip(&zip);
    save(&zip, path);
    fby_buffer_fini(&zip.bytes);
    fby_buffer_fini(&zip.directory);
}
