/* SPDX-License-Identifier: Apache-2.0 */
/* npz_file.h - .npz files for tests: members, stored or deflated, then the
 * directory. */
#ifndef FBY_TESTS_WORKER_TRANSFORM_NPZ_FILE_H
#define FBY_TESTS_WORKER_TRANSFORM_NPZ_FILE_H

#include <stdlib.h>
#include <zlib.h>

#include "tests/worker/transform/npy_file.h"

struct npz_file {
    struct fby_buffer bytes; /* owned, and so is the next */
    struct fby_buffer directory;
    uint16_t          n;
    bool              deflated;
    bool              encrypted; /* only set the flag */
};

/* Deflate, without a header, to `out`, which is large enough. */
static inline size_t npz_deflate(
    const struct fby_buffer *from, uint8_t *out, size_t room)
{
    z_stream z  = {.next_in = from->data, .avail_in = (uInt)from->size};
    z.next_out  = out;
    z.avail_out = (uInt)room;
    if (deflateInit2(&z, 9, Z_DEFLATED, -MAX_WBITS, 9, Z_DEFAULT_STRATEGY) !=
            Z_OK ||
        deflate(&z, Z_FINISH) != Z_STREAM_END) {
        abort();
    }
    (void)deflateEnd(&z);
    return z.total_out;
}

/* The part that a member's own header shares with the directory. */
static inline void put_npz_facts(struct fby_buffer *out,
    const struct npz_file *file, const struct fby_buffer *member, size_t packed,
    const char *name)
{
    fby_put_u16(out, 20);
    fby_put_u16(out, file->encrypted ? 1 : 0);
    fby_put_u16(out, file->deflated ? 8 : 0);
    fby_put_u32(out, 0);
    fby_put_u32(out, (uint32_t)crc32(0, member->data, (uInt)member->size));
    fby_put_u32(out, (uint32_t)packed);
    fby_put_u32(out, (uint32_t)member->size);
    fby_put_u16(out, (uint16_t)strlen(name));
    fby_put_u16(out, 0);
}

/* Add a member of these bytes. */
static inline void put_npz_member(
    struct npz_file *file, const char *name, const struct fby_buffer *member)
{
    size_t   room   = member->size + 1024;
    size_t   packed = member->size;
    uint8_t *out    = malloc(room);
    uint32_t head   = (uint32_t)file->bytes.size;
    if (file->deflated) {
        packed = npz_deflate(member, out, room);
    } else {
        memcpy(out, member->data, member->size);
    }
    fby_put_u32(&file->bytes, 0x04034b50);
    put_npz_facts(&file->bytes, file, member, packed, name);
    fby_put_bytes(&file->bytes, name, strlen(name));
    fby_put_bytes(&file->bytes, out, packed);
    fby_put_u32(&file->directory, 0x02014b50);
    fby_put_u16(&file->directory, 20);
    put_npz_facts(&file->directory, file, member, packed, name);
    fby_put_u16(&file->directory, 0);
    fby_put_u64(&file->directory, 0);
    fby_put_u32(&file->directory, head);
    fby_put_bytes(&file->directory, name, strlen(name));
    file->n++;
    free(out);
}

/* Add a NumPy file NAME.npy. */
static inline void put_npz_array(struct npz_file *file, const char *name,
    const char *descr, const char *shape, const void *values, size_t size)
{
    char              path[64];
    struct fby_buffer member = {0};
    snprintf(path, sizeof(path), "%s.npy", name);
    put_npy_header(&member, descr, shape);
    fby_put_bytes(&member, values, size);
    put_npz_member(file, path, &member);
    fby_buffer_fini(&member);
}

/* Add the directory; call last. */
static inline void end_npz(struct npz_file *file)
{
    uint32_t at = (uint32_t)file->bytes.size;
    fby_put_bytes(&file->bytes, file->directory.data, file->directory.size);
    fby_put_u32(&file->bytes, 0x06054b50);
    fby_put_u32(&file->bytes, 0);
    fby_put_u16(&file->bytes, file->n);
    fby_put_u16(&file->bytes, file->n);
    fby_put_u32(&file->bytes, (uint32_t)file->directory.size);
    fby_put_u32(&file->bytes, at);
    fby_put_u16(&file->bytes, 0);
}

static inline void npz_fini(struct npz_file *file)
{
    fby_buffer_fini(&file->bytes);
    fby_buffer_fini(&file->directory);
}

#endif
