/* SPDX-License-Identifier: Apache-2.0 */
/* arrays.c - the decoder of arrays as a filter, for check_npy.py: requests on
 * stdin, answers on stdout, numbers of 4 bytes, little-endian.
 *
 * Request: wire type, number of dimensions, dimensions, bytes of the file, the
 * file. Answer: 0, bytes of the values, the values; or 1, bytes of the reason,
 * the reason. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "worker/transform/field.h"

static bool read_exactly(void *out, size_t size)
{
    return fread(out, 1, size, stdin) == size;
}

static uint32_t must_read_u32(void)
{
    uint32_t value = 0;
    if (!read_exactly(&value, sizeof(value))) {
        abort();
    }
    return value;
}

static void answer(uint32_t refused, const void *data, size_t size)
{
    uint32_t head[2] = {refused, (uint32_t)size};
    fwrite(head, sizeof(head), 1, stdout);
    fwrite(data, 1, size, stdout);
    fflush(stdout);
}

/* Both have the exact size: a sanitizer detects access after the end. */
static void decode(
    struct fby_transform *transform, const struct fby_field_content *field)
{
    uint32_t                size  = must_read_u32();
    uint8_t                *file  = malloc(size);
    size_t                  bytes = fby_field_bytes(field);
    uint8_t                *out   = malloc(bytes);
    struct fby_error_detail why   = {{0}};
    if (file == NULL || out == NULL || !read_exactly(file, size)) {
        abort();
    }
    struct fby_field_job job = {.field = field, .bytes = file, .size = size};
    if (fby_field_write(transform, &job, out, &why) == FBY_OK) {
        answer(0, out, bytes);
    } else {
        answer(1, why.text, strlen(why.text));
    }
    free(file);
    free(out);
}

int main(void)
{
    struct fby_transform           *transform = fby_transform_create(NULL);
    static struct fby_field_content field     = {.decode = FBY_DECODE_ARRAY};
    uint32_t                        type;
    while (read_exactly(&type, sizeof(type))) {
        field.wire_type    = (enum fby_type)type;
        field.shape.n_dims = must_read_u32();
        for (uint32_t i = 0; i < field.shape.n_dims && i < FBY_MAX_DIMS; i++) {
            field.shape.dims[i] = must_read_u32();
        }
        decode(transform, &field);
    }
    fby_transform_destroy(&transform);
    return 0;
}
