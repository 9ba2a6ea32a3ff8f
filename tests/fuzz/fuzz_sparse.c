/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_sparse.c - hostile .npz files as sparse rows: indices within the shape,
 * ascending, or a refusal. */
#include <string.h>

#include "tests/fuzz/demand.h"
#include "worker/transform/field.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST = 8 };

static void check(const struct fby_field_content *field, const uint8_t *indices,
    uint32_t length)
{
    uint32_t width = fby_bytes_per_index(&field->shape);
    int64_t  last  = -1;
    demand(length <= MOST);
    for (uint32_t i = 0; i < length; i++) {
        uint32_t index = 0;
        for (uint32_t b = 0; b < width; b++) {
            index |= (uint32_t)indices[i * width + b] << (8 * b);
        }
        demand((int64_t)index > last);
        demand(index < fby_dense_values(&field->shape));
        last = index;
    }
}

static void decode(struct fby_transform *transform, struct fby_shape shape,
    const uint8_t *data, size_t size)
{
    uint8_t                  indices[MOST * 4];
    uint8_t                  values[MOST * 4];
    uint32_t                 length = 0;
    struct fby_field_content field  = {.decode = FBY_DECODE_SPARSE,
         .wire_type                            = FBY_F32,
         .max_length                           = MOST,
         .too_long                             = FBY_TOO_LONG_REFUSE,
         .as.sparse.shape                      = shape,
         .shape                                = shape};
    struct fby_field_job     job    = {.field = &field,
               .bytes                         = data,
               .size                          = size,
               .length                        = &length,
               .indices                       = indices};
    struct fby_error_detail  why    = {{0}};
    fby_err err = fby_field_write(transform, &job, values, &why);
    demand(err == FBY_OK || err == FBY_BAD_SAMPLE);
    demand((err == FBY_OK) == (why.text[0] == '\0'));
    if (err == FBY_OK) {
        check(&field, indices, length);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct fby_transform *transform;
    if (transform == NULL) {
        transform = fby_transform_create(NULL);
    }
    decode(transform, (struct fby_shape){1, {1000}}, data, size);
    decode(transform, (struct fby_shape){2, {4, 50}}, data, size);
    return 0;
}
