/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_png.c - hostile PNG members, as pictures, as masks and as maps.
 *
 * The result is FBY_OK or a refusal of the sample; a file that decodes was
 * planned from its header. */
#include <string.h>

#include "tests/fuzz/demand.h"
#include "worker/transform/field.h"
#include "worker/transform/picture.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SIDE = 24, DECODE_PIXELS = 1 << 20 };

static void try_as(enum fby_decode decode, struct fby_field_job job)
{
    static struct fby_transform    *transform;
    static struct fby_field_content field = {.group = "f",
        .from                                       = {"png"},
        .n_from                                     = 1,
        .wire_type                                  = FBY_U8,
        .n_ops                                      = 1};
    uint8_t                         pixels[SIDE * SIDE * FBY_RGB];
    struct fby_field_plan           plan;
    if (transform == NULL) {
        transform = fby_transform_create(NULL);
    }
    field.decode    = decode;
    field.as.maps.n = decode == FBY_DECODE_MAPS ? 1 : 0;
    field.shape     = (struct fby_shape){
            3, {SIDE, SIDE, decode == FBY_DECODE_RGB8 ? FBY_RGB : 1}};
    field.ops[0].op        = fby_op_named("resize");
    field.ops[0].params[1] = (struct fby_value){.n = 2, .i = {SIDE, SIDE}};
    job.field              = &field;
    fby_err planned        = fby_field_plan(&job, &plan, NULL);
    demand(planned == FBY_OK || planned == FBY_BAD_SAMPLE);
    if (planned == FBY_OK &&
        (uint64_t)plan.width * plan.height > DECODE_PIXELS) {
        return; /* legal, but slow under a sanitizer */
    }
    fby_err written = fby_field_write(transform, &job, pixels, NULL);
    demand(written == FBY_OK || written == FBY_BAD_SAMPLE);
    demand(written != FBY_OK || planned == FBY_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint64_t       all = size;
    struct fby_field_job job = {.bytes = data, .size = size, .seed = 1};
    try_as(FBY_DECODE_RGB8, job);
    try_as(FBY_DECODE_MASK8, job);
    job.sizes = &all;
    try_as(FBY_DECODE_MAPS, job);
    return 0;
}
