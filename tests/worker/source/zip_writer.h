/* SPDX-License-Identifier: Apache-2.0 */
/* zip_writer.h - write zip archives, also hostile ones, for tests. */
#ifndef FBY_TESTS_WORKER_SOURCE_ZIP_WRITER_H
#define FBY_TESTS_WORKER_SOURCE_ZIP_WRITER_H

#ifndef ZLIB_CONST
#define ZLIB_CONST
#endif

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "common/bytes.h"
#include "tests/worker/source/sandbox.h"

enum { ZIP_STORED = 0, ZIP_DEFLATED = 8 };

/* An entry; members that are 0 are those of an honest archive. */
struct zip_entry {
    const char *name;
    size_t      name_size; /* 0: strlen(name) */
    const void *data;
    size_t      size;
    uint16_t    method;
    uint16_t    flags;
    uint16_t    head_extra; /* bytes of extra fields in the header */
    uint32_t    mode;       /* of Unix, as a link has it */
    /* Wrong values for the directory of the archive; 0: the right ones. */
    uint32_t said_size, said_packed, said_head, said_sum;
};

struct zip_writer {
    struct fby_buffer bytes; /* of the archive, without the directory */
    struct fby_buffer directory;
    uint16_t          n_entries; /* in the directory */
    uint16_t          n_missing; /* of those, how many the end does not count */
};

/* Deflate `size` bytes. Returns the number of bytes in `out`. */
static inline size_t zip_deflate(const void *data, size_t size,
    /* NOLINTNEXTLINE(readability-non-const-parameter): written by zlib */
    uint8_t *out, size_t capacity)
{
    z_stream z = {.next_in = data,
        .avail_in          = (uInt)size,
        .next_out          = out,
        .avail_out         = (uInt)capacity};
    assert_int_equal(
        deflateInit2(&z, 9, Z_DEFLATED, -MAX_WBITS, 9, Z_DEFAULT_STRATEGY),
        Z_OK);
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    size_t n = z.total_out;
    assert_int_equal(deflateEnd(&z), Z_OK);
    return n;
}

static inline void zip_put_directory_entry(struct zip_writer *self,
    const struct zip_entry *e, size_t packed, uint32_t head)
{
    struct fby_buffer *out = &self->directory;
    size_t   n_name        = e->name_size > 0 ? e->name_size : strlen(e->name);
    uint32_t sum           = (uint32_t)crc32(0, e->data, (uInt)e->size);
    fby_put_u32(out, 0x02014b50);
    fby_put_u32(out, 20 << 16 | (e->mode != 0 ? 3 << 8 : 0) | 20);
    fby_put_u16(out, e->flags);
    fby_put_u16(out, e->method);
    fby_put_u32(out, 0); /* time */
    fby_put_u32(out, e->said_sum != 0 ? e->said_sum : sum);
    fby_put_u32(out, e->said_packed != 0 ? e->said_packed : (uint32_t)packed);
    fby_put_u32(out, e->said_size != 0 ? e->said_size : (uint32_t)e->size);
    fby_put_u16(out, (uint16_t)n_name);
    fby_put_u32(out, 0); /* extra fields, comment */
    fby_put_u32(out, 0); /* disk, internal attributes */
    fby_put_u32(out, e->mode << 16);
    fby_put_u32(out, e->said_head != 0 ? e->said_head : head);
    fby_put_bytes(out, e->name, n_name);
    self->n_entries++;
}

static inline void zip_add(struct zip_writer *self, struct zip_entry e)
{
    struct fby_buffer *out      = &self->bytes;
    uint32_t           head     = (uint32_t)out->size;
    size_t             capacity = e.size + e.size / 100 + 100;
    uint8_t           *packed   = malloc(capacity);
    size_t             n        = e.size;
    size_t             n_name = e.name_size > 0 ? e.name_size : strlen(e.name);
    if (e.method == ZIP_DEFLATED) {
        n = zip_deflate(e.data, e.size, packed, capacity);
    } else if (n > 0) {
        memcpy(packed, e.data, n);
    }
    fby_put_u32(out, 0x04034b50);
    fby_put_bytes(out, (const char[22]){0}, 22); /* as in the directory */
    fby_put_u16(out, (uint16_t)n_name);
    fby_put_u16(out, e.head_extra);
    fby_put_bytes(out, e.name, n_name);
    for (uint16_t i = 0; i < e.head_extra; i++) {
        fby_put_u8(out, 0);
    }
    fby_put_bytes(out, packed, n);
    zip_put_directory_entry(self, &e, n, head);
    free(packed);
}

static inline void zip_add_text(
    struct zip_writer *self, const char *name, const char *text)
{
    zip_add(self,
        (struct zip_entry){.name = name, .data = text, .size = strlen(text)});
}

/* Write the archive to `path` in the sandbox, and free it. */
static inline void zip_write(
    struct zip_writer *self, const struct sandbox *sb, const char *path)
{
    struct fby_buffer *out    = &self->bytes;
    uint32_t           offset = (uint32_t)out->size;
    fby_put_bytes(out, self->directory.data, self->directory.size);
    fby_put_u32(out, 0x06054b50);
    fby_put_u32(out, 0); /* disks */
    fby_put_u16(out, (uint16_t)(self->n_entries - self->n_missing));
    fby_put_u16(out, (uint16_t)(self->n_entries - self->n_missing));
    fby_put_u32(out, (uint32_t)self->directory.size);
    fby_put_u32(out, offset);
    fby_put_u16(out, 0); /* comment */
    sandbox_write(sb, path, out->data, out->size);
    fby_buffer_fini(&self->bytes);
    fby_buffer_fini(&self->directory);
    *self = (struct zip_writer){0};
}

#endif
