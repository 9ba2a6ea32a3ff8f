/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_webp.c - hostile WebP members as pictures.
 *
 * The result is FBY_OK or a refusal of the sample; a file that decodes was
 * planned from its header. */

#include "tests/fuzz/demand.h"
#include "worker/transform/field.h"
#include "worker/transform/picture.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SIDE = 24, DECODE_PIXELS = 1 << 18 };

static const struct fby_field_content *picture_field(void)
{
    static struct fby_field_content field = {.group = "f",
        .from                                       = {"webp"},
        .n_from                                     = 1,
        .decode                                     = FBY_DECODE_RGB8,
        .wire_type                                  = FBY_U8,
        .shape = {3, {SIDE, SIDE, FBY_RGB}},
        .n_ops = 1};
    field.ops[0].op                       = fby_op_named("resize");
    field.ops[0].params[1] = (struct fby_value){.n = 2, .i = {SIDE, SIDE}};
    return &field;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct fby_transform *transform;
    uint8_t                      pixels[SIDE * SIDE * FBY_RGB];
    struct fby_field_plan        plan;
    struct fby_field_job         job = {
                .field = picture_field(), .bytes = data, .size = size, .seed = 1};
    if (transform == NULL) {
        transform = fby_transform_create(NULL);
    }
    fby_err planned = fby_field_plan(&job, &plan, NULL);
    demand(planned == FBY_OK || planned == FBY_BAD_SAMPLE);
    if (planned == FBY_OK &&
        (uint64_t)plan.width * plan.height > DECODE_PIXELS) {
        return 0; /* legal, but slow under a sanitizer */
    }
    fby_err written = fby_field_write(transform, &job, pixels, NULL);
    demand(written == FBY_OK || written == FBY_BAD_SAMPLE);
    demand(written != FBY_OK || planned == FBY_OK);
    return 0;
}
